//! Reductions that were a mistake: detected by a DSACK or a time stamp, and taken back.

use nodeb_base::units::Time;

use super::Episode;
use crate::linux::sender::Sender;
use crate::linux::{clock_us, is_older};
use crate::segment::Segment;

/// What it takes to know that the last reduction was a mistake.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// When the first retransmission was sent.
    first: Option<Time>,
    /// Retransmissions not reported to be duplicates.
    retransmissions: u32,
}

impl Undo {
    /// A reduction begins, with so many retransmissions in flight.
    pub(super) fn begin(retransmissions: u32) -> Self {
        Self { first: None, retransmissions }
    }

    /// A segment is sent again.
    pub fn note_retransmission(&mut self, now: Time) {
        self.first.get_or_insert(now);
        self.retransmissions += 1;
    }
}

impl Sender {
    pub(super) fn is_mistake(&mut self, ack: &Segment, dsack: bool, advanced: bool) -> bool {
        let Some(undo) = self.undo.as_mut().filter(|_| self.params.undo) else {
            return false;
        };
        if dsack {
            undo.retransmissions = undo.retransmissions.saturating_sub(1);
            return undo.retransmissions == 0 && undo.first.is_some();
        }
        // Eifel detection (RFC 3522): the ACK was caused by something sent before.
        let stamped = self.params.timestamps && ack.echo_us != 0 && advanced;
        stamped
            && self.episode != Episode::Open
            && undo.first.is_some_and(|first| is_older(ack.echo_us, clock_us(first)))
    }

    /// Eifel response (RFC 4015): window and threshold are as if nothing had happened. The episode may end with it.
    #[cold]
    pub(super) fn take_back(&mut self, now: Time, reopen: bool) {
        self.undo = None;
        self.control.report(|control| control.undo());
        self.board.unmark_lost();
        self.rack.reexamine();
        self.timeouts = 0;
        if reopen && self.episode != Episode::Open {
            self.episode = Episode::Open;
            self.control.report(|control| control.on_recovered(now));
        }
    }
}
