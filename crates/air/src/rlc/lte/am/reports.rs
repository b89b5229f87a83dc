use super::status::Status;
use crate::rlc::lte::in_flight::InFlight;

/// In a block of the other direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Never wraps.
    pub number: u64,
    /// With its MAC subheader.
    pub bytes: u32,
}

/// The memory of reports that have arrived is reused.
#[derive(Debug, Default)]
pub struct Reports {
    in_flight: InFlight<Status>,
    spare: Vec<Status>,
}

impl Reports {
    /// Its contents must be overwritten.
    pub fn spare(&mut self) -> Status {
        self.spare.pop().unwrap_or_default()
    }

    pub fn recycle(&mut self, status: Status) {
        self.spare.push(status);
    }

    pub fn send(&mut self, status: Status) -> u64 {
        self.in_flight.push(status);
        self.in_flight.next() - 1
    }

    pub fn get(&self, number: u64) -> Option<&Status> {
        self.in_flight.get(number)
    }

    pub fn take(&mut self, number: u64) -> Option<Status> {
        self.in_flight.take(number)
    }
}
