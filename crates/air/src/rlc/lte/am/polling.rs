//! TS 36.322, 5.2.2.

use nodeb_base::units::{Duration, Time};

use super::params::LteAm;

// Clause: TS 36.322, 5.2.2: polling
#[derive(Debug)]
pub struct Poller {
    poll_pdu: u32,
    poll_byte: u64,
    retransmit_after: Duration,
    /// PDU_WITHOUT_POLL.
    pdus: u32,
    /// BYTE_WITHOUT_POLL.
    octets: u64,
    /// t-PollRetransmit has expired and no poll was sent since.
    is_urgent: bool,
    /// Expiry of t-PollRetransmit, and POLL_SN.
    timer: Option<(Time, u64)>,
}

impl Poller {
    pub fn new(params: &LteAm) -> Self {
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

    #[inline]
    pub fn on_new(&mut self, octets: u64) {
        self.pdus += 1;
        self.octets += octets;
    }

    /// Starts t-PollRetransmit. `is_last` if then the buffers are empty or the window is full; `next` is
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

    /// A report on POLL_SN, positive or negative, stops t-PollRetransmit (TS 36.322, 5.2.2.2).
    pub fn on_report(&mut self, acknowledges: impl Fn(u64) -> bool) {
        self.timer = self.timer.filter(|(_, poll_sn)| !acknowledges(*poll_sn));
    }

    #[inline]
    pub fn due(&self) -> Option<Time> {
        self.timer.map(|(at, _)| at)
    }

    /// The next PDU must poll after t-PollRetransmit has expired.
    pub fn expire(&mut self, now: Time) -> bool {
        let expired = self.due().is_some_and(|at| at <= now);
        if expired {
            (self.is_urgent, self.timer) = (true, None);
        }
        expired
    }
}
