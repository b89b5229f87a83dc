//! TS 36.322, 5.1.3.2 and 5.2.3.

use nodeb_base::units::{Duration, Time};

use super::Amd;
use super::params::LteAm;
use super::pdus::Pdus;
use super::status::Status;
use crate::rlc::lte::ranges::RangeSet;
use crate::rlc::lte::{earlier, header};

#[derive(Debug)]
pub struct Receiver {
    reordering: Duration,
    status_prohibit: Option<Duration>,
    /// VR(R): first PDU that is not received completely.
    vr_r: u64,
    /// VR(MS): highest ACK_SN of a report, which covers lower numbers.
    vr_ms: u64,
    /// VR(H).
    vr_h: u64,
    /// Expiry of t-Reordering, and VR(X).
    timer: Option<(Time, u64)>,
    /// Octets of PDUs of which others are missing.
    partial: RangeSet,
    /// First octet that is not received in sequence.
    in_sequence: u64,
    /// PDUs whose polls are answered when VR(MS) has passed them.
    polls: Vec<u64>,
    /// A report is due as soon as t-StatusProhibit allows it.
    is_triggered: bool,
    /// t-StatusProhibit.
    prohibited_until: Option<Time>,
}

impl Receiver {
    pub fn new(params: &LteAm) -> Self {
        Self {
            reordering: params.t_reordering,
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

    /// SDUs that end before it can be delivered.
    #[inline]
    pub fn in_sequence(&self) -> u64 {
        self.in_sequence
    }

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

    /// False if all octets were received before (5.1.3.2.2).
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

    // Clause: TS 36.322, 5.1.3.2: reordering in acknowledged mode
    /// State variables and t-Reordering (5.1.3.2.3).
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

    /// From `sn` on; triggers a report if VR(MS) passes a PDU whose poll waits.
    #[inline]
    fn move_vr_ms(&mut self, sn: u64, pdus: &Pdus) {
        self.vr_ms = pdus.first_incomplete(sn);
        if !self.polls.is_empty() {
            let (waiting, vr_ms) = (self.polls.len(), self.vr_ms);
            self.polls.retain(|poll| *poll >= vr_ms);
            self.is_triggered |= self.polls.len() < waiting;
        }
    }

    /// Triggers a report at once if the PDU was discarded or is before VR(MS), else when VR(MS) passes it
    /// (5.2.3).
    #[inline]
    fn on_poll(&mut self, sn: u64, is_new: bool) {
        if !is_new || sn < self.vr_ms {
            self.is_triggered = true;
        } else {
            self.polls.push(sn);
        }
    }

    // --- Methods for status reports ---

    /// Upper bound, 0 if no report can be sent.
    pub fn report_size(&self, now: Time, pdus: &Pdus) -> u32 {
        if !self.can_report(now) {
            return 0;
        }
        Status::size_of(pdus, &self.partial, self.vr_r..self.vr_ms)
    }

    // Clause: TS 36.322, 5.2.3: prohibition of STATUS PDUs
    #[inline]
    fn can_report(&self, now: Time) -> bool {
        self.is_triggered && self.prohibited_until.is_none_or(|until| until <= now)
    }

    /// False if no report can be sent now or fits.
    pub fn report(&mut self, now: Time, room: u32, pdus: &Pdus, status: &mut Status) -> bool {
        if !self.can_report(now) || room < header::SMALLEST_STATUS {
            return false;
        }
        status.write(pdus, &self.partial, self.vr_r..self.vr_ms, room);
        self.is_triggered = false;
        self.prohibited_until = self.status_prohibit.map(|prohibit| now + prohibit);
        true
    }

    // --- Methods for timers ---

    /// t-StatusProhibit only counts if a report waits for it.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        let prohibit = self.prohibited_until.filter(|_| self.is_triggered);
        earlier(self.timer.map(|(at, _)| at), prohibit)
    }

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
