//! How an emulation is watched and stopped from another thread, without a lock that the driver would wait for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::event::{EventfdFlags, eventfd};

use crate::error::{Result, system};

/// What a status line shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    /// Since the beginning, s.
    pub time_s: f64,
    /// Packets that have arrived at phones.
    pub down_packets: u64,
    /// Their bytes.
    pub down_bytes: u64,
    /// Bytes that have arrived at the server.
    pub up_bytes: u64,
    /// Real packets that were lost.
    pub lost: u64,
    /// Real packets that are on their way.
    pub waiting: u64,
    /// Packets that wait for real phones at their bearers.
    pub queued_down: u64,
    /// Packets that wait for their uplinks.
    pub queued_up: u64,
    /// Mean CQI of real phones; NaN where the radio has none.
    pub cqi: f64,
    /// Sum of the delays of what has arrived at phones, s.
    pub delays_s: f64,
    /// 99 % of deliveries were not later than this, s.
    pub late_s: f64,
}

/// Fields of a [`Status`].
const FIELDS: usize = 11;

/// Watches an emulation and stops it.
#[derive(Debug)]
pub struct Watch {
    stopped: AtomicBool,
    wake: OwnedFd,
    /// The fields of a [`Status`], numbers with a fraction as their bits.
    cells: [AtomicU64; FIELDS],
}

impl Watch {
    /// Of an emulation that has not begun.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = wake.map_err(system("make what stops it"))?;
        Ok(Self { stopped: AtomicBool::new(false), wake, cells: [const { AtomicU64::new(0) }; FIELDS] })
    }

    /// Ends the emulation, at once and for good.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        // It can only fail when it has been asked more often than a counter of 64 bits holds.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// What can be waited for: it was stopped.
    pub(crate) fn woken(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// How it stands.
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

    /// Publishes a status.
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
    fn what_is_published_is_seen() {
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
