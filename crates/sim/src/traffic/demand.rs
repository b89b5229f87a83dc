//! A connection's transfers: upcoming, unwritten, outstanding and completed.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

use super::{After, Source, Transfer};

/// Transfer that has begun and is not complete.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// Time at which the transfer began.
    pub begun: Time,
    /// Time at which the receiver (the phone, or the server in an upload) received the last byte. Before that,
    /// the time at which the transfer began.
    pub arrived: Time,
    /// Size of the transfer in bytes.
    pub bytes: u64,
    /// Number of bytes of the connection from its start up to and including the transfer's last byte.
    pub end: u64,
}

/// Transfers of a user's connection: upcoming, unwritten, outstanding and completed.
#[derive(Debug)]
pub struct Demand {
    source: Box<dyn Source>,
    /// Transfer that begins next, or `None` if there are no more.
    pub upcoming: Option<Transfer>,
    /// Sizes in bytes of the transfers that have begun and that the application has not written to the TCP
    /// sender yet.
    pub unwritten: VecDeque<u64>,
    /// Transfers that have begun and are not complete, the oldest first.
    outstanding: VecDeque<Outstanding>,
    /// Number of outstanding transfers that have arrived at the receiver completely.
    arrived: usize,
    /// Number of in-order bytes at which the next outstanding transfer is complete at the receiver;
    /// `u64::MAX` if all outstanding transfers have arrived there.
    expected: u64,
    /// Number of acknowledged bytes at which the oldest outstanding transfer is complete; `u64::MAX` if no
    /// transfer is outstanding.
    awaited: u64,
    /// Number of bytes of all transfers that have begun.
    pub bytes: u64,
    /// Number of completed transfers.
    pub completed: u64,
    /// Number of bytes of all completed transfers.
    pub completed_bytes: u64,
    /// Sum of the durations of completed transfers, each from its beginning to the last ACK.
    pub delay_sum: Duration,
}

impl Demand {
    /// Creates the demand of a user with the transfers that `source` returns.
    pub fn new(mut source: Box<dyn Source>) -> Self {
        let upcoming = source.next();
        Self {
            source,
            upcoming,
            unwritten: VecDeque::new(),
            outstanding: VecDeque::new(),
            arrived: 0,
            expected: u64::MAX,
            awaited: u64::MAX,
            bytes: 0,
            completed: 0,
            completed_bytes: 0,
            delay_sum: Duration::ZERO,
        }
    }

    /// Begins the upcoming transfer and gets the next one from the source. Returns the transfer that began, or `None`
    /// if there was none.
    pub fn begin(&mut self, now: Time) -> Option<Transfer> {
        let transfer = self.upcoming.take()?;
        self.bytes += transfer.bytes;
        let (bytes, end) = (transfer.bytes, self.bytes);
        self.outstanding.push_back(Outstanding { begun: now, arrived: now, bytes, end });
        self.expected = self.expected.min(end);
        self.awaited = self.awaited.min(end);
        self.unwritten.push_back(transfer.bytes);
        self.upcoming = self.source.next();
        Some(transfer)
    }

    /// Returns the time at which the upcoming transfer begins, given that `event` has just happened to the previous
    /// transfer. Returns `None` if no transfer is upcoming, or if its wait counts from another event than `event`. Also
    /// returns `None` if the wait counts from the end of the previous transfer and a transfer is still outstanding.
    pub fn next_beginning(&self, now: Time, event: After) -> Option<Time> {
        let upcoming = self.upcoming.filter(|upcoming| upcoming.after == event)?;
        (event == After::Beginning || self.outstanding.is_empty()).then_some(now + upcoming.wait)
    }

    /// Records that the receiver has received the first `delivered` bytes of the connection. Calls
    /// `on_arrival` with the size of each transfer that has thereby arrived completely.
    #[inline]
    pub fn arrive(&mut self, now: Time, delivered: u64, mut on_arrival: impl FnMut(u64)) {
        while delivered >= self.expected {
            self.outstanding[self.arrived].arrived = now;
            on_arrival(self.outstanding[self.arrived].bytes);
            self.arrived += 1;
            self.expected = self.outstanding.get(self.arrived).map_or(u64::MAX, |next| next.end);
        }
    }

    /// Completes and returns the oldest outstanding transfer if the first `acked` bytes of the
    /// connection, which are acknowledged, include the transfer's last byte. Otherwise, or if no
    /// transfer is outstanding, returns `None`.
    pub fn complete(&mut self, now: Time, acked: u64) -> Option<Outstanding> {
        if acked < self.awaited {
            return None;
        }
        let transfer = self.outstanding.pop_front()?;
        self.arrived -= 1; // the transfer is acknowledged, so it has arrived
        self.awaited = self.outstanding.front().map_or(u64::MAX, |next| next.end);
        self.completed += 1;
        self.completed_bytes += transfer.bytes;
        self.delay_sum.0 += now.since(transfer.begun).0;
        Some(transfer)
    }

    /// Returns true if no transfer is upcoming and all transfers are written to the TCP sender, so that no
    /// further data follow.
    pub fn is_all_written(&self) -> bool {
        self.upcoming.is_none() && self.unwritten.is_empty()
    }
}
