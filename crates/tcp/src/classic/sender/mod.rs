//! ns-2.35 `tcp.cc`, compared packet by packet with traces of ns-2. Segments are numbered: 0 is the SYN. ECN,
//! quick-start, timestamps and ns-2's burst limit `maxburst_` are not modelled.

use nodeb_base::event::{self, SendLimit, TimerKind};
use nodeb_base::units::{Duration, Time};

use super::eifel::{Eifel, SpuriousRetransmission};
use super::params::Classic;
use super::recovery::{Ack, Recovery};
use super::rtt::{Limits, RttEstimator};
use super::segments::Segments;
use super::timing::Timing;
use crate::segment::{Kind, Segment};
use crate::{RETRANSMISSIONS_PER_ACK, SenderCounts, Window};

/// In segments unless stated otherwise.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of ns-2")]
pub struct Transmission {
    pub cwnd: f64,
    /// Set from outside, in place of `cwnd`.
    steered: Option<f64>,
    /// At least two after a loss.
    pub ssthresh: u64,
    /// First unacknowledged segment.
    pub una: u64,
    /// A timeout or Tahoe's fast retransmission sets it back to `una`.
    pub next: u64,
    /// Highest segment ever sent, plus 1.
    pub end: u64,
    /// `end` at the last loss event or idle timeout; 1 before and after a fast recovery with SACK. A recovery
    /// lasts until segments below it are acknowledged, except Reno's, which ends at the first new ACK.
    pub recover: u64,
    /// `recover` if set by a timeout that Eifel has not undone, else 0; recovery lasts until segments below
    /// it are acknowledged.
    recover_timeout: u64,
    /// SACK counts duplicate ACKs only outside of fast recovery and with new segments. Partial ACKs of
    /// NewReno and SACK do not reset it; a timeout does, except for Tahoe.
    pub dupacks: u32,
    pub counts: SenderCounts,
    flow: u32,
    data: Segments,
    closed: bool,
    max_window: u64,
    initial_window: f64,
    limited_transmit: bool,
    fractional_halves: bool,
    slow_start_restart: bool,
    half_of_flight: bool,
    rtt: RttEstimator,
    timing: Timing,
    eifel: Option<Eifel>,
    timer: Option<Time>,
    /// Since the simulation last read it.
    last_rtt: Option<Duration>,
}

impl Transmission {
    /// A retransmission below `end`.
    pub fn send(&mut self, now: Time, seq: u64, out: &mut Vec<Segment>) {
        let nothing_outstanding = self.una == self.end;
        let retransmission = seq < self.end;
        self.counts.packets += 1;
        if retransmission {
            self.counts.retransmissions += 1;
        } else {
            self.end = seq + 1;
            if let Some(eifel) = &mut self.eifel {
                eifel.record_sent(now);
            }
        }
        self.timing.send(now, seq, retransmission);
        let size = self.data.size_of(seq);
        out.push(Segment { size, retransmission, seq, ..Segment::control(self.flow, Kind::Data) });
        if self.timer.is_none() || nothing_outstanding {
            self.restart_timer(now);
        }
    }

    /// At most `limit`.
    pub fn send_window(&mut self, now: Time, window: u64, limit: u64, out: &mut Vec<Segment>) {
        let end = (self.una + window).min(self.data_end()).min(self.next.saturating_add(limit));
        while self.next < end {
            let seq = self.next;
            self.next += 1;
            self.send(now, seq, out);
        }
    }

    /// Limited Transmit (RFC 3042) on the first or second duplicate ACK, within the receiver's window.
    pub fn send_beyond_window(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.limited_transmit {
            return;
        }
        let allowed = self.allowed() + f64::from(self.dupacks);
        if ((self.next + 1 - self.una) as f64) <= allowed {
            self.send_window(now, self.max_window, 1, out);
        }
    }

    /// Without the receiver's window: the congestion window or, once the SYN is acknowledged, that set from
    /// outside.
    pub fn allowed(&self) -> f64 {
        self.steered.filter(|_| self.una > 0).unwrap_or(self.cwnd)
    }

