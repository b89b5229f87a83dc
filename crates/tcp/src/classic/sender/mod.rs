//! The classic TCP sender: ns-2's packet-counted machine.
//!
//! Sequence numbers count segments: 0 is the SYN, data are 1 to N. What all variants share lives
//! here (window, transmission, round-trip sampling, retransmission timer, go-back-N after a
//! timeout); what a variant does about duplicate and partial ACKs is its [`Recovery`].
//! Source of the rules: ns-2.35 `tcp.cc`, against whose traces they are tested packet by packet.
//! Left out: ECN, quick-start, timestamps, burst limits, and senders that never close.

use nodeb_base::event::{self, SendLimit, TimerKind};
use nodeb_base::units::{Duration, Time};

use super::eifel::{Eifel, Mistake};
use super::params::Classic;
use super::recovery::{Ack, Recovery};
use super::rtt::{Limits, RttEstimator};
use super::segments::Segments;
use super::timing::Timing;
use crate::segment::{Kind, Segment};
use crate::{REPEATS_PER_ACK, SenderCounts, Window};

/// The mechanism that policies steer. Fields are in segments unless they say otherwise.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of ns-2")]
pub struct Transmission {
    /// Congestion window; may be fractional.
    pub cwnd: f64,
    /// The window set from outside, which takes its place.
    steered: Option<f64>,
    /// Slow-start threshold.
    pub ssthresh: u64,
    /// First segment not yet acknowledged.
    pub una: u64,
    /// Next segment to send; falls back to `una` after a timeout.
    pub next: u64,
    /// One past the highest segment ever sent.
    pub end: u64,
    /// `end` at the last loss event: an ACK up to here ends its recovery.
    pub recover: u64,
    /// The same where that was a timeout, else 0.
    recover_timeout: u64,
    /// Duplicate ACKs in a row.
    pub dupacks: u32,
    /// What has been done.
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
    /// Round trip measured by the ACK just processed.
    fresh_rtt: Option<Duration>,
}

impl Transmission {
    /// Sends one segment.
    pub fn send(&mut self, now: Time, seq: u64, out: &mut Vec<Segment>) {
        let nothing_outstanding = self.una == self.end;
        let retransmission = seq < self.end;
        self.counts.packets += 1;
        if retransmission {
            self.counts.retransmissions += 1;
        } else {
            self.end = seq + 1;
            if let Some(eifel) = &mut self.eifel {
                eifel.note_sent(now);
            }
        }
        self.timing.send(now, seq, retransmission);
        let size = self.data.size_of(seq);
        out.push(Segment { size, retransmission, seq, ..Segment::control(self.flow, Kind::Data) });
        if self.timer.is_none() || nothing_outstanding {
            self.restart_timer(now);
        }
    }

    /// Sends what a window of `window` segments allows, at most `limit` segments.
    pub fn send_window(&mut self, now: Time, window: u64, limit: u64, out: &mut Vec<Segment>) {
        let end = (self.una + window).min(self.data_end()).min(self.next.saturating_add(limit));
        while self.next < end {
            let seq = self.next;
            self.next += 1;
            self.send(now, seq, out);
        }
    }

    /// Limited Transmit (RFC 3042): one new segment for each of the first duplicate ACKs, if it is
    /// switched on and the receiver allows.
    pub fn send_beyond_window(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.limited_transmit {
            return;
        }
        let allowed = self.allowed() + f64::from(self.dupacks);
        if ((self.next + 1 - self.una) as f64) <= allowed {
            self.send_window(now, self.max_window, 1, out);
        }
    }

    /// What may be outstanding as far as the network is concerned: the congestion window, or the one set
    /// from outside once the SYN is acknowledged.
    pub fn allowed(&self) -> f64 {
        self.steered.filter(|_| self.una > 0).unwrap_or(self.cwnd)
    }

    /// The window: what is allowed plus `inflation`, at most what the receiver allows.
    pub fn window(&self, inflation: u64) -> u64 {
        (self.allowed() as u64 + inflation).min(self.max_window)
    }

    /// Segments that may leave on an ACK for which the variant would let out `limit`.
    fn pace(&self, limit: u64) -> u64 {
        let repeats = self.steered.is_some() && self.next < self.end;
        if repeats { limit.min(REPEATS_PER_ACK) } else { limit }
    }

    /// The largest window the receiver allows.
    pub fn max_window(&self) -> u64 {
        self.max_window
    }

    /// One past the last segment there is to send.
    pub fn data_end(&self) -> u64 {
        self.data.end()
    }

    /// Half the window in use, the new size after a loss.
    pub fn half_window(&self, inflation: u64) -> f64 {
        let used = (self.cwnd + inflation as f64).min(self.max_window as f64);
        if self.fractional_halves { used / 2.0 } else { (used / 2.0).floor() }
    }

    /// The new slow-start threshold after a timeout.
    fn half_after_timeout(&self) -> f64 {
        if self.half_of_flight { (self.end - self.una) as f64 / 2.0 } else { self.half_window(0) }
    }

