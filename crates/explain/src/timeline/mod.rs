//! From the start of the transfer to its end; of the time before, packets in flight and about
//! [`FORGET_AFTER`] other records, so that memory grows with the transfer, up to [`MAX_RECORDS`].

mod air;
mod in_flight;
mod packets;
mod service;

pub(crate) use air::{Absence, Air, Block, Frame, Group, Part};
pub(crate) use packets::{Basis, Hop, Moment, NONE, Packet, Why};
pub(crate) use service::{Granted, Lane, Lanes, Served};

use std::ops::ControlFlow;

use nodeb_base::event::{self, Cause, Event, Mask, Place, Recovery, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::{Duration, Time};
use nodeb_radio::ChannelKey;
use nodeb_sim::Scenario;
use nodeb_sim::scenario::{Connection, Direction};
use nodeb_sim::world::Listener;
use nodeb_tcp::segment::Segment;

use crate::real::Origin;
use crate::span::Lost;
use packets::Packets;

/// Of 16 to 72 bytes: about 1 GB, enough for 2 GB over a wired link.
pub const MAX_RECORDS: usize = 16_000_000;

/// Before the transfer begins, [`Timeline::forget`] then discards packets no longer in flight.
const FORGET_AFTER: usize = 1 << 14;

/// Flow, phone, bearer, and index among the bearer's users.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub flow: u32,
    pub phone: u32,
    pub bearer: u32,
    pub user: u32,
    pub direction: Direction,
}

#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the properties are independent")]
pub(crate) struct Radio {
    /// `None` if the radio works packet by packet.
    pub tti: Option<Duration>,
    /// From the start of the TTI in which a block fails; `None` if whole blocks are not retransmitted.
    pub retransmits_after: Option<Duration>,
    pub has_harq: bool,
    /// If new and retransmitted frames can share a block.
    pub frame_bytes: Option<u32>,
    /// Each user has a channel, whose quality decides if the user can be served.
    pub has_channels: bool,
    /// After a change of the serving cell.
    pub interruption: Duration,
    /// Such as FACH and DCH.
    pub has_states: bool,
    pub has_opportunities: bool,
    pub has_opportunities_up: bool,
    pub schedules_uplink: bool,
}

#[derive(Debug)]
pub(crate) struct Timeline {
    pub position: Position,
    pub radio: Radio,
    /// Transfers before the explained one that have not begun.
    to_begin: u64,
    /// Transfers before the explained one that have not arrived.
    to_arrive: u64,
    /// Of the flow.
    pub begun_transfers: u64,
    pub begun: Option<Time>,
    pub ended: Option<Time>,
    /// Time at which the records exceeded [`MAX_RECORDS`].
    pub too_long: Option<Time>,
    pub bytes: u64,
    /// Completed the transfer; [`NONE`] before.
    pub last: u32,
    /// Retransmission timer of the sender over the radio, or with `linux` any for retransmission, loss
    /// probes, reordering and pacing.
    pub is_armed: bool,
    /// Since the transfer began.
    pub lost: Lost,
    /// With another connection.
    pub shares_phone: bool,
    /// It acts when an ACK leaves an uplink.
    has_snoop: bool,
    pub packets: Packets,
    pub lanes: Lanes,
    /// On a scheduled uplink, in the order of arrival.
    pub granted: Vec<Granted>,
    pub air: Air,
    /// By packet; `None` if the hosts are simulated.
    pub origins: Option<Vec<Origin>>,
}

impl Timeline {
    pub fn new(scenario: &Scenario, flow: u32, transfer: u64) -> Self {
        let parts = scenario.radio.parts();
        let tti = parts.tti.map(|tti| tti.duration);
        let connections = scenario.connections();
        let Connection { phone, direction, .. } = connections[flow as usize];
        let (bearer, user) = if parts.is_shared { (0, phone) } else { (phone, 0) };
        Self {
            position: Position { flow, phone, bearer, user, direction },
            shares_phone: connections.iter().filter(|other| other.phone == phone).count() > 1,
            radio: Radio {
                tti,
                retransmits_after: parts.retransmission.map(|again| again.after),
                has_harq: parts.retransmission.is_some_and(|again| again.is_harq),
                frame_bytes: parts.tti.and_then(|tti| tti.frame_bytes),
                has_channels: parts.channel == Some(ChannelKey::Ue),
                interruption: parts.interruption.unwrap_or_default(),
                has_states: parts.has_states,
                has_opportunities: parts.recording.is_some(),
                has_opportunities_up: parts.uplink.is_recorded(),
                schedules_uplink: parts.uplink.is_scheduled(),
            },
            to_begin: transfer,
            to_arrive: transfer,
            begun_transfers: 0,
            begun: None,
            ended: None,
            too_long: None,
            bytes: 0,
            last: NONE,
            is_armed: false,
            lost: Lost::default(),
            has_snoop: scenario.snoop.is_some(),
            packets: Packets::new(direction),
            lanes: Lanes::default(),
            granted: Vec::new(),
            air: Air::new(tti.unwrap_or_default()),
            origins: None,
        }
    }

