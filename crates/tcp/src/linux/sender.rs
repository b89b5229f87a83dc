//! The sender at the server: what happens on an ACK, on a timer, and what is sent then.
//!
//! Each concern is a machine of its own: the scoreboard knows what is outstanding, RACK what is
//! lost, the control how much may be in flight, PRR and the pacer when it may leave. This file
//! leads ACKs and timers through them, `sender/transmit.rs` sends, and `loss.rs` holds the transitions
//! between phases.

mod transmit;

use super::control::{AckEvent, CongestionControl, Phase};
use super::loss::{Episode, Probe, Undo};
use super::pacing::Pacer;
use super::params::Linux;
use super::rack::{Conditions, Rack};
use super::rate::Sampler;
use super::rtt::RttEstimator;
use super::scoreboard::{Scoreboard, SentSegment};
use super::timers::Timers;
use super::{FIRST_BYTE, clock_us, is_older};
use crate::event::Recovery;
use crate::segment::Segment;
use crate::units::{Duration, Time};
use crate::{REPEATS_PER_ACK, SenderCounts, Window};

/// How far the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setup {
    Closed,
    /// The SYN was last sent at a time, so many times in all.
    SynSent(Time, u32),
    Established,
}

/// The receiver's window and the sender's use of its own (Linux: `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Most bytes outstanding in this round, which ends when `until` is acknowledged.
    outstanding: u64,
    limited: bool,
    until: u64,
}

/// What an ACK has delivered.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Harvest {
    /// Bytes acknowledged cumulatively.
    pub(super) acked: u64,
    /// All bytes delivered.
    pub(super) delivered: u64,
    /// Bytes found lost.
    pub(super) lost: u64,
    /// Whether the window is reduced for a mark.
    pub(super) marked: bool,
    prior_in_flight: u64,
    /// Round trip of the newest segment that was sent once.
    rtt: Option<Duration>,
    /// One past the highest byte delivered.
    pub(super) highest: u64,
    /// Whether a segment that was sent once was delivered.
    pub(super) original: bool,
    /// Whether a duplicate was reported.
    pub(super) dsack: bool,
    /// Whether the ACK acknowledges nothing new although something is outstanding.
    pub(super) duplicate: bool,
}

/// A sender.
#[derive(Debug)]
pub struct Sender {
    pub(super) params: Linux,
    flow: u32,
    pub(super) mss: u64,
    closed: bool,
    setup: Setup,
    pub(super) board: Scoreboard,
    pub(super) rack: Rack,
    pub(super) rtt: RttEstimator,
    pub(super) sampler: Sampler,
    pub(super) control: Box<dyn CongestionControl>,
    /// The window set from outside, in bytes, which takes the control's place.
    steered: Option<u64>,
    pacer: Pacer,
    pub(super) timers: Timers,
    pub(super) episode: Episode,
    pub(super) undo: Option<Undo>,
    pub(super) probe: Option<Probe>,
    usage: Usage,
    /// One past the last byte that the receiver allows.
    edge: u64,
    /// Duplicate ACKs in a row: what a sender without SACK knows of deliveries beyond a gap.
    pub(super) dupacks: u32,
    /// The next new segment tells that the window was reduced (RFC 3168, 6.1.2).
    pub(super) tell_reduced: bool,
    /// The phone's timestamp to echo.
    recent_stamp: u32,
    last_sent: Time,
    /// The round of round-trip estimation ends beyond this byte.
    rtt_round: u64,
    pub(super) counts: SenderCounts,
    fresh_rtt: Option<Duration>,
}

impl Sender {
    /// A sender on connection `flow`; it sends nothing before it is opened.
    pub fn new(flow: u32, params: &Linux) -> Self {
        let mss = params.mss();
        let initial_window = u64::from(params.initial_window.get()) * mss;
        Self {
            params: params.clone(),
            flow,
            mss,
            closed: false,
            setup: Setup::Closed,
            board: Scoreboard::new(mss),
            rack: Rack::default(),
            rtt: RttEstimator::new(params.initial_rto, params.min_rto, params.max_rto),
            sampler: Sampler::default(),
            control: params.control.build(mss, initial_window, params),
            steered: None,
            pacer: Pacer::new(mss, initial_window),
            timers: Timers::default(),
            episode: Episode::Open,
            undo: None,
            probe: None,
            usage: Usage::default(),
            edge: 0,
            dupacks: 0,
            tell_reduced: false,
            recent_stamp: 0,
            last_sent: Time::ZERO,
            rtt_round: 0,
            counts: SenderCounts::default(),
            fresh_rtt: None,
        }
    }

    /// Bytes in flight; without SACK each duplicate ACK stands for a segment delivered.
    pub(super) fn in_flight(&self) -> u64 {
        self.board.pipe().saturating_sub(u64::from(self.dupacks) * self.mss)
    }

