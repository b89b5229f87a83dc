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
    /// Bytes that have arrived at phones.
    pub down_bytes: u64,
    /// Bytes that have arrived at the server.
    pub up_bytes: u64,
    /// Real packets that were lost.
    pub lost: u64,
    /// Real packets that are on their way.
    pub waiting: u64,
    /// Mean delay of what has arrived at phones, s.
    pub delay_s: f64,
    /// 99 % of deliveries were not later than this, s.
    pub late_s: f64,
}

/// Watches an emulation and stops it.
#[derive(Debug)]
pub struct Watch {
    stopped: AtomicBool,
    wake: OwnedFd,
    /// The fields of a [`Status`], numbers with a fraction as their bits.
    cells: [AtomicU64; 7],
}

impl Watch {
    /// Of an emulation that has not begun.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = wake.map_err(system("make what stops it"))?;
        Ok(Self { stopped: AtomicBool::new(false), wake, cells: [const { AtomicU64::new(0) }; 7] })
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
        let cell = |place: usize| self.cells[place].load(Ordering::Relaxed);
        Status {
            time_s: f64::from_bits(cell(0)),
            down_bytes: cell(1),
            up_bytes: cell(2),
            lost: cell(3),
            waiting: cell(4),
            delay_s: f64::from_bits(cell(5)),
            late_s: f64::from_bits(cell(6)),
        }
    }

    /// Tells how it stands.
    pub(crate) fn tell(&self, status: &Status) {
        let &Status { time_s, down_bytes, up_bytes, lost, waiting, delay_s, late_s } = status;
        let values =
            [time_s.to_bits(), down_bytes, up_bytes, lost, waiting, delay_s.to_bits(), late_s.to_bits()];
        for (cell, value) in self.cells.iter().zip(values) {
            cell.store(value, Ordering::Relaxed);
        }
    }
}
