//! The wiring: server - wired link - Node B - bearer - phones, and the uplinks back.
//!
//! ```text
//! sender --wired(down)--> Node B --bearer--> phone
//!   ^                                          |
//!   +-----wired(up)------ Node B <---uplink----+
//! ```
//!
//! This is the only file that knows all layers. It moves packets from one box to the next, keeps
//! each box's alarm at the time the box asks for, and writes down what happened.

mod alarms;
mod control;
mod flow;
mod wire;

pub use control::{Control, NoTap, Place, Tap};

use alarms::{Alarms, Event};
use flow::Flow;
use wire::Wire;

use crate::engine::{Agenda, Key};
use crate::error::Result;
use crate::metrics::series::{CwndRow, QueueRow, RttRow, SegmentEvent, SegmentRow, Series, TransferRow};
use crate::metrics::{BearerRow, RunResult};
use crate::network::link::{Link, Loss, Outcome};
use crate::packet::{Kind, Packet};
use crate::radio::{Bearer, Delivery, TtiRecord, UserRadio};
use crate::rng::Streams;
use crate::scenario::{Record, Scenario, UserGroup};
use crate::traffic::After;
use crate::traffic::demand::Outstanding;
use crate::transport::Opener;
use crate::units::{Duration, Time};

/// How long a phone waits before it repeats a request (RFC 2988, 2.1); doubled each time.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
const MOST_DOUBLINGS: u32 = 4;

/// Events between two looks at the control.
const EVENTS_PER_REPORT: u64 = 1 << 14;

/// Simulates replication number `run` of a scenario under `seed`.
///
/// # Errors
/// [`Error::Cancelled`] when `control` was told to cancel.
pub fn run(scenario: &Scenario, seed: u64, run: u64, control: &Control) -> Result<RunResult> {
    run_tapped(scenario, seed, run, control, &mut NoTap)
}

/// As [`run`], with every packet shown to `tap`.
///
/// # Errors
/// As [`run`], and the tap's own.
pub fn run_tapped<T: Tap>(
    scenario: &Scenario,
    seed: u64,
    run: u64,
    control: &Control,
    tap: &mut T,
) -> Result<RunResult> {
    let mut world = World::new(scenario, seed, run, tap);
    let end = Time::ZERO + scenario.duration;
    let mut events = 0;
    while world.unfinished > 0
        && let Some((key, alarm)) = world.agenda.next()
        && key.0 <= end
    {
        world.now = key.0;
        world.handle(key, alarm)?;
        events += 1;
        if events % EVENTS_PER_REPORT == 0 {
            control.report(world.progress(end))?;
        }
    }
    control.report(1.0)?;
    Ok(world.into_result(scenario, events))
}

/// A bearer with the number of its alarm and the flows of its users, by their position on it.
#[derive(Debug)]
struct Air {
    bearer: Box<dyn Bearer>,
    alarm: usize,
    flows: Vec<u32>,
}

struct World<'t, T> {
    now: Time,
    tap: &'t mut T,
    agenda: Agenda,
    alarms: Alarms,
    down: Wire,
    up: Wire,
    bearers: Vec<Air>,
    flows: Vec<Flow>,
    unfinished: usize,
    record: Record,
    series: Series,
    /// Reused for what a sender or a bearer puts out.
    outbox: Vec<Packet>,
    delivered: Vec<Delivery>,
}

