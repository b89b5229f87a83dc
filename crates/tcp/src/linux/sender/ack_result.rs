//! Evaluation of an ACK in the order of the Linux kernel: first D-SACKs and SACK blocks
//! (`tcp_sacktag_write_queue`), then the cumulative acknowledgement (`tcp_clean_rtx_queue`).

use nodeb_base::units::{Duration, Time};

use super::Sender;
use crate::linux::control::Phase;
use crate::linux::scoreboard::SentSegment;
use crate::linux::{FIRST_BYTE, clock_us, is_older};
use crate::segment::{SackBlocks, Segment};

/// Effects of an ACK on the sender, as its evaluation has found them.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct AckResult {
    /// First byte that was not acknowledged before this ACK arrived.
    prior_una: u64,
    /// Number of bytes that the ACK acknowledges cumulatively. `acked_segments` is the number of segments
    /// that it acknowledges cumulatively.
    pub(in super::super) acked: u64,
    pub(in super::super) acked_segments: u64,
    /// Number of bytes that the ACK delivers cumulatively or by SACK, including duplicates that a
    /// D-SACK reports; 0 if a newer ACK has overtaken this one. `segments` is the number of segments
    /// delivered.
    pub(in super::super) delivered: u64,
    pub(in super::super) segments: u64,
    /// Number of bytes that were newly marked lost because of the ACK.
    pub(in super::super) lost: u64,
    /// Whether the ACK starts a window reduction because of an ECN mark.
    pub(in super::super) marked: bool,
    pub(super) prior_in_flight: u64,
    pub(super) rtts: RoundTrips,
    /// Whether the ACK delivers at least one segment by SACK.
    pub(in super::super) sacked: bool,
    /// Whether the ACK delivers a segment that was sent only once, before the present episode of
    /// loss recovery began; in the episode `Open`, any segment that was sent only once.
    pub(in super::super) original: bool,
    /// Whether a segment that the ACK acknowledges cumulatively had been retransmitted.
    pub(in super::super) repeated: bool,
    /// D-SACK in the ACK; `None` if there is none or if it is not plausible.
    pub(in super::super) dsack: Option<DSack>,
    /// Whether the ACK updates the right edge of the receiver's window (`FLAG_WIN_UPDATE`).
    pub(in super::super) updates_window: bool,
    /// Whether the ACK acknowledges nothing new cumulatively although data is outstanding, has no
    /// D-SACK, and does not update the right edge of the receiver's window.
    pub(in super::super) duplicate: bool,
    /// Whether the timer of the retransmission queue must be re-armed.
    pub(in super::super) rearm: bool,
    /// Whether a retransmission was marked lost because of the ACK.
    pub(in super::super) lost_again: bool,
}

impl AckResult {
    /// Returns true if the ACK acknowledges new data cumulatively (`FLAG_SND_UNA_ADVANCED`).
    pub(in super::super) fn advances(&self) -> bool {
        self.acked > 0
    }

    /// Returns the first byte that was not acknowledged before this ACK arrived.
    pub(in super::super) fn prior_una(&self) -> u64 {
        self.prior_una
    }
}

/// D-SACK (RFC 2883) that passed the plausibility check (`tcp_dsack_seen`).
#[derive(Clone, Copy, Debug)]
pub struct DSack {
    /// Payload bytes that the D-SACK reports as duplicates, as (first byte, last byte + 1).
    pub(in super::super) range: (u64, u64),
    /// Number of segments that the D-SACK covers, computed from the number of bytes.
    segments: u64,
    /// Whether the D-SACK answers the tail loss probe in flight.
    pub(in super::super) of_probe: bool,
}

/// Transmission times of two segments: the oldest and the newest of those that an ACK delivers in one way (by
/// SACK or cumulatively) and that were sent only once.
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

/// Round-trip times that an ACK gives. A field is `None` if there is no valid measurement for it. Only
/// segments that were sent once are measured. If the ACK acknowledges a retransmitted segment cumulatively,
/// no cumulatively acknowledged segment is measured (Karn's rule). If then no segment at all is measured, the
/// echoed timestamp is used, provided that the ACK acknowledges new data cumulatively.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrips {
    /// Round-trip time of the oldest segment that the ACK acknowledges cumulatively. If no such segment is
    /// measured, it is that of the oldest segment delivered by SACK. If no segment is measured at all, it is
    /// that of the echoed timestamp.
    pub(super) oldest: Option<Duration>,
    /// Round-trip time of the newest segment delivered by SACK. If no such segment is measured, it is that of
    /// the newest segment acknowledged cumulatively. If no segment is measured at all, it is that of the
    /// echoed timestamp.
    pub(super) newest: Option<Duration>,
    /// Round-trip time of the oldest segment that the ACK delivers by SACK.
    sacked: Option<Duration>,
}

