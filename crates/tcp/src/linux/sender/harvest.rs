//! What an ACK delivers, in the kernel's order: duplicates and blocks first, then what is acknowledged
//! cumulatively (`tcp_sacktag_write_queue`, `tcp_clean_rtx_queue`).

use nodeb_base::units::{Duration, Time};

use super::Sender;
use crate::linux::control::Phase;
use crate::linux::scoreboard::SentSegment;
use crate::linux::{FIRST_BYTE, clock_us, is_older};
use crate::segment::{SackBlocks, Segment};

/// What an ACK has delivered.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Harvest {
    /// First byte not acknowledged before.
    prior_una: u64,
    /// Bytes and segments acknowledged cumulatively.
    pub(in super::super) acked: u64,
    pub(in super::super) acked_segments: u64,
    /// All bytes and segments delivered, duplicates that were reported included.
    pub(in super::super) delivered: u64,
    pub(in super::super) segments: u64,
    /// Bytes found lost.
    pub(in super::super) lost: u64,
    /// Whether the window is reduced for a mark.
    pub(in super::super) marked: bool,
    pub(super) prior_in_flight: u64,
    /// Round trips of the oldest and of the newest segment delivered.
    pub(super) oldest_rtt: Option<Duration>,
    pub(super) newest_rtt: Option<Duration>,
    /// The same of those reported by SACK alone.
    sacked_rtt: Option<Duration>,
    /// Whether SACK has reported something new.
    pub(in super::super) sacked: bool,
    /// Whether a segment that was sent once, before the episode under way began, was delivered.
    pub(in super::super) original: bool,
    /// Whether something acknowledged cumulatively had been sent again.
    pub(in super::super) repeated: bool,
    /// The duplicate that was reported.
    pub(in super::super) dsack: Option<DSack>,
    /// Whether the ACK updates the receiver's window (`FLAG_WIN_UPDATE`).
    pub(in super::super) opened: bool,
    /// Whether the ACK acknowledges nothing new although something is outstanding.
    pub(in super::super) duplicate: bool,
    /// Whether the timer must be set anew.
    pub(in super::super) rearm: bool,
    /// Whether a retransmission has been lost.
    pub(in super::super) lost_again: bool,
}

impl Harvest {
    /// Returns true if something new is acknowledged cumulatively (`FLAG_SND_UNA_ADVANCED`).
    pub(in super::super) fn advances(&self) -> bool {
        self.acked > 0
    }

    /// Returns the first byte not acknowledged before.
    pub(in super::super) fn prior_una(&self) -> u64 {
        self.prior_una
    }
}

/// A D-SACK (RFC 2883) that is believed (`tcp_dsack_seen`).
#[derive(Clone, Copy, Debug)]
pub struct DSack {
    /// First byte of payload, and one past the last.
    pub(in super::super) range: (u64, u64),
    /// Segments that it covers.
    segments: u64,
    /// Whether it answers a tail loss probe.
    pub(in super::super) of_probe: bool,
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

/// What is gathered from the segments that an ACK delivers in one way.
struct Gathered {
    span: Span,
    /// The lowest that was never sent again although something above it had been delivered before.
    late: u64,
}

impl Gathered {
    const NOTHING: Self = Self { span: Span::EMPTY, late: u64::MAX };
}

impl Sender {
    /// Takes what an ACK says about segments. One that is `old` was overtaken by another: what its blocks
    /// deliver counts as no delivery (the end of `tcp_ack`).
    pub(super) fn harvest(&mut self, now: Time, ack: &Segment, old: bool) -> Harvest {
        let prior_una = self.board.una();
        let mut harvest = Harvest { prior_una, prior_in_flight: self.in_flight(), ..Harvest::default() };
        let has_blocks = self.params.sack && !ack.sack.is_empty();
        let (dsack, blocks) = if has_blocks { self.read_blocks(ack) } else { <_>::default() };
        let (min_rtt, until) = (self.rtt.min(), self.episode.until().unwrap_or(u64::MAX));
        let fack = self.board.fack();
        let Self { board, rack, sampler, params, undo, reordering, episode, mss, .. } = self;
        let (mut acked, mut sacked) = (Gathered::NOTHING, Gathered::NOTHING);
        let mut deliver = |segment: &SentSegment, gathered: &mut Gathered, by_sack: bool| {
            // Segments beyond a gap do not renew the timestamp that is echoed (RFC 7323, 4.3).
            let echoed = by_sack || !params.timestamps || !is_older(ack.echo_us, clock_us(segment.sent));
            rack.on_delivered(now, segment, min_rtt, echoed);
            harvest.sacked |= by_sack;
            if !segment.retransmitted {
                harvest.original |= segment.end() <= until;
                gathered.span.extend(segment.sent);
                let first = segment.range().0;
                if first < fack {
                    gathered.late = gathered.late.min(first);
                }
            }
            if old {
                return;
            }
            // Without SACK duplicate ACKs have counted some of them (`tcp_count_delivered`).
            let bytes = if params.sack { segment.bytes() } else { 0 };
            sampler.on_delivered(now, bytes, segment.sent, segment.snapshot);
            harvest.delivered += segment.bytes();
            harvest.segments += 1;
        };
        let number = if old { prior_una } else { number(ack) };
        if has_blocks {
            if let Some(dsack) = dsack {
                let found = board.sack_duplicate(dsack.range, undo.marker(), number, |segment| {
                    deliver(segment, &mut sacked, true);
                });
                let forgotten = dsack.range.1 <= prior_una && dsack.range.1 > undo.marker();
                undo.note_duplicates(if forgotten { dsack.segments } else { found.repeated });
                sacked.late = sacked.late.min(found.needless.unwrap_or(u64::MAX));
            }
            board.sack(blocks.iter(), |segment| deliver(segment, &mut sacked, true));
            // After a timeout what was repeated cannot be told from what was not.
            if episode.phase() != Phase::Loss || undo.is_possible() {
                reordering.note_late(sacked.late, board.fack(), *mss);
            }
        }
        let (acked_segments, repeated) =
            board.acknowledge(number, |segment| deliver(segment, &mut acked, false));
        if params.sack {
            reordering.note_late(acked.late, board.fack(), *mss);
        }
        if let Some(dsack) = dsack.filter(|_| !old) {
            // A spurious retransmission is delivered, too (`tcp_dsack_seen`).
            let bytes = dsack.range.1 - dsack.range.0;
            sampler.count(now, bytes);
            harvest.delivered += bytes;
            harvest.segments += dsack.segments;
        }
        harvest.dsack = dsack;
        harvest.acked = self.board.una() - prior_una;
        (harvest.acked_segments, harvest.repeated) = (acked_segments, repeated);
        self.measure(now, ack, &mut harvest, acked.span, sacked.span);
        harvest.duplicate = harvest.acked == 0 && dsack.is_none() && self.board.head().is_some();
        harvest
    }