impl<'t, T: Tap> World<'t, T> {
    fn new(scenario: &Scenario, seed: u64, run: u64, tap: &'t mut T) -> Self {
        let streams = Streams::new(seed, run);
        let wired = &scenario.wired;
        let wire = |loss, alarm| Wire { link: Link::new(wired.rate, wired.delay, &wired.queue, loss), alarm };
        let loss = Loss::random(wired.loss, streams.stream("wired", 0, "loss"));
        let shared = scenario.radio.is_shared();
        let members: Vec<(usize, &UserGroup, u32)> = scenario
            .users
            .iter()
            .enumerate()
            .flat_map(|(g, group)| (0..group.count.get()).map(move |nth| (g, group, nth)))
            .collect();
        let mut flows = Vec::with_capacity(members.len());
        let mut radios = Vec::with_capacity(members.len());
        for (user, &(g, group, nth)) in members.iter().enumerate() {
            let id = user as u32;
            flows.push(Flow::new(
                scenario,
                streams,
                g,
                group,
                nth,
                id,
                if shared { (0, user) } else { (id, 0) },
            ));
            radios.push(UserRadio { id: user as u64, ci: group.ci.clone() });
        }
        let alarms = Alarms { flows: flows.len() };
        let mut bearers: Vec<Air> = scenario
            .radio
            .build(&radios, &streams)
            .into_iter()
            .enumerate()
            .map(|(i, bearer)| Air { bearer, alarm: alarms.bearer(i as u32), flows: Vec::new() })
            .collect();
        let mut agenda = Agenda::new(alarms.count(bearers.len()));
        for (user, flow) in flows.iter().enumerate() {
            bearers[flow.bearer as usize].flows.push(user as u32);
            if let Some(first) = flow.demand.upcoming {
                agenda.set_time(Alarms::traffic(user as u32), Some(flow.start + first.wait));
            }
        }
        if scenario.record.scheduler {
            for air in &mut bearers {
                air.bearer.record_ttis();
            }
        }
        Self {
            now: Time::ZERO,
            tap,
            down: wire(loss, Alarms::WIRED_DOWN),
            up: wire(Loss::Never, Alarms::WIRED_UP),
            agenda,
            alarms,
            bearers,
            unfinished: flows.len(),
            flows,
            record: scenario.record,
            series: Series::default(),
            outbox: Vec::new(),
            delivered: Vec::new(),
        }
    }

    fn handle(&mut self, key: Key, alarm: usize) -> Result<()> {
        match self.alarms.event(alarm) {
            Event::WiredDown => {
                if let Some(packet) = self.down.wake(key, &mut self.agenda) {
                    self.reach_node_b(packet);
                }
            }
            Event::WiredUp => {
                if let Some(packet) = self.up.wake(key, &mut self.agenda) {
                    return self.reach_server(packet);
                }
            }
            Event::Uplink(flow) => {
                if let Some(packet) = self.flows[flow as usize].uplink.wake(key, &mut self.agenda) {
                    self.up.accept(self.now, packet, &mut self.agenda);
                }
            }
            Event::Bearer(bearer) => return self.wake_bearer(key, bearer),
            Event::Traffic(flow) => {
                self.agenda.set(alarm, None);
                return self.begin_transfer(flow);
            }
            Event::RetransmissionTimer(flow) => {
                self.agenda.set(alarm, None);
                self.flows[flow as usize].sender.on_timer(self.now, &mut self.outbox);
                return self.after_sender(flow);
            }
            Event::RequestTimer(flow) => {
                self.agenda.set(alarm, None);
                if let Some(packet) = self.flows[flow as usize].asking {
                    return self.ask(Packet { retransmission: true, ..packet });
                }
            }
            Event::DelayedAck(flow) => {
                self.agenda.set(alarm, None);
                let ack = self.flows[flow as usize].receiver.on_timer(self.now);
                return self.after_receiver(flow, ack);
            }
        }
        Ok(())
    }

    /// A transfer begins: the first opens the connection, a later one is asked for by the phone or
    /// offered by the server.
    fn begin_transfer(&mut self, flow: u32) -> Result<()> {
        let state = &mut self.flows[flow as usize];
        let is_first = state.demand.bytes == 0;
        let Some(transfer) = state.demand.begin(self.now) else {
            return Ok(());
        };
        if let Some(at) = state.demand.next_beginning(self.now, After::Beginning) {
            self.agenda.set_time(Alarms::traffic(flow), Some(at));
        }
        match (is_first, state.opener, transfer.request_bytes) {
            (true, Opener::Server, _) => self.accept_connection(flow),
            (true, Opener::Phone, _) => self.ask(Packet::control(flow, Kind::Connect)),
            (false, _, Some(bytes)) => {
                let headers = Packet::control(flow, Kind::Request);
                self.ask(Packet { size: headers.size + bytes, ..headers })
            }
            (false, _, None) if state.accepted.is_some() => self.serve(flow),
            (false, _, None) => Ok(()),
        }
    }

    /// The server learns of what has been asked for and sends it.
    fn serve(&mut self, flow: u32) -> Result<()> {
        let state = &mut self.flows[flow as usize];
        while let Some(bytes) = state.demand.requested.pop_front() {
            state.sender.write(self.now, bytes, &mut self.outbox);
        }
        if state.demand.is_all_asked() {
            state.sender.close();
        }
        self.after_sender(flow)
    }

