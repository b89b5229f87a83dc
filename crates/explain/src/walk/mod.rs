//! The walk from the end of a transfer back to its beginning, from effect to cause.
//!
//! A packet arrived when it did because of the place that it passed last, came there because of the place before,
//! and was sent because something arrived, a timer rang or a transfer began. Where it waited behind others of its own
//! connection, it is the one ahead of it that the path goes on with: that one could not have been earlier, while
//! this one could have come later. So a link that is kept busy explains itself, and not the windows that keep it so.

mod air;
mod host;
mod queue;

use nodeb_base::error::{Error, Result};
use nodeb_base::event::{Clock, Hold, Place, Site};
use nodeb_base::units::Time;
use nodeb_sim::Control;
use nodeb_tcp::segment::Kind;

use crate::cause::{Cause, Step};
use crate::span::Span;
use crate::timeline::{Basis, Hop, Moment, NONE, Packet, Timeline, Why};

/// Spans that a record of a packet, a place or a block gives at most, about.
const SPANS_A_RECORD: usize = 8;

/// Spans for which there is room at most before they are found.
const MAX_AT_ONCE: usize = 1 << 19;

/// Where the path goes on, backwards in time.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// With a packet, from the place on that it came to last before.
    Way { packet: u32, hop: u32 },
    /// With what made a packet be sent.
    Sent(u32),
    /// With what made an end act, at one of the moments noted.
    Moment { moment: Moment, end: Place },
    /// Nowhere: the beginning is reached, or what was before is not known.
    Over,
}

/// A path under way, from its end towards its beginning.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    timeline: &'a Timeline,
    /// Bytes of a request that rides on the ACK of the SYN make it longer than this.
    bare_ack: u32,
    /// Up to where the path has come, backwards, and where it ends.
    now: Time,
    floor: Time,
    /// Why the path goes round.
    round: Option<Cause>,
    /// The packet that it follows, and what spans say of it.
    packet: u32,
    id: u64,
    seq: u64,
    spans: Vec<Span>,
    control: &'a Control,
}

impl<'a> Walk<'a> {
    /// The path of a transfer that ended at `ended`, in order of time.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when `control` was told to cancel.
    pub fn spans(
        timeline: &'a Timeline,
        bare_ack: u32,
        begun: Time,
        ended: Time,
        control: &'a Control,
    ) -> Result<Vec<Span>> {
        let mut walk = Self {
            timeline,
            bare_ack,
            now: ended,
            floor: begun,
            round: None,
            packet: NONE,
            id: 0,
            seq: 0,
            // Room is had at once: lists that grow are copied, and memory that is given back piece by piece has to
            // be had anew for the next explanation.
            spans: Vec::with_capacity((SPANS_A_RECORD * timeline.records()).min(MAX_AT_ONCE)),
            control,
        };
        walk.follow(timeline.last);
        let mut next = walk.first();
        while walk.now > walk.floor {
            next = match next {
                Next::Way { packet, hop } => walk.way(packet, hop),
                Next::Sent(packet) => walk.sent(packet),
                Next::Moment { moment, end } => walk.moment(moment, end),
                Next::Over => {
                    let place = Place::new(Site::Server, timeline.position.flow);
                    walk.to(walk.floor, Cause::Application, Step::NotAsked, place);
                    Next::Over
                }
            };
        }
        if control.is_cancelled() {
            return Err(Error::Cancelled);
        }
        walk.spans.reverse();
        Ok(walk.spans)
    }

    /// The packet that completed the transfer, or what the end of the run has interrupted.
    fn first(&mut self) -> Next {
        let packets = &self.timeline.packets;
        if self.timeline.ended.is_some() {
            return self.way_of(self.timeline.last);
        }
        if let Some(oldest) = packets.oldest_data() {
            return self.way_of(oldest);
        }
        // Everything that was sent has arrived or is lost: the sender, or a receiver, waits.
        let last = packets.list.len() as u32;
        match last.checked_sub(1) {
            Some(last) => self.stalled(last),
            None => Next::Over,
        }
    }

    /// Nothing is on its way that the transfer could go on with; `last` was sent last.
    fn stalled(&mut self, last: u32) -> Next {
        let packet = self.timeline.packets.list[last as usize];
        let place = Place::new(packet.site, self.timeline.position.flow);
        let over = packet.over().unwrap_or(self.now).min(self.now);
        let cause = match packet.kind {
            Kind::Data | Kind::Connect | Kind::Request => Cause::Timeout,
            // What the sender still waits to hear of, its timer would have told it.
            Kind::Ack if self.timeline.is_armed => Cause::Timeout,
            Kind::Ack => Cause::Application,
        };
        self.follow(last);
        self.to(over, cause, Step::TimerRuns, place);
        self.way_of(last)
    }

