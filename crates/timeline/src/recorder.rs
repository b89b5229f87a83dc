use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask, Place};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_radio::switching::State;
use nodeb_sim::Scenario;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::scenario::Connection;
use nodeb_sim::world::Listener;
use nodeb_tcp::segment::Segment;

use crate::blocks::{BlockLog, Sent};
use crate::codes::{Detail, End, Kind};
use crate::order::InOrder;
use crate::packets::{PacketLog, PacketRow};
use crate::places::Places;
use crate::tables::{self, EventRow};
use crate::{Error, FOLLOW_TIME, Options, Result, Timeline};

#[derive(Debug)]
pub struct Recorder {
    options: Options,
    places: Places,
    /// All users share one bearer.
    is_shared: bool,
    /// The uplink is then the bearer after the shared one.
    schedules_uplink: bool,
    packets: PacketLog,
    blocks: BlockLog,
    /// By the users' numbers in the tables of packets.
    connections: Vec<Connection>,
    /// In-order delivery by connection.
    applications: Vec<InOrder>,
    events: Vec<EventRow>,
    /// Those not kept included.
    count: u64,
    full: Option<Time>,
    before: Option<Time>,
    /// First event at or after the end of the window.
    behind: Option<Time>,
    /// Latest event of the run.
    now: Time,
    /// [`FOLLOW_TIME`] after the window.
    is_over: bool,
}

