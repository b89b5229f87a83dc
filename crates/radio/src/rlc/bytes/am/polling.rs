//! Polling (TS 36.322, 5.2.2): when a PDU asks for a status report.

use nodeb_base::units::{Duration, Time};

use super::params::AmBytes;

/// The sender's counters and timer of polls.
#[derive(Debug)]
pub struct Poller {
    poll_pdu: u32,
    poll_byte: u64,
    retransmit_after: Duration,
    /// PDU_WITHOUT_POLL: new PDUs since the last poll.
    pdus: u32,
    /// BYTE_WITHOUT_POLL: new octets since the last poll.
    octets: u64,
    /// Whether t-PollRetransmit has expired and no poll was sent since.
    is_urgent: bool,
    /// Expiry of t-PollRetransmit and POLL_SN, if the timer runs.
    timer: Option<(Time, u64)>,
}

impl Poller {
    /// Creates the state before the first PDU.
    pub fn new(params: &AmBytes) -> Self {
        Self {
            poll_pdu: params.poll_pdu.map_or(u32::MAX, std::num::NonZeroU32::get),
            poll_byte: params.poll_byte.map_or(u64::MAX, |size| size.0),
            retransmit_after: params.poll_retransmit,
            pdus: 0,
            octets: 0,
            is_urgent: false,
            timer: None,
        }
    }

    /// Counts a new PDU with a data field of `octets` octets.
    #[inline]
    pub fn on_new(&mut self, octets: u64) {
        self.pdus += 1;
        self.octets += octets;
    }

    /// Returns true if the PDU that is sent now polls. `is_last` tells whether the buffers are empty or the
    /// window is full after it, `next` is VT(S) after it (TS 36.322, 5.2.2.1).
    #[inline]
    pub fn poll(&mut self, now: Time, is_last: bool, next: u64) -> bool {
        let poll = is_last || self.is_urgent || self.pdus >= self.poll_pdu || self.octets >= self.poll_byte;
        if poll {
            (self.pdus, self.octets, self.is_urgent) = (0, 0, false);
            self.timer = Some((now + self.retransmit_after, next - 1));
        }
        poll
    }

    /// Stops t-PollRetransmit if a report acknowledges POLL_SN, positively or not (TS 36.322, 5.2.2.2).
    pub fn on_report(&mut self, acknowledges: impl Fn(u64) -> bool) {
        self.timer = self.timer.filter(|(_, poll_sn)| !acknowledges(*poll_sn));
    }

    /// Returns the time at which t-PollRetransmit expires, if it runs.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        self.timer.map(|(at, _)| at)
    }

    /// Handles the expiry of t-PollRetransmit by `now`, after which the next PDU polls. Returns true if it has
    /// expired.
    pub fn expire(&mut self, now: Time) -> bool {
        let expired = self.due().is_some_and(|at| at <= now);
        if expired {
            (self.is_urgent, self.timer) = (true, None);
        }
        expired
    }
}