    /// Sets the slow-start threshold after a loss: whole segments, at least two.
    pub fn set_ssthresh(&mut self, half: f64) {
        self.ssthresh = (half as u64).max(2);
    }

    /// Growth per ACK: one segment in slow start, 1 / cwnd in congestion avoidance.
    pub fn open_window(&mut self) {
        self.cwnd += if self.cwnd < self.ssthresh as f64 { 1.0 } else { 1.0 / self.cwnd };
    }

    /// Takes an ACK for everything below `acked`, with the round trip it may complete.
    pub fn advance(&mut self, now: Time, acked: u64) {
        self.dupacks = 0;
        self.move_up_to(acked);
        if let Some((seq, sent)) = self.timing.acknowledge(acked) {
            self.rtt.reset_backoff();
            self.take_sample(seq, sent, now.since(sent));
        }
        self.restart_timer(now);
    }

    /// As [`Self::advance`], but without a sample: the ACK may stem from a retransmission.
    pub fn advance_partially(&mut self, acked: u64) {
        self.move_up_to(acked);
        if self.timing.acknowledge(acked).is_some() {
            self.rtt.reset_backoff();
        }
    }

    /// As [`Self::advance_partially`] in SACK's recovery: the backoff always ends, the timer starts
    /// afresh, and what is being timed stays so.
    pub fn advance_in_sack_recovery(&mut self, now: Time, acked: u64) {
        self.move_up_to(acked);
        self.restart_timer(now);
        self.rtt.reset_backoff();
    }

    /// Whether duplicate ACKs now tell of a new loss. Only one beyond the last loss event is new;
    /// ns-2 excepts the first data segment.
    pub fn may_retransmit_fast(&self) -> bool {
        self.dupacks == DUPACK_THRESHOLD && (self.una > self.recover || self.una == 1)
    }

    /// Notes a fast retransmission: halves threshold and window, restarts the timer. `inflation` is
    /// what duplicate ACKs have added to the window before.
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

    /// The first outstanding segment is about to be sent again, and window and threshold to shrink.
    fn suspect(&mut self, timed_out: bool) {
        if let Some(eifel) = &mut self.eifel {
            eifel.suspect(self.una, self.ssthresh.max(self.end - self.una), timed_out);
        }
    }

    /// A retransmission was a mistake, as an ACK for `acked` segments has told: RFC 4015, 3.2, steps 9 and 11.
    fn take_back(&mut self, now: Time, mistake: Mistake, acked: u64) {
        self.cwnd = (self.end - self.una) as f64 + (acked as f64).min(self.initial_window);
        self.ssthresh = mistake.pipe;
        if let Some(late) = mistake.late {
            self.rtt.adapt(late);
            self.restart_timer(now);
        }
    }

    fn take_sample(&mut self, seq: u64, sent: Time, rtt: Duration) {
        self.rtt.sample(sent, rtt);
        self.fresh_rtt = Some(rtt);
        if seq > 0 {
            self.counts.measure(rtt);
        }
    }

    /// Starts the retransmission timer afresh.
    pub fn restart_timer(&mut self, now: Time) {
        self.timer = Some(now + self.rtt.rto());
    }

    /// Marks a loss event: recovery lasts until all that is outstanding now is acknowledged, and
    /// the segment being timed no longer tells a round trip.
    pub fn mark_loss(&mut self) {
        self.recover = self.end;
        self.recover_timeout = 0;
        self.timing.mark_loss();
    }

    /// Whether something is not acknowledged yet that was outstanding at the last loss event.
    pub fn is_behind_loss(&self) -> bool {
        self.una > 0 && self.una < self.recover
    }
}

/// A TCP sender at the server.
#[derive(Debug)]
pub struct Sender {
    tx: Transmission,
    recovery: Box<dyn Recovery>,
}

/// Duplicate ACKs that indicate a loss (RFC 5681, 3.2).
pub const DUPACK_THRESHOLD: u32 = 3;

impl Sender {
    /// A sender on connection `flow`; it sends nothing before it is opened.
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
            fresh_rtt: None,
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
        // With nothing outstanding an old number is no duplicate (RFC 5681, 2).
        let says_nothing = self.tx.una == self.tx.end && ack.seq < self.tx.una;
        if self.is_done() || says_nothing {
            return;
        }
        let before = self.tx.una;
        let acked = ack.seq + 1;
        let eifel = self.tx.eifel.as_mut();
        let mistake = eifel.and_then(|eifel| eifel.judge(now, acked, ack.answers_retransmission));
        if mistake.is_some() {
            // Whatever recovery is under way ends, and new data are next (RFC 4015, 3.2, step 8).
            self.recovery.abandon(&mut self.tx);
            self.tx.recover_timeout = 0;
            self.tx.next = self.tx.end;
        }
        let limit = self.recovery.on_ack(&mut self.tx, now, Ack { number: ack.seq, sack: &ack.sack }, out);
        if let Some(mistake) = mistake {
            self.tx.take_back(now, mistake, self.tx.una - before);
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
            // A lost SYN hints at congestion: start with one segment (RFC 5681, 3.1).
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
        self.tx.fresh_rtt.take()
    }
}

#[cfg(test)]
mod tests;