    /// The window: the one set from outside, PRR's in its recovery, or the control's.
    fn cwnd(&self) -> u64 {
        match (self.steered, self.episode.prr()) {
            (Some(window), _) => window,
            (None, Some(prr)) => prr.cwnd(self.in_flight()),
            (None, None) => self.control.cwnd(),
        }
    }

    /// What RACK's patience depends on.
    pub(super) fn conditions(&self) -> Conditions {
        Conditions {
            min_rtt: self.rtt.min().unwrap_or_default(),
            srtt: self.rtt.srtt().unwrap_or_default(),
            recovering: self.episode.phase() != Phase::Open,
        }
    }

    fn establish(&mut self, now: Time, sent: Time, times: u32) {
        self.setup = Setup::Established;
        if times == 1 {
            self.rtt.sample(now.since(sent), true);
            self.fresh_rtt = Some(now.since(sent));
        } else {
            self.rtt.reset_backoff();
            self.rtt.lost_syn();
            if times > 2 {
                // Linux restarts with one segment when the SYN was lost more than once.
                self.control = self.params.control.build(self.mss, self.mss, &self.params);
            }
        }
        self.timers.rto = None;
    }

    /// Takes what an ACK says about segments.
    fn harvest(&mut self, now: Time, ack: &Segment) -> Harvest {
        let una = self.board.una();
        let mut harvest = Harvest {
            acked: 0,
            delivered: 0,
            lost: 0,
            marked: false,
            prior_in_flight: self.in_flight(),
            rtt: None,
            highest: 0,
            original: false,
            dsack: false,
            duplicate: false,
        };
        let min_rtt = self.rtt.min();
        let Self { board, rack, sampler, params, .. } = self;
        let mut newest = None;
        let mut deliver = |segment: &SentSegment, in_order: bool| {
            // Segments beyond a gap do not renew the timestamp that is echoed (RFC 7323, 4.3).
            let judged = in_order && params.timestamps;
            let echoed = !judged || !is_older(ack.echo_us, clock_us(segment.sent));
            rack.on_delivered(now, segment, min_rtt, echoed);
            sampler.on_delivered(now, segment.bytes(), segment.sent, segment.snapshot);
            harvest.delivered += segment.bytes();
            harvest.highest = harvest.highest.max(segment.end());
            if !segment.retransmitted {
                newest = newest.max(Some(segment.sent));
            }
        };
        board.acknowledge(number(ack), |segment| deliver(segment, true));
        if params.sack {
            let (dsack, blocks) = split_dsack(ack);
            board.sack(blocks, |segment| deliver(segment, false));
            harvest.dsack = dsack;
        }
        harvest.acked = self.board.una() - una;
        harvest.original = newest.is_some();
        harvest.rtt = newest.map(|sent| now.since(sent)).or_else(|| self.rtt_by_stamp(now, ack, &harvest));
        harvest.duplicate = harvest.acked == 0 && !harvest.dsack && self.board.head().is_some();
        harvest
    }

    /// After a retransmission only the timestamp tells which transmission was answered (RFC 7323, 4).
    fn rtt_by_stamp(&self, now: Time, ack: &Segment, harvest: &Harvest) -> Option<Duration> {
        let usable = self.params.timestamps && ack.echo_us != 0 && harvest.acked > 0;
        usable.then(|| Duration(u64::from(clock_us(now).wrapping_sub(ack.echo_us)) * 1_000))
    }

    fn take_rtt(&mut self, harvest: &Harvest) {
        if harvest.acked > 0 {
            self.rtt.reset_backoff();
        }
        let Some(rtt) = harvest.rtt else {
            return;
        };
        let new_round = self.board.una() > self.rtt_round;
        if new_round {
            self.rtt_round = self.board.next();
        }
        self.rtt.sample(rtt, new_round);
        self.fresh_rtt = Some(rtt);
        self.counts.measure(rtt);
    }

    fn tell_control(&mut self, now: Time, harvest: &Harvest) {
        let event = AckEvent {
            now,
            acked: harvest.acked,
            delivered: harvest.delivered,
            lost: harvest.lost,
            marked: harvest.marked,
            prior_in_flight: harvest.prior_in_flight,
            in_flight: self.in_flight(),
            rtt: harvest.rtt,
            srtt: self.rtt.srtt().unwrap_or_default(),
            sample: self.sampler.finish(self.rtt.min()),
            total_delivered: self.sampler.delivered(),
            una: self.board.una(),
            next: self.board.next(),
            phase: self.episode.phase(),
            window_limited: self.is_window_limited(),
        };
        self.control.on_ack(&event);
    }

