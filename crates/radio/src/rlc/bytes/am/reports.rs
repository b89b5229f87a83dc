//! STATUS PDUs that are in flight to the sender.

use super::status::Status;
use crate::rlc::bytes::in_flight::InFlight;

/// STATUS PDU that was put into a block of the other direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Number of the report. Numbers never wrap.
    pub number: u64,
    /// Number of octets that the report takes in the block, including its MAC subheader.
    pub bytes: u32,
}

/// Reports in flight. The memory of reports that have arrived is reused for later ones.
#[derive(Debug, Default)]
pub struct Reports {
    in_flight: InFlight<Status>,
    spare: Vec<Status>,
}

impl Reports {
    /// Returns a report whose contents the caller must overwrite. It reuses the memory of an old report
    /// if there is one.
    pub fn spare(&mut self) -> Status {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes back a report that is no longer needed, so that its memory can be reused.
    pub fn recycle(&mut self, status: Status) {
        self.spare.push(status);
    }

    /// Adds a report to those in flight. Returns its number.
    pub fn send(&mut self, status: Status) -> u64 {
        self.in_flight.push(status);
        self.in_flight.next() - 1
    }

    /// Returns report `number` if it is in flight, or `None` if it has arrived or is lost.
    pub fn get(&self, number: u64) -> Option<&Status> {
        self.in_flight.get(number)
    }

    /// Removes and returns report `number`, which has arrived or is lost. Returns `None` if it was
    /// removed before.
    pub fn take(&mut self, number: u64) -> Option<Status> {
        self.in_flight.take(number)
    }
}
