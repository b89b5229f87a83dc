//! The record of one transfer: the packets of its flow, what they waited for, and why they were sent.
//!
//! It covers the time of the transfer and, of the time before, only packets still in flight at its start. This bounds
//! the memory by the size of the transfer, and [`MAX_RECORDS`] bounds that.

mod air;
mod in_flight;
mod near;
mod packets;
mod service;

pub(crate) use air::{Air, Block, Frame, Group, Part, Sent};
pub(crate) use packets::{Basis, Hop, Moment, NONE, Packet, Why};
pub(crate) use service::{Lane, Lanes, Served};

use std::ops::ControlFlow;

use nodeb_base::event::{Cause, Event, Mask, Place, Recovery, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::{Duration, Time};
use nodeb_sim::Scenario;
use nodeb_sim::world::Listener;
use nodeb_tcp::segment::Segment;

use crate::real::Origin;
use crate::span::Lost;
use packets::Packets;

/// Maximum number of records of packets, places and blocks, 16 to 72 bytes each: about 1 GB, enough for a transfer of
/// 2 GB over a wired link.
pub const MAX_RECORDS: usize = 16_000_000;

/// Number of records before the start of the transfer after which finished packets are discarded.
const FORGET_AFTER: usize = 1 << 14;

/// Position of a user: its flow, its bearer and its index among the bearer's users.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserPosition {
    pub flow: u32,
    pub bearer: u32,
    pub user: u32,
}

/// Properties of the radio that the walk needs.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the properties are independent")]
pub(crate) struct Radio {
    /// TTI, if the radio has one.
    pub tti: Option<Duration>,
    /// Time from the start of a TTI in which a block fails until its earliest retransmission.
    pub retransmits_after: Duration,
    /// Whether hybrid ARQ retransmits blocks.
    pub has_harq: bool,
    /// Size in bytes of the frames of a block, if new and retransmitted frames share blocks.
    pub frame_bytes: Option<u32>,
    /// Whether users can be served only if their own channels allow it.
    pub has_channels: bool,
    /// Time without transmissions to a user whose cell changes.
    pub interruption: Duration,
    /// Whether users are switched between channels.
    pub has_states: bool,
    /// Whether bearers transmit at recorded delivery opportunities only.
    pub has_opportunities: bool,
    /// Whether uplinks transmit at recorded delivery opportunities only.
    pub has_opportunities_up: bool,
}

/// Record of one transfer.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub position: UserPosition,
    pub radio: Radio,
    /// Number of transfers of the flow still to begin before the one that is explained.
    to_begin: u64,
    /// Number of transfers of the flow still to arrive before the one that is explained.
    to_arrive: u64,
    /// Number of transfers of the flow that have begun.
    pub begun_transfers: u64,
    pub begun: Option<Time>,
    pub ended: Option<Time>,
    /// Time at which the number of records exceeded [`MAX_RECORDS`].
    pub too_long: Option<Time>,
    pub bytes: u64,
    /// Number of the packet that completed the transfer.
    pub last: u32,
    /// Whether a timer of the sender that faces the phone is armed.
    pub is_armed: bool,
    /// Packets of the flow lost since the transfer began.
    pub lost: Lost,
    /// Whether a Snoop agent handles the packets of uplinks.
    has_snoop: bool,
    pub packets: Packets,
    pub lanes: Lanes,
    pub air: Air,
    /// Inferred origins of the packets, by their numbers; `None` if hosts are simulated.
    pub origins: Option<Vec<Origin>>,
}

