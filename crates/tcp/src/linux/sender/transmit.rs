use nodeb_base::event::SendLimit;
use nodeb_base::units::{Duration, Time};

use super::{Pending, Sender, Setup, Transmission};
use crate::linux::control::Phase;
use crate::linux::{FIRST_BYTE, clock_us};
use crate::segment::{Ecn, Kind, Segment};

/// `tcp_pacing_ss_ratio`: windows per round trip below half of the threshold, without an own rate.
const SLOW_START_PACE: f64 = 2.0;
/// `tcp_pacing_ca_ratio`: windows per round trip from half of the threshold on.
const AVOIDANCE_PACE: f64 = 1.2;

impl Sender {
    /// In bytes per second.
    fn pace(&self) -> Option<f64> {
        // A window that is set from outside is assumed to fit into the network. So the whole window
        // may leave at once, without pacing.
        if self.steered.is_some() {
            return None;
        }
        // A congestion control with a rate of its own paces itself (Linux: `tcp_internal_pacing`).
        // All others are paced only if the key `pacing` is set, as by Linux's queueing discipline
        // `fq`.
        if let Some(rate) = self.control.pacing_rate {
            return Some(rate);
        }
        if !self.params.pacing {
            return None;
        }
        let (cwnd, ssthresh) = (self.control.cwnd, self.control.ssthresh);
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

    #[cold]
    pub(super) fn send_syn(&mut self, now: Time, times: u32, out: &mut Vec<Segment>) {
        self.setup = Setup::SynSent(now, times);
        self.counts.packets += 1;
        self.counts.retransmissions += u64::from(times > 1);
        out.push(Segment {
            retransmission: times > 1,
            size: self.params.syn_bytes(),
            ..self.packet(now, 0, 0)
        });
        self.timers.set(now, self.rtt.rto(), Pending::Timeout);
        self.timers.reschedule(now);
    }

    /// With `steered`, at most `max_retransmissions` in the recovery from a timeout while data is in flight.
    pub(super) fn transmit(&mut self, now: Time, mut max_retransmissions: u64, out: &mut Vec<Segment>) {
        let gently = self.steered.is_some() && self.episode.phase() == Phase::Loss;
        self.timers.pacing = None;
        let before = self.scoreboard.next();
        let mut had_unsent = self.unsent_in_buffer() > 0;
        self.restart_after_idle(now);
        let rate = self.pace();
        self.pacer.set_rate(rate, self.control.min_quantum);
        let mut limited = self.send_allowed(now, gently, &mut max_retransmissions, out);
        while self.fill_buffer() {
            had_unsent = true;
            limited = self.send_allowed(now, gently, &mut max_retransmissions, out);
        }
        // Of the segments sent, only new ones arm a tail loss probe. So a probe that retransmits a
        // segment does not arm the next probe.
        let sends_new = self.scoreboard.next() > before;
        if sends_new {
            self.arm_probe(now, false);
        }
        limited |= self.in_flight() >= self.cwnd();
        if sends_new || (limited && had_unsent) {
            self.record_usage(now, limited);
        }
        if self.control.holds_back || (!limited && self.scoreboard.is_exhausted()) {
            let outstanding = self.scoreboard.next() - self.scoreboard.una();
            self.sampler.set_app_limited(self.in_flight().min(outstanding));
        }
        self.update_window_probe_timer(now);
        self.timers.reschedule(now);
    }

    /// True if the congestion window, the pacer or the limit stopped it; `gently` applies
    /// `max_retransmissions` while data is in flight.
    fn send_allowed(
        &mut self,
        now: Time,
        gently: bool,
        max_retransmissions: &mut u64,
        out: &mut Vec<Segment>,
    ) -> bool {
        while let Some((number, transmission)) = self.next_segment() {
            let again = transmission == Transmission::Repair;
            if !self.window_allows() {
                return true;
            }
            if gently && again && self.in_flight() > 0 {
                if *max_retransmissions == 0 {
                    return true;
                }
                *max_retransmissions -= 1;
            }
            if let Some(at) = self.pacer.blocked(now) {
                self.timers.pacing = Some(at);
                return true;
            }
            self.send(now, number, transmission, out);
        }
        false
    }

    /// Lost segments, then new ones (RFC 6675, `NextSeg`, rules 1 and 2; RACK and the tail loss probe replace
    /// rules 3 and 4).
    fn next_segment(&mut self) -> Option<(u64, Transmission)> {
        if self.may_repair
            && !self.is_probing_timeout()
            && let Some(lost) = self.scoreboard.next_lost()
        {
            return self.may_retransmit(lost).then_some((lost, Transmission::Repair));
        }
        self.has_new().then_some((self.scoreboard.end(), Transmission::New))
    }

    /// `__tcp_retransmit_skb`: the window includes its start; the first outstanding in any case, as a window
    /// probe.
    pub(in super::super) fn may_retransmit(&self, number: u64) -> bool {
        self.scoreboard.range(number).0 < self.edge || self.scoreboard.head() == Some(number)
    }

    /// The receiver's window allows all of it.
    pub(in super::super) fn has_new(&self) -> bool {
        let (first, end) = self.scoreboard.next_range();
        first < end && end <= self.edge.min(self.buffer.filled())
    }

    pub(in super::super) fn unsent_in_buffer(&self) -> u64 {
        self.buffer.filled().saturating_sub(self.scoreboard.next())
    }

    pub(super) fn limit_of_new_data(&self) -> SendLimit {
        if self.scoreboard.is_exhausted() {
            SendLimit::Application
        } else if self.scoreboard.next_range().1 > self.edge {
            SendLimit::Receiver
        } else if !self.has_new() {
            SendLimit::SendBuffer
        } else if self.timers.pacing.is_some() {
            SendLimit::Pacing
        } else if self.steered.is_some() {
            SendLimit::Steered
        } else if self.control.cwnd < self.control.ssthresh {
            SendLimit::SlowStart
        } else {
            SendLimit::CongestionAvoidance
        }
    }

    /// `tcp_new_space`: grows first if it, not the window, limits the sender; true if data was added.
    fn fill_buffer(&mut self) -> bool {
        if self.buffer.is_blocked() && self.in_flight() < self.cwnd() {
            self.buffer.expand(self.cwnd(), self.windows);
        }
        self.buffer.fill(self.scoreboard.written(), self.scoreboard.una(), self.scoreboard.next())
    }

    fn window_allows(&self) -> bool {
        let in_flight = self.in_flight();
        in_flight == 0 || in_flight + self.mss <= self.cwnd()
    }

    /// RFC 2861; Linux: `tcp_cwnd_restart`: half per timeout in the pause, with `slow_start_after_idle`.
    fn restart_after_idle(&mut self, now: Time) {
        let (first, end) = self.scoreboard.next_range();
        let may_send = first < end && end <= self.edge && self.pacer.blocked(now).is_none();
        if self.scoreboard.head().is_some() || !may_send {
            return;
        }
        let (pause, rto) = (now.since(self.last_sent).0, self.rtt.rto().0);
        if pause > rto && self.params.slow_start_after_idle {
            self.control.report(|control| control.on_idle((pause - 1) / rto));
            // The new period prevents a further reduction because the window was not used up.
            self.usage.begin_period(now);
            let window = self.control.cwnd;
            if let Some(prr) = self.episode.prr_mut() {
                prr.restart(window);
            }
        }
    }

    /// `tcp_set_xmit_timer`.
    pub(in super::super) fn set_loss_timer(&mut self, now: Time) {
        if !self.arm_probe(now, true) {
            self.rearm_timeout(now);
        }
    }

    /// `tcp_rto_delta_us`: since the last transmission of the first outstanding segment, at least 1 us.
    pub(in super::super) fn timeout_left(&self, now: Time) -> Duration {
        let sent = self.scoreboard.head_sent().unwrap_or(now);
        Duration((sent + self.rtt.rto()).since(now).0.max(1_000))
    }

    /// `tcp_rearm_rto`: from the head's last transmission if a probe's or reordering timer was armed,
    /// otherwise from `now`.
    #[inline(never)]
    pub(in super::super) fn rearm_timeout(&mut self, now: Time) {
        if self.scoreboard.head().is_none() {
            self.timers.loss = None;
            return;
        }
        let wait = match self.timers.pending() {
            Some(Pending::Probe | Pending::Reorder) => self.timeout_left(now),
            Some(Pending::Timeout | Pending::Window) | None => self.rtt.rto(),
        };
        self.timers.set(now, wait, Pending::Timeout);
    }

    /// With nothing in flight; a restart if application-limited before.
    #[inline(never)]
    fn report_start(&mut self, now: Time) {
        let (pause, restarts) = (now.since(self.last_sent), self.sampler.is_app_limited());
        self.control.report(|control| {
            control.on_start(now, pause);
            if restarts {
                control.on_restart(now);
            }
        });
    }

    pub(in super::super) fn send(
        &mut self,
        now: Time,
        number: u64,
        transmission: Transmission,
        out: &mut Vec<Segment>,
    ) {
        let again = transmission != Transmission::New;
        let (first, end) = if again { self.scoreboard.range(number) } else { self.scoreboard.next_range() };
        let (bytes, before) = (end - first, self.scoreboard.pipe());
        let nothing_outstanding = self.scoreboard.head().is_none();
        if self.in_flight() == 0 {
            self.report_start(now);
        }
        let snapshot = self.sampler.on_send(now, bytes, before, nothing_outstanding);
        self.counts.packets += 1;
        let mut packet = Segment { retransmission: again, ..self.packet(now, FIRST_BYTE + first, bytes) };
        match transmission {
            Transmission::New => {
                self.scoreboard.send_next(now, snapshot);
                self.buffer.on_sent(end, now == self.last_sent);
                // New segments are ECN-capable, but retransmissions are not (RFC 3168, 6.1.5).
                let reduced = std::mem::take(&mut self.send_cwr);
                packet.ecn = Ecn { capable: self.params.ecn, reduced, ..Ecn::default() };
            }
            Transmission::Repair => {
                self.scoreboard.repair(now, number, snapshot);
                self.undo.record_retransmission(now);
            }
            Transmission::Probe => self.scoreboard.probe(now, number, snapshot),
        }
        self.counts.retransmissions += u64::from(again);
        out.push(packet);
        self.last_sent = now;
        if let Some(prr) = self.episode.prr_mut().filter(|_| transmission != Transmission::Probe) {
            prr.on_sent();
        }
        self.pacer.charge(now, bytes);
        if again {
            if self.scoreboard.head() == Some(number) && self.timers.pending() != Some(Pending::Reorder) {
                self.timers.set(now, self.rtt.rto(), Pending::Timeout);
            }
        } else if nothing_outstanding || self.timers.pending() == Some(Pending::Probe) {
            self.rearm_timeout(now);
        }
    }
}
