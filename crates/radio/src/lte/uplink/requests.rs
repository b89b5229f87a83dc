use nodeb_base::rng::{Stream, Streams, uniform};
use nodeb_base::units::{Duration, Probability};

use super::super::reports::TTI;
use super::super::timing::Recurrence;
use super::params::Scheduled;

/// Of one UE, in subframes.
#[derive(Debug)]
pub struct Requests {
    occasions: Recurrence,
    /// Next request; `u64::MAX` if none is due.
    next: u64,
    /// The UE then requests again unless it sent a new block; `u64::MAX` if its last block reported no
    /// octets, after the repeated request, and before the first block.
    again_at: u64,
    /// retxBSR-Timer.
    again_after: u64,
    /// Since which unreported data have waited for a grant.
    awaiting: Option<u64>,
    /// The last block reported octets, so that no request is needed until `again_at`.
    has_reported: bool,
    /// Of the loss of a request.
    error: Probability,
    stream: Stream,
    pub tally: RequestTally,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct RequestTally {
    pub sent: u64,
    /// Waits of unreported data for a new block that ended.
    pub answered: u64,
    /// Of unreported data, for the next new block.
    pub waited: Duration,
}

impl Requests {
    pub fn new(params: &Scheduled, id: u64, streams: &Streams) -> Self {
        Self {
            occasions: params.requests_of(id),
            next: u64::MAX,
            again_at: u64::MAX,
            again_after: params.request_again.0 / TTI.0,
            awaiting: None,
            has_reported: false,
            error: params.request_error,
            stream: streams.stream("user", id, "uplink requests"),
            tally: RequestTally::default(),
        }
    }

    /// When [`Self::send`] has an effect next, else `u64::MAX`.
    pub fn ready(&self) -> u64 {
        self.next.min(self.again_at)
    }

    pub fn close(&mut self) {
        (self.next, self.again_at) = (u64::MAX, u64::MAX);
    }

    /// Only for unreported data; schedules a request unless a configured grant masks requests
    /// (logicalChannelSR-Mask).
    pub fn await_grant(&mut self, tti: u64, has_data: impl FnOnce() -> bool, is_masked: bool) {
        if !self.has_reported && self.awaiting.is_none() && has_data() {
            self.awaiting = Some(tti);
            if !is_masked {
                self.next = self.occasions.next(tti);
            }
        }
    }

    // Clause: TS 36.213, 10.1.5; TS 36.321, 5.4.4: scheduling requests
    // Simplified: no `sr-ProhibitTimer`, and no random access after lost requests
    /// Whether the base station receives it; `None` if none is sent.
    pub fn send(&mut self, tti: u64, has_data: impl FnOnce() -> bool) -> Option<bool> {
        if self.again_at <= tti {
            self.again_at = u64::MAX;
            self.has_reported = false;
            // SR masking suppresses only requests that new data trigger (TS 36.321, 5.4.5).
            self.await_grant(tti, has_data, true);
            if self.awaiting.is_some() {
                self.next = self.occasions.next(tti);
            }
        }
        if self.next > tti {
            return None;
        }
        self.next = self.occasions.next(tti + 1);
        self.tally.sent += 1;
        Some(self.error.0 == 0.0 || uniform(&mut self.stream) >= self.error.0)
    }

    /// By a new block in `tti` that reports `octets`.
    pub fn cancel(&mut self, tti: u64, octets: u64) {
        if let Some(since) = self.awaiting.take() {
            self.tally.answered += 1;
            self.tally.waited.0 += tti.saturating_sub(since) * TTI.0;
        }
        self.next = u64::MAX;
        self.has_reported = octets > 0;
        self.again_at = if octets > 0 { tti + self.again_after } else { u64::MAX };
    }

    /// A UE that waits for a block requests one from the next subframe on, as its configured grant has ended.
    pub fn unmask(&mut self, tti: u64) {
        if let Some(since) = self.awaiting {
            self.next = self.next.min(self.occasions.next(since.max(tti + 1)));
        }
    }
}
