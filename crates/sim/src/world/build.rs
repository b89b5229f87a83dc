use nodeb_base::context::{BlockCounts, Common};
use nodeb_base::event::{Mask, Place, Sink, Site};
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;
use nodeb_net::Core;
use nodeb_radio::UserRadio;

use super::World;
use super::bearer::HostedBearer;
use super::connection_timers::Timer;
use super::control::Listener;
use super::env::{Env, InFlight};
use super::events::Listeners;
use super::external::External;
use super::flow::{Flow, Flows, Phone};
use super::owners::{Owner, Owners};
use super::recorder::Recorder;
use super::wire::Duplex;
use crate::proxy::split::Outbox;
use crate::scenario::Scenario;

impl<T: Listener> World<T> {
    pub(super) fn new(scenario: &Scenario, seed: u64, run: u64, listener: T) -> Self {
        let streams = Streams::new(seed, run);
        let mut owners = Owners::default();
        let wired = scenario.wired.name.clone().unwrap_or_else(|| "wired".to_owned());
        let wired = (wired, &scenario.wired, [Site::WiredDown, Site::WiredUp], 0);
        let core = (0..).zip(scenario.core.iter().flat_map(Core::links));
        let core = core.map(|(at, (name, link))| (name, link, [Site::CoreDown, Site::CoreUp], at));
        let links =
            (0..).zip(std::iter::once(wired).chain(core)).map(|(at, (name, link, [down, up], index))| {
                let ends =
                    [(Place::new(down, index), Owner::Down(at)), (Place::new(up, index), Owner::Up(at))];
                Duplex::new(link, name, streams, &mut owners, ends)
            });
        let links = links.collect();
        // The timers of links and bearers are created first, so that they are adjacent in the event queue. They
        // are armed most often.
        let radios = radios(scenario);
        let mut bearers = bearers(scenario, &radios, streams, &mut owners);
        let mut uplink = scenario.radio.build_uplink(&radios, &streams);
        if let (Some(uplink), Some(downlink)) = (&mut uplink, bearers.first()) {
            uplink.share(&downlink.shared());
        }
        let index = bearers.len() as u32;
        let mut uplink = uplink.map(|bearer| HostedBearer::uplink(bearer, index, &mut owners));
        let (phones, flows) = users(scenario, streams, &mut owners);
        for (id, phone) in (0..).zip(&phones) {
            for air in std::iter::once(&mut bearers[phone.bearer as usize]).chain(&mut uplink) {
                air.users.push(id);
                air.of_users.push(BlockCounts::default());
            }
        }
        let users = bearers.iter().map(|air| air.users.clone()).collect();
        let listeners = Listeners::new(Recorder::new(scenario, users), listener);
        let env = Env {
            common: Common::new(Time::ZERO + scenario.duration, Sink::new(listeners.mask())),
            event_queue: owners.event_queue(&streams),
            in_flight: InFlight::default(),
            external: External::default(),
        };
        let mut world = Self {
            env,
            owners,
            listeners,
            links,
            bearers,
            tells_radio: scenario.radio.facts().has_drx || uplink.is_some(),
            has_drx: scenario.radio.facts().has_drx,
            uplink,
            unfinished: flows.iter().count(),
            phones,
            flows,
            has_proxy: scenario.proxy.is_some(),
            has_snoop: scenario.snoop.is_some(),
            waits_at_rnc: scenario.radio.facts().has_rnc,
            events: 0,
            outbox: Vec::new(),
            relayed: Outbox::default(),
            retransmitted: Vec::new(),
        };
        world.begin();
        world
    }

    /// Also measures the bandwidth of the users for whom a proxy or a time series needs it.
    fn begin(&mut self) {
        for flow in self.flows.iter_mut() {
            let phone = &self.phones[flow.user as usize];
            let Some(first) = flow.demand.upcoming else { continue };
            let begins = phone.start + first.wait;
            flow.timers.set(&mut self.env, Timer::Traffic, begins);
            if let Some(meter) = &mut flow.meter {
                meter.start(begins);
                flow.timers.set(&mut self.env, Timer::RadioNetworkFeedback, begins);
                if let Some(bandwidth) = self.bearers[phone.bearer as usize].bandwidth_meter() {
                    bandwidth.measure(phone.position);
                }
            }
        }
        if self.env.sink.wants(Mask::BANDWIDTH) {
            for air in &mut self.bearers {
                if let Some(bandwidth) = air.bandwidth_meter() {
                    bandwidth.record();
                }
            }
        }
    }
}

/// In the order of their numbers.
fn users(scenario: &Scenario, streams: Streams, owners: &mut Owners) -> (Vec<Phone>, Flows) {
    let shared = scenario.radio.facts().is_shared;
    let count = scenario.user_count();
    let connections = scenario.connections();
    let (mut phones, mut flows) = (Vec::with_capacity(count), Vec::with_capacity(connections.len()));
    let mut members = scenario.phones();
    for (id, connection) in (0..).zip(&connections) {
        if let Some(member) = members.next() {
            let position = if shared { (0, id as usize) } else { (id, 0) };
            phones.push(Phone::new(scenario, streams, member, id, position, owners));
        }
        flows.push(Flow::new(scenario, streams, connection, id, owners).map(Box::new));
    }
    (phones, Flows(flows))
}

/// In the order of their numbers.
fn radios(scenario: &Scenario) -> Vec<UserRadio> {
    let radio = |(id, (group, _)): (u64, (usize, u32))| {
        let group = &scenario.users[group];
        UserRadio { id, ci: group.ci.clone(), ue: group.ue.clone().unwrap_or_default() }
    };
    (0..).zip(scenario.phones()).map(radio).collect()
}

/// One for all users on a shared channel, else one per user.
fn bearers(
    scenario: &Scenario,
    radios: &[UserRadio],
    streams: Streams,
    owners: &mut Owners,
) -> Vec<HostedBearer> {
    let built = (0..).zip(scenario.radio.build(radios, &streams));
    built.map(|(index, bearer)| HostedBearer::new(bearer, index, owners)).collect()
}