impl Recorder {
    pub fn new(scenario: &Scenario, options: &Options) -> Self {
        let connections = scenario.connections();
        let group = |connection: &Connection| &scenario.users[connection.group];
        let numbering = connections.iter().map(|of| scenario.air_tcp_of(group(of)).numbering());
        Self {
            options: *options,
            places: Places::new(scenario),
            is_shared: scenario.radio.parts().is_shared,
            schedules_uplink: scenario.radio.parts().uplink.is_scheduled(),
            packets: PacketLog::default(),
            blocks: BlockLog::default(),
            applications: numbering.map(InOrder::new).collect(),
            connections,
            events: Vec::new(),
            count: 0,
            full: None,
            before: None,
            behind: None,
            now: Time::ZERO,
            is_over: false,
        }
    }

    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the timeline of a run with the results `result`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::TooMany`] if the window has more events than [`Options::most`], or
    /// [`Error::Nothing`] if it has none.
    pub fn finish(mut self, result: RunResult) -> Result<Timeline> {
        let Options { from, to, most, .. } = self.options;
        if let Some(until) = self.full {
            // Round the end of the suggested window to ms, unless that makes the window empty.
            let round = Time(until.0 / 1_000_000 * 1_000_000);
            let until = if round > from { round } else { until };
            return Err(Error::TooMany { count: self.count, most, from, until });
        }
        if self.count == 0 {
            return Err(Error::Nothing { from, to, near: self.near() });
        }
        self.packets.keep_the_rest(self.now, to);
        self.events.sort_by_key(|row| row.at);
        self.count_retransmissions();
        let Self { places, packets, blocks, events, now, .. } = self;
        Ok(Timeline {
            tables: tables::all(&events, &packets, &blocks),
            names: tables::names(&places),
            places,
            until: now,
            result: (!self.is_over).then_some(result),
        })
    }

    fn near(&self) -> String {
        let event = |what: &str, at: Option<Time>| at.map(|at| format!("{what} at {}", crate::describe(at)));
        let near: Vec<_> =
            [event("the last event before is", self.before), event("the first event after is", self.behind)]
                .into_iter()
                .flatten()
                .collect();
        if near.is_empty() { String::new() } else { format!("; {}", near.join(", ")) }
    }

    /// Of the blocks that carried parts of each packet.
    fn count_retransmissions(&mut self) {
        let carried: BTreeSet<_> = self.packets.carried.iter().copied().collect();
        let mut retransmissions: HashMap<u32, u32> = HashMap::new();
        for (packet, block) in carried {
            *retransmissions.entry(packet).or_default() += self.blocks.retransmissions(block);
        }
        for row in &mut self.packets.packets {
            row.retransmissions = retransmissions.get(&row.packet).copied().unwrap_or_default();
        }
    }

    fn is_inside(&self, at: Time) -> bool {
        self.options.from <= at && at < self.options.to
    }

    /// Until there are more events than [`Options::most`].
    fn keeps(&self) -> bool {
        self.full.is_none()
    }

    fn wants(&self, user: u32) -> bool {
        self.options.user.is_none_or(|wanted| wanted == user)
    }

    /// No user was selected, or this phone's.
    fn wants_phone(&self, phone: u32) -> bool {
        self.options.user.is_none_or(|wanted| self.connections[wanted as usize].phone == phone)
    }

    /// Without a shared bearer, each phone has one with its number.
    fn user(&self, bearer: u32, user: u32) -> u32 {
        if self.is_shared { user } else { bearer }
    }

    fn place(&self, bearer: u32) -> u16 {
        if self.schedules_uplink && bearer > 0 { self.places.uplink() } else { self.places.bearer() }
    }

    /// In the window; otherwise only the nearest times on both sides.
    fn write(&mut self, row: EventRow) {
        if row.at < self.options.from {
            self.before = self.before.max(Some(row.at));
        }
        if row.at >= self.options.to {
            self.behind = Some(self.behind.map_or(row.at, |first| first.min(row.at)));
        }
        if !self.is_inside(row.at) {
            return;
        }
        self.count += 1;
        if self.count > self.options.most {
            self.overflow(row.at);
        } else {
            self.events.push(row);
        }
    }

    #[cold]
    fn overflow(&mut self, at: Time) {
        if self.full.is_none() {
            self.full = Some(at);
            self.events = Vec::new();
            self.packets.forget();
            self.blocks.forget();
        }
    }

    fn sent(&mut self, at: Time, event: &Event) {
        let Event::Sent { place, packet: id, flow: user, purpose, size, seq, again } = *event else {
            return;
        };
        let packet = self.packets.number();
        if !self.wants(user) {
            return;
        }
        let origin = self.places.number(place);
        let row = PacketRow {
            packet,
            user,
            purpose,
            seq,
            size,
            again,
            origin,
            sent: at,
            at: origin,
            ended: at,
            end: End::InFlight,
            cause: Detail::None,
            handed: None,
            blocks: 0,
            retransmissions: 0,
        };
        self.packets.follow(id, row);
        let kind = if again { Kind::Resent } else { Kind::Sent };
        let (seq, bytes, detail) = (seq, size, purpose.into());
        self.write(EventRow { place: origin, packet, seq, bytes, detail, ..EventRow::new(at, kind, user) });
    }

    /// If the packet is followed.
    fn pass(&mut self, at: Time, place: Place, id: PacketId, kind: Kind, detail: Detail) {
        let place = self.places.number(place);
        let Some(tracked) = self.packets.get(id) else {
            return;
        };
        match kind {
            Kind::Entered => tracked.enter(at, place),
            Kind::Left => tracked.leave(at, End::Through),
            _ => {}
        }
        let PacketRow { packet, user, seq, size: bytes, .. } = tracked.row;
        self.write(EventRow { place, packet, seq, bytes, detail, ..EventRow::new(at, kind, user) });
    }

    /// Index in the packet log, if kept.
    fn end(&mut self, at: Time, place: Place, id: PacketId, end: End, cause: Detail) -> Option<usize> {
        let kind = if end == End::Lost { Kind::Lost } else { Kind::Received };
        self.pass(at, place, id, kind, cause);
        let mut tracked = self.packets.take(id)?;
        tracked.finish(at, self.places.number(place), end, cause);
        let is_wanted = self.keeps() && at >= self.options.from && tracked.row.sent < self.options.to;
        is_wanted.then(|| self.packets.keep(tracked))
    }

    fn received(&mut self, at: Time, place: Place, id: PacketId, segment: Option<&Segment>) {
        let kept = self.end(at, place, id, End::Through, Detail::None);
        let Self { applications, packets, connections, .. } = self;
        let is_receiver = |flow: u32| connections[flow as usize].direction.receiver() == place.site;
        let Some(segment) = segment.filter(|segment| is_receiver(segment.flow)) else {
            return;
        };
        applications[segment.flow as usize].arrive(segment, kept.unwrap_or(usize::MAX), |packet| {
            if let Some(row) = packets.packets.get_mut(packet) {
                row.handed = Some(at);
            }
        });
    }

    fn block(&mut self, sent: Sent) {
        let Sent { at, place, user, units, transmission, failed, .. } = sent;
        let keep = self.keeps() && self.is_inside(at);
        let block = self.blocks.send(sent, keep);
        let value = f64::from(units);
        let row = EventRow::new(at, Kind::Block, user);
        self.write(EventRow { place, block, transmission, failed, value, ..row });
    }

    /// Of a user not recorded, so that numbers do not depend on the selection.
    fn number(&mut self, at: Time, user: u32, event: &Event) {
        if let Event::Block { bearer, block: number, units, transmission, failed, .. } = *event {
            let place = self.place(bearer);
            self.blocks.send(Sent { at, place, user, number, units, transmission, failed }, false);
        }
    }

    fn carries(&mut self, at: Time, user: u32, number: u64, event: &Event) {
        let Event::Carries { bearer, part, .. } = *event else {
            return;
        };
        let place = self.place(bearer);
        let block = self.blocks.number(place, user, number);
        self.blocks.carry(block, part.bytes);
        let Some(tracked) = self.packets.get(part.packet) else {
            return;
        };
        tracked.carry(at, block);
        let PacketRow { packet, seq, .. } = tracked.row;
        let (bytes, value) = (part.bytes, f64::from(part.offset));
        let row = EventRow::new(at, Kind::Carries, user);
        self.write(EventRow { place, packet, seq, bytes, block, value, ..row });
    }

    /// Backlog, block, channel state or handover.
    fn radio(&mut self, at: Time, user: u32, event: &Event) {
        let place = match *event {
            Event::Block { bearer, .. } | Event::GivenUp { bearer, .. } => self.place(bearer),
            _ => self.places.bearer(),
        };
        let row = |kind| EventRow { place, ..EventRow::new(at, kind, user) };
        match *event {
            Event::Queue { packets, bytes, .. } => {
                let (bytes, value) = (u32::try_from(bytes).unwrap_or(u32::MAX), f64::from(packets));
                self.write(EventRow { bytes, value, ..row(Kind::Queue) });
            }
            Event::Block { block: number, units, transmission, failed, .. } => {
                self.block(Sent { at, place, user, number, units, transmission, failed });
            }
            Event::Carries { block, .. } => self.carries(at, user, block, event),
            Event::GivenUp { block, .. } => {
                let block = self.blocks.number(place, user, block);
                self.blocks.give_up(block);
                self.write(EventRow { block, ..row(Kind::GivenUp) });
            }
            Event::State { state, .. } => {
                let detail = State::ALL.get(usize::from(state)).map_or(Detail::None, |state| (*state).into());
                self.write(EventRow { detail, ..row(Kind::Channel) });
            }
            Event::Handover { cell, .. } => {
                self.write(EventRow { value: f64::from(cell), ..row(Kind::Handover) });
            }
            _ => {}
        }
    }

    /// TCP sender, or complete transfer.
    fn sender(&mut self, at: Time, user: u32, event: &Event) {
        let sender = self.connections[user as usize].direction.sender();
        let place = self.places.number(Place::new(sender, user));
        let row = |kind| EventRow { place, ..EventRow::new(at, kind, user) };
        match *event {
            Event::Window { cwnd: value, ssthresh, .. } => {
                self.write(EventRow { value, ssthresh, ..row(Kind::Window) });
            }
            Event::RoundTrip { rtt, .. } => {
                self.write(EventRow { value: rtt.as_secs(), ..row(Kind::RoundTrip) });
            }
            Event::Recovery { state, .. } => {
                self.write(EventRow { detail: state.into(), ..row(Kind::Recovery) });
            }
            Event::Timer { at: due, .. } => {
                let value = due.map_or(f64::NAN, Time::as_secs);
                self.write(EventRow { value, ..row(Kind::Timer) });
            }
            Event::Transfer { begun, bytes, .. } => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                self.write(EventRow { bytes, value: begun.as_secs(), ..row(Kind::Transfer) });
            }
            _ => {}
        }
    }
}

impl Listener for Recorder {
    fn mask(&self) -> Mask {
        [
            Mask::PACKETS,
            Mask::PLACES,
            Mask::QUEUE,
            Mask::BLOCKS,
            Mask::CHANNELS,
            Mask::WINDOW,
            Mask::ROUND_TRIPS,
            Mask::RECOVERY,
            Mask::TRANSFERS,
        ]
        .into_iter()
        .fold(Mask::NONE, Mask::or)
    }

    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        self.now = self.now.max(at);
        match *event {
            Event::Sent { .. } => self.sent(at, event),
            Event::Entered { place, packet } => self.pass(at, place, packet, Kind::Entered, Detail::None),
            Event::Left { place, packet } => self.pass(at, place, packet, Kind::Left, Detail::None),
            Event::Lost { place, packet, cause } => {
                self.end(at, place, packet, End::Lost, cause.into());
            }
            Event::Received { place, packet } => self.received(at, place, packet, segment),
            Event::Queue { bearer, user, .. }
            | Event::Block { bearer, user, .. }
            | Event::Carries { bearer, user, .. }
            | Event::GivenUp { bearer, user, .. }
            | Event::State { bearer, user, .. }
            | Event::Handover { bearer, user, .. } => {
                let user = self.user(bearer, user);
                if self.wants_phone(user) {
                    self.radio(at, user, event);
                } else {
                    self.number(at, user, event);
                }
            }
            Event::Window { flow, .. }
            | Event::RoundTrip { flow, .. }
            | Event::Recovery { flow, .. }
            | Event::Timer { flow, .. }
            | Event::Transfer { flow, .. } => {
                if self.wants(flow) {
                    self.sender(at, flow, event);
                }
            }
            Event::Tti { .. }
            | Event::Available { .. }
            | Event::Served { .. }
            | Event::Granted { .. }
            | Event::Numbered { .. }
            | Event::Slept { .. }
            | Event::Promoted { .. }
            | Event::Frame { .. }
            | Event::SendLimit { .. }
            | Event::TimerExpired { .. }
            | Event::Began { .. }
            | Event::Arrived { .. } => {}
        }
        if at.0 > self.options.to.0.saturating_add(FOLLOW_TIME.0) {
            self.is_over = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
