use std::io;
use std::time::Duration;

use nodeb_base::event::Cause;
use nodeb_base::units::Time;
use nodeb_sim::world::Direction;

use crate::lateness::Lateness;
use crate::series::Series;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    pub packets: u64,
    pub bytes: u64,
}

impl Volume {
    pub fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

pub const CAUSES: [(Cause, &str); 4] = [
    (Cause::LinkLoss, "lost_link"),
    (Cause::Overflow, "lost_overflow"),
    (Cause::EarlyDrop, "lost_early_drop"),
    (Cause::RadioLoss, "lost_radio"),
];

#[derive(Clone, Debug, Default)]
pub struct DirectionReport {
    pub offered: Volume,
    pub arrived: Volume,
    pub lost: [u64; CAUSES.len()],
    pub delay: Lateness,
    /// `None` without arrivals.
    pub span: Option<(Time, Time)>,
}

impl DirectionReport {
    pub fn arrive(&mut self, accepted: Time, at: Time, bytes: usize) {
        self.arrived.add(bytes);
        self.delay.add(at.0 - accepted.0);
        self.span = Some((self.span.map_or(accepted, |(first, _)| first), at));
    }

    pub fn lose(&mut self, cause: Cause) {
        for (count, (one, _)) in self.lost.iter_mut().zip(CAUSES) {
            *count += u64::from(one == cause);
        }
    }

    pub fn all_lost(&self) -> u64 {
        self.lost.iter().sum()
    }
}

#[derive(Clone, Debug)]
pub struct PhoneReport {
    pub user: u32,
    pub down: DirectionReport,
    pub up: DirectionReport,
}

impl PhoneReport {
    pub fn new(user: u32) -> Self {
        Self { user, down: DirectionReport::default(), up: DirectionReport::default() }
    }

    pub fn direction_mut(&mut self, direction: Direction) -> &mut DirectionReport {
        match direction {
            Direction::Down => &mut self.down,
            Direction::Up => &mut self.up,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Not IP, or with wrong length fields.
    pub malformed: u64,
    /// Not routed: to an address that no phone has, or to which routers forward nothing.
    pub stray: u64,
    pub too_long: u64,
    pub no_memory: u64,
    /// Not accepted by the receiver's device.
    pub unwritten: u64,
}

#[derive(Debug)]
pub struct Report {
    /// Real time without suspend.
    pub lasted: Duration,
    /// The simulated world does not advance in suspend.
    pub slept: Duration,
    pub phones: Vec<PhoneReport>,
    pub refused: Refused,
    pub late: Lateness,
    /// Without the sleeps: a packet may have waited this long before it was accepted.
    pub busy: Lateness,
    pub waiting: usize,
    pub wakes: u64,
    pub memory: usize,
    pub series: Series,
    pub unrecorded: Option<io::Error>,
}
