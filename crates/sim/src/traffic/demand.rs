use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

use super::{After, Source, Transfer};

#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    pub begun: Time,
    /// Last byte at the receiver; before that, the beginning.
    pub arrived: Time,
    pub bytes: u64,
    /// Bytes of the connection up to and including the transfer's last one.
    pub end: u64,
}

#[derive(Debug)]
pub struct Demand {
    source: Box<dyn Source>,
    pub upcoming: Option<Transfer>,
    /// Begun, and not written to the TCP sender yet.
    pub unwritten: VecDeque<u64>,
    /// The oldest first.
    outstanding: VecDeque<Outstanding>,
    /// Outstanding transfers that the receiver has completely.
    arrived: usize,
    /// In-order bytes at which the next one is complete at the receiver; `u64::MAX` if none is.
    expected: u64,
    /// Acknowledged bytes at which the oldest is complete; `u64::MAX` if none is outstanding.
    awaited: u64,
    /// Of all transfers that have begun.
    pub bytes: u64,
    pub completed: u64,
    pub completed_bytes: u64,
    /// From the beginning to the last ACK.
    pub delay_sum: Duration,
}

impl Demand {
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

    /// The transfer that began.
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

    /// `event` has just happened to the previous transfer; `None` if the wait counts from another event, or
    /// from the end while a transfer is outstanding.
    pub fn next_beginning(&self, now: Time, event: After) -> Option<Time> {
        let upcoming = self.upcoming.filter(|upcoming| upcoming.after == event)?;
        (event == After::Beginning || self.outstanding.is_empty()).then_some(now + upcoming.wait)
    }

    /// `on_arrival` gets the size of each transfer that has arrived completely.
    #[inline]
    pub fn arrive(&mut self, now: Time, delivered: u64, mut on_arrival: impl FnMut(u64)) {
        while delivered >= self.expected {
            self.outstanding[self.arrived].arrived = now;
            on_arrival(self.outstanding[self.arrived].bytes);
            self.arrived += 1;
            self.expected = self.outstanding.get(self.arrived).map_or(u64::MAX, |next| next.end);
        }
    }

    /// The oldest, if the first `acked` bytes include its last one.
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

    /// No further data follow.
    pub fn is_all_written(&self) -> bool {
        self.upcoming.is_none() && self.unwritten.is_empty()
    }
}
