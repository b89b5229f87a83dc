//! Passes ACKs and timers to the scoreboard, RACK, the congestion control, PRR and the pacer; `loss` has the
//! transitions between episodes of loss recovery.

mod ack_result;
mod send_buffer;
mod transmit;
mod window_probe;
mod window_usage;

use nodeb_base::event::{Recovery, SendLimit, TimerKind};
use nodeb_base::units::{Duration, Time};

pub use self::ack_result::AckResult;
use self::ack_result::number;
use self::send_buffer::SendBuffer;
use self::window_usage::WindowUsage;
use super::control::{AckEvent, Control};
use super::is_older;
use super::loss::{Episode, Probe, Undo};
use super::pacing::Pacer;
use super::params::Linux;
use super::prr::Prr;
use super::rack::{Conditions, Rack};
use super::rate::Sampler;
use super::reordering::Reordering;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::timers::{Pending, Timers};
use crate::segment::Segment;
use crate::{RETRANSMISSIONS_PER_ACK, SenderCounts, Window};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setup {
    Closed,
    /// Last transmission, and number of transmissions.
    SynSent(Time, u32),
    Established,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    New,
    /// Marked lost.
    Repair,
    /// To elicit an ACK (RFC 8985, 7).
    Probe,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Sender {
    pub(super) params: Linux,
    flow: u32,
    pub(super) mss: u64,
    closed: bool,
    setup: Setup,
    pub(super) scoreboard: Scoreboard,
    pub(super) rack: Rack,
    pub(super) reordering: Reordering,
    pub(super) rtt: RttEstimator,
    pub(super) sampler: Sampler,
    pub(super) control: Control,
    /// Set from outside, in place of the congestion window.
    steered: Option<u64>,
    pacer: Pacer,
    pub(super) timers: Timers,
    pub(super) episode: Episode,
    /// `TCP_CA_Disorder`, when `keep_open` last checked.
    pub(super) disordered: bool,
    /// On this ACK or timer; false from [`Self::undo_partially`] to the next.
    pub(super) may_repair: bool,
    pub(super) undo: Undo,
    /// `dsack_dups`.
    duplicates: u64,
    pub(super) probe: Option<Probe>,
    pub(super) usage: WindowUsage,
    buffer: SendBuffer,
    /// Of the send buffer, in congestion windows.
    windows: u64,
    /// Right edge of the receiver's window.
    edge: u64,
    /// Deliveries beyond a gap, only without SACK.
    pub(super) dupacks: u32,
    /// RFC 3168, 6.1.2: on the next new segment.
    pub(super) send_cwr: bool,
    /// Newest one, which is echoed.
    recent_stamp: u32,
    last_sent: Time,
    /// Acknowledged at the end of the round.
    rtt_round: u64,
    pub(super) counts: SenderCounts,
    last_rtt: Option<Duration>,
    /// Consecutive, of the closed window.
    window_probes: u32,
    /// `icsk_retransmits`: since data was last acknowledged, without those at a closed window.
    pub(super) timeouts: u32,
}

impl Sender {
    pub fn new(flow: u32, params: &Linux) -> Self {
        let mss = params.mss();
        let initial_window = u64::from(params.initial_window.get()) * mss;
        let control = Control::new(params.control.build(mss, initial_window, params));
        Self {
            params: params.clone(),
            flow,
            mss,
            closed: false,
            setup: Setup::Closed,
            scoreboard: Scoreboard::new(mss),
            rack: Rack::default(),
            reordering: Reordering::default(),
            rtt: RttEstimator::new(params.initial_rto, params.min_rto, params.max_rto),
            // Only congestion controls that pace themselves use rate samples.
            sampler: Sampler::new(params.control.paces_itself()),
            windows: control.algorithm().buffered_windows(),
            control,
            steered: None,
            pacer: Pacer::new(mss),
            timers: Timers::default(),
            episode: Episode::Open,
            disordered: false,
            may_repair: true,
            undo: Undo::default(),
            duplicates: 0,
            probe: None,
            usage: WindowUsage::default(),
            buffer: SendBuffer::new(mss, params.send_buffer.0),
            edge: 0,
            dupacks: 0,
            send_cwr: false,
            recent_stamp: 0,
            last_sent: Time::ZERO,
            rtt_round: 0,
            counts: SenderCounts::default(),
            last_rtt: None,
            window_probes: 0,
            timeouts: 0,
        }
    }

    /// In bytes; without SACK, each duplicate ACK counts as a delivery.
    pub(super) fn in_flight(&self) -> u64 {
        self.scoreboard.pipe().saturating_sub(u64::from(self.dupacks) * self.mss)
    }

    /// Set from outside, otherwise [`Self::spread_window`].
    pub(super) fn cwnd(&self) -> u64 {
        self.steered.unwrap_or_else(|| self.spread_window())
    }

    /// Of PRR while it spreads a reduction.
    pub(super) fn spread_window(&self) -> u64 {
        self.episode.prr().map_or(self.control.cwnd, Prr::cwnd)
    }

    pub(super) fn conditions(&self) -> Conditions {
        Conditions {
            min_rtt: self.rtt.min().unwrap_or_default(),
            srtt: self.rtt.srtt().unwrap_or_default(),
            recovering: self.episode.repairs(),
            reordering: self.reordering,
        }
    }

    #[cold]
    fn establish(&mut self, now: Time, ack: &Segment, sent: Time, times: u32) {
        self.setup = Setup::Established;
        // If the SYN was retransmitted, only the timestamp shows which transmission the ACK answers
        // (`tcp_synack_rtt_meas`, `tcp_ack_update_rtt`).
        let rtt = if times == 1 { Some(now.since(sent)) } else { self.rtt_by_stamp(now, ack) };
        if let Some(rtt) = rtt {
            self.rtt.record_newest(rtt);
            self.rtt.sample(rtt, true);
            self.last_rtt = Some(rtt);
        } else {
            self.rtt.reset_backoff();
            self.rtt.lost_syn();
        }
        if times > 2 {
            // Linux starts with a window of one segment if the SYN was lost more than once.
            self.control = Control::new(self.params.control.build(self.mss, self.mss, &self.params));
        }
        self.control.report(|control| control.on_established(now, rtt));
        self.usage.renew(now);
        self.timers.loss = None;
    }

    /// `tcp_ack_update_rtt`; only a valid measurement ends the backoff (RFC 6298, 5).
    fn take_rtt(&mut self, result: &AckResult) {
        let (Some(oldest), Some(newest)) = (result.rtts.oldest, result.rtts.newest) else {
            return;
        };
        let new_round = self.scoreboard.una() > self.rtt_round;
        if new_round {
            self.rtt_round = self.scoreboard.next();
        }
        self.rtt.record_newest(newest);
        self.rtt.sample(oldest, new_round);
        self.last_rtt = Some(newest);
        self.counts.measure(newest);
    }

    fn notify_control(&mut self, now: Time, result: &AckResult) {
        let event = AckEvent {
            now,
            acked: result.acked,
            delivered: result.delivered,
            segments: result.segments,
            lost: result.lost,
            marked: result.marked,
            prior_in_flight: result.prior_in_flight,
            in_flight: self.in_flight(),
            rtt: result.rtts.newest,
            srtt: self.rtt.srtt().unwrap_or_default(),
            sample: self.sampler.finish(self.rtt.min()),
            total_delivered: self.sampler.delivered(),
            una: self.scoreboard.una(),
            next: self.scoreboard.next(),
            phase: self.episode.phase(),
            reordered: result.sacked && self.reordering.is_high(),
            window_limited: self.is_window_limited(),
            departure: self.pacer.departure(now),
        };
        if event.may_raise() {
            self.usage.renew(now);
        }
        self.control.report(|control| control.on_ack(&event));
    }

    /// `tcp_ack`; ignored for data never sent.
    fn process_ack(&mut self, now: Time, ack: &Segment) {
        let acked = number(ack);
        self.may_repair = true;
        if acked > self.scoreboard.next() {
            return;
        }
        if acked < self.scoreboard.una() {
            self.process_old_ack(now, ack);
            return;
        }
        let had_outstanding = self.scoreboard.head().is_some();
        let updates = self.update_edge(acked, ack.window);
        self.buffer.on_ack(acked, u64::from(ack.window));
        let mut result = self.evaluate_ack(now, ack, false);
        result.updates_window = updates;
        result.duplicate &= !updates;
        if !had_outstanding {
            self.process_ack_of_nothing(now, ack, &mut result);
            return;
        }
        if result.acked > 0 || result.sacked {
            self.rack.adapt(now);
        }
        self.take_rtt(&result);
        if result.acked > 0 {
            self.timeouts = 0;
        }
        result.rearm = result.acked > 0 || self.is_older_than_head(now, &result);
        if !self.params.sack {
            self.estimate_deliveries(now, &mut result);
        }
        self.on_probe_ack(now, &result);
        self.update_episode(now, ack, &mut result);
        if self.episode.prr().is_some() {
            self.spread_reduction(result.segments, result.acked > 0 && result.lost == 0);
        }
        if result.rearm {
            self.set_loss_timer(now);
        }
        self.notify_control(now, &result);
    }

    /// `tcp_may_update_window`: an ACK of nothing new, possibly overtaken, moves the edge back only if it
    /// closes the window.
    fn update_edge(&mut self, acked: u64, window: u32) -> bool {
        let edge = acked + u64::from(window);
        let updates = acked > self.scoreboard.una() || edge > self.edge || window == 0;
        if updates {
            self.edge = edge;
        }
        updates
    }

    /// No byte beyond the acknowledged data.
    pub(super) fn is_window_closed(&self) -> bool {
        self.edge <= self.scoreboard.una()
    }

    /// The end of `tcp_ack`: ignored without SACK blocks, or more than the largest window below.
    #[cold]
    fn process_old_ack(&mut self, now: Time, ack: &Segment) {
        let is_recent = number(ack) + self.buffer.largest_window() >= self.scoreboard.una();
        if is_recent && self.params.sack && !ack.sack.is_empty() {
            let mut result = self.evaluate_ack(now, ack, true);
            result.duplicate = false;
            self.update_episode(now, ack, &mut result);
        }
    }

    /// `tcp_ack` with nothing outstanding: a D-SACK may undo a reduction, and probes may be answered.
    #[cold]
    fn process_ack_of_nothing(&mut self, now: Time, ack: &Segment, result: &mut AckResult) {
        if result.dsack.is_some() {
            self.update_episode(now, ack, result);
        }
        self.on_probe_ack(now, result);
        self.on_window_probe_ack(now);
    }
}

impl crate::Sender for Sender {
    fn open(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.setup == Setup::Closed {
            self.send_syn(now, 1, out);
        }
    }

    fn on_ack(&mut self, now: Time, ack: &Segment, out: &mut Vec<Segment>) {
        // An ACK that a newer ACK has overtaken has an older timestamp, which is not stored (RFC
        // 7323, 5.3).
        let stamp = ack.timestamp_us;
        if self.params.timestamps
            && stamp != 0
            && (self.recent_stamp == 0 || !is_older(stamp, self.recent_stamp))
        {
            self.recent_stamp = stamp;
        }
        match self.setup {
            Setup::Closed => return,
            Setup::SynSent(sent, times) => {
                self.establish(now, ack, sent, times);
                self.edge = u64::from(ack.window);
                self.buffer.on_ack(0, self.edge);
            }
            Setup::Established => self.process_ack(now, ack),
        }
        self.transmit(now, RETRANSMISSIONS_PER_ACK, out);
        if self.ends_frto_probe() {
            self.transmit(now, RETRANSMISSIONS_PER_ACK, out);
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let due = self.timers.due(now);
        self.may_repair = true;
        if let Setup::SynSent(_, times) = self.setup {
            if due.is_some() {
                self.rtt.back_off();
                self.counts.timeouts += 1;
                self.send_syn(now, times + 1, out);
            }
            return;
        }
        match due {
            Some(Pending::Reorder) => self.on_reorder_timer(now),
            Some(Pending::Probe) => self.on_probe_timer(now, out),
            Some(Pending::Timeout) => self.on_timeout(now, out),
            Some(Pending::Window) => self.on_window_timer(now, out),
            None => {}
        }
        self.transmit(now, 0, out);
    }

    fn timer(&self) -> Option<Time> {
        self.timers.next_event()
    }

    fn write(&mut self, now: Time, bytes: u64, out: &mut Vec<Segment>) {
        self.scoreboard.write(bytes);
        if self.setup == Setup::Established {
            self.transmit(now, 0, out);
        }
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn is_idle(&self) -> bool {
        self.scoreboard.una() == self.scoreboard.written()
    }

    fn is_done(&self) -> bool {
        self.closed && self.setup == Setup::Established && self.is_idle()
    }

    fn acked_bytes(&self) -> u64 {
        self.scoreboard.una()
    }

    fn wire_bytes(&self) -> u64 {
        let unsent = self.scoreboard.written() - self.scoreboard.next();
        let segments = self.scoreboard.end() + unsent.div_ceil(self.mss);
        self.scoreboard.written() + segments * u64::from(self.params.header_bytes())
    }

    fn steer(&mut self, now: Time, window: f64, out: &mut Vec<Segment>) {
        self.steered = Some(((window * self.mss as f64) as u64).max(self.mss));
        if self.setup == Setup::Established {
            self.transmit(now, 0, out);
        }
    }

    fn window(&self) -> Window {
        let segments = |bytes: u64| bytes as f64 / self.mss as f64;
        let ssthresh = self.control.ssthresh;
        let ssthresh = if ssthresh == u64::MAX { f64::INFINITY } else { segments(ssthresh) };
        Window { cwnd: segments(self.cwnd()), ssthresh }
    }

    fn recovery(&self) -> Recovery {
        match self.episode {
            Episode::Open if matches!(self.setup, Setup::SynSent(_, 2..)) => Recovery::Timeout,
            Episode::Open => Recovery::Open,
            Episode::Recovery { repairs: false, .. } => Recovery::Reduced,
            Episode::Recovery { .. } => Recovery::Fast,
            Episode::Loss { .. } => Recovery::Timeout,
        }
    }

    fn send_limit(&self) -> SendLimit {
        if self.setup != Setup::Established {
            SendLimit::Handshake
        } else if self.episode.repairs() {
            SendLimit::Recovery
        } else {
            self.limit_of_new_data()
        }
    }

    fn expired_timer(&self, now: Time) -> TimerKind {
        match self.timers.due(now) {
            Some(Pending::Timeout) => TimerKind::Retransmission,
            Some(Pending::Probe) => TimerKind::Probe,
            Some(Pending::Reorder) => TimerKind::Reorder,
            Some(Pending::Window) => TimerKind::Persist,
            None => TimerKind::Pacing,
        }
    }

    fn counts(&self) -> &SenderCounts {
        &self.counts
    }

    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.last_rtt.take()
    }
}
