//! A connection's transfers on their way: to come, asked for, under way, over.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

use super::{After, Source, Transfer};

/// A transfer under way.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// When it began.
    pub begun: Time,
    /// When the phone had its last byte, once it has.
    pub arrived: Time,
    /// Its size.
    pub bytes: u64,
    /// Bytes of the connection up to its last.
    pub end: u64,
}

/// A user's transfers: those to come, those asked for, those under way, and what is over.
#[derive(Debug)]
pub struct Demand {
    source: Box<dyn Source>,
    /// The next to begin.
    pub upcoming: Option<Transfer>,
    /// Bytes asked for that the server does not know of yet.
    pub requested: VecDeque<u64>,
    outstanding: VecDeque<Outstanding>,
    /// How many of these the phone has whole.
    arrived: usize,
    /// Bytes of the connection with which it has the next.
    expected: u64,
    /// Bytes of the connection that complete the oldest of these.
    awaited: u64,
    /// Bytes of all transfers begun.
    pub bytes: u64,
    /// Transfers completed.
    pub completed: u64,
    /// Their bytes.
    pub completed_bytes: u64,
    /// The sum of the times they took.
    pub delay_sum: Duration,
}

impl Demand {
    /// The demand of a user whose transfers `source` tells.
    pub fn new(mut source: Box<dyn Source>) -> Self {
        let upcoming = source.next();
        Self {
            source,
            upcoming,
            requested: VecDeque::new(),
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

    /// Begins the upcoming transfer, if there is one, and looks for the next.
    pub fn begin(&mut self, now: Time) -> Option<Transfer> {
        let transfer = self.upcoming.take()?;
        self.bytes += transfer.bytes;
        let (bytes, end) = (transfer.bytes, self.bytes);
        self.outstanding.push_back(Outstanding { begun: now, arrived: now, bytes, end });
        self.expected = self.expected.min(end);
        self.awaited = self.awaited.min(end);
        self.requested.push_back(transfer.bytes);
        self.upcoming = self.source.next();
        Some(transfer)
    }

    /// When the upcoming transfer begins, if that is known now that `event` has happened.
    pub fn next_beginning(&self, now: Time, event: After) -> Option<Time> {
        let upcoming = self.upcoming.filter(|upcoming| upcoming.after == event)?;
        (event == After::Beginning || self.outstanding.is_empty()).then_some(now + upcoming.wait)
    }

    /// The phone has all bytes of the connection below `delivered`; `tell` hears how large each transfer is that
    /// is complete there with them.
    #[inline]
    pub fn arrive(&mut self, now: Time, delivered: u64, mut tell: impl FnMut(u64)) {
        while delivered >= self.expected {
            self.outstanding[self.arrived].arrived = now;
            tell(self.outstanding[self.arrived].bytes);
            self.arrived += 1;
            self.expected = self.outstanding.get(self.arrived).map_or(u64::MAX, |next| next.end);
        }
    }

    /// The oldest transfer under way, if all of its bytes are below `acked`.
    pub fn complete(&mut self, now: Time, acked: u64) -> Option<Outstanding> {
        if acked < self.awaited {
            return None;
        }
        let transfer = self.outstanding.pop_front()?;
        self.arrived -= 1; // what is acknowledged has arrived
        self.awaited = self.outstanding.front().map_or(u64::MAX, |next| next.end);
        self.completed += 1;
        self.completed_bytes += transfer.bytes;
        self.delay_sum.0 += now.since(transfer.begun).0;
        Some(transfer)
    }

    /// Whether the server has been asked for everything there will ever be.
    pub fn is_all_asked(&self) -> bool {
        self.upcoming.is_none() && self.requested.is_empty()
    }
}