    /// The phone asks for something, and asks again until the server has heard of it.
    fn ask(&mut self, packet: Packet) -> Result<()> {
        let repetitions = &mut self.flows[packet.flow as usize].repetitions;
        let timeout = Duration(REQUEST_TIMEOUT.0 << (*repetitions).min(MOST_DOUBLINGS));
        *repetitions = if packet.retransmission { *repetitions + 1 } else { 1 };
        self.flows[packet.flow as usize].asking = Some(packet);
        self.agenda.set_time(Alarms::request_timer(packet.flow), Some(self.now + timeout));
        self.send_up(packet)
    }

    /// The server has heard what the phone asks for.
    fn hear(&mut self, flow: u32) {
        self.flows[flow as usize].asking = None;
        self.flows[flow as usize].repetitions = 0;
        self.agenda.set(Alarms::request_timer(flow), None);
    }

    /// The phone sends a packet.
    fn send_up(&mut self, packet: Packet) -> Result<()> {
        self.tap.packet(self.now, Place::Phone, &packet)?;
        self.flows[packet.flow as usize].uplink.accept(self.now, packet, &mut self.agenda);
        Ok(())
    }

    fn accept_connection(&mut self, flow: u32) -> Result<()> {
        let state = &mut self.flows[flow as usize];
        if state.accepted.replace(self.now).is_some() {
            return Ok(());
        }
        state.sender.open(self.now, &mut self.outbox);
        self.serve(flow)
    }

    fn reach_server(&mut self, packet: Packet) -> Result<()> {
        self.tap.packet(self.now, Place::Server, &packet)?;
        match packet.kind {
            Kind::Connect => {
                self.hear(packet.flow);
                return self.accept_connection(packet.flow);
            }
            Kind::Request => {
                self.hear(packet.flow);
                return self.serve(packet.flow);
            }
            Kind::Segment | Kind::Ack => {}
        }
        self.note_segment(packet, SegmentEvent::Ack);
        self.flows[packet.flow as usize].sender.on_ack(self.now, &packet, &mut self.outbox);
        self.after_sender(packet.flow)
    }

    /// Sends what a sender has put out, keeps its timer, and notes what changed.
    fn after_sender(&mut self, flow: u32) -> Result<()> {
        let state = &mut self.flows[flow as usize];
        let alarm = Alarms::retransmission_timer(flow);
        let timer = state.sender.timer();
        if timer != self.agenda.due(alarm).map(|(at, _)| at) {
            self.agenda.set_time(alarm, timer);
        }
        let acked = state.sender.acked_bytes();
        while let Some(transfer) = state.demand.complete(self.now, acked) {
            if self.record.transfers {
                let Outstanding { begun, bytes, .. } = transfer;
                self.series.transfers.push(TransferRow {
                    user: u64::from(flow),
                    begun,
                    end: self.now,
                    bytes,
                });
            }
            if let Some(at) = state.demand.next_beginning(self.now, After::End) {
                self.agenda.set_time(Alarms::traffic(flow), Some(at));
            }
        }
        if state.finished.is_none() && state.sender.is_done() {
            state.finished = Some(self.now);
            self.unfinished -= 1;
        }
        self.note_sender(flow);
        let mut outbox = std::mem::take(&mut self.outbox);
        for packet in outbox.drain(..) {
            self.tap.packet(self.now, Place::Server, &packet)?;
            self.note_segment(packet, SegmentEvent::Send);
            if self.down.accept(self.now, packet, &mut self.agenda) != Outcome::Taken {
                self.note_segment(packet, SegmentEvent::Drop);
            }
        }
        self.outbox = outbox;
        Ok(())
    }

    fn reach_node_b(&mut self, packet: Packet) {
        let flow = &self.flows[packet.flow as usize];
        let (index, position) = (flow.bearer, flow.position);
        let air = &mut self.bearers[index as usize];
        let taken = air.bearer.accept(self.now, position, packet, &mut self.agenda.stamps);
        self.agenda.set(air.alarm, air.bearer.next_wake());
        if taken {
            self.note_queue(packet.flow);
        } else {
            self.note_segment(packet, SegmentEvent::Drop);
        }
    }

