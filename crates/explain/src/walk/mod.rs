//! From effect to cause: the last link or bearer determined the arrival, the link before when it was reached,
//! and an arrival, a timer or the beginning when it was sent. Behind others of its connection, the path
//! continues with the packet directly ahead, which could not have been earlier: the busy time of a saturated
//! link is charged to the link, not to the windows that saturate it.

mod air;
mod host;
mod queue;
mod uplink;

use nodeb_base::event::{Place, SendLimit, Site, TimerKind};
use nodeb_base::units::Time;
use nodeb_base::{Error, Result};
use nodeb_sim::Control;
use nodeb_tcp::segment::Kind;

use crate::span::Span;
use crate::timeline::{Basis, Hop, Moment, NONE, Packet, Timeline, Why};
use nodeb_base::cause::{Cause, Step};

/// Estimate for reserving memory.
const SPANS_A_RECORD: usize = 8;

/// Spans for which memory is reserved.
const MAX_AT_ONCE: usize = 1 << 19;

/// Backwards in time.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// End of a stay, or the transmission if `hop` is [`NONE`].
    Packet { packet: u32, hop: u32 },
    /// Continues with the reason for the transmission.
    Sent(u32),
    /// Continues with the reason for the action.
    Moment { moment: Moment, end: Place },
    /// Beginning of the transfer, or the earliest recorded event.
    Over,
}

/// From the end of the transfer.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    timeline: &'a Timeline,
    /// Largest ACK without a request.
    bare_ack: u32,
    /// Start of the earliest span so far.
    now: Time,
    /// Start of the transfer.
    floor: Time,
    /// Propagation and the path's own transmissions are charged to it; `None` after the last round trip.
    round: Option<Cause>,
    /// In the timeline, or [`NONE`].
    packet: u32,
    /// Among all packets sent in the run, from 1; 0 if there is none.
    id: u64,
    /// See [`Span::seq`]; 0 if there is none.
    seq: u64,
    spans: Vec<Span>,
    control: &'a Control,
}

