//! Search for the critical path through an uplink whose resources the base station grants: waits
//! for a request and for a grant, and transmissions with hybrid ARQ.

use nodeb_base::event::Place;
use nodeb_base::units::{Duration, Time};
use nodeb_tcp::segment::Kind;

use super::Walk;
use crate::cause::{Cause, Step};
use crate::timeline::{Granted, Hop, NONE};

impl Granted {
    /// Returns the start of the first transmission of the packet's last block, or of its first
    /// block if HARQ gave up one of the packet's blocks.
    fn last_begun(&self) -> Time {
        if self.passage.is_lost { self.passage.first } else { self.passage.from }
    }

    /// Returns the step of the wait after the block of the packet ahead: for a block of a configured grant, or for a
    /// further grant.
    fn awaited(&self) -> Step {
        if self.passage.is_reserved { Step::ReservedAwaited } else { Step::FurtherGrantAwaited }
    }
}

impl Walk<'_> {
    /// Goes back through a packet's stay at a scheduled uplink to its arrival there. If the packet has data,
    /// the path may move on to packets ahead of it. Several ACKs fit into one block, so an ACK's wait behind
    /// other ACKs counts as a wait for a request or grant. Returns the packet whose arrival was reached, and
    /// the index of its [`Hop`].
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

    /// Goes back through the transmissions of the block that completed a packet to the start of the first one.
    fn last_block(&mut self, own: &Granted, place: Place) {
        self.to(own.sent, Cause::Reordering, Step::Held, place);
        self.fixed(own.sent - self.tti(), Cause::Transmission, Step::Sends, place);
        self.to(own.passage.from, Cause::Harq, Step::RetransmissionAwaited, place);
    }

    /// Goes back to the start of the first block with a part of a packet. The packet's blocks count as if
    /// they were sent in successive TTIs just before the last one. Their time is charged to the cause and
    /// step in `sent`, and the time before them to the wait for grants. If HARQ gave up one of the blocks,
    /// the whole time is charged to RLC. If it gave up none and the packet has no data, this method does
    /// nothing.
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

    /// Returns the passage of the packet ahead, that is, of the packet that left the uplink just before the
    /// packet of `stay`. `turn` is the index that the packet of `stay` has, or would have, in
    /// `Timeline::granted`; [`NONE`] gives `None`. Also returns `None` if no packet left before, if the packet
    /// ahead entered the uplink after the packet of `stay`, or if [`Granted::last_begun`] of the packet ahead is
    /// before the packet of `stay` entered.
    fn ahead_on_uplink(&self, turn: u32, stay: &Hop) -> Option<Granted> {
        let before = if turn == NONE { None } else { turn.checked_sub(1) }?;
        let ahead = self.timeline.granted[before as usize];
        let waits = ahead.last_begun() >= stay.entered && self.hop_at(ahead.hop).entered <= stay.entered;
        waits.then_some(ahead)
    }

    /// Goes back to the arrival of a packet at the uplink, through three waits: for the phone's connection,
    /// for a request, and for a grant. A wait for a block of a configured grant replaces the last two.
    /// Otherwise, if HARQ gave up one of the packet's blocks, the last two count as a wait for a grant. If
    /// the packet's passage `own` is not recorded, all time counts as a wait for a grant.
    fn request_and_grant(&mut self, own: Option<&Granted>, stay: &Hop) {
        if let Some(own) = own {
            let connected = own.passage.connected.max(stay.entered);
            if own.passage.is_reserved {
                self.to(connected, Cause::Grant, own.awaited(), stay.place);
            } else if !own.passage.is_lost {
                self.to(own.passage.asked.max(connected), Cause::Grant, Step::GrantAwaited, stay.place);
                self.to(connected, Cause::Grant, Step::RequestAwaited, stay.place);
            }
            self.to(connected, Cause::Grant, Step::GrantAwaited, stay.place);
            self.to(stay.entered, Cause::ChannelSwitching, Step::Connects, stay.place);
        }
        self.to(stay.entered, Cause::Grant, Step::GrantAwaited, stay.place);
    }
}