    fn wake_bearer(&mut self, key: Key, index: u32) -> Result<()> {
        let air = &mut self.bearers[index as usize];
        air.bearer.wake(key, &mut self.agenda.stamps, &mut self.delivered);
        self.agenda.set(air.alarm, air.bearer.next_wake());
        let mut delivered = std::mem::take(&mut self.delivered);
        for delivery in delivered.drain(..) {
            self.reach_phone(delivery.packet)?;
        }
        self.delivered = delivered;
        Ok(())
    }

    fn reach_phone(&mut self, packet: Packet) -> Result<()> {
        self.tap.packet(self.now, Place::Phone, &packet)?;
        self.note_segment(packet, SegmentEvent::Deliver);
        self.note_queue(packet.flow);
        let state = &mut self.flows[packet.flow as usize];
        let ack = state.receiver.on_segment(self.now, &packet);
        if state.downloaded.is_none() && Some(state.receiver.delivered_bytes()) == state.total_bytes {
            state.downloaded = Some(self.now);
        }
        self.after_receiver(packet.flow, ack)
    }

    /// Sends a receiver's ACK, if there is one, and keeps its timer.
    fn after_receiver(&mut self, flow: u32, ack: Option<Packet>) -> Result<()> {
        let alarm = Alarms::delayed_ack(flow);
        let timer = self.flows[flow as usize].receiver.timer();
        if timer != self.agenda.due(alarm).map(|(at, _)| at) {
            self.agenda.set_time(alarm, timer);
        }
        ack.map_or(Ok(()), |ack| self.send_up(ack))
    }

    fn note_segment(&mut self, packet: Packet, event: SegmentEvent) {
        if self.record.segments {
            let Packet { flow, seq, retransmission, .. } = packet;
            self.series.segments.push(SegmentRow {
                user: u64::from(flow),
                at: self.now,
                event,
                seq,
                retransmission,
            });
        }
    }

    fn note_queue(&mut self, flow: u32) {
        if self.record.queue {
            let state = &self.flows[flow as usize];
            let (packets, bytes) = self.bearers[state.bearer as usize].bearer.backlog(state.position);
            self.series.queue.push(QueueRow {
                user: u64::from(flow),
                at: self.now,
                packets: packets as u64,
                bytes,
            });
        }
    }

    fn note_sender(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        let user = u64::from(flow);
        if let Some(rtt) = state.sender.take_rtt_sample()
            && self.record.rtt
        {
            self.series.rtt.push(RttRow { user, at: self.now, rtt });
        }
        if self.record.cwnd {
            let window = state.sender.window();
            if state.noted.replace(window) != Some(window) {
                self.series.cwnd.push(CwndRow { user, at: self.now, window });
            }
        }
    }

    fn progress(&self, end: Time) -> f64 {
        let (done, all) = self.flows.iter().fold((0.0, 0.0), |(done, all), flow| {
            let total = flow.total_bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
            (done + flow.receiver.delivered_bytes() as f64, all + total)
        });
        (done / all).max(self.now.as_secs() / end.as_secs())
    }

    fn into_result(self, scenario: &Scenario, events: u64) -> RunResult {
        let mut series = self.series;
        for air in &self.bearers {
            let named = |record: &TtiRecord| TtiRecord { user: air.flows[record.user] as usize, ..*record };
            series.scheduler.extend(air.bearer.tti_records().iter().map(named));
        }
        let rate_of = |group: &UserGroup| {
            let best_ci = (!group.ci.is_empty()).then_some(group.ci.len() as u32);
            scenario.radio.channel_rate(best_ci)
        };
        let channel_rate = scenario.users.iter().map(rate_of).max().unwrap_or_default();
        let bler = scenario.radio.bler();
        let tti = scenario.radio.tti().unwrap_or(Duration::ZERO);
        let bearer_row = |air: &Air| {
            let counts = air.bearer.counts();
            BearerRow {
                kind: scenario.radio.key(),
                channel_rate_bps: channel_rate.0,
                bler: bler.0,
                counts,
                active_s: Duration(counts.ttis * tti.0).as_secs(),
            }
        };
        let flow_row = |(user, flow): (usize, &Flow)| {
            flow.row(user, &scenario.users[flow.group], bler, channel_rate.0 as f64)
        };
        RunResult {
            flows: self.flows.iter().enumerate().map(flow_row).collect(),
            bearers: self.bearers.iter().map(bearer_row).collect(),
            wired: self.down.link.counts,
            series,
            events,
            end_s: self.now.as_secs(),
        }
    }
}