    /// [`Self::allowed`] plus `inflation`, at most the receiver's window.
    pub fn window(&self, inflation: u64) -> u64 {
        (self.allowed() as u64 + inflation).min(self.max_window)
    }

    /// At most [`RETRANSMISSIONS_PER_ACK`] when going back N with a window set from outside.
    fn pace(&self, limit: u64) -> u64 {
        let is_retransmitting = self.steered.is_some() && self.next < self.end;
        if is_retransmitting { limit.min(RETRANSMISSIONS_PER_ACK) } else { limit }
    }

    /// Constant, in segments.
    pub fn max_window(&self) -> u64 {
        self.max_window
    }

    /// Last segment plus 1.
    pub fn data_end(&self) -> u64 {
        self.data.end()
    }

    /// Of `cwnd` plus `inflation`, at most the receiver's window; rounded down unless `fractional_halves`.
    pub fn half_window(&self, inflation: u64) -> f64 {
        let used = (self.cwnd + inflation as f64).min(self.max_window as f64);
        if self.fractional_halves { used / 2.0 } else { (used / 2.0).floor() }
    }

    /// Of the outstanding data if `half_of_flight`, else of the window; the caller rounds it down.
    fn half_after_timeout(&self) -> f64 {
        if self.half_of_flight { (self.end - self.una) as f64 / 2.0 } else { self.half_window(0) }
    }

    /// Rounded down, at least two.
    pub fn set_ssthresh(&mut self, half: f64) {
        self.ssthresh = (half as u64).max(2);
    }

    /// By one segment in slow start, 1 / cwnd in congestion avoidance.
    pub fn open_window(&mut self) {
        self.cwnd += if self.cwnd < self.ssthresh as f64 { 1.0 } else { 1.0 / self.cwnd };
    }

    /// A round-trip time ends the backoff; resets the duplicate ACKs and restarts the timer.
    pub fn advance(&mut self, now: Time, acked: u64) {
        self.dupacks = 0;
        self.move_up_to(acked);
        if let Some((seq, sent)) = self.timing.acknowledge(acked) {
            self.rtt.reset_backoff();
            self.take_sample(seq, sent, now.since(sent));
        }
        self.restart_timer(now);
    }

    /// Without a round-trip time, since a retransmission may have triggered the ACK; timer and duplicate ACKs
    /// are unchanged.
    pub fn advance_partially(&mut self, acked: u64) {
        self.move_up_to(acked);
        if self.timing.acknowledge(acked).is_some() {
            self.rtt.reset_backoff();
        }
    }

    /// Restarts the timer and ends the backoff, without a round-trip time.
    pub fn advance_in_sack_recovery(&mut self, now: Time, acked: u64) {
        self.move_up_to(acked);
        self.restart_timer(now);
        self.rtt.reset_backoff();
    }

    /// Third duplicate ACK of a new loss: a segment first sent after the last loss event is acknowledged. As
    /// in ns-2, a missing first data segment is always new.
    pub fn may_retransmit_fast(&self) -> bool {
        self.dupacks == DUPACK_THRESHOLD && (self.una > self.recover || self.una == 1)
    }

    /// Threshold and window become half of the window in use; restarts the timer.
    pub fn halve(&mut self, now: Time, inflation: u64) {
        self.suspect(false);
        self.mark_loss();
        let half = self.half_window(inflation);
        self.set_ssthresh(half);
        self.cwnd = half.max(1.0);
        self.counts.fast_retransmits += 1;
        self.restart_timer(now);
    }

    fn move_up_to(&mut self, acked: u64) {
        self.una = acked;
        self.data.forget_below(acked);
        if let Some(eifel) = &mut self.eifel {
            eifel.forget_below(acked);
        }
        self.next = self.next.max(acked);
    }

    /// Before window and threshold are reduced, because Eifel may restore them.
    fn suspect(&mut self, timed_out: bool) {
        if let Some(eifel) = &mut self.eifel {
            eifel.suspect(self.una, self.ssthresh.max(self.end - self.una), timed_out);
        }
    }