    /// Works out the round trips of an ACK from when what it delivers was sent.
    fn measure(&self, now: Time, ack: &Segment, harvest: &mut Harvest, acked: Span, sacked: Span) {
        // Karn's rule: what was sent again makes all that is acknowledged with it ambiguous.
        if !acked.is_empty() && !harvest.repeated {
            harvest.oldest_rtt = Some(now.since(acked.oldest));
            harvest.newest_rtt = Some(now.since(acked.newest));
        }
        if !sacked.is_empty() {
            harvest.sacked_rtt = Some(now.since(sacked.oldest));
            harvest.oldest_rtt = harvest.oldest_rtt.or(harvest.sacked_rtt);
            harvest.newest_rtt = Some(now.since(sacked.newest));
        }
        if harvest.oldest_rtt.is_none() {
            harvest.oldest_rtt = self.rtt_by_stamp(now, ack, harvest);
            harvest.newest_rtt = harvest.oldest_rtt;
        }
    }

    /// After a retransmission only the timestamp tells which transmission was answered (RFC 7323, 4).
    #[cold]
    fn rtt_by_stamp(&self, now: Time, ack: &Segment, harvest: &Harvest) -> Option<Duration> {
        let usable = self.params.timestamps && ack.echo_us != 0 && harvest.acked > 0;
        usable.then(|| Duration(u64::from(clock_us(now).wrapping_sub(ack.echo_us)) * 1_000))
    }

    /// Returns true if SACKs measured a round trip on data sent before the first outstanding segment was last
    /// sent; otherwise the timeout might be put off for ever (Linux: `tcp_clean_rtx_queue`).
    pub(super) fn is_newer_than_head(&self, now: Time, harvest: &Harvest) -> bool {
        let (Some(rtt), Some(sent)) = (harvest.sacked_rtt, self.board.head_sent()) else {
            return false;
        };
        rtt > now.since(sent)
    }

    /// Returns the D-SACK of an ACK, and its other blocks of outstanding bytes in ascending order.
    #[cold]
    fn read_blocks(&mut self, ack: &Segment) -> (Option<DSack>, Blocks) {
        let (una, next) = (self.board.una().max(number(ack)), self.board.next());
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

    /// Returns a D-SACK, unless it covers more than any window or there are more than retransmissions
    /// (`tcp_dsack_seen`).
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
        // On a path that has kept order it proves nothing, nor do probes.
        if self.reordering.is_seen() && !of_probe {
            self.rack.note_dsack();
        }
        Some(DSack { range, segments, of_probe })
    }
}

/// Blocks of bytes delivered beyond a gap, in ascending order.
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

/// Returns true if the first block of an ACK is a D-SACK: it begins below the ACK's number or lies within the
/// next block (RFC 2883, 4; Linux: `tcp_check_dsack`).
fn is_duplicate(block: (u64, u64), ack: u64, next: Option<(u64, u64)>) -> bool {
    block.0 < ack || next.is_some_and(|next| next.0 <= block.0 && block.1 <= next.1)
}

/// Returns a block as payload.
fn payload((first, end): (u64, u64)) -> (u64, u64) {
    (first.saturating_sub(FIRST_BYTE), end.saturating_sub(FIRST_BYTE))
}

/// Returns the payload that an ACK acknowledges.
pub(super) fn number(ack: &Segment) -> u64 {
    ack.seq.saturating_sub(FIRST_BYTE)
}
