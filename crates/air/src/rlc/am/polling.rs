//! TS 25.322, 9.7.1.

use nodeb_base::units::Time;

use super::params::Polling;

/// What determines whether a PDU carries a poll.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
    /// Packets that end in the PDU; 0 for a retransmission.
    pub packets: u32,
    /// No PDU can be sent after this one: the buffer is empty or the window is full.
    pub last_pdu: bool,
    /// A retransmission, with no other waiting.
    pub last_retransmission: bool,
    /// Share in use, 0 to 1.
    pub window: f64,
    /// VT(S).
    pub sent: u64,
}

#[derive(Debug)]
pub struct Poller {
    params: Polling,
    pdus: u32,
    packets: u32,
    /// The first PDU sent while polls are not prohibited carries the poll.
    wanted: bool,
    urgent: bool,
    prohibited_until: Option<Time>,
    /// Expiry of Timer_Poll, and VT(S) at the last poll.
    unanswered: Option<(Time, u64)>,
    next_periodic: Option<Time>,
}

impl Poller {
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

    /// If no PDU is left to send, one is retransmitted to carry the poll.
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// True if the PDU must carry a poll.
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

    /// Stops Timer_Poll if the report answers the last poll: PDUs before `acknowledged` have arrived, unless
    /// `refused`.
    pub fn on_status(&mut self, acknowledged: u64, refused: impl Fn(u64) -> bool) {
        let is_answer = |sent: u64| acknowledged >= sent || refused(sent - 1);
        if self.unanswered.is_some_and(|(_, sent)| is_answer(sent)) {
            self.unanswered = None;
        }
    }

    /// All PDUs are acknowledged or given up.
    pub fn stop(&mut self) {
        (self.wanted, self.urgent) = (false, false);
        (self.unanswered, self.next_periodic) = (None, None);
    }

    pub fn next(&self) -> Option<Time> {
        let waiting = self.prohibited_until.filter(|_| self.wanted && !self.urgent);
        let timer = self.unanswered.map(|(at, _)| at);
        [waiting, timer, self.next_periodic].into_iter().flatten().min()
    }

    /// Timer_Poll or Timer_Poll_Periodic request a poll, which is urgent unless Timer_Poll_Prohibit runs.
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
