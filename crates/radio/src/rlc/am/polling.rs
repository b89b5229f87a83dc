//! Polling: when the sender asks for a status report (TS 25.322, 9.7.1).

use nodeb_base::units::Time;

use super::params::Polling;

/// What a poll may depend on, for one PDU that is sent.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
    /// Packets that end in it, if it is sent for the first time.
    pub packets: u32,
    /// Nothing more can be sent, neither new nor again: the buffer is empty or the window full.
    pub last_pdu: bool,
    /// It has been sent before, and nothing else waits to be sent again.
    pub last_retransmission: bool,
    /// Share of the window in use.
    pub window: f64,
    /// One past the highest PDU sent so far, VT(S).
    pub sent: u64,
}

/// The sender's polls.
#[derive(Debug)]
pub struct Poller {
    params: Polling,
    pdus: u32,
    packets: u32,
    /// A poll is to be sent with the next PDU, or, where there is none, with one sent again.
    wanted: bool,
    urgent: bool,
    prohibited_until: Option<Time>,
    /// Timer_Poll, and VT(S) when the poll was sent.
    unanswered: Option<(Time, u64)>,
    next_periodic: Option<Time>,
}

impl Poller {
    /// A poller that has asked nothing.
    pub fn new(params: &Polling) -> Self {
        Self {
            params: params.clone(),
            pdus: 0,
            packets: 0,
            wanted: false,
            urgent: false,
            prohibited_until: None,
            unanswered: None,
            next_periodic: None,
        }
    }

    /// Whether a PDU must be sent just to carry a poll.
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// Whether the PDU that is sent now asks for a report.
    pub fn on_sent(&mut self, now: Time, occasion: Occasion) -> bool {
        self.count(occasion);
        let Polling { last_pdu, last_retransmission, window_share, .. } = self.params;
        self.wanted |= last_pdu && occasion.last_pdu;
        self.wanted |= last_retransmission && occasion.last_retransmission;
        self.wanted |= window_share.is_some_and(|share| occasion.window >= share.0);
        if let (None, Some(period)) = (self.next_periodic, self.params.periodic) {
            self.next_periodic = Some(now + period);
        }
        if !self.wanted || self.prohibited_until.is_some_and(|until| now < until) {
            return false;
        }
        (self.wanted, self.urgent) = (false, false);
        self.prohibited_until = self.params.prohibit.map(|time| now + time);
        self.unanswered = Some((now + self.params.timer, occasion.sent));
        true
    }

    fn count(&mut self, occasion: Occasion) {
        self.pdus += 1;
        self.packets += occasion.packets;
        if self.params.every_pdus.is_some_and(|n| self.pdus >= n.get()) {
            (self.pdus, self.wanted) = (0, true);
        }
        if self.params.every_packets.is_some_and(|n| self.packets >= n.get()) {
            (self.packets, self.wanted) = (0, true);
        }
    }

    /// A report has come: everything before `acknowledged` has arrived; `refused` says whether a PDU
    /// is named as missing.
    pub fn on_status(&mut self, acknowledged: u64, refused: impl Fn(u64) -> bool) {
        let is_answer = |sent: u64| acknowledged >= sent || refused(sent - 1);
        if self.unanswered.is_some_and(|(_, sent)| is_answer(sent)) {
            self.unanswered = None;
        }
    }

    /// Everything has been acknowledged, or given up: there is nothing to ask.
    pub fn rest(&mut self) {
        (self.wanted, self.urgent) = (false, false);
        (self.unanswered, self.next_periodic) = (None, None);
    }

    /// When [`Self::on_time`] must be called next.
    pub fn next(&self) -> Option<Time> {
        let waiting = self.prohibited_until.filter(|_| self.wanted && !self.urgent);
        let timer = self.unanswered.map(|(at, _)| at);
        [waiting, timer, self.next_periodic].into_iter().flatten().min()
    }

    /// Timers that have run out ask for a poll.
    pub fn on_time(&mut self, now: Time) {
        if self.unanswered.is_some_and(|(at, _)| at <= now) {
            self.unanswered = None;
            self.wanted = true;
        }
        if self.next_periodic.is_some_and(|at| at <= now) {
            self.next_periodic = self.params.periodic.map(|period| now + period);
            self.wanted = true;
        }
        self.urgent |= self.wanted && self.prohibited_until.is_none_or(|until| until <= now);
    }
}