    fn packet_at(&self, packet: u32) -> &'a Packet {
        &self.timeline.packets.list[packet as usize]
    }

    fn hop_at(&self, hop: u32) -> &'a Hop {
        &self.timeline.packets.hops[hop as usize]
    }

    /// Goes on with a packet.
    fn follow(&mut self, packet: u32) {
        if packet != self.packet {
            let known = self.timeline.packets.list.get(packet as usize);
            self.packet = packet;
            (self.id, self.seq) = known.map_or((0, 0), |packet| (packet.id.number(), packet.seq));
        }
    }

    fn way_of(&self, packet: u32) -> Next {
        if packet == NONE {
            return Next::Over;
        }
        Next::Way { packet, hop: self.packet_at(packet).hop }
    }

    /// Goes back to `begin`, the time from there having passed for `cause`.
    fn to(&mut self, begin: Time, cause: Cause, step: Step, place: Place) {
        // Nobody wants the rest of a path that is given up: with one leap it is over.
        let begin = if self.control.is_cancelled() { self.floor } else { begin.max(self.floor) };
        if begin >= self.now {
            return;
        }
        let end = std::mem::replace(&mut self.now, begin);
        let Self { round, id: packet, seq, .. } = *self;
        let span = Span { begin, end, cause, step, place, round, packet, seq };
        match self.spans.last_mut() {
            Some(later) if later.continues(&span) => later.begin = begin,
            _ => self.spans.push(span),
        }
    }

    /// As [`Self::to`], for a latency that is always there: it is charged to the reason for which the path went
    /// round, and to itself on the last flight.
    fn fixed(&mut self, begin: Time, cause: Cause, step: Step, place: Place) {
        self.to(begin, self.round.unwrap_or(cause), step, place);
    }

    /// A packet's way, from the place on that it came to last.
    fn way(&mut self, packet: u32, hop: u32) -> Next {
        self.follow(packet);
        if hop == NONE {
            return Next::Sent(packet);
        }
        let (packet, hop) = self.stay(packet, hop);
        self.follow(packet);
        let &Hop { before, entered, place, .. } = self.hop_at(hop);
        // Nothing takes time between places.
        self.fixed(entered, Cause::Propagation, Step::Propagates, place);
        Next::Way { packet, hop: before }
    }

    /// Why a packet was sent when it was.
    fn sent(&mut self, number: u32) -> Next {
        self.follow(number);
        let packet = self.packet_at(number);
        let end = Place::new(packet.site, self.timeline.position.flow);
        self.fixed(packet.at, Cause::Propagation, Step::Propagates, end);
        if let Some(origin) = self.origin(number) {
            return self.sent_by_host(origin, end);
        }
        if packet.kind == Kind::Data
            && packet.hold == Hold::Pacing
            && !packet.again
            && let Why::Received(_) = packet.moment.why
        {
            // The pacer would have let it go then; that an ACK came meanwhile changed nothing.
            self.round = Some(Cause::Pacing);
        } else {
            self.round = self.reason(packet).or(self.round);
        }
        Next::Moment { moment: packet.moment, end }
    }

    /// Why the path goes round before a packet was sent; none where it does not.
    fn reason(&self, packet: &Packet) -> Option<Cause> {
        let trigger = match packet.moment.why {
            Why::Received(trigger) => self.packet_at(trigger),
            Why::Rang(Clock::Server, Basis::Received(asked)) => return Some(self.reason_of_answer(asked)),
            _ => return (packet.again && packet.kind == Kind::Data).then_some(Cause::Recovery),
        };
        match (packet.kind, trigger.kind) {
            (Kind::Data, _) if packet.again => Some(Cause::Recovery),
            (Kind::Data, Kind::Connect) => Some(Cause::Handshake),
            (Kind::Data, Kind::Request) => Some(Cause::Request),
            (Kind::Data, Kind::Ack) => Some(self.reason_of_hold(packet.hold, trigger)),
            // What answers the server's SYN.
            (Kind::Ack | Kind::Request, Kind::Data) if trigger.seq == 0 => Some(Cause::Handshake),
            // A proxy sends on what comes, and whoever answers goes on with the same round.
            _ => None,
        }
    }

    /// Why the path goes round before a server has worked on what a packet had asked for.
    fn reason_of_answer(&self, asked: u32) -> Cause {
        match self.packet_at(asked) {
            ack if ack.kind == Kind::Ack => self.reason_of_hold(Hold::Handshake, ack),
            _ => Cause::Request,
        }
    }

    fn reason_of_hold(&self, hold: Hold, ack: &Packet) -> Cause {
        match hold {
            Hold::Handshake if ack.size > self.bare_ack => Cause::Request,
            Hold::Handshake => Cause::Handshake,
            Hold::Application => Cause::Application,
            Hold::SlowStart => Cause::SlowStart,
            Hold::CongestionAvoidance => Cause::CongestionAvoidance,
            Hold::Receiver => Cause::ReceiverWindow,
            Hold::Steered => Cause::ProxyWindow,
            Hold::Recovery => Cause::Recovery,
            Hold::Pacing => Cause::Pacing,
        }
    }

    /// What made an end act.
    fn moment(&mut self, moment: Moment, end: Place) -> Next {
        match moment.why {
            Why::Began => Next::Over,
            Why::Received(packet) => self.way_of(packet),
            Why::Passed(packet) => {
                self.round = Some(Cause::Recovery);
                self.way_of_ack_at_snoop(packet)
            }
            Why::Rang(clock, basis) => self.rang(clock, basis, end),
        }
    }

    /// An ACK's way as far as the Snoop agent, which it had come to by now.
    fn way_of_ack_at_snoop(&self, packet: u32) -> Next {
        let mut hop = self.packet_at(packet).hop;
        while hop != NONE && self.hop_at(hop).place.site != Site::Uplink {
            hop = self.hop_at(hop).before;
        }
        Next::Way { packet, hop }
    }

    /// A timer rang that had run since its basis.
    fn rang(&mut self, clock: Clock, basis: Basis, end: Place) -> Next {
        let (cause, step) = match clock {
            Clock::Retransmission | Clock::Probe | Clock::Request => (Cause::Timeout, Step::TimerRuns),
            Clock::Reorder | Clock::Snoop => (Cause::Recovery, Step::TimerRuns),
            Clock::Pacing => (Cause::Pacing, Step::Paced),
            Clock::Feedback => (Cause::ProxyWindow, Step::TimerRuns),
            Clock::Server => (Cause::Server, Step::Works),
            Clock::Acknowledgement if matches!(basis, Basis::Received(_)) => {
                (Cause::DelayedAck, Step::AckHeld)
            }
            Clock::Acknowledgement | Clock::Persist => (Cause::ReceiverWindow, Step::Reads),
        };
        match basis {
            Basis::Sent(packet) if clock == Clock::Snoop => self.since_snoop(packet, cause, step, end),
            Basis::Sent(packet) => {
                self.to(self.packet_at(packet).at, cause, step, end);
                Next::Sent(packet)
            }
            Basis::Received(packet) => {
                self.to(self.packet_at(packet).over().unwrap_or(self.floor), cause, step, end);
                self.way_of(packet)
            }
            Basis::Acted(moment) => {
                let moment = self.timeline.packets.moments[moment as usize];
                self.to(moment.at, cause, step, end);
                Next::Moment { moment, end }
            }
            Basis::Unknown => {
                self.to(self.floor, cause, step, end);
                Next::Over
            }
        }
    }

    /// A Snoop agent's timer rang, which had run since a copy went by to the bearer, or went from the agent.
    fn since_snoop(&mut self, copy: u32, cause: Cause, step: Step, end: Place) -> Next {
        let packet = self.packet_at(copy);
        let mut hop = packet.hop;
        while hop != NONE && self.hop_at(hop).place.site != Site::Bearer {
            hop = self.hop_at(hop).before;
        }
        if hop == NONE {
            self.to(packet.at, cause, step, end);
            return Next::Sent(copy);
        }
        let &Hop { entered, before, .. } = self.hop_at(hop);
        self.to(entered, cause, step, end);
        Next::Way { packet: copy, hop: before }
    }
}

impl Span {
    /// Whether an earlier span is a part of the same.
    fn continues(&self, earlier: &Self) -> bool {
        let alike = |span: &Self| (span.cause, span.step, span.place, span.round, span.packet);
        self.begin == earlier.end && alike(self) == alike(earlier)
    }
}
