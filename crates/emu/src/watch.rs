//! Without a lock that could delay the driver.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::event::{EventfdFlags, eventfd};

use crate::error::{Result, system};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    pub time_s: f64,
    pub down_packets: u64,
    pub down_bytes: u64,
    pub up_bytes: u64,
    pub lost: u64,
    pub waiting: u64,
    pub queued_down: u64,
    pub queued_up: u64,
    /// NaN if the radio has no CQI.
    pub cqi: f64,
    pub delays_s: f64,
    /// 99 % quantile.
    pub late_s: f64,
}

const FIELDS: usize = 11;

#[derive(Debug)]
pub struct Watch {
    stopped: AtomicBool,
    wake: OwnedFd,
    cells: [AtomicU64; FIELDS],
}

impl Watch {
    /// Creates the state of an emulation that has not started.
    ///
    /// # Errors
    /// Returns an error if the system call fails.
    pub fn new() -> Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = wake.map_err(system("create its stop event"))?;
        Ok(Self { stopped: AtomicBool::new(false), wake, cells: [const { AtomicU64::new(0) }; FIELDS] })
    }

    /// A stopped emulation cannot be resumed.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        // This write can fail only if the 64-bit counter of the eventfd overflows.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    pub(crate) fn stop_event(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// 0 before the first; values may be of different times.
    pub fn status(&self) -> Status {
        let whole = |place: usize| self.cells[place].load(Ordering::Relaxed);
        let number = |place: usize| f64::from_bits(whole(place));
        Status {
            time_s: number(0),
            down_packets: whole(1),
            down_bytes: whole(2),
            up_bytes: whole(3),
            lost: whole(4),
            waiting: whole(5),
            queued_down: whole(6),
            queued_up: whole(7),
            cqi: number(8),
            delays_s: number(9),
            late_s: number(10),
        }
    }

    pub(crate) fn publish(&self, status: &Status) {
        let values: [u64; FIELDS] = [
            status.time_s.to_bits(),
            status.down_packets,
            status.down_bytes,
            status.up_bytes,
            status.lost,
            status.waiting,
            status.queued_down,
            status.queued_up,
            status.cqi.to_bits(),
            status.delays_s.to_bits(),
            status.late_s.to_bits(),
        ];
        for (cell, value) in self.cells.iter().zip(values) {
            cell.store(value, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_status_is_returned() {
        let published = Status {
            time_s: 1.0,
            down_packets: 2,
            down_bytes: 3,
            up_bytes: 4,
            lost: 5,
            waiting: 6,
            queued_down: 7,
            queued_up: 8,
            cqi: 9.0,
            delays_s: 10.0,
            late_s: 11.0,
        };
        let watch = Watch::new().unwrap();
        watch.publish(&published);
        assert_eq!(watch.status(), published);
    }
}
