//! What is sent when: the windows, the pacer and the data each have a say.

use super::{Sender, Setup, Usage};
use crate::linux::control::Phase;
use crate::linux::{FIRST_BYTE, clock_us};
use crate::segment::{Ecn, Kind, Segment};
use crate::units::Time;

/// Pacing of a control that knows no rate, relative to a window per round trip, in slow start and
/// afterwards (Linux: `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const SLOW_START_PACE: f64 = 2.0;
const AVOIDANCE_PACE: f64 = 1.2;

impl Sender {
    /// Bytes per second at which segments may leave; `None` without pacing.
    fn pace(&self) -> Option<f64> {
        // A window set from outside is what the path holds, and all of it may leave.
        if !self.params.pacing || self.steered.is_some() {
            return None;
        }
        if let Some(rate) = self.control.pacing_rate() {
            return Some(rate);
        }
        let (cwnd, ssthresh) = (self.control.cwnd(), self.control.ssthresh());
        let ratio = if cwnd < ssthresh / 2 { SLOW_START_PACE } else { AVOIDANCE_PACE };
        let srtt = self.rtt.srtt()?.as_secs();
        (srtt > 0.0).then(|| ratio * cwnd as f64 / srtt)
    }

    pub(super) fn packet(&self, now: Time, seq: u64, payload: u64) -> Segment {
        Segment {
            size: payload as u32 + self.params.header_bytes(),
            seq,
            timestamp_us: if self.params.timestamps { clock_us(now) } else { 0 },
            echo_us: self.recent_stamp,
            ..Segment::control(self.flow, Kind::Data)
        }
    }

    pub(super) fn send_syn(&mut self, now: Time, times: u32, out: &mut Vec<Segment>) {
        self.setup = Setup::SynSent(now, times);
        self.counts.packets += 1;
        self.counts.retransmissions += u64::from(times > 1);
        out.push(Segment {
            retransmission: times > 1,
            size: self.params.syn_bytes(),
            ..self.packet(now, 0, 0)
        });
        self.timers.rto = Some(now + self.rtt.rto());
        self.timers.settle(now);
    }

    /// Sends what the windows, the pacer and the data allow. After a timeout a window set from outside
    /// lets out `repeats` segments that were sent before, while something is in flight.
    pub(super) fn transmit(&mut self, now: Time, mut repeats: u64, out: &mut Vec<Segment>) {
        let gently = self.steered.is_some() && self.episode.phase() == Phase::Loss;
        self.timers.pacing = None;
        if self.board.head().is_none() && now.since(self.last_sent) > self.rtt.rto() {
            self.control.on_idle();
        }
        let rate = self.pace();
        self.pacer.set_rate(rate, rate.map_or(0, |rate| self.control.least_quantum(rate)));
        let mut limited = false;
        while let Some((number, again)) = self.next_segment() {
            let (first, end) = self.board.range(number);
            if !self.window_allows(end - first) {
                limited = true;
                break;
            }
            if gently && again && self.in_flight() > 0 {
                if repeats == 0 {
                    limited = true;
                    break;
                }
                repeats -= 1;
            }
            if let Some(at) = self.pacer.blocked(now) {
                self.timers.pacing = Some(at);
                limited = true;
                break;
            }
            self.send(now, number, again, out);
        }
        self.note_usage(limited);
        if self.control.holds_back() || (!limited && self.board.is_exhausted()) {
            self.sampler.set_app_limited(self.in_flight());
        }
        self.keep_waiting(now);
        self.timers.settle(now);
    }

    /// What to send next: lost segments first, then new ones that the receiver allows (RFC 6675,
    /// `NextSeg`, 1 and 2; RACK and the probe take the place of 3 and 4).
    fn next_segment(&mut self) -> Option<(u64, bool)> {
        let frto = self.episode.frto_mut().and_then(|frto| frto.may_send_new());
        if frto.is_none()
            && let Some(lost) = self.board.next_lost()
        {
            return Some((lost, true));
        }
        let next = self.board.end();
        let allowed = frto != Some(false) && !self.board.is_exhausted() && self.receiver_allows(next);
        allowed.then_some((next, false))
    }

    /// Whether segment `number` lies within the receiver's window.
    pub(in super::super) fn receiver_allows(&self, number: u64) -> bool {
        self.board.range(number).1 <= self.edge
    }

    fn window_allows(&self, bytes: u64) -> bool {
        let in_flight = self.in_flight();
        if in_flight == 0 {
            return true;
        }
        match self.episode.prr() {
            Some(prr) if self.steered.is_none() => prr.allows(bytes),
            _ => in_flight + bytes <= self.steered.unwrap_or_else(|| self.control.cwnd()),
        }
    }

    /// Sends segment `number`, for the first time or again.
    pub(in super::super) fn send(&mut self, now: Time, number: u64, again: bool, out: &mut Vec<Segment>) {
        let (first, end) = self.board.range(number);
        let (bytes, before) = (end - first, self.board.pipe());
        if before == 0 && self.sampler.is_app_limited() {
            self.control.on_restart(now);
        }
        let snapshot = self.sampler.on_send(now, bytes, before);
        self.counts.packets += 1;
        let mut packet = Segment { retransmission: again, ..self.packet(now, FIRST_BYTE + first, bytes) };
        if again {
            self.counts.retransmissions += 1;
            self.board.send_again(now, number, snapshot);
            if let Some(undo) = &mut self.undo {
                undo.note_retransmission(now);
            }
        } else {
            self.board.send_next(now, snapshot);
            if let Some(frto) = self.episode.frto_mut() {
                frto.note_new();
            }
            // Retransmissions are not marked (RFC 3168, 6.1.5).
            let reduced = std::mem::take(&mut self.tell_reduced);
            packet.ecn = Ecn { capable: self.params.ecn, reduced, ..Ecn::default() };
        }
        out.push(packet);
        self.last_sent = now;
        if let Some(prr) = self.episode.prr_mut() {
            prr.on_sent(bytes);
        }
        self.pacer.charge(now, bytes);
        if self.timers.rto.is_none() || self.board.head() == Some(number) {
            self.timers.rto = Some(now + self.rtt.rto());
        }
        if !again {
            self.arm_probe(now);
        }
    }

    /// A window is in use if it was the limit at some moment of the last round trip (RFC 7661, as
    /// Linux decides it).
    fn note_usage(&mut self, limited: bool) {
        let outstanding = self.in_flight();
        let new_round = self.board.una() >= self.usage.until;
        if new_round || limited || (!self.usage.limited && outstanding > self.usage.outstanding) {
            self.usage = Usage { outstanding, limited, until: self.board.next() };
        }
    }

    pub(super) fn is_window_limited(&self) -> bool {
        let slow_start = self.control.is_slow_start();
        self.usage.limited || (slow_start && self.control.cwnd() < 2 * self.usage.outstanding)
    }

    /// With nothing outstanding and a closed window only a probe can find it open again.
    fn keep_waiting(&mut self, now: Time) {
        if self.board.head().is_some() || self.board.is_exhausted() || self.timers.pacing.is_some() {
            self.timers.persist = None;
        } else if self.timers.persist.is_none() {
            self.timers.persist = Some(now + self.rtt.rto());
        }
        if self.board.head().is_none() {
            self.timers.stop_waiting();
        }
    }
}