impl RoundTrips {
    /// Computes the round-trip times of an ACK that arrives at `now` from the transmission times of
    /// the segments that it delivers cumulatively and by SACK.
    fn new(now: Time, acked: Span, sacked: Span) -> Self {
        let oldest = |span: Span| (!span.is_empty()).then(|| now.since(span.oldest));
        let newest = |span: Span| (!span.is_empty()).then(|| now.since(span.newest));
        Self {
            oldest: oldest(acked).or(oldest(sacked)),
            newest: newest(sacked).or(newest(acked)),
            sacked: oldest(sacked),
        }
    }
}

/// Summary of the segments that an ACK delivers, either by SACK or cumulatively.
struct Gathered {
    span: Span,
    /// First byte of the lowest delivered segment that was overtaken: it was never retransmitted,
    /// and data above it had been delivered before. `u64::MAX` if there is no such segment.
    late: u64,
}

impl Gathered {
    const NOTHING: Self = Self { span: Span::EMPTY, late: u64::MAX };
}

impl Sender {
    /// Evaluates an ACK. `old` is true if a newer ACK has overtaken this one. Segments that SACK
    /// blocks of an old ACK report do not count as deliveries (the end of `tcp_ack`).
    pub(super) fn evaluate_ack(&mut self, now: Time, ack: &Segment, old: bool) -> AckResult {
        let (prior_una, prior_in_flight) = (self.scoreboard.una(), self.in_flight());
        let has_blocks = self.params.sack && !ack.sack.is_empty();
        let (dsack, blocks) = if has_blocks { self.read_blocks(ack) } else { <_>::default() };
        let (min_rtt, until) = (self.rtt.min(), self.episode.until().unwrap_or(u64::MAX));
        let fack = self.scoreboard.fack();
        let Self { scoreboard, rack, sampler, params, undo, reordering, episode, mss, .. } = self;
        let (mut acked, mut sacked) = (Gathered::NOTHING, Gathered::NOTHING);
        let (mut delivered, mut segments) = (0, 0);
        let (mut delivers_by_sack, mut original) = (false, false);
        let mut deliver = |segment: &SentSegment, gathered: &mut Gathered, by_sack: bool| {
            // The echoed timestamp shows which transmission the ACK answers. This does not hold for
            // segments beyond a gap, which do not update the echoed timestamp (RFC 7323, 4.3).
            let echoed = by_sack || !params.timestamps || !is_older(ack.echo_us, clock_us(segment.sent));
            rack.on_delivered(now, segment, min_rtt, echoed);
            delivers_by_sack |= by_sack;
            if !segment.retransmitted {
                original |= segment.end() <= until;
                gathered.span.extend(segment.sent);
                let first = segment.range().0;
                if first < fack {
                    gathered.late = gathered.late.min(first);
                }
            }
            if old {
                return;
            }
            // Without SACK the sampler gets no bytes here, since duplicate ACKs have already
            // counted some of them (`tcp_count_delivered`).
            let bytes = if params.sack { segment.bytes() } else { 0 };
            sampler.on_delivered(now, bytes, segment.sent, segment.snapshot);
            delivered += segment.bytes();
            segments += 1;
        };
        let number = if old { prior_una } else { number(ack) };
        if has_blocks {
            if let Some(dsack) = dsack {
                let found = scoreboard.sack_duplicate(dsack.range, undo.marker(), number, |segment| {
                    deliver(segment, &mut sacked, true);
                });
                let forgotten = dsack.range.1 <= prior_una && dsack.range.1 > undo.marker();
                undo.record_duplicates(if forgotten { dsack.segments } else { found.repeated });
                sacked.late = sacked.late.min(found.needless.unwrap_or(u64::MAX));
            }
            scoreboard.sack(blocks.iter(), |segment| deliver(segment, &mut sacked, true));
            // After a timeout whose window reduction cannot be undone, it is unknown whether a SACK answers a
            // retransmission or the original, so the SACK is no evidence of reordering.
            if episode.phase() != Phase::Loss || undo.is_possible() {
                reordering.record_late(sacked.late, scoreboard.fack(), *mss);
            }
        }
        let (acked_segments, repeated) =
            scoreboard.acknowledge(number, |segment| deliver(segment, &mut acked, false));
        if params.sack {
            reordering.record_late(acked.late, scoreboard.fack(), *mss);
        }
        if let Some(dsack) = dsack.filter(|_| !old) {
            // A spurious retransmission counts as a delivery, since it has arrived
            // (`tcp_dsack_seen`).
            let bytes = dsack.range.1 - dsack.range.0;
            sampler.count(now, bytes);
            delivered += bytes;
            segments += dsack.segments;
        }
        let acked_bytes = self.scoreboard.una() - prior_una;
        // By Karn's rule, an ACK that covers a retransmitted segment gives no round-trip time for
        // the segments that it acknowledges cumulatively, unless its timestamp gives one.
        let mut rtts = RoundTrips::new(now, if repeated { Span::EMPTY } else { acked.span }, sacked.span);
        if rtts.oldest.is_none() && acked_bytes > 0 {
            rtts.oldest = self.rtt_by_stamp(now, ack);
            rtts.newest = rtts.oldest;
        }
        AckResult {
            prior_una,
            acked: acked_bytes,
            acked_segments,
            delivered,
            segments,
            prior_in_flight,
            rtts,
            sacked: delivers_by_sack,
            original,
            repeated,
            dsack,
            duplicate: acked_bytes == 0 && dsack.is_none() && self.scoreboard.head().is_some(),
            ..AckResult::default()
        }
    }

