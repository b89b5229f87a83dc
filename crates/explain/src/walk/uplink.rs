//! Waits for a request and for a grant, and transmissions with hybrid ARQ.

use nodeb_base::event::Place;
use nodeb_base::units::{Duration, Time};
use nodeb_tcp::segment::Kind;

use super::Walk;
use crate::timeline::{Granted, Hop, NONE};
use nodeb_base::cause::{Cause, Step};

impl Granted {
    /// Of the last block, or of the first if HARQ gave up one.
    fn last_begun(&self) -> Time {
        if self.passage.is_lost { self.passage.first } else { self.passage.from }
    }

    /// A block of a configured grant, or a further grant.
    fn awaited(&self) -> Step {
        if self.passage.is_reserved { Step::ReservedAwaited } else { Step::FurtherGrantAwaited }
    }
}

impl Walk<'_> {
    /// As [`Self::stay`]; several ACKs fit into one block, so an ACK's wait behind others is one for a
    /// request or grant.
    pub(super) fn stay_on_uplink(&mut self, mut packet: u32, mut hop: u32) -> (u32, u32) {
        let granted = &self.timeline.granted;
        let stay = self.hop_at(hop);
        let mut turn = stay.service;
        match granted.get(turn as usize) {
            Some(own) => self.last_block(own, stay.place),
            None if self.packet_at(packet).over().is_none() => turn = granted.len() as u32,
            None => {}
        }
        let mut sent = (Cause::Transmission, Step::Sends);
        loop {
            let stay = self.hop_at(hop);
            let own = granted.get(turn as usize);
            let has_data = self.packet_at(packet).kind == Kind::Data;
            if let Some(own) = own {
                self.earlier_blocks(own, has_data, sent, stay);
            }
            let Some(ahead) = self.ahead_on_uplink(turn, stay).filter(|_| has_data) else {
                self.request_and_grant(own, stay);
                return (packet, hop);
            };
            let awaited = own.map_or(Step::FurtherGrantAwaited, Granted::awaited);
            self.to(ahead.last_begun() + self.tti(), Cause::Grant, awaited, stay.place);
            (turn, packet, hop) = (turn - 1, self.hop_at(ahead.hop).packet, ahead.hop);
            self.follow(packet);
            sent = (self.cause_of_own_ahead(packet), Step::OwnAhead);
            self.to(ahead.last_begun(), sent.0, sent.1, stay.place);
        }
    }

    /// To the start of its first transmission.
    fn last_block(&mut self, own: &Granted, place: Place) {
        self.to(own.sent, Cause::Reordering, Step::Held, place);
        self.fixed(own.sent - self.tti(), Cause::Transmission, Step::Sends, place);
        self.to(own.passage.from, Cause::Harq, Step::RetransmissionAwaited, place);
    }

    /// As if sent in successive TTIs just before the last one, charged to `sent`; the time before to grants.
    /// If HARQ gave up one, all is charged to RLC; otherwise nothing without data.
    fn earlier_blocks(&mut self, own: &Granted, has_data: bool, sent: (Cause, Step), stay: &Hop) {
        let first = own.passage.first.max(stay.entered);
        if own.passage.is_lost {
            // RLC sent a part of the packet again. The waits for the request and grant of this
            // retransmission are charged to RLC, too.
            self.to(first, Cause::Rlc, Step::ReportAwaited, stay.place);
        } else if has_data {
            let row = Duration(self.tti().0 * u64::from(own.passage.blocks.saturating_sub(1)));
            self.to(Time(own.passage.from.0.saturating_sub(row.0)).max(first), sent.0, sent.1, stay.place);
            self.to(first, Cause::Grant, Step::FurtherGrantAwaited, stay.place);
        }
    }

    /// Left just before the packet of `stay`, unless it entered later or [`Granted::last_begun`] is before
    /// the packet entered; `turn` is as in [`Self::queue`].
    fn ahead_on_uplink(&self, turn: u32, stay: &Hop) -> Option<Granted> {
        let before = if turn == NONE { None } else { turn.checked_sub(1) }?;
        let ahead = self.timeline.granted[before as usize];
        let waits = ahead.last_begun() >= stay.entered && self.hop_at(ahead.hop).entered <= stay.entered;
        waits.then_some(ahead)
    }

    /// Waits for the connection, for a request, and for a grant, or for a block of a configured grant. If
    /// HARQ gave up a block or `own` is not recorded, for a grant.
    fn request_and_grant(&mut self, own: Option<&Granted>, stay: &Hop) {
        if let Some(own) = own {
            let connected = own.passage.connected.max(stay.entered);
            if own.passage.is_reserved {
                self.to(connected, Cause::Grant, own.awaited(), stay.place);
            } else if !own.passage.is_lost {
                self.to(own.passage.requested.max(connected), Cause::Grant, Step::GrantAwaited, stay.place);
                self.to(connected, Cause::Grant, Step::RequestAwaited, stay.place);
            }
            self.to(connected, Cause::Grant, Step::GrantAwaited, stay.place);
            self.to(stay.entered, Cause::ChannelSwitching, Step::Connects, stay.place);
        }
        self.to(stay.entered, Cause::Grant, Step::GrantAwaited, stay.place);
    }
}