    /// An ACK of an established connection.
    fn process_ack(&mut self, now: Time, ack: &Segment) {
        let acked = number(ack);
        if acked < self.board.una() || acked > self.board.next() {
            return;
        }
        let edge = acked + u64::from(ack.window);
        let opened = edge > self.edge;
        self.edge = self.edge.max(edge);
        let mut harvest = self.harvest(now, ack);
        harvest.duplicate &= !opened;
        self.take_rtt(&harvest);
        if harvest.acked > 0 && self.board.head().is_some() {
            self.timers.rto = Some(now + self.rtt.rto());
        }
        self.judge(now, ack, &mut harvest);
        self.tell_control(now, &harvest);
        if harvest.acked > 0 || harvest.delivered > 0 {
            self.arm_probe(now);
        }
    }
}

/// The payload that an ACK acknowledges.
fn number(ack: &Segment) -> u64 {
    ack.seq.saturating_sub(FIRST_BYTE)
}

/// Separates a D-SACK, the first block if it lies below the ACK's number or within the second block
/// (RFC 2883, 4), from the blocks that report gaps.
fn split_dsack(ack: &Segment) -> (bool, impl Iterator<Item = (u64, u64)>) {
    let mut blocks = ack.sack.of(ack.seq);
    let (first, second) = (blocks.next(), blocks.next());
    let dsack = first.is_some_and(|(from, to)| {
        to <= ack.seq || second.is_some_and(|(outer, end)| outer <= from && to <= end)
    });
    let payload =
        |(first, end): (u64, u64)| (first.saturating_sub(FIRST_BYTE), end.saturating_sub(FIRST_BYTE));
    (dsack, ack.sack.of(ack.seq).skip(usize::from(dsack)).map(payload))
}

impl crate::Sender for Sender {
    fn open(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.setup == Setup::Closed {
            self.send_syn(now, 1, out);
        }
    }

    fn on_ack(&mut self, now: Time, ack: &Segment, out: &mut Vec<Segment>) {
        if self.params.timestamps && ack.timestamp_us != 0 {
            self.recent_stamp = ack.timestamp_us;
        }
        match self.setup {
            Setup::Closed => return,
            Setup::SynSent(sent, times) => {
                self.establish(now, sent, times);
                self.edge = u64::from(ack.window);
            }
            Setup::Established => self.process_ack(now, ack),
        }
        self.transmit(now, REPEATS_PER_ACK, out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        if let Setup::SynSent(_, times) = self.setup {
            if Timers::take_due(&mut self.timers.rto, now) {
                self.rtt.back_off();
                self.counts.timeouts += 1;
                self.send_syn(now, times + 1, out);
            }
            return;
        }
        if Timers::take_due(&mut self.timers.reorder, now) {
            self.on_reorder_timer(now);
        }
        // A probe that is due with the timeout goes first, and starts the timeout afresh.
        if Timers::take_due(&mut self.timers.probe, now) {
            self.on_probe_timer(now, out);
        } else if Timers::take_due(&mut self.timers.rto, now) {
            self.on_timeout(now, out);
        }
        if Timers::take_due(&mut self.timers.persist, now) {
            self.rtt.back_off();
            self.counts.packets += 1;
            out.push(self.packet(now, FIRST_BYTE + self.board.una(), 0));
        }
        self.transmit(now, 0, out);
    }

    fn timer(&self) -> Option<Time> {
        self.timers.wake()
    }

    fn write(&mut self, now: Time, bytes: u64, out: &mut Vec<Segment>) {
        self.board.write(bytes);
        if self.setup == Setup::Established {
            self.transmit(now, 0, out);
        }
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn is_idle(&self) -> bool {
        self.board.una() == self.board.written()
    }

    fn is_done(&self) -> bool {
        self.closed && self.setup == Setup::Established && self.is_idle()
    }

    fn acked_bytes(&self) -> u64 {
        self.board.una()
    }

    fn wire_bytes(&self) -> u64 {
        let unsent = self.board.written() - self.board.next();
        let segments = self.board.end() + unsent.div_ceil(self.mss);
        self.board.written() + segments * u64::from(self.params.header_bytes())
    }

    fn steer(&mut self, now: Time, window: f64, out: &mut Vec<Segment>) {
        self.steered = Some(((window * self.mss as f64) as u64).max(self.mss));
        if self.setup == Setup::Established {
            self.transmit(now, 0, out);
        }
    }

    fn window(&self) -> Window {
        let segments = |bytes: u64| bytes as f64 / self.mss as f64;
        let ssthresh = self.control.ssthresh();
        let ssthresh = if ssthresh == u64::MAX { f64::INFINITY } else { segments(ssthresh) };
        Window { cwnd: segments(self.cwnd()), ssthresh }
    }

    fn recovery(&self) -> Recovery {
        match self.episode {
            Episode::Open if matches!(self.setup, Setup::SynSent(_, 2..)) => Recovery::Timeout,
            Episode::Open => Recovery::Open,
            Episode::Recovery { .. } => Recovery::Fast,
            Episode::Loss { .. } => Recovery::Timeout,
        }
    }

    fn counts(&self) -> &SenderCounts {
        &self.counts
    }

    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.fresh_rtt.take()
    }
}
