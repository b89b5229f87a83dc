//! The sender at the server: what happens on an ACK, on a timer, and what is sent then.
//!
//! Each concern is a machine of its own: the scoreboard knows what is outstanding, RACK what is
//! lost, the control how much may be in flight, PRR and the pacer when it may leave. This file
//! leads ACKs and timers through them, `sender/transmit.rs` sends, and `loss` holds the transitions
//! between phases.

mod send_buffer;
mod transmit;

use nodeb_base::event::{Clock, Hold, Recovery};
use nodeb_base::units::{Duration, Time};

use self::send_buffer::SendBuffer;
use super::control::{AckEvent, Control, Phase};
use super::loss::{Episode, Probe, Undo};
use super::pacing::Pacer;
use super::params::Linux;
use super::rack::{Conditions, Rack};
use super::rate::Sampler;
use super::rtt::RttEstimator;
use super::scoreboard::{Scoreboard, SentSegment};
use super::timers::{Pending, Timers};
use super::{DUP_THRESH, FIRST_BYTE, clock_us, is_older};
use crate::segment::Segment;
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
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Harvest {
    /// Bytes and segments acknowledged cumulatively.
    pub(super) acked: u64,
    pub(super) acked_segments: u64,
    /// All bytes and segments delivered.
    pub(super) delivered: u64,
    pub(super) segments: u64,
    /// Bytes found lost.
    pub(super) lost: u64,
    /// Whether the window is reduced for a mark.
    pub(super) marked: bool,
    prior_in_flight: u64,
    /// Round trips of the oldest and of the newest segment delivered.
    oldest_rtt: Option<Duration>,
    newest_rtt: Option<Duration>,
    /// The same of those reported by SACK alone.
    sacked_rtt: Option<Duration>,
    /// Whether SACK has reported something new.
    pub(super) sacked: bool,
    /// Whether a segment that was sent once, before the episode under way began, was delivered.
    pub(super) original: bool,
    /// Whether something acknowledged cumulatively had been sent again.
    pub(super) repeated: bool,
    /// End of the duplicate that was reported.
    pub(super) dsack: Option<u64>,
    /// Whether the ACK acknowledges nothing new although something is outstanding.
    pub(super) duplicate: bool,
    /// Whether the timer must be set anew.
    pub(super) rearm: bool,
    /// Whether a retransmission has been lost.
    pub(super) lost_again: bool,
}

/// Times of sending of the segments that an ACK delivers and that were sent once.
#[derive(Clone, Copy)]
struct Span {
    oldest: Time,
    newest: Time,
}

impl Span {
    const EMPTY: Self = Self { oldest: Time(u64::MAX), newest: Time::ZERO };

    fn extend(&mut self, sent: Time) {
        self.oldest = self.oldest.min(sent);
        self.newest = self.newest.max(sent);
    }

    fn is_empty(self) -> bool {
        self.newest < self.oldest
    }
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
    pub(super) control: Control,
    /// The window set from outside, in bytes, which takes the control's place.
    steered: Option<u64>,
    pacer: Pacer,
    pub(super) timers: Timers,
    pub(super) episode: Episode,
    pub(super) undo: Option<Undo>,
    pub(super) probe: Option<Probe>,
    usage: Usage,
    buffer: SendBuffer,
    /// Windows for which it has room.
    windows: u64,
    /// One past the last byte that the receiver allows.
    edge: u64,
    /// Duplicate ACKs in a row: what a sender without SACK knows of deliveries beyond a gap.
    pub(super) dupacks: u32,
    /// So many of them tell of a loss (`reordering`).
    pub(super) patience: u32,
    /// The next new segment tells that the window was reduced (RFC 3168, 6.1.2).
    pub(super) tell_reduced: bool,
    /// The phone's timestamp to echo.
    recent_stamp: u32,
    last_sent: Time,
    /// The round of round-trip estimation ends beyond this byte.
    rtt_round: u64,
    pub(super) counts: SenderCounts,
    fresh_rtt: Option<Duration>,
    /// Timeouts since something was acknowledged (`icsk_retransmits`).
    pub(super) timeouts: u32,
    /// The largest part of the window in use, and since when it is not all of it (`snd_cwnd_used`,
    /// `snd_cwnd_stamp`).
    unused: (u64, Time),
}

