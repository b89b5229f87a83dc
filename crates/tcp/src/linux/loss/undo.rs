//! Undoing of window reductions that were spurious, as D-SACKs or timestamps show.

use nodeb_base::units::Time;

use super::Episode;
use crate::linux::sender::{AckResult, Sender};
use crate::linux::{clock_us, is_older};
use crate::segment::Segment;

/// State needed to detect that the last window reduction was spurious. In this module a reduction
/// means that the congestion window shrinks after a loss or an ECN mark.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// First unacknowledged byte at the start of the reduction. `None` if the reduction cannot be
    /// undone (`undo_marker`).
    marker: Option<u64>,
    /// Number of retransmissions that D-SACKs have not reported as duplicates; `None` before the
    /// first retransmission (`undo_retrans`).
    retransmissions: Option<u64>,
    /// Time of the first retransmission; `None` if no retransmission is in flight
    /// (`retrans_stamp`).
    first: Option<Time>,
    /// Whether an ECN mark also caused the reduction (`prior_ssthresh` of 0).
    is_justified: bool,
}

impl Undo {
    /// Records the start of a reduction, when `una` is the first unacknowledged byte and
    /// `retransmissions` retransmissions are in flight. `is_justified` is true if an ECN mark also
    /// caused the reduction (`tcp_init_undo`).
    pub(super) fn begin(&mut self, una: u64, retransmissions: u64, is_justified: bool) {
        self.marker = Some(una);
        self.retransmissions = (retransmissions > 0).then_some(retransmissions);
        self.is_justified = is_justified;
    }

    /// Records that an ECN mark has arrived, which justifies the present reduction, so that it will
    /// not be undone.
    pub(super) fn justify(&mut self) {
        self.is_justified = true;
    }

    /// Records that the last reduction cannot be undone any more, because it was justified or has
    /// already been undone.
    pub(super) fn end(&mut self) {
        self.marker = None;
    }

    /// Forgets the time of the first retransmission, since no retransmission is in flight.
    pub(super) fn forget_retransmission_time(&mut self) {
        self.first = None;
    }

    /// Counts a retransmission, and stores its time if it is the first one.
    pub fn record_retransmission(&mut self, now: Time) {
        self.first.get_or_insert(now);
        *self.retransmissions.get_or_insert(0) += 1;
    }

    /// Records that D-SACKs reported `segments` retransmissions as duplicates. Has no effect if the
    /// reduction cannot be undone.
    pub fn record_duplicates(&mut self, segments: u64) {
        if let Some(retransmissions) = self.retransmissions.as_mut().filter(|_| self.marker.is_some()) {
            *retransmissions = retransmissions.saturating_sub(segments);
        }
    }

    /// Returns true if the last window reduction can still be undone.
    pub fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// Returns the first unacknowledged byte at the start of the last reduction, or `u64::MAX` if the
    /// reduction cannot be undone. A D-SACK of bytes below this one concerns an earlier recovery.
    pub fn marker(&self) -> u64 {
        self.marker.unwrap_or(u64::MAX)
    }

    /// Returns true if D-SACKs have reported every retransmission as a duplicate, so that nothing
    /// was lost (RFC 3708).
    fn is_all_duplicate(&self) -> bool {
        self.marker.is_some() && self.retransmissions == Some(0)
    }
}

impl Sender {
    /// Undoes the last reduction and returns true if D-SACKs show that it was spurious
    /// (`tcp_try_undo_dsack`).
    pub(super) fn undo_by_dsack(&mut self, now: Time) -> bool {
        let is_spurious_reduction = self.params.undo && self.undo.is_all_duplicate();
        if is_spurious_reduction {
            self.rack.on_undone();
            self.undo_reduction(now, false);
        }
        is_spurious_reduction
    }

    /// Returns true if `ack`, or D-SACKs before it, show that the last window reduction was
    /// spurious (`tcp_may_undo`).
    pub(super) fn is_spurious_reduction(&self, ack: &Segment) -> bool {
        self.params.undo
            && self.undo.marker.is_some()
            && (self.undo.retransmissions == Some(0) || self.was_delayed(ack))
    }

    /// Returns true if a segment that was sent before the first retransmission triggered the ACK
    /// (Eifel detection, RFC 3522). If nothing was retransmitted, returns true with SACK, and
    /// without SACK only before the end of the recovery (`tcp_packet_delayed`).
    fn was_delayed(&self, ack: &Segment) -> bool {
        let Some(first) = self.undo.first else {
            return self.params.sack
                || self.episode.until().is_some_and(|until| self.scoreboard.una() < until);
        };
        self.params.timestamps && ack.echo_us != 0 && is_older(ack.echo_us, clock_us(first))
    }

    /// Evaluates a partial ACK in a recovery (`tcp_try_undo_partial`). If the ACK answers a late original and
    /// no retransmission is in flight, the function undoes the reduction and returns false. If the ACK
    /// answers a late original and retransmissions are in flight, it returns true, which means that no
    /// segment may be marked lost or retransmitted on this ACK. In all other cases it returns false and
    /// changes nothing.
    pub(super) fn undo_partially(&mut self, now: Time, ack: &Segment, result: &AckResult) -> bool {
        if !self.params.undo || !self.undo.is_possible() || !self.was_delayed(ack) {
            return false;
        }
        self.reordering.record_late(result.prior_una(), self.scoreboard.fack(), self.mss);
        if self.scoreboard.has_repairs() {
            return true;
        }
        if !self.scoreboard.has_retransmitted() {
            self.undo.forget_retransmission_time();
        }
        self.undo_reduction(now, true);
        self.keep_open(now);
        false
    }

    /// Restores window and slow-start threshold (Eifel response, RFC 4015), unless an ECN mark also
    /// caused the reduction. If `unmark` is true, segments marked lost count as in flight again
    /// (`tcp_undo_cwnd_reduction`).
    #[cold]
    pub(super) fn undo_reduction(&mut self, now: Time, unmark: bool) {
        if unmark {
            self.scoreboard.unmark_lost();
        }
        if !self.undo.is_justified {
            let (window, ssthresh) = (self.spread_window(), self.control.ssthresh);
            self.control.report(|control| control.undo(window));
            self.send_cwr &= self.control.ssthresh <= ssthresh;
            if let Episode::Recovery { prr, .. } = &mut self.episode {
                *prr = None;
            }
        }
        self.usage.renew(now);
        self.undo.end();
        self.rack.reexamine();
    }
}
