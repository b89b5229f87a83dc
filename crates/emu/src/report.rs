//! What became of real packets: counted as they come and go.

use std::io;
use std::time::Duration;

use nodeb_base::event::Cause;
use nodeb_base::units::Time;
use nodeb_sim::world::Direction;

use crate::lateness::Lateness;
use crate::series::Series;

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Packets.
    pub packets: u64,
    /// Bytes of IP.
    pub bytes: u64,
}

impl Volume {
    /// Counts a packet.
    pub fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

/// Why packets are lost, and what that is called.
pub const CAUSES: [(Cause, &str); 4] = [
    (Cause::LinkLoss, "lost_link"),
    (Cause::Overflow, "lost_overflow"),
    (Cause::EarlyDrop, "lost_early_drop"),
    (Cause::RadioLoss, "lost_radio"),
];

/// What became of a phone's packets one way.
#[derive(Clone, Debug, Default)]
pub struct DirectionReport {
    /// Those that were accepted.
    pub offered: Volume,
    /// Those that arrived.
    pub arrived: Volume,
    /// Those that were lost, by cause in the order of [`CAUSES`].
    pub lost: [u64; CAUSES.len()],
    /// How long those were on their way that arrived.
    pub delay: Lateness,
    /// When the first was accepted and the last arrived; `None` as long as none has arrived.
    pub span: Option<(Time, Time)>,
}

impl DirectionReport {
    /// Counts a packet of so many bytes that has arrived.
    pub fn arrive(&mut self, accepted: Time, at: Time, bytes: usize) {
        self.arrived.add(bytes);
        self.delay.add(at.0 - accepted.0);
        self.span = Some((self.span.map_or(accepted, |(first, _)| first), at));
    }

    /// Counts a packet that was lost.
    pub fn lose(&mut self, cause: Cause) {
        for (count, (one, _)) in self.lost.iter_mut().zip(CAUSES) {
            *count += u64::from(one == cause);
        }
    }

    /// Packets that were lost.
    pub fn all_lost(&self) -> u64 {
        self.lost.iter().sum()
    }
}

/// What became of a phone's packets.
#[derive(Clone, Debug)]
pub struct OfPhone {
    /// Number of its user in the scenario.
    pub user: u32,
    /// Those to the phone.
    pub down: DirectionReport,
    /// Those from the phone.
    pub up: DirectionReport,
}

impl OfPhone {
    /// Nothing has come or gone.
    pub fn new(user: u32) -> Self {
        Self { user, down: DirectionReport::default(), up: DirectionReport::default() }
    }

    /// One of the ways.
    pub fn direction_mut(&mut self, direction: Direction) -> &mut DirectionReport {
        match direction {
            Direction::Down => &mut self.down,
            Direction::Up => &mut self.up,
        }
    }
}

/// Packets that came and were not taken into the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// No IP packet, or not of the length that its header says.
    pub malformed: u64,
    /// For nobody behind the cell: link-local, multicast, or an unknown phone's.
    pub stray: u64,
    /// Longer than the largest packet.
    pub too_long: u64,
    /// Came while the packets on their way took all memory that they may.
    pub no_memory: u64,
    /// Arrived, but the device did not take them.
    pub unwritten: u64,
}

/// What an emulation came to.
#[derive(Debug)]
pub struct Report {
    /// How long it lasted on the clock.
    pub lasted: Duration,
    /// How long the machine slept meanwhile: the world stood still.
    pub slept: Duration,
    /// What became of each phone's packets.
    pub phones: Vec<OfPhone>,
    /// What was not taken in.
    pub refused: Refused,
    /// By how much deliveries came after the time at which the packet arrived in the world.
    pub late: Lateness,
    /// How long the driver was busy between two looks at the devices: a packet may have waited as long
    /// before it was accepted.
    pub busy: Lateness,
    /// Real packets that were still on their way at the end.
    pub waiting: usize,
    /// Times that the driver woke.
    pub wakes: u64,
    /// What payloads took at most, bytes.
    pub memory: usize,
    /// What happened over time.
    pub series: Series,
    /// The reason why the log of the flight is not whole, if it is not.
    pub unrecorded: Option<io::Error>,
}