    /// Returns the round-trip time that the echoed timestamp gives, or `None` if the ACK echoes no
    /// timestamp or timestamps are off. After a retransmission, only the timestamp shows which
    /// transmission was answered (RFC 7323, 4).
    #[cold]
    pub(super) fn rtt_by_stamp(&self, now: Time, ack: &Segment) -> Option<Duration> {
        let usable = self.params.timestamps && ack.echo_us != 0;
        usable.then(|| Duration(u64::from(clock_us(now).wrapping_sub(ack.echo_us)) * 1_000))
    }

    /// Returns true if the ACK delivers by SACK a segment that was sent only once, and before the last
    /// transmission of the first outstanding segment. Only such SACKs re-arm the timer, since SACKs of data
    /// sent later would defer the timeout for ever (Linux: `tcp_clean_rtx_queue`).
    pub(super) fn is_older_than_head(&self, now: Time, result: &AckResult) -> bool {
        let (Some(rtt), Some(sent)) = (result.rtts.sacked, self.scoreboard.head_sent()) else {
            return false;
        };
        rtt > now.since(sent)
    }

    /// Reads the SACK blocks of an ACK. Returns its plausible D-SACK, if any, and the other blocks
    /// that lie within outstanding data, in ascending order.
    #[cold]
    fn read_blocks(&mut self, ack: &Segment) -> (Option<DSack>, Blocks) {
        let (una, next) = (self.scoreboard.una().max(number(ack)), self.scoreboard.next());
        let (mut dsack, mut blocks) = (None, Blocks::default());
        let mut reported = ack.sack.of(ack.seq).peekable();
        let first = reported.next();
        if let Some(block) = first.filter(|&block| is_duplicate(block, ack.seq, reported.peek().copied())) {
            dsack = self.accept_dsack(payload(block));
        }
        for (first, end) in first.filter(|_| dsack.is_none()).into_iter().chain(reported).map(payload) {
            if una < first && first < end && end <= next {
                blocks.push((first, end));
            }
        }
        (dsack, blocks)
    }

    /// Returns the D-SACK of the bytes `range`. Returns `None` if `range` is empty or larger than
    /// the largest window that the receiver has advertised, or if D-SACKs have reported more
    /// segments than were retransmitted (`tcp_dsack_seen`).
    fn accept_dsack(&mut self, range: (u64, u64)) -> Option<DSack> {
        let bytes = range.1.saturating_sub(range.0);
        if bytes == 0 || bytes > self.buffer.largest_window() {
            return None;
        }
        let segments = bytes.div_ceil(self.mss);
        self.duplicates += segments;
        let of_probe = segments == 1 && self.probe.is_some_and(|probe| probe.end() == range.1);
        if self.duplicates > self.counts.retransmissions {
            return None;
        }
        // RACK ignores a D-SACK if no reordering has been observed on the path, or if the D-SACK
        // answers a probe.
        if self.reordering.is_seen() && !of_probe {
            self.rack.record_dsack();
        }
        Some(DSack { range, segments, of_probe })
    }
}

/// SACK blocks of an ACK that report bytes beyond a gap, in ascending order.
#[derive(Default)]
struct Blocks {
    blocks: [(u64, u64); SackBlocks::MAX],
    count: usize,
}

impl Blocks {
    fn push(&mut self, block: (u64, u64)) {
        self.blocks[self.count] = block;
        self.count += 1;
        self.blocks[..self.count].sort_unstable();
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.blocks[..self.count].iter().copied()
    }
}

/// Returns true if `block`, the first SACK block of an ACK, is a D-SACK. It is one if it begins
/// below the acknowledgement number `ack`, or lies within the next block (RFC 2883, 4; Linux:
/// `tcp_check_dsack`).
fn is_duplicate(block: (u64, u64), ack: u64, next: Option<(u64, u64)>) -> bool {
    block.0 < ack || next.is_some_and(|next| next.0 <= block.0 && block.1 <= next.1)
}

/// Converts a SACK block from sequence numbers to payload bytes, counted from 0.
fn payload((first, end): (u64, u64)) -> (u64, u64) {
    (first.saturating_sub(FIRST_BYTE), end.saturating_sub(FIRST_BYTE))
}

/// Returns the number of payload bytes that an ACK acknowledges, counted from the start of the
/// connection.
pub(super) fn number(ack: &Segment) -> u64 {
    ack.seq.saturating_sub(FIRST_BYTE)
}
