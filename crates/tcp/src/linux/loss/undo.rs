//! Shown by D-SACKs or timestamps.

use nodeb_base::units::Time;

use super::Episode;
use crate::linux::sender::{AckResult, Sender};
use crate::linux::{clock_us, is_older};
use crate::segment::Segment;

/// Of the last shrinking of the window by a loss or an ECN mark.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// `undo_marker`.
    marker: Option<u64>,
    /// `undo_retrans`: not reported as duplicates.
    retransmissions: Option<u64>,
    /// `retrans_stamp`: first retransmission, if one is in flight.
    first: Option<Time>,
    /// `prior_ssthresh` of 0: also by an ECN mark.
    is_justified: bool,
}

impl Undo {
    /// `tcp_init_undo`.
    pub(super) fn begin(&mut self, una: u64, retransmissions: u64, is_justified: bool) {
        self.marker = Some(una);
        self.retransmissions = (retransmissions > 0).then_some(retransmissions);
        self.is_justified = is_justified;
    }

    /// By an ECN mark: it will not be undone.
    pub(super) fn justify(&mut self) {
        self.is_justified = true;
    }

    /// Justified or already undone.
    pub(super) fn end(&mut self) {
        self.marker = None;
    }

    /// None is in flight.
    pub(super) fn forget_retransmission_time(&mut self) {
        self.first = None;
    }

    pub fn record_retransmission(&mut self, now: Time) {
        self.first.get_or_insert(now);
        *self.retransmissions.get_or_insert(0) += 1;
    }

    /// By D-SACKs.
    pub fn record_duplicates(&mut self, segments: u64) {
        if let Some(retransmissions) = self.retransmissions.as_mut().filter(|_| self.marker.is_some()) {
            *retransmissions = retransmissions.saturating_sub(segments);
        }
    }

    pub fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// `u64::MAX` if the reduction cannot be undone; a D-SACK below it is of an earlier recovery.
    pub fn marker(&self) -> u64 {
        self.marker.unwrap_or(u64::MAX)
    }

    /// Nothing was lost (RFC 3708).
    fn is_all_duplicate(&self) -> bool {
        self.marker.is_some() && self.retransmissions == Some(0)
    }
}

impl Sender {
    /// `tcp_try_undo_dsack`.
    pub(super) fn undo_by_dsack(&mut self, now: Time) -> bool {
        let is_spurious_reduction = self.params.undo && self.undo.is_all_duplicate();
        if is_spurious_reduction {
            self.rack.on_undone();
            self.undo_reduction(now, false);
        }
        is_spurious_reduction
    }

    /// `tcp_may_undo`.
    pub(super) fn is_spurious_reduction(&self, ack: &Segment) -> bool {
        self.params.undo
            && self.undo.marker.is_some()
            && (self.undo.retransmissions == Some(0) || self.was_delayed(ack))
    }

    /// RFC 3522; Linux: `tcp_packet_delayed`: without retransmissions, without SACK only before the end of
    /// the recovery.
    fn was_delayed(&self, ack: &Segment) -> bool {
        let Some(first) = self.undo.first else {
            return self.params.sack
                || self.episode.until().is_some_and(|until| self.scoreboard.una() < until);
        };
        self.params.timestamps && ack.echo_us != 0 && is_older(ack.echo_us, clock_us(first))
    }

    /// `tcp_try_undo_partial`: a late original undoes the reduction or, with retransmissions in flight,
    /// returns true: nothing may be marked lost or retransmitted on this ACK.
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

    /// `tcp_undo_cwnd_reduction` (RFC 4015), unless an ECN mark also caused it.
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
