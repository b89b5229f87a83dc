use nodeb_base::rng::{Stream, Streams, uniform};
use nodeb_base::units::Probability;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recurrence {
    pub period: u16,
    /// Counted from TTI 0.
    pub offset: u16,
}

impl Recurrence {
    /// At or after `from`.
    pub fn next(self, from: u64) -> u64 {
        let (period, offset) = (u64::from(self.period), u64::from(self.offset));
        from + (offset + period - from % period) % period
    }
}

#[derive(Clone, Copy, Debug)]
pub struct RequestRules {
    pub occasions: Recurrence,
    /// Of the loss of a request.
    pub error: Probability,
    /// TTIs without a grant after which a phone with data requests again.
    pub again_after: u64,
}

/// Of one UE, in TTIs.
#[derive(Debug)]
pub struct Requests {
    rules: RequestRules,
    /// Next request; `u64::MAX` if none is due.
    next: u64,
    /// The UE then requests again unless it sent a new block; `u64::MAX` if its last block reported no
    /// octets, after the repeated request, and before the first block.
    again_at: u64,
    /// Since which unreported data have waited for a grant.
    awaiting: Option<u64>,
    /// The last block reported octets, so that no request is needed until `again_at`.
    has_reported: bool,
    stream: Stream,
    pub tally: RequestTally,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct RequestTally {
    pub sent: u64,
    /// Waits of unreported data for a new block that ended.
    pub answered: u64,
    /// TTIs of unreported data, for the next new block.
    pub waited: u64,
}

impl Requests {
    pub fn new(rules: RequestRules, id: u64, streams: &Streams) -> Self {
        Self {
            rules,
            next: u64::MAX,
            again_at: u64::MAX,
            awaiting: None,
            has_reported: false,
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
                self.next = self.rules.occasions.next(tti);
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
                self.next = self.rules.occasions.next(tti);
            }
        }
        if self.next > tti {
            return None;
        }
        self.next = self.rules.occasions.next(tti + 1);
        self.tally.sent += 1;
        Some(self.rules.error.0 == 0.0 || uniform(&mut self.stream) >= self.rules.error.0)
    }

    /// The last report does not suffice.
    pub fn report_again(&mut self) {
        self.has_reported = false;
    }

    /// By a new block in `tti`.
    pub fn cancel(&mut self, tti: u64, reports_octets: bool) {
        if let Some(since) = self.awaiting.take() {
            self.tally.answered += 1;
            self.tally.waited += tti.saturating_sub(since);
        }
        self.next = u64::MAX;
        self.has_reported = reports_octets;
        self.again_at = if reports_octets { tti + self.rules.again_after } else { u64::MAX };
    }

    /// A UE that waits for a block requests one from the next TTI on, as its configured grant has ended.
    pub fn unmask(&mut self, tti: u64) {
        if let Some(since) = self.awaiting {
            self.next = self.next.min(self.rules.occasions.next(since.max(tti + 1)));
        }
    }
}
