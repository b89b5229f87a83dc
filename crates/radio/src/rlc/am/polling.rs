//! Polling: requests of the sender for status reports (TS 25.322, 9.7.1).

use nodeb_base::units::Time;

use super::params::Polling;

/// Properties of a PDU that is being sent, which determine whether it must carry a poll.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
    /// Number of packets that end in the PDU; 0 for a retransmission.
    pub packets: u32,
    /// Whether no PDU, new or retransmitted, can be sent after this one: the buffer is empty or the
    /// window is full.
    pub last_pdu: bool,
    /// Whether the PDU is a retransmission and no further PDU waits for retransmission.
    pub last_retransmission: bool,
    /// Share of the transmission window that is in use, 0 to 1.
    pub window: f64,
    /// Number after that of the highest PDU sent, VT(S).
    pub sent: u64,
}

/// State of a sender by which it decides when to poll: counters, timers and an unanswered poll.
#[derive(Debug)]
pub struct Poller {
    params: Polling,
    pdus: u32,
    packets: u32,
    /// Whether a poll is requested. The first PDU that is sent while polls are not prohibited carries the
    /// poll.
    wanted: bool,
    urgent: bool,
    prohibited_until: Option<Time>,
    /// Expiry of Timer_Poll, and the value of VT(S) when the last poll was sent; `None` if no poll
    /// is unanswered.
    unanswered: Option<(Time, u64)>,
    next_periodic: Option<Time>,
}

impl Poller {
    /// Creates a poller that has sent no poll.
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

    /// Returns true if a poll must be sent now. If no PDU is left to send, the sender retransmits a
    /// PDU to carry the poll.
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// Records that a PDU is sent now. Returns true if the PDU must carry a poll.
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

    /// Processes a status report, which stops Timer_Poll if it answers the last poll. According to
    /// the report, all PDUs before `acknowledged` have arrived, except those for which `refused`
    /// returns true.
    pub fn on_status(&mut self, acknowledged: u64, refused: impl Fn(u64) -> bool) {
        let is_answer = |sent: u64| acknowledged >= sent || refused(sent - 1);
        if self.unanswered.is_some_and(|(_, sent)| is_answer(sent)) {
            self.unanswered = None;
        }
    }

    /// Stops polling, because all PDUs are acknowledged or given up.
    pub fn stop(&mut self) {
        (self.wanted, self.urgent) = (false, false);
        (self.unanswered, self.next_periodic) = (None, None);
    }

    /// Returns the time at which [`Self::on_time`] must be called next, or `None` if no timer runs.
    pub fn next(&self) -> Option<Time> {
        let waiting = self.prohibited_until.filter(|_| self.wanted && !self.urgent);
        let timer = self.unanswered.map(|(at, _)| at);
        [waiting, timer, self.next_periodic].into_iter().flatten().min()
    }

    /// Requests a poll if Timer_Poll or Timer_Poll_Periodic has expired by `now`. A poll that was
    /// requested now or before becomes urgent unless Timer_Poll_Prohibit runs.
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