impl Sender {
    /// A sender on connection `flow`; it sends nothing before it is opened.
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
            board: Scoreboard::new(mss),
            rack: Rack::default(),
            rtt: RttEstimator::new(params.initial_rto, params.min_rto, params.max_rto),
            // The other controls make no use of samples.
            sampler: Sampler::new(params.control.paces_itself()),
            windows: control.algorithm().buffered_windows(),
            control,
            steered: None,
            pacer: Pacer::new(mss, initial_window),
            timers: Timers::default(),
            episode: Episode::Open,
            undo: None,
            probe: None,
            usage: Usage::default(),
            buffer: SendBuffer::new(mss, params.send_buffer.0),
            edge: 0,
            dupacks: 0,
            patience: DUP_THRESH,
            tell_reduced: false,
            recent_stamp: 0,
            last_sent: Time::ZERO,
            rtt_round: 0,
            counts: SenderCounts::default(),
            fresh_rtt: None,
            timeouts: 0,
            unused: (0, Time::ZERO),
        }
    }

    /// Bytes in flight; without SACK each duplicate ACK stands for a segment delivered.
    pub(super) fn in_flight(&self) -> u64 {
        self.board.pipe().saturating_sub(u64::from(self.dupacks) * self.mss)
    }

    /// The window: the one set from outside, PRR's in its recovery, or the control's.
    pub(super) fn cwnd(&self) -> u64 {
        match (self.steered, self.episode.prr()) {
            (Some(window), _) => window,
            (None, Some(prr)) => prr.cwnd(),
            (None, None) => self.control.cwnd,
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

    #[cold]
    fn establish(&mut self, now: Time, sent: Time, times: u32) {
        self.setup = Setup::Established;
        if times == 1 {
            let rtt = now.since(sent);
            self.rtt.note_newest(rtt);
            self.rtt.sample(rtt, true);
            self.fresh_rtt = Some(rtt);
        } else {
            self.rtt.reset_backoff();
            self.rtt.lost_syn();
            if times > 2 {
                // Linux restarts with one segment when the SYN was lost more than once.
                self.control = Control::new(self.params.control.build(self.mss, self.mss, &self.params));
            }
        }
        let rtt = self.fresh_rtt;
        self.control.report(|control| control.on_established(now, rtt));
        self.timers.loss = None;
    }

    /// Takes what an ACK says about segments.
    fn harvest(&mut self, now: Time, ack: &Segment) -> Harvest {
        let una = self.board.una();
        let mut harvest = Harvest { prior_in_flight: self.in_flight(), ..Harvest::default() };
        let (min_rtt, until) = (self.rtt.min(), self.episode.until().unwrap_or(u64::MAX));
        let Self { board, rack, sampler, params, .. } = self;
        let (mut acked, mut sacked) = (Span::EMPTY, Span::EMPTY);
        let mut deliver = |segment: &SentSegment, span: &mut Span, by_sack: bool| {
            // Segments beyond a gap do not renew the timestamp that is echoed (RFC 7323, 4.3).
            let echoed = by_sack || !params.timestamps || !is_older(ack.echo_us, clock_us(segment.sent));
            rack.on_delivered(now, segment, min_rtt, echoed);
            // Without SACK duplicate ACKs have counted some of them (`tcp_count_delivered`).
            let bytes = if params.sack { segment.bytes() } else { 0 };
            sampler.on_delivered(now, bytes, segment.sent, segment.snapshot);
            harvest.delivered += segment.bytes();
            harvest.segments += 1;
            harvest.sacked |= by_sack;
            if !segment.retransmitted {
                harvest.original |= segment.end() <= until;
                span.extend(segment.sent);
            }
        };
        let (acked_segments, repeated) =
            board.acknowledge(number(ack), |segment| deliver(segment, &mut acked, false));
        let mut dsack = None;
        if params.sack && !ack.sack.is_empty() {
            let blocks;
            (dsack, blocks) = split_dsack(ack);
            board.sack(blocks, |segment| deliver(segment, &mut sacked, true));
        }
        harvest.dsack = dsack;
        harvest.acked = self.board.una() - una;
        (harvest.acked_segments, harvest.repeated) = (acked_segments, repeated);
        // Karn's rule: what was sent again makes all that is acknowledged with it ambiguous.
        if !acked.is_empty() && !repeated {
            harvest.oldest_rtt = Some(now.since(acked.oldest));
            harvest.newest_rtt = Some(now.since(acked.newest));
        }
        if !sacked.is_empty() {
            harvest.sacked_rtt = Some(now.since(sacked.oldest));
            harvest.oldest_rtt = harvest.oldest_rtt.or(harvest.sacked_rtt);
            harvest.newest_rtt = Some(now.since(sacked.newest));
        }
        if harvest.oldest_rtt.is_none() {
            harvest.oldest_rtt = self.rtt_by_stamp(now, ack, &harvest);
            harvest.newest_rtt = harvest.oldest_rtt;
        }
        harvest.duplicate = harvest.acked == 0 && dsack.is_none() && self.board.head().is_some();
        harvest
    }

    /// After a retransmission only the timestamp tells which transmission was answered (RFC 7323, 4).
    #[cold]
    fn rtt_by_stamp(&self, now: Time, ack: &Segment, harvest: &Harvest) -> Option<Duration> {
        let usable = self.params.timestamps && ack.echo_us != 0 && harvest.acked > 0;
        usable.then(|| Duration(u64::from(clock_us(now).wrapping_sub(ack.echo_us)) * 1_000))
    }

    /// The smoothed round trip is of the oldest segment, the smallest of the newest (Linux:
    /// `tcp_ack_update_rtt`). The backoff ends with a valid round trip only (RFC 6298, 5).
    fn take_rtt(&mut self, harvest: &Harvest) {
        let (Some(oldest), Some(newest)) = (harvest.oldest_rtt, harvest.newest_rtt) else {
            return;
        };
        let new_round = self.board.una() > self.rtt_round;
        if new_round {
            self.rtt_round = self.board.next();
        }
        self.rtt.note_newest(newest);
        self.rtt.sample(oldest, new_round);
        self.fresh_rtt = Some(newest);
        self.counts.measure(newest);
    }

    fn notify_control(&mut self, now: Time, harvest: &Harvest) {
        let event = AckEvent {
            now,
            acked: harvest.acked,
            delivered: harvest.delivered,
            segments: harvest.segments,
            lost: harvest.lost,
            marked: harvest.marked,
            prior_in_flight: harvest.prior_in_flight,
            in_flight: self.in_flight(),
            rtt: harvest.newest_rtt,
            srtt: self.rtt.srtt().unwrap_or_default(),
            sample: self.sampler.finish(self.rtt.min()),
            total_delivered: self.sampler.delivered(),
            una: self.board.una(),
            next: self.board.next(),
            phase: self.episode.phase(),
            window_limited: self.is_window_limited(),
            departure: self.pacer.departure(now),
        };
        self.control.report(|control| control.on_ack(&event));
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
        self.buffer.on_ack(acked, u64::from(ack.window));
        let mut harvest = self.harvest(now, ack);
        harvest.duplicate &= !opened;
        self.take_rtt(&harvest);
        if harvest.acked > 0 {
            self.timeouts = 0;
        }
        harvest.rearm = harvest.acked > 0 || self.is_newer_than_head(now, &harvest);
        self.judge(now, ack, &mut harvest);
        if harvest.rearm {
            self.set_loss_timer(now);
        }
        self.notify_control(now, &harvest);
    }

    /// Whether SACKs measured a round trip on data sent before the first outstanding segment was last sent;
    /// otherwise the timeout might be put off for ever (Linux: `tcp_clean_rtx_queue`).
    fn is_newer_than_head(&self, now: Time, harvest: &Harvest) -> bool {
        let (Some(rtt), Some(sent)) = (harvest.sacked_rtt, self.board.head_sent()) else {
            return false;
        };
        rtt > now.since(sent)
    }
}

/// The payload that an ACK acknowledges.
fn number(ack: &Segment) -> u64 {
    ack.seq.saturating_sub(FIRST_BYTE)
}

/// Separates a D-SACK, the first block if it lies below the ACK's number or within the second block
/// (RFC 2883, 4), from the blocks that report gaps; of the D-SACK the end is returned.
fn split_dsack(ack: &Segment) -> (Option<u64>, impl Iterator<Item = (u64, u64)>) {
    let blocks = || ack.sack.of(ack.seq);
    let is_duplicate = |&(from, to): &(u64, u64)| {
        to <= ack.seq || blocks().nth(1).is_some_and(|(outer, end)| outer <= from && to <= end)
    };
    let payload =
        |(first, end): (u64, u64)| (first.saturating_sub(FIRST_BYTE), end.saturating_sub(FIRST_BYTE));
    let dsack = blocks().next().filter(is_duplicate).map(|block| payload(block).1);
    (dsack, blocks().skip(usize::from(dsack.is_some())).map(payload))
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
                self.buffer.on_ack(0, self.edge);
            }
            Setup::Established => self.process_ack(now, ack),
        }
        self.transmit(now, REPEATS_PER_ACK, out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let due = self.timers.due(now);
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
            None => {}
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

    fn hold(&self) -> Hold {
        if self.setup != Setup::Established {
            Hold::Handshake
        } else if self.episode.repairs() {
            Hold::Recovery
        } else {
            self.hold_of_new_data()
        }
    }

    fn ringing(&self, now: Time) -> Clock {
        let due = |timer: Option<Time>| timer.is_some_and(|at| at <= now);
        match self.timers.due(now) {
            Some(Pending::Timeout) => Clock::Retransmission,
            Some(Pending::Probe) => Clock::Probe,
            Some(Pending::Reorder) => Clock::Reorder,
            None if due(self.timers.persist) => Clock::Persist,
            None => Clock::Pacing,
        }
    }

    fn counts(&self) -> &SenderCounts {
        &self.counts
    }

    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.fresh_rtt.take()
    }
}