    fn is_own(&self, place: Place) -> bool {
        match place.site {
            Site::Bearer => place.index == self.position.bearer,
            Site::Uplink => place.index == self.position.phone,
            _ => true,
        }
    }

    pub fn begin(&mut self, at: Time, bytes: u64) {
        self.begun_transfers += 1;
        if self.to_begin == 0 && self.begun.is_none() {
            (self.begun, self.bytes) = (Some(at), bytes);
        }
        self.to_begin = self.to_begin.saturating_sub(1);
        self.packets.begin(at, (self.begun == Some(at)).then_some(self.bytes));
    }

    /// Ends the run with the explained transfer.
    fn arrive(&mut self, at: Time) -> ControlFlow<()> {
        if self.to_arrive > 0 {
            self.to_arrive -= 1;
            return ControlFlow::Continue(());
        }
        (self.ended, self.last) = (Some(at), self.packets.received_last());
        ControlFlow::Break(())
    }

    /// Only of the flow, once the transfer has begun.
    fn lose(&mut self, at: Time, packet: PacketId, cause: Cause) {
        if self.begun.is_some() && self.packets.number(packet).is_some() {
            let lost = match cause {
                Cause::LinkLoss => &mut self.lost.links,
                Cause::Overflow | Cause::EarlyDrop => &mut self.lost.queues,
                Cause::RadioLoss => &mut self.lost.radio,
            };
            *lost += 1;
        }
        self.packets.lose(at, packet);
    }

    /// The arrival of a packet of the flow, too.
    fn serve(&mut self, place: Place, packet: PacketId, served: Served, arrives: Time) {
        let hop = self.packets.hop_of(packet);
        let lane = self.lanes.at(place);
        match hop {
            Some(hop) => {
                self.packets.hops[hop as usize].arrives = arrives;
                self.packets.hops[hop as usize].service = lane.own(served, hop);
            }
            None => lane.others(served),
        }
    }

    /// Only before the transfer, above [`FORGET_AFTER`] records.
    #[inline]
    fn forget(&mut self) {
        if self.begun.is_none() && self.packets.hops.len() + self.air.blocks.len() > FORGET_AFTER {
            let kept = self.packets.forget();
            self.lanes.forget();
            self.granted.clear();
            self.air.forget(|number| kept.renumbered(number));
        }
    }

    /// Without links and channels that sent none.
    pub fn busy(&self, begun: Time, ended: Time) -> Vec<(Place, Duration)> {
        let mut busy: Vec<_> = self.lanes.busy(begun, ended).collect();
        let on_air = self.air.busy(begun, ended);
        if on_air > Duration::ZERO {
            busy.push((Place::new(Site::Bearer, self.position.bearer), on_air));
        }
        busy
    }

    pub fn records(&self) -> usize {
        self.packets.list.len() + self.packets.hops.len() + self.air.records()
    }

    /// After each packet that is sent.
    pub fn check_records(&mut self, at: Time) -> ControlFlow<()> {
        if self.records() <= MAX_RECORDS {
            return ControlFlow::Continue(());
        }
        self.too_long = Some(at);
        ControlFlow::Break(())
    }

    /// Without hybrid ARQ each user has codes of its own, so users do not delay each other.
    fn serve_others(&mut self, from: Time) {
        if self.radio.has_harq {
            let lasts = self.radio.tti.unwrap_or_default();
            let place = Place::new(Site::Bearer, self.position.bearer);
            self.lanes.at(place).others(Served { from, sent: from + lasts });
        }
    }

    // This function and the next ones are not inlined: inlined into `on_event`, they would make the handling of
    // short events save more registers.
    #[inline(never)]
    fn on_block(&mut self, at: Time, user: u32, block: u64, sent: (u32, u32, bool)) {
        if user != self.position.user {
            return self.serve_others(at);
        }
        // If each user has an individual channel, a received block may be retransmitted too, as its ACK may be
        // misread.
        let has_failed = sent.2;
        let may_follow = self.radio.retransmits_after.is_some() && (has_failed || self.radio.has_channels);
        self.air.send(at, block, sent, may_follow);
    }

