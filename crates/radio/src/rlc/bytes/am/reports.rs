//! STATUS PDUs on their way to the sender.

use super::status::Status;
use crate::rlc::bytes::in_flight::InFlight;

/// A STATUS PDU in a block of the other direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Number of the report; numbers never wrap.
    pub number: u64,
    /// Octets of the block that it takes, MAC subheader included.
    pub bytes: u32,
}

/// Reports in flight. Their memory is used again.
#[derive(Debug, Default)]
pub struct Reports {
    in_flight: InFlight<Status>,
    spare: Vec<Status>,
}

impl Reports {
    /// Returns an empty report to be written to.
    pub fn spare(&mut self) -> Status {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes back a report that is not needed any more.
    pub fn recycle(&mut self, status: Status) {
        self.spare.push(status);
    }

    /// Sends a report. Returns its number.
    pub fn send(&mut self, status: Status) -> u64 {
        self.in_flight.push(status);
        self.in_flight.next() - 1
    }

    /// Returns a report in flight, or `None` if it has arrived or is lost.
    pub fn get(&self, number: u64) -> Option<&Status> {
        self.in_flight.get(number)
    }

    /// Removes and returns a report that has arrived or is lost.
    pub fn take(&mut self, number: u64) -> Option<Status> {
        self.in_flight.take(number)
    }
}