impl Timeline {
    /// Creates the timeline of transfer number `transfer` of a user.
    pub fn new(scenario: &Scenario, user: u32, transfer: u64) -> Self {
        let facts = scenario.radio.facts();
        let (bearer, position) = if facts.is_shared { (0, user) } else { (user, 0) };
        Self {
            position: UserPosition { flow: user, bearer, user: position },
            radio: Radio {
                tti: facts.tti,
                retransmits_after: facts.retransmits_after.unwrap_or_default(),
                has_harq: facts.has_harq,
                frame_bytes: facts.frame_bytes,
                has_channels: facts.has_ues,
                interruption: facts.interruption,
                has_states: facts.has_states,
                has_opportunities: facts.has_opportunities,
                has_opportunities_up: scenario.radio.uplink().is_some(),
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
            packets: Packets::default(),
            lanes: Lanes::default(),
            air: Air::new(facts.tti.unwrap_or_default()),
            origins: None,
        }
    }

    fn is_own(&self, place: Place) -> bool {
        match place.site {
            Site::Bearer => place.index == self.position.bearer,
            Site::Uplink => place.index == self.position.flow,
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

    /// Records the arrival of a transfer of the flow; ends the run if it is the one that is explained.
    fn arrive(&mut self, at: Time) -> ControlFlow<()> {
        if self.to_arrive > 0 {
            self.to_arrive -= 1;
            return ControlFlow::Continue(());
        }
        (self.ended, self.last) = (Some(at), self.packets.received_last());
        ControlFlow::Break(())
    }

    /// Records the loss of a packet.
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

    /// Records that a link or channel serves a packet.
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

    /// Discards finished packets while the transfer has not begun.
    #[inline]
    fn forget(&mut self) {
        if self.begun.is_none() && self.packets.hops.len() + self.air.tx.len() > FORGET_AFTER {
            let kept = self.packets.forget();
            self.lanes.forget();
            self.air.forget(|number| kept.renumbered(number));
        }
    }

    /// Returns the time for which each link or channel served packets of the flow between two times.
    pub fn busy(&self, begun: Time, ended: Time) -> Vec<(Place, Duration)> {
        let mut busy: Vec<_> = self.lanes.busy(begun, ended).collect();
        let on_air = self.air.busy(begun, ended);
        if on_air > Duration::ZERO {
            busy.push((Place::new(Site::Bearer, self.position.bearer), on_air));
        }
        busy
    }

    /// Returns the number of records of packets, places and blocks.
    pub fn records(&self) -> usize {
        self.packets.list.len() + self.packets.hops.len() + self.air.records()
    }

    /// Ends the run if there are too many records; called when a packet is sent.
    pub fn check_records(&mut self, at: Time) -> ControlFlow<()> {
        if self.records() <= MAX_RECORDS {
            return ControlFlow::Continue(());
        }
        self.too_long = Some(at);
        ControlFlow::Break(())
    }

    /// Records TTIs of the bearer in which other users are served, if users take turns. Users with codes of their own
    /// do not delay each other.
    fn serve_others(&mut self, from: Time, ttis: u32) {
        if self.radio.has_harq {
            let lasts = Duration(self.radio.tti.unwrap_or_default().0 * u64::from(ttis));
            let place = Place::new(Site::Bearer, self.position.bearer);
            self.lanes.at(place).others(Served { from, sent: from + lasts });
        }
    }

    // Inlined into `on_event`, it would make each short event save more registers.
    #[inline(never)]
    fn on_air_event(&mut self, at: Time, event: &Event) {
        let UserPosition { bearer: own, user: me, .. } = self.position;
        match *event {
            Event::Block { bearer, user, block, units, transmission, failed } if bearer == own => {
                if user == me {
                    // A block that was received may be retransmitted if its ACK is misread.
                    let may_follow = failed || self.radio.has_channels;
                    self.air.send(at, block, units, transmission, failed, may_follow);
                } else {
                    self.serve_others(at, 1);
                }
            }
            Event::Run { bearer, user, blocks } if bearer == own => {
                if user == me {
                    self.air.send_run(at, &blocks);
                } else {
                    self.serve_others(at, blocks.ttis);
                }
            }
            Event::GivenUp { bearer, user, block } if bearer == own && user == me => {
                self.air.give_up(block);
            }
            Event::Segmented { bearer, user, packet, first, end } if bearer == own && user == me => {
                self.air.cut(self.packets.number(packet), first, end);
            }
            Event::Carries { bearer, user, part, .. } if bearer == own && user == me => {
                if let Some(packet) = self.packets.number(part.packet) {
                    self.air.carry(packet, part.offset, part.bytes);
                }
            }
            Event::State { bearer, user, state } if bearer == own && user == me => {
                self.air.states.push((at, state));
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
        // The time at which a packet leaves a place is that at which it enters the next one. Only a Snoop agent needs
        // it.
        let left = Mask::LEFT.when(self.has_snoop);
        [Mask::ENTERED, left, Mask::SERVICE, Mask::DECISIONS, Mask::RECOVERY, Mask::RUNS, Mask::CHANNELS]
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
                // Another user's dedicated channel does not delay this user.
                if channel == 0 || channel == self.position.user + 1 {
                    self.serve(place, packet, Served { from, sent }, arrives);
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
