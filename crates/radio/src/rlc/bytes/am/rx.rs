//! Receiving end of acknowledged mode (TS 36.322, 5.1.3.2 and 5.2.3).

use nodeb_base::units::{Duration, Time};

use super::Amd;
use super::params::AmBytes;
use super::pdus::Pdus;
use super::status::Status;
use crate::rlc::bytes::header;
use crate::rlc::bytes::ranges::RangeSet;

/// State variables and timers of the receiving end.
#[derive(Debug)]
pub struct Receiver {
    reordering: Duration,
    status_prohibit: Option<Duration>,
    /// VR(R): number of the first PDU that is not complete.
    vr_r: u64,
    /// VR(MS): number up to which a report can acknowledge.
    vr_ms: u64,
    /// VR(H): number after the highest one received.
    vr_h: u64,
    /// Expiry of t-Reordering and VR(X), the number after the PDU that started it, if it runs.
    timer: Option<(Time, u64)>,
    /// Octets received of PDUs that are not complete.
    partial: RangeSet,
    /// End of the octets received in sequence.
    in_sequence: u64,
    /// Numbers of PDUs that polled and whose answer is delayed until VR(MS) has passed them.
    polls: Vec<u64>,
    /// Whether a report is triggered.
    is_triggered: bool,
    /// Expiry of t-StatusProhibit, if it runs.
    prohibited_until: Option<Time>,
}

impl Receiver {
    /// Creates the state before the first PDU.
    pub fn new(params: &AmBytes) -> Self {
        Self {
            reordering: params.reordering,
            status_prohibit: params.status_prohibit,
            vr_r: 0,
            vr_ms: 0,
            vr_h: 0,
            timer: None,
            partial: RangeSet::default(),
            in_sequence: 0,
            polls: Vec::new(),
            is_triggered: false,
            prohibited_until: None,
        }
    }

    /// Returns the end of the octets received in sequence: all SDUs before it are delivered.
    #[inline]
    pub fn in_sequence(&self) -> u64 {
        self.in_sequence
    }

    /// Receives an AMD PDU or a segment of one.
    #[inline]
    pub fn receive(&mut self, now: Time, amd: &Amd, pdus: &mut Pdus) {
        let is_new = amd.sn >= self.vr_r && self.place(amd, pdus);
        if is_new {
            self.update(now, amd.sn, pdus);
        }
        if amd.poll {
            self.on_poll(amd.sn, is_new);
        }
    }

    /// Puts octets into the reception buffer. Returns false if all were received before (5.1.3.2.2).
    #[inline]
    fn place(&mut self, amd: &Amd, pdus: &mut Pdus) -> bool {
        let Some(pdu) = pdus.get_mut(amd.sn).filter(|pdu| !pdu.is_complete()) else { return false };
        let had = pdu.received;
        if amd.octets == pdu.octets {
            pdu.received = pdu.size();
        } else {
            pdu.received += self.partial.insert(amd.octets.clone());
        }
        if pdu.is_complete() && (had > 0 || amd.octets != pdu.octets) {
            self.partial.remove(pdu.octets.clone());
        }
        pdu.received > had
    }

    /// Moves the state variables after octets of PDU `sn` were received (5.1.3.2.3).
    #[inline]
    fn update(&mut self, now: Time, sn: u64, pdus: &Pdus) {
        self.vr_h = self.vr_h.max(sn + 1);
        if sn == self.vr_ms {
            self.move_vr_ms(sn, pdus);
        }
        if sn == self.vr_r {
            self.vr_r = pdus.first_incomplete(sn);
            let before = self.vr_r.checked_sub(1).and_then(|last| pdus.get(last));
            let end = before.map_or(self.in_sequence, |pdu| pdu.octets.end);
            self.in_sequence = self.partial.run_end(end.max(self.in_sequence));
        }
        self.timer = self.timer.filter(|(_, vr_x)| *vr_x > self.vr_r);
        if self.timer.is_none() && self.vr_h > self.vr_r {
            self.timer = Some((now + self.reordering, self.vr_h));
        }
    }

    /// Moves VR(MS) to the first PDU from `sn` that is not complete, and triggers the report for which a poll
    /// before it waits.
    #[inline]
    fn move_vr_ms(&mut self, sn: u64, pdus: &Pdus) {
        self.vr_ms = pdus.first_incomplete(sn);
        if !self.polls.is_empty() {
            let (waiting, vr_ms) = (self.polls.len(), self.vr_ms);
            self.polls.retain(|poll| *poll >= vr_ms);
            self.is_triggered |= self.polls.len() < waiting;
        }
    }

    /// Triggers a report for a poll in PDU `sn`, immediately if the PDU is discarded or before VR(MS), else as
    /// soon as VR(MS) has passed it (5.2.3).
    #[inline]
    fn on_poll(&mut self, sn: u64, is_new: bool) {
        if !is_new || sn < self.vr_ms {
            self.is_triggered = true;
        } else {
            self.polls.push(sn);
        }
    }

    // --- reports ---

    /// Returns an upper bound of the size of the STATUS PDU that can be sent now, 0 if there is none.
    pub fn report_size(&self, now: Time, pdus: &Pdus) -> u32 {
        if !self.can_report(now) {
            return 0;
        }
        Status::size_of(pdus, &self.partial, self.vr_r..self.vr_ms)
    }

    #[inline]
    fn can_report(&self, now: Time) -> bool {
        self.is_triggered && self.prohibited_until.is_none_or(|until| until <= now)
    }

    /// Writes the STATUS PDU to be sent now, of at most `room` octets, to `status`. Returns false if there is
    /// none, or no room for it.
    pub fn report(&mut self, now: Time, room: u32, pdus: &Pdus, status: &mut Status) -> bool {
        if !self.can_report(now) || room < header::SMALLEST_STATUS {
            return false;
        }
        status.write(pdus, &self.partial, self.vr_r..self.vr_ms, room);
        self.is_triggered = false;
        self.prohibited_until = self.status_prohibit.map(|prohibit| now + prohibit);
        true
    }

    // --- timers ---

    /// Returns the time at which [`Self::on_time`] must be called next, if any. It includes the end of
    /// t-StatusProhibit if a report waits for it.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        let prohibit = self.prohibited_until.filter(|_| self.is_triggered);
        self.timer.map(|(at, _)| at).into_iter().chain(prohibit).min()
    }

    /// Processes the timers that expire by `now`.
    pub fn on_time(&mut self, now: Time, pdus: &Pdus) {
        self.prohibited_until = self.prohibited_until.filter(|until| *until > now);
        if let Some((at, vr_x)) = self.timer
            && at <= now
        {
            self.timer = None;
            self.move_vr_ms(vr_x, pdus);
            if self.vr_h > self.vr_ms {
                self.timer = Some((now + self.reordering, self.vr_h));
            }
            self.is_triggered = true;
        }
    }
}