impl<'a> Walk<'a> {
    /// # Errors
    ///
    /// Returns [`Error::Cancelled`] if `control` has been cancelled.
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
            // Reserving memory once avoids copies of a growing list. It also avoids that memory is
            // returned piece by piece and requested again for the next explanation.
            spans: Vec::with_capacity((SPANS_A_RECORD * timeline.records()).min(MAX_AT_ONCE)),
            control,
        };
        walk.follow(timeline.last);
        let mut next = walk.first();
        while walk.now > walk.floor {
            next = match next {
                Next::Packet { packet, hop } => walk.back_along(packet, hop),
                Next::Sent(packet) => walk.sent(packet),
                Next::Moment { moment, end } => walk.moment(moment, end),
                Next::Over => {
                    let position = timeline.position;
                    let place = Place::new(position.direction.sender(), position.flow);
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

    /// The packet that completed the transfer, or the data packet in flight with the lowest number; without
    /// any, first charges the wait of the sender or a receiver.
    fn first(&mut self) -> Next {
        let packets = &self.timeline.packets;
        if self.timeline.ended.is_some() {
            return self.along(self.timeline.last);
        }
        if let Some(oldest) = packets.oldest_data() {
            return self.along(oldest);
        }
        // All data packets have arrived or are lost, so the sender or a receiver waits.
        let last = packets.list.len() as u32;
        match last.checked_sub(1) {
            Some(last) => self.stalled(last),
            None => Next::Over,
        }
    }

    /// Without data in flight; `last` was sent last.
    fn stalled(&mut self, last: u32) -> Next {
        let packet = self.timeline.packets.list[last as usize];
        let place = Place::new(packet.site, self.timeline.position.flow);
        let over = packet.over().unwrap_or(self.now).min(self.now);
        let cause = match packet.kind {
            Kind::Data | Kind::Connect | Kind::Request => Cause::Timeout,
            // A timer of the sender is armed, so the sender waits for it. A packet need not be
            // lost: with `linux` the timer is the earliest of several.
            Kind::Ack if self.timeline.is_armed => Cause::Timeout,
            Kind::Ack => Cause::Application,
        };
        self.follow(last);
        self.to(over, cause, Step::TimerRuns, place);
        self.along(last)
    }

    fn packet_at(&self, packet: u32) -> &'a Packet {
        &self.timeline.packets.list[packet as usize]
    }

    fn hop_at(&self, hop: u32) -> &'a Hop {
        &self.timeline.packets.hops[hop as usize]
    }

    fn follow(&mut self, packet: u32) {
        if packet != self.packet {
            let found = self.timeline.packets.list.get(packet as usize);
            self.packet = packet;
            (self.id, self.seq) = found.map_or((0, 0), |packet| (packet.id.number(), packet.seq));
        }
    }

    fn along(&self, packet: u32) -> Next {
        if packet == NONE {
            return Next::Over;
        }
        Next::Packet { packet, hop: self.packet_at(packet).hop }
    }

    fn to(&mut self, begin: Time, cause: Cause, step: Step, place: Place) {
        // The result of a cancelled search is discarded, so one span to the start of the path ends
        // the search.
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

    /// Charged to the current round trip, or to `cause` after the last one.
    fn fixed(&mut self, begin: Time, cause: Cause, step: Step, place: Place) {
        self.to(begin, self.round.unwrap_or(cause), step, place);
    }

    /// `hop` is [`NONE`] at the sender.
    fn back_along(&mut self, packet: u32, hop: u32) -> Next {
        self.follow(packet);
        if hop == NONE {
            return Next::Sent(packet);
        }
        let (packet, hop) = self.stay(packet, hop);
        self.follow(packet);
        let &Hop { before, entered, place, .. } = self.hop_at(hop);
        // A packet enters the next place as soon as it leaves this one, so the packet's remaining
        // time at this place is propagation.
        self.fixed(entered, Cause::Propagation, Step::Propagates, place);
        Next::Packet { packet, hop: before }
    }

    fn sent(&mut self, number: u32) -> Next {
        self.follow(number);
        let packet = self.packet_at(number);
        let end = Place::new(packet.site, self.timeline.position.flow);
        self.fixed(packet.at, Cause::Propagation, Step::Propagates, end);
        if let Some(origin) = self.origin(number) {
            return self.sent_by_host(origin, end);
        }
        if packet.kind == Kind::Data
            && packet.limit == SendLimit::Pacing
            && !packet.is_retransmission
            && let Why::Received(_) = packet.moment.why
        {
            // The pacer would have released the segment at this time even without the ACK that
            // arrived.
            self.round = Some(Cause::Pacing);
        } else {
            self.round = self.reason(packet).or(self.round);
        }
        Next::Moment { moment: packet.moment, end }
    }

    /// `None` if the packet continues the round trip.
    fn reason(&self, packet: &Packet) -> Option<Cause> {
        let trigger = match packet.moment.why {
            Why::Received(trigger) => self.packet_at(trigger),
            Why::Expired(TimerKind::Server, Basis::Received(asked)) => {
                return Some(self.reason_of_answer(asked));
            }
            _ => return (packet.is_retransmission && packet.kind == Kind::Data).then_some(Cause::Recovery),
        };
        match (packet.kind, trigger.kind) {
            (Kind::Data, _) if packet.is_retransmission => Some(Cause::Recovery),
            (Kind::Data, Kind::Connect) => Some(Cause::Handshake),
            (Kind::Data, Kind::Request) => Some(Cause::Request),
            (Kind::Data, Kind::Ack) => Some(self.reason_of_limit(packet.limit, trigger)),
            // A trigger with segment number 0 is the SYN of the data's sender, so the packet that
            // answers it ends the handshake.
            (Kind::Ack | Kind::Request, Kind::Data) if trigger.seq == 0 => Some(Cause::Handshake),
            // Packets that a proxy forwards, and answers of other kinds, continue the current round
            // trip.
            _ => None,
        }
    }

    /// `asked` may be the ACK of the SYN.
    fn reason_of_answer(&self, asked: u32) -> Cause {
        match self.packet_at(asked) {
            ack if ack.kind == Kind::Ack => self.reason_of_limit(SendLimit::Handshake, ack),
            _ => Cause::Request,
        }
    }

    fn reason_of_limit(&self, limit: SendLimit, ack: &Packet) -> Cause {
        match limit {
            SendLimit::Handshake if ack.size > self.bare_ack => Cause::Request,
            SendLimit::Handshake => Cause::Handshake,
            SendLimit::Application => Cause::Application,
            SendLimit::SlowStart => Cause::SlowStart,
            SendLimit::CongestionAvoidance => Cause::CongestionAvoidance,
            SendLimit::Receiver => Cause::ReceiverWindow,
            SendLimit::SendBuffer => Cause::SendBuffer,
            SendLimit::Steered => Cause::ProxyWindow,
            SendLimit::Recovery => Cause::Recovery,
            SendLimit::Pacing => Cause::Pacing,
        }
    }

    /// An arrival, a timer, or the beginning.
    fn moment(&mut self, moment: Moment, end: Place) -> Next {
        match moment.why {
            Why::Began => Next::Over,
            Why::Received(packet) => self.along(packet),
            Why::Passed(packet) => {
                self.round = Some(Cause::Recovery);
                self.along_ack_to_snoop(packet)
            }
            Why::Expired(timer, basis) => self.timer_expired(timer, basis, end),
        }
    }

    /// Back along the uplink.
    fn along_ack_to_snoop(&self, packet: u32) -> Next {
        let mut hop = self.packet_at(packet).hop;
        while hop != NONE && self.hop_at(hop).place.site != Site::Uplink {
            hop = self.hop_at(hop).before;
        }
        Next::Packet { packet, hop }
    }

    fn timer_expired(&mut self, timer: TimerKind, basis: Basis, end: Place) -> Next {
        let (cause, step) = match timer {
            TimerKind::Retransmission | TimerKind::Probe | TimerKind::Request => {
                (Cause::Timeout, Step::TimerRuns)
            }
            TimerKind::Reorder | TimerKind::Snoop => (Cause::Recovery, Step::TimerRuns),
            TimerKind::Pacing => (Cause::Pacing, Step::Paced),
            TimerKind::Feedback => (Cause::ProxyWindow, Step::TimerRuns),
            TimerKind::Server => (Cause::Server, Step::Works),
            TimerKind::Acknowledgement if matches!(basis, Basis::Received(_)) => {
                (Cause::DelayedAck, Step::AckHeld)
            }
            TimerKind::Acknowledgement | TimerKind::Persist => (Cause::ReceiverWindow, Step::Reads),
        };
        match basis {
            Basis::Sent(packet) if timer == TimerKind::Snoop => self.since_snoop(packet, cause, step, end),
            Basis::Sent(packet) => {
                self.to(self.packet_at(packet).at, cause, step, end);
                Next::Sent(packet)
            }
            Basis::Received(packet) => {
                self.to(self.packet_at(packet).over().unwrap_or(self.floor), cause, step, end);
                self.along(packet)
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

    /// From the entry of `copy` into the bearer or, if it never did, from its sending.
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
        Next::Packet { packet: copy, hop: before }
    }
}

impl Span {
    /// Differs in time only.
    fn continues(&self, earlier: &Self) -> bool {
        let alike = |span: &Self| (span.cause, span.step, span.place, span.round, span.packet);
        self.begin == earlier.end && alike(self) == alike(earlier)
    }
}
