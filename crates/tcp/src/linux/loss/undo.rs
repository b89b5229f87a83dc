//! Reductions that were a mistake: detected by D-SACKs or a time stamp, and taken back.

use nodeb_base::units::Time;

use super::Episode;
use crate::linux::sender::{Harvest, Sender};
use crate::linux::{clock_us, is_older};
use crate::segment::Segment;

/// What it takes to know that the last reduction was a mistake, and to take it back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// First byte not acknowledged when the reduction began; `None` if it cannot be a mistake (`undo_marker`).
    marker: Option<u64>,
    /// Retransmissions not reported to be duplicates; `None` before the first (`undo_retrans`).
    repeats: Option<u64>,
    /// Time of the first retransmission (`retrans_stamp`).
    first: Option<Time>,
    /// Whether a mark, too, was a reason to reduce (`prior_ssthresh` of 0).
    is_justified: bool,
}

impl Undo {
    /// Begins a reduction at byte `una` with so many `repeats` in flight; `is_justified` if a mark, too, is a
    /// reason for it (`tcp_init_undo`).
    pub(super) fn begin(&mut self, una: u64, repeats: u64, is_justified: bool) {
        self.marker = Some(una);
        self.repeats = (repeats > 0).then_some(repeats);
        self.is_justified = is_justified;
    }

    /// Takes note of a mark: what was reduced stays so.
    pub(super) fn justify(&mut self) {
        self.is_justified = true;
    }

    /// Takes note that the last reduction was no mistake, or was taken back.
    pub(super) fn end(&mut self) {
        self.marker = None;
    }

    /// Takes note that nothing sent again is under way.
    pub(super) fn forget_repeats(&mut self) {
        self.first = None;
    }

    /// Takes note that a segment is sent again.
    pub fn note_retransmission(&mut self, now: Time) {
        self.first.get_or_insert(now);
        *self.repeats.get_or_insert(0) += 1;
    }

    /// Takes note that so many retransmissions are reported to be duplicates.
    pub fn note_duplicates(&mut self, segments: u64) {
        if let Some(repeats) = self.repeats.as_mut().filter(|_| self.marker.is_some()) {
            *repeats = repeats.saturating_sub(segments);
        }
    }

    /// Returns true if the last reduction may yet be taken back.
    pub fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// Returns the byte above which duplicates tell something of the last reduction.
    pub fn marker(&self) -> u64 {
        self.marker.unwrap_or(u64::MAX)
    }

    /// Returns true if every retransmission was reported to be a duplicate (RFC 3708).
    fn is_all_duplicate(&self) -> bool {
        self.marker.is_some() && self.repeats == Some(0)
    }
}

impl Sender {
    /// Returns true if D-SACKs show the last reduction to be a mistake, and takes it back
    /// (`tcp_try_undo_dsack`).
    pub(super) fn undo_by_dsack(&mut self) -> bool {
        let is_mistake = self.params.undo && self.undo.is_all_duplicate();
        if is_mistake {
            self.rack.on_undone();
            self.take_back(false);
        }
        is_mistake
    }

    /// Returns true if the last reduction was a mistake, at its end or after a timeout (`tcp_may_undo`).
    pub(super) fn is_mistake(&self, ack: &Segment) -> bool {
        self.params.undo
            && self.undo.marker.is_some()
            && (self.undo.repeats == Some(0) || self.was_delayed(ack))
    }

    /// Eifel detection (RFC 3522): returns true if the ACK was caused by something sent before the first
    /// retransmission, or nothing was sent again (`tcp_packet_delayed`).
    fn was_delayed(&self, ack: &Segment) -> bool {
        let Some(first) = self.undo.first else {
            return self.params.sack || self.episode.until().is_some_and(|until| self.board.una() < until);
        };
        self.params.timestamps && ack.echo_us != 0 && is_older(ack.echo_us, clock_us(first))
    }

    /// A partial ACK in a recovery may come from what was only late. With nothing sent again in flight that takes
    /// the reduction back; else it returns true: nothing more is to be given up or sent again on this ACK
    /// (`tcp_try_undo_partial`).
    pub(super) fn undo_partially(&mut self, now: Time, ack: &Segment, harvest: &Harvest) -> bool {
        if !self.params.undo || !self.undo.is_possible() || !self.was_delayed(ack) {
            return false;
        }
        self.reordering.note_late(harvest.prior_una(), self.board.fack(), self.mss);
        if self.board.has_repairs() {
            return true;
        }
        if !self.board.has_repeated() {
            self.undo.forget_repeats();
        }
        self.take_back(true);
        self.keep_open(now);
        false
    }

    /// Eifel response (RFC 4015): window and threshold are as if nothing had happened, unless a mark was a
    /// reason, too; `unmark` what was given up as well (`tcp_undo_cwnd_reduction`).
    #[cold]
    pub(super) fn take_back(&mut self, unmark: bool) {
        if unmark {
            self.board.unmark_lost();
        }
        if !self.undo.is_justified {
            let (window, ssthresh) = (self.spread_window(), self.control.ssthresh);
            self.control.report(|control| control.undo(window));
            self.tell_reduced &= self.control.ssthresh <= ssthresh;
            if let Episode::Recovery { prr, .. } = &mut self.episode {
                *prr = None;
            }
        }
        self.undo.end();
        self.rack.reexamine();
    }
}