    #[inline(never)]
    fn on_part(&mut self, event::Part { packet, offset, bytes }: event::Part) {
        if let Some(packet) = self.packets.number(packet) {
            self.air.carry(packet, offset, bytes);
        }
    }

    #[inline(never)]
    fn on_air_event(&mut self, at: Time, event: &Event) {
        let Position { bearer: own, user: me, .. } = self.position;
        match *event {
            Event::GivenUp { bearer, user, block } if bearer == own && user == me => {
                self.air.give_up(block);
            }
            Event::State { bearer, user, state } if bearer == own && user == me => {
                self.air.states.push((at, state));
            }
            Event::Slept { bearer, user, from, until } if bearer == own && user == me => {
                self.air.absences.push(Absence { from, until, is_idle: false });
            }
            Event::Promoted { bearer, user, from, until } if bearer == own && user == me => {
                self.air.absences.push(Absence { from, until, is_idle: true });
            }
            Event::Handover { bearer, user, .. } if bearer == own && user == me => {
                self.air.hand_over(at);
            }
            Event::Frame { bearer, user, units, arrives } if bearer == own && user == me => {
                self.air.frame(at, arrives, units);
            }
            _ => {}
        }
    }
}

impl Listener for Timeline {
    fn mask(&self) -> Mask {
        // A packet leaves a place at the time at which it enters the next one, so the events `Left`
        // are redundant, except for a Snoop agent, which acts when an ACK leaves the uplink.
        let left = Mask::LEFT.when(self.has_snoop);
        [Mask::ENTERED, left, Mask::SERVICE, Mask::DECISIONS, Mask::RECOVERY, Mask::BLOCKS, Mask::CHANNELS]
            .into_iter()
            .fold(Mask::PACKETS, Mask::or)
    }

    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        match *event {
            Event::Sent { place, packet, flow, .. } if flow == self.position.flow => {
                if let Some(segment) = segment {
                    self.packets.send(at, place.site, packet, segment);
                }
                self.forget();
                return self.check_records(at);
            }
            Event::Received { place, packet } => self.packets.receive(at, place.site, packet),
            Event::Lost { packet, cause, .. } => self.lose(at, packet, cause),
            Event::Entered { place, packet } => self.packets.enter(at, place, packet),
            Event::Left { place, packet } if place.site == Site::Uplink => {
                self.packets.pass_snoop(at, packet);
            }
            Event::Served { place, channel, packet, from, sent, arrives } if self.is_own(place) => {
                // Transmissions on the dedicated channels of other users are ignored, since they do
                // not delay this user.
                if channel == 0 || channel == self.position.user + 1 {
                    self.serve(place, packet, Served { from, sent }, arrives);
                }
            }
            Event::Granted { phone, packet, passage } if phone == self.position.phone => {
                if let Some(hop) = self.packets.hop_of(packet) {
                    self.packets.hops[hop as usize].service = self.granted.len() as u32;
                    self.granted.push(Granted { passage, sent: at, hop });
                }
            }
            Event::Block { bearer, user, block, units, transmission, failed } => {
                if bearer == self.position.bearer {
                    self.on_block(at, user, block, (units, transmission, failed));
                }
            }
            Event::Carries { bearer, user, part, .. } => {
                if (bearer, user) == (self.position.bearer, self.position.user) {
                    self.on_part(part);
                }
            }
            Event::SendLimit { place, flow, limit } if flow == self.position.flow => {
                self.packets.set_limit(place.site, limit);
            }
            Event::TimerExpired { place, flow, timer } if flow == self.position.flow => {
                self.packets.expire_timer(at, place.site, timer);
            }
            Event::Recovery { flow, state: Recovery::Reduced }
                if flow == self.position.flow && self.begun.is_some() =>
            {
                self.lost.marked += 1;
            }
            Event::Timer { flow, at } if flow == self.position.flow => self.is_armed = at.is_some(),
            Event::Began { flow, bytes } if flow == self.position.flow => self.begin(at, bytes),
            Event::Arrived { flow, .. } if flow == self.position.flow => return self.arrive(at),
            _ => self.on_air_event(at, event),
        }
        ControlFlow::Continue(())
    }
}
