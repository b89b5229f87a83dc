//! Polling (TS 36.322, 5.2.2): conditions under which a PDU polls for a status report.

use nodeb_base::units::{Duration, Time};

use super::params::AmBytes;

// Clause: TS 36.322, 5.2.2: polling
/// Counters and timer by which the sender decides when to poll.
#[derive(Debug)]
pub struct Poller {
    poll_pdu: u32,
    poll_byte: u64,
    retransmit_after: Duration,
    /// Number of new PDUs since the last poll, PDU_WITHOUT_POLL.
    pdus: u32,
    /// Number of new octets since the last poll, BYTE_WITHOUT_POLL.
    octets: u64,
    /// Whether t-PollRetransmit has expired and no poll was sent since then.
    is_urgent: bool,
    /// Expiry of t-PollRetransmit, and POLL_SN; `None` if the timer does not run.
    timer: Option<(Time, u64)>,
}

impl Poller {
    /// Creates the polling state of a sender that has sent no PDU.
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

    /// Returns true if the PDU that is sent now must poll, and then starts t-PollRetransmit.
    /// `is_last` is true if after this PDU the buffers are empty or the window is full; `next` is
    /// VT(S) after this PDU (TS 36.322, 5.2.2.1).
    #[inline]
    pub fn poll(&mut self, now: Time, is_last: bool, next: u64) -> bool {
        let poll = is_last || self.is_urgent || self.pdus >= self.poll_pdu || self.octets >= self.poll_byte;
        if poll {
            (self.pdus, self.octets, self.is_urgent) = (0, 0, false);
            self.timer = Some((now + self.retransmit_after, next - 1));
        }
        poll
    }

    /// Stops t-PollRetransmit if a status report acknowledges PDU POLL_SN, positively or negatively
    /// (TS 36.322, 5.2.2.2).
    pub fn on_report(&mut self, acknowledges: impl Fn(u64) -> bool) {
        self.timer = self.timer.filter(|(_, poll_sn)| !acknowledges(*poll_sn));
    }

    /// Returns the time at which t-PollRetransmit expires, or `None` if it does not run.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        self.timer.map(|(at, _)| at)
    }

    /// Handles the expiry of t-PollRetransmit, after which the next PDU must poll. Returns true if
    /// the timer has expired by `now`.
    pub fn expire(&mut self, now: Time) -> bool {
        let expired = self.due().is_some_and(|at| at <= now);
        if expired {
            (self.is_urgent, self.timer) = (true, None);
        }
        expired
    }
}