    /// RFC 4015, steps 9 and 11; after a timeout also adapts the timeout and restarts the timer.
    fn respond_to_spurious(&mut self, now: Time, spurious: SpuriousRetransmission, acked: u64) {
        self.cwnd = (self.end - self.una) as f64 + (acked as f64).min(self.initial_window);
        self.ssthresh = spurious.pipe;
        if let Some(late) = spurious.late {
            self.rtt.adapt(late);
            self.restart_timer(now);
        }
    }

    fn take_sample(&mut self, seq: u64, sent: Time, rtt: Duration) {
        self.rtt.sample(sent, rtt);
        self.last_rtt = Some(rtt);
        if seq > 0 {
            self.counts.measure(rtt);
        }
    }

    /// Backoff included.
    pub fn restart_timer(&mut self, now: Time) {
        self.timer = Some(now + self.rtt.rto());
    }

    /// If one segment is timed at a time, its timing is discarded.
    pub fn mark_loss(&mut self) {
        self.recover = self.end;
        self.recover_timeout = 0;
        self.timing.mark_loss();
    }

    /// A segment outstanding at the last loss event is not acknowledged.
    pub fn is_behind_loss(&self) -> bool {
        self.una > 0 && self.una < self.recover
    }
}

#[derive(Debug)]
pub struct Sender {
    tx: Transmission,
    recovery: Box<dyn Recovery>,
}

/// RFC 5681, 3.2.
pub const DUPACK_THRESHOLD: u32 = 3;

impl Sender {
    pub fn new(flow: u32, tcp: &Classic) -> Self {
        let limits = Limits {
            tick: tcp.clock(),
            phase: tcp.clock_phase,
            initial: tcp.initial_rto(),
            min: tcp.min_rto(),
            max: tcp.max_rto(),
            backoff_from_minimum: tcp.backoff_from_minimum(),
        };
        let rtt = RttEstimator::new(&tcp.estimator, limits);
        let tx = Transmission {
            cwnd: 1.0,
            steered: None,
            ssthresh: u64::from(tcp.initial_ssthresh.get()),
            una: 0,
            next: 0,
            end: 0,
            recover: 1,
            recover_timeout: 0,
            dupacks: 0,
            counts: SenderCounts::default(),
            flow,
            data: Segments::new(tcp.packet_size.0),
            closed: false,
            max_window: u64::from(tcp.max_window.get()),
            initial_window: f64::from(tcp.initial_window()),
            limited_transmit: tcp.limited_transmit(),
            fractional_halves: tcp.fractional_halves(),
            slow_start_restart: tcp.slow_start_restart,
            half_of_flight: tcp.half_of_flight,
            rtt,
            timing: Timing::new(&tcp.estimator),
            eifel: tcp.eifel.then(Eifel::default),
            timer: None,
            last_rtt: None,
        };
        Self { tx, recovery: tcp.control.build(tcp.era) }
    }

    fn transmit(&mut self, now: Time, limit: u64, out: &mut Vec<Segment>) {
        let window = self.tx.window(self.recovery.inflation());
        self.tx.send_window(now, window, limit, out);
    }
}

impl crate::Sender for Sender {
    fn open(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.tx.end == 0 {
            self.transmit(now, u64::MAX, out);
        }
    }

