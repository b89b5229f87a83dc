//! Counts and delays of real packets.

use std::io;
use std::time::Duration;

use nodeb_base::event::Cause;
use nodeb_base::units::Time;
use nodeb_sim::world::Direction;

use crate::lateness::Lateness;
use crate::series::Series;

/// Number of packets and number of bytes in these packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Number of packets counted by [`Self::add`].
    pub packets: u64,
    /// Number of bytes, IP headers included.
    pub bytes: u64,
}

impl Volume {
    /// Counts a packet of `bytes` bytes.
    pub fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

/// Causes of loss and their names in reports and tables.
pub const CAUSES: [(Cause, &str); 4] = [
    (Cause::LinkLoss, "lost_link"),
    (Cause::Overflow, "lost_overflow"),
    (Cause::EarlyDrop, "lost_early_drop"),
    (Cause::RadioLoss, "lost_radio"),
];

/// Counts and delays of a phone's packets in one direction.
#[derive(Clone, Debug, Default)]
pub struct DirectionReport {
    /// Packets that the driver accepted.
    pub offered: Volume,
    /// Packets that arrived at their destination in the simulated world.
    pub arrived: Volume,
    /// Number of lost packets by cause, in the order of [`CAUSES`].
    pub lost: [u64; CAUSES.len()],
    /// Delays of the packets that arrived, from acceptance to arrival.
    pub delay: Lateness,
    /// Time of acceptance of the packet that arrived first, and time of the last arrival; `None` without arrivals.
    pub span: Option<(Time, Time)>,
}

impl DirectionReport {
    /// Counts a packet that was accepted at `accepted` and arrived at `at`.
    pub fn arrive(&mut self, accepted: Time, at: Time, bytes: usize) {
        self.arrived.add(bytes);
        self.delay.add(at.0 - accepted.0);
        self.span = Some((self.span.map_or(accepted, |(first, _)| first), at));
    }

    /// Counts a packet that was lost, by the cause of the loss.
    pub fn lose(&mut self, cause: Cause) {
        for (count, (one, _)) in self.lost.iter_mut().zip(CAUSES) {
            *count += u64::from(one == cause);
        }
    }

    /// Returns the number of lost packets of all causes.
    pub fn all_lost(&self) -> u64 {
        self.lost.iter().sum()
    }
}

/// Counts and delays of a phone's packets.
#[derive(Clone, Debug)]
pub struct PhoneReport {
    /// Number of the phone's user in the scenario.
    pub user: u32,
    /// Counts and delays of the packets to the phone.
    pub down: DirectionReport,
    /// Counts and delays of the packets from the phone.
    pub up: DirectionReport,
}

impl PhoneReport {
    /// Creates a report without packets.
    pub fn new(user: u32) -> Self {
        Self { user, down: DirectionReport::default(), up: DirectionReport::default() }
    }

    /// Returns the report of a direction mutably.
    pub fn direction_mut(&mut self, direction: Direction) -> &mut DirectionReport {
        match direction {
            Direction::Down => &mut self.down,
            Direction::Up => &mut self.up,
        }
    }
}

/// Counts of packets that were refused or could not be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Packets that are not IP, or whose length fields are wrong.
    pub malformed: u64,
    /// Packets that are not routed: from the server to an address that no phone has, or from a
    /// phone to an address to which routers forward nothing, such as a multicast or link-local one.
    pub stray: u64,
    /// Packets longer than the MTU of the emulation.
    pub too_long: u64,
    /// Packets that were received while packets in transit used all memory that is allowed for payloads.
    pub no_memory: u64,
    /// Packets that arrived, but that the receiver's device did not accept.
    pub unwritten: u64,
}

/// Report of an emulation: packet counts, delays, lateness and time series.
#[derive(Debug)]
pub struct Report {
    /// Duration of the emulation in real time, without time in suspend.
    pub lasted: Duration,
    /// Time during which the machine was suspended. The simulated world does not advance in suspend.
    pub slept: Duration,
    /// Counts and delays of each phone's packets.
    pub phones: Vec<PhoneReport>,
    /// Counts of packets that were refused or could not be written.
    pub refused: Refused,
    /// Lateness of deliveries: time of the write to the device minus time of the arrival in the world.
    pub late: Lateness,
    /// Durations of the passes of the driver's main loop, without the sleep at their ends. A packet
    /// may have waited this long before it was accepted.
    pub busy: Lateness,
    /// Number of real packets still in transit at the end.
    pub waiting: usize,
    /// Number of times that the driver slept and woke.
    pub wakes: u64,
    /// Memory allocated for payloads, bytes.
    pub memory: usize,
    /// Time series of each phone and of all users together.
    pub series: Series,
    /// Error that made the recording incomplete, or `None` if it is complete or nothing was recorded.
    pub unrecorded: Option<io::Error>,
}
