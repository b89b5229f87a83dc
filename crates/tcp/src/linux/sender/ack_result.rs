//! In the kernel's order: D-SACKs and SACK blocks (`tcp_sacktag_write_queue`), then the cumulative
//! acknowledgement (`tcp_clean_rtx_queue`).

use nodeb_base::units::{Duration, Time};

use super::Sender;
use crate::linux::control::Phase;
use crate::linux::scoreboard::SentSegment;
use crate::linux::{FIRST_BYTE, clock_us, is_older};
use crate::segment::{SackBlocks, Segment};

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct AckResult {
    /// First unacknowledged byte before.
    prior_una: u64,
    /// Cumulatively, in bytes; `acked_segments` in segments.
    pub(in super::super) acked: u64,
    pub(in super::super) acked_segments: u64,
    /// In bytes, by SACK and with duplicates too, 0 on an overtaken ACK; `segments` in segments.
    pub(in super::super) delivered: u64,
    pub(in super::super) segments: u64,
    /// Newly marked.
    pub(in super::super) lost: u64,
    /// Starts a window reduction.
    pub(in super::super) marked: bool,
    pub(super) prior_in_flight: u64,
    pub(super) rtts: RoundTrips,
    /// At least one segment by SACK.
    pub(in super::super) sacked: bool,
    /// Delivers a segment sent only once, before the present episode unless `Open`.
    pub(in super::super) original: bool,
    /// A cumulatively acknowledged segment had been retransmitted.
    pub(in super::super) repeated: bool,
    /// If it is plausible.
    pub(in super::super) dsack: Option<DSack>,
    /// `FLAG_WIN_UPDATE`.
    pub(in super::super) updates_window: bool,
    /// Nothing new although data is outstanding, no D-SACK, and no update of the window.
    pub(in super::super) duplicate: bool,
    /// Of the retransmission queue.
    pub(in super::super) rearm: bool,
    /// A retransmission was marked lost.
    pub(in super::super) lost_again: bool,
}

impl AckResult {
    /// `FLAG_SND_UNA_ADVANCED`.
    pub(in super::super) fn advances(&self) -> bool {
        self.acked > 0
    }

    /// First unacknowledged byte before.
    pub(in super::super) fn prior_una(&self) -> u64 {
        self.prior_una
    }
}

/// RFC 2883; plausible by `tcp_dsack_seen`.
#[derive(Clone, Copy, Debug)]
pub struct DSack {
    /// (first byte, last byte + 1).
    pub(in super::super) range: (u64, u64),
    /// Computed from the bytes.
    segments: u64,
    /// Answers the tail loss probe in flight.
    pub(in super::super) of_probe: bool,
}

/// Oldest and newest of the segments sent once that an ACK delivers in one way.
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

/// Of segments sent once; none cumulatively if a retransmitted one is acknowledged (Karn's rule). If none is
/// left, of the echoed timestamp on an ACK of new data.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrips {
    /// Cumulatively, else by SACK, else of the timestamp.
    pub(super) oldest: Option<Duration>,
    /// By SACK, else cumulatively, else of the timestamp.
    pub(super) newest: Option<Duration>,
    /// Oldest by SACK.
    sacked: Option<Duration>,
}

impl RoundTrips {
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

struct Gathered {
    span: Span,
    /// Lowest overtaken byte, never retransmitted; `u64::MAX` if there is none.
    late: u64,
}

impl Gathered {
    const NOTHING: Self = Self { span: Span::EMPTY, late: u64::MAX };
}

impl Sender {
    /// `old` if a newer ACK has overtaken it: its SACK blocks are no deliveries (the end of `tcp_ack`).
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

    /// RFC 7323, 4: after a retransmission only the timestamp shows which one was answered.
    #[cold]
    pub(super) fn rtt_by_stamp(&self, now: Time, ack: &Segment) -> Option<Duration> {
        let usable = self.params.timestamps && ack.echo_us != 0;
        usable.then(|| Duration(u64::from(clock_us(now).wrapping_sub(ack.echo_us)) * 1_000))
    }

    /// `tcp_clean_rtx_queue`: sent once, before the head's last transmission. SACKs of later data would defer
    /// the timeout for ever.
    pub(super) fn is_older_than_head(&self, now: Time, result: &AckResult) -> bool {
        let (Some(rtt), Some(sent)) = (result.rtts.sacked, self.scoreboard.head_sent()) else {
            return false;
        };
        rtt > now.since(sent)
    }

    /// The plausible D-SACK, and the blocks within outstanding data in ascending order.
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

    /// `tcp_dsack_seen`: not empty or beyond the largest window, nor more than was retransmitted.
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

/// RFC 2883, 4; Linux: `tcp_check_dsack`: the first block begins below `ack`, or lies within the next.
fn is_duplicate(block: (u64, u64), ack: u64, next: Option<(u64, u64)>) -> bool {
    block.0 < ack || next.is_some_and(|next| next.0 <= block.0 && block.1 <= next.1)
}

/// Counted from 0.
fn payload((first, end): (u64, u64)) -> (u64, u64) {
    (first.saturating_sub(FIRST_BYTE), end.saturating_sub(FIRST_BYTE))
}

/// Payload bytes from the start.
pub(super) fn number(ack: &Segment) -> u64 {
    ack.seq.saturating_sub(FIRST_BYTE)
}