    fn on_ack(&mut self, now: Time, ack: &Segment, out: &mut Vec<Segment>) {
        // If nothing is outstanding, an ACK below `una` is old. It is not a duplicate ACK (RFC
        // 5681, 2), so it is ignored.
        let is_old = self.tx.una == self.tx.end && ack.seq < self.tx.una;
        if self.is_done() || is_old {
            return;
        }
        let before = self.tx.una;
        let acked = ack.seq + 1;
        let eifel = self.tx.eifel.as_mut();
        let spurious = eifel.and_then(|eifel| eifel.detect(now, acked, ack.answers_retransmission));
        if spurious.is_some() {
            // The retransmission was spurious. So a recovery in progress ends, and the sender
            // continues with new data (RFC 4015, step 8).
            self.recovery.abandon(&mut self.tx);
            self.tx.recover_timeout = 0;
            self.tx.next = self.tx.end;
        }
        let limit = self.recovery.on_ack(&mut self.tx, now, Ack { number: ack.seq, sack: &ack.sack }, out);
        if let Some(spurious) = spurious {
            self.tx.respond_to_spurious(now, spurious, self.tx.una - before);
        }
        if before == 0 && self.tx.una == 1 {
            self.tx.cwnd = self.tx.initial_window;
        }
        if self.is_done() {
            self.tx.timer = None;
        } else if let Some(limit) = limit {
            self.transmit(now, self.tx.pace(limit), out);
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let idle = self.tx.una == self.tx.end;
        if idle && !self.tx.slow_start_restart {
            self.tx.timer = None;
            return;
        }
        if self.tx.una == 0 {
            // A lost SYN may indicate congestion, so the window after the handshake is one segment
            // (RFC 5681, 3.1).
            self.tx.initial_window = 1.0;
        }
        if !idle {
            self.tx.suspect(true);
        }
        self.recovery.abandon(&mut self.tx);
        self.tx.mark_loss();
        if !idle {
            self.tx.recover_timeout = self.tx.recover;
            self.tx.counts.timeouts += 1;
            let half = self.tx.half_after_timeout();
            self.tx.set_ssthresh(half);
            self.tx.rtt.back_off();
        }
        self.tx.cwnd = 1.0;
        self.tx.next = self.tx.una;
        self.tx.restart_timer(now);
        let limit = if self.tx.steered.is_some() { 1 } else { u64::MAX };
        self.transmit(now, limit, out);
    }

    fn timer(&self) -> Option<Time> {
        self.tx.timer
    }

    fn recovery(&self) -> event::Recovery {
        if self.tx.una < self.tx.recover_timeout {
            event::Recovery::Timeout
        } else if self.recovery.is_repairing(&self.tx) {
            event::Recovery::Fast
        } else {
            event::Recovery::Open
        }
    }

    fn send_limit(&self) -> SendLimit {
        let tx = &self.tx;
        if tx.una == 0 {
            SendLimit::Handshake
        } else if crate::Sender::recovery(self) != event::Recovery::Open {
            SendLimit::Recovery
        } else if tx.next >= tx.data_end() {
            SendLimit::Application
        } else if tx.allowed() >= tx.max_window as f64 {
            SendLimit::Receiver
        } else if tx.steered.is_some() {
            SendLimit::Steered
        } else if tx.cwnd < tx.ssthresh as f64 {
            SendLimit::SlowStart
        } else {
            SendLimit::CongestionAvoidance
        }
    }

    fn expired_timer(&self, _: Time) -> TimerKind {
        TimerKind::Retransmission
    }

    fn write(&mut self, now: Time, bytes: u64, out: &mut Vec<Segment>) {
        self.tx.data.write(bytes);
        if self.tx.end > 0
            && let Some(limit) = self.recovery.on_write(&mut self.tx, now, out)
        {
            self.transmit(now, limit, out);
        }
    }

    fn close(&mut self) {
        self.tx.closed = true;
    }

    fn is_idle(&self) -> bool {
        self.tx.una >= self.tx.data.end()
    }

    fn is_done(&self) -> bool {
        self.tx.closed && self.is_idle()
    }

    fn acked_bytes(&self) -> u64 {
        self.tx.data.bytes_up_to(self.tx.una)
    }

    fn wire_bytes(&self) -> u64 {
        self.tx.data.wire_bytes()
    }

    fn steer(&mut self, now: Time, window: f64, out: &mut Vec<Segment>) {
        self.tx.steered = Some(window.max(1.0));
        if self.tx.una > 0 {
            self.transmit(now, self.tx.pace(u64::MAX), out);
        }
    }

    fn window(&self) -> Window {
        Window { cwnd: self.tx.allowed(), ssthresh: self.tx.ssthresh as f64 }
    }

    fn counts(&self) -> &SenderCounts {
        &self.tx.counts
    }

    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.tx.last_rtt.take()
    }
}

#[cfg(test)]
mod tests;
