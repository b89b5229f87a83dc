//! Record of one transfer: the packets of its flow, the places that they passed, the packets ahead
//! of them, and the reasons for which they were sent.
//!
//! The record covers the time from the start of the transfer to its end. Of the time before the
//! transfer, it keeps the packets still in flight, and about [`FORGET_AFTER`] other records at
//! most. So the memory grows with the size of the transfer and not with the time before it;
//! [`MAX_RECORDS`] limits the memory.

mod air;
mod in_flight;
mod near;
mod packets;
mod service;

pub(crate) use air::{Absence, Air, Block, Frame, Group, Part, Sent};
pub(crate) use packets::{Basis, Hop, Moment, NONE, Packet, Why};
pub(crate) use service::{Granted, Lane, Lanes, Served};

use std::ops::ControlFlow;

use nodeb_base::event::{Cause, Event, Mask, Place, Recovery, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::{Duration, Time};
use nodeb_sim::Scenario;
use nodeb_sim::scenario::{Connection, Direction};
use nodeb_sim::world::Listener;
use nodeb_tcp::segment::Segment;

use crate::real::Origin;
use crate::span::Lost;
use packets::Packets;

/// Maximum number of records of a transfer, counting packets, their stays at links and bearers, and
/// radio blocks. A record has 16 to 72 bytes, so the limit is about 1 GB, enough for a transfer of
/// 2 GB over a wired link.
pub const MAX_RECORDS: usize = 16_000_000;

/// Number of records (packets' stays at links and bearers, and runs of blocks) above which
/// [`Timeline::forget`] discards packets that are no longer in flight. Applies only before the transfer
/// begins.
const FORGET_AFTER: usize = 1 << 14;

/// Position of a connection in the scenario: its number (the flow), the number of its phone, the
/// phone's bearer, and the phone's index among the users of the bearer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub flow: u32,
    pub phone: u32,
    pub bearer: u32,
    pub user: u32,
    /// Direction of the data.
    pub direction: Direction,
}

/// Properties of the scenario's radio that the search for the critical path needs.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the properties are independent")]
pub(crate) struct Radio {
    /// Length of a TTI, or `None` if the radio works packet by packet.
    pub tti: Option<Duration>,
    /// Time from the start of a TTI in which a block fails to the earliest retransmission of the
    /// block; 0 if the radio has no such parameter.
    pub retransmits_after: Duration,
    /// Whether hybrid ARQ retransmits blocks.
    pub has_harq: bool,
    /// Size in bytes of the frames that a block consists of, if new and retransmitted frames can
    /// share a block.
    pub frame_bytes: Option<u32>,
    /// Whether each user has an individual channel, whose quality decides if the user can be
    /// served.
    pub has_channels: bool,
    /// Time without transmissions to a user after a change of its serving cell.
    pub interruption: Duration,
    /// Whether users are switched between channel states, such as FACH and DCH.
    pub has_states: bool,
    /// Whether bearers transmit at recorded delivery opportunities only.
    pub has_opportunities: bool,
    /// Whether uplinks transmit at recorded delivery opportunities only.
    pub has_opportunities_up: bool,
    /// Whether the base station grants the uplink's resources.
    pub schedules_uplink: bool,
}

/// Record of one transfer, filled from the events of a run.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub position: Position,
    pub radio: Radio,
    /// Number of transfers before the explained one that have not begun yet.
    to_begin: u64,
    /// Number of transfers before the explained one that have not arrived completely yet.
    to_arrive: u64,
    /// Number of transfers of the flow that have begun.
    pub begun_transfers: u64,
    pub begun: Option<Time>,
    pub ended: Option<Time>,
    /// Time at which the number of records exceeded [`MAX_RECORDS`], which ended the run; `None` if it did
    /// not.
    pub too_long: Option<Time>,
    pub bytes: u64,
    /// Number of the packet that completed the transfer; [`NONE`] before its end.
    pub last: u32,
    /// Whether a timer of the TCP sender that sends the data over the radio is armed: the
    /// retransmission timer, or with `linux` any of the timers for retransmission, loss probes,
    /// reordering and pacing.
    pub is_armed: bool,
    /// Counts of the flow's packets lost since the transfer began, by cause, and of its window
    /// reductions by ECN marks.
    pub lost: Lost,
    /// Whether the phone has another connection.
    pub shares_phone: bool,
    /// Whether the scenario has a Snoop agent, which acts when an ACK leaves an uplink.
    has_snoop: bool,
    pub packets: Packets,
    pub lanes: Lanes,
    /// Times of the flow's packets on a scheduled uplink (request, transmission, arrival), one
    /// element per packet in the order of arrival.
    pub granted: Vec<Granted>,
    pub air: Air,
    /// Inferred origins of the packets, indexed by packet number; `None` if the hosts are
    /// simulated.
    pub origins: Option<Vec<Origin>>,
}

impl Timeline {
    /// Creates an empty timeline for transfer number `transfer` of connection `flow`, both counted
    /// from 0.
    pub fn new(scenario: &Scenario, flow: u32, transfer: u64) -> Self {
        let facts = scenario.radio.facts();
        let connections = scenario.connections();
        let Connection { phone, direction, .. } = connections[flow as usize];
        let (bearer, user) = if facts.is_shared { (0, phone) } else { (phone, 0) };
        Self {
            position: Position { flow, phone, bearer, user, direction },
            shares_phone: connections.iter().filter(|other| other.phone == phone).count() > 1,
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
                schedules_uplink: facts.schedules_uplink,
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
            air: Air::new(facts.tti.unwrap_or_default()),
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

    /// Records the complete arrival of a transfer of the flow. Ends the run if this is the transfer
    /// that is explained.
    fn arrive(&mut self, at: Time) -> ControlFlow<()> {
        if self.to_arrive > 0 {
            self.to_arrive -= 1;
            return ControlFlow::Continue(());
        }
        (self.ended, self.last) = (Some(at), self.packets.received_last());
        ControlFlow::Break(())
    }

    /// Records the loss of a packet. It is counted only if the packet belongs to the flow and the
    /// transfer has begun.
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

    /// Records the interval in which a link or channel transmits a packet. For a packet of the
    /// flow, the arrival time is recorded too.
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

    /// Discards the packets that are no longer in flight, if the transfer has not begun and there
    /// are more than [`FORGET_AFTER`] records.
    #[inline]
    fn forget(&mut self) {
        if self.begun.is_none() && self.packets.hops.len() + self.air.tx.len() > FORGET_AFTER {
            let kept = self.packets.forget();
            self.lanes.forget();
            self.granted.clear();
            self.air.forget(|number| kept.renumbered(number));
        }
    }

    /// Returns the time for which each link or channel transmitted packets of the flow between `begun` and
    /// `ended`. Links and channels for which this time is 0 are omitted.
    pub fn busy(&self, begun: Time, ended: Time) -> Vec<(Place, Duration)> {
        let mut busy: Vec<_> = self.lanes.busy(begun, ended).collect();
        let on_air = self.air.busy(begun, ended);
        if on_air > Duration::ZERO {
            busy.push((Place::new(Site::Bearer, self.position.bearer), on_air));
        }
        busy
    }

    /// Returns the number of records of packets, stays at places and radio blocks.
    pub fn records(&self) -> usize {
        self.packets.list.len() + self.packets.hops.len() + self.air.records()
    }

    /// Ends the run if there are more than [`MAX_RECORDS`] records. The caller checks after each
    /// packet that is sent.
    pub fn check_records(&mut self, at: Time) -> ControlFlow<()> {
        if self.records() <= MAX_RECORDS {
            return ControlFlow::Continue(());
        }
        self.too_long = Some(at);
        ControlFlow::Break(())
    }

    /// Records TTIs of the bearer in which other users are served. Without hybrid ARQ each user has
    /// codes of its own, so users do not delay each other and nothing is recorded.
    fn serve_others(&mut self, from: Time, ttis: u32) {
        if self.radio.has_harq {
            let lasts = Duration(self.radio.tti.unwrap_or_default().0 * u64::from(ttis));
            let place = Place::new(Site::Bearer, self.position.bearer);
            self.lanes.at(place).others(Served { from, sent: from + lasts });
        }
    }

    // This function is not inlined: inlined into `on_event`, it would make the handling of short
    // events save more registers.
    #[inline(never)]
    fn on_air_event(&mut self, at: Time, event: &Event) {
        let Position { bearer: own, user: me, .. } = self.position;
        match *event {
            Event::Block { bearer, user, block, units, transmission, failed } if bearer == own => {
                if user == me {
                    // If each user has an individual channel, a received block may be retransmitted
                    // too, as its ACK may be misread.
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
            Event::Slept { bearer, user, from, until } if bearer == own && user == me => {
                self.air.absent(Absence { from, until, is_idle: false });
            }
            Event::Promoted { bearer, user, from, until } if bearer == own && user == me => {
                self.air.absent(Absence { from, until, is_idle: true });
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
