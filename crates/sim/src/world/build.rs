//! A world at time zero, as a scenario describes it.

use super::alarms::{Alarm, Alarms};
use super::control::Listener;
use super::env::{Env, Flying};
use super::external::External;
use super::flow::Flow;
use super::lane::Lane;
use super::recorder::Recorder;
use super::tell::Ears;
use super::timers::Timer;
use super::wire::Duplex;
use super::{HostedBearer, World};
use crate::context::{Blocks, Common, Counts};
use crate::engine::Agenda;
use crate::event::{Mask, Place, Sink, Site};
use crate::network::Core;
use crate::proxy::split::Outbox;
use crate::radio::UserRadio;
use crate::rng::Streams;
use crate::scenario::Scenario;
use crate::units::Time;

impl<T: Listener> World<T> {
    pub(super) fn new(scenario: &Scenario, seed: u64, run: u64, listener: T) -> Self {
        let streams = Streams::new(seed, run);
        let mut alarms = Alarms::default();
        let wired = scenario.wired.name.clone().unwrap_or_else(|| "wired".to_owned());
        let wired = (wired, &scenario.wired, [Site::WiredDown, Site::WiredUp], 0);
        let core = (0..).zip(scenario.core.iter().flat_map(Core::links));
        let core = core.map(|(at, (name, link))| (name, link, [Site::CoreDown, Site::CoreUp], at));
        let links =
            (0..).zip(std::iter::once(wired).chain(core)).map(|(at, (name, link, [down, up], index))| {
                let ends =
                    [(Place::new(down, index), Alarm::Down(at)), (Place::new(up, index), Alarm::Up(at))];
                Duplex::new(link, name, streams, &mut alarms, ends)
            });
        let links = links.collect();
        let [to_phones, from_phones] =
            [Alarm::ToPhones, Alarm::FromPhones].map(|alarm| Lane::new(&mut alarms, alarm));
        // Alarms of links and bearers before those of flows: they are set more often.
        let mut bearers = bearers(scenario, streams, &mut alarms);
        let flows = flows(scenario, streams, &mut alarms);
        for (id, flow) in (0..).zip(&flows) {
            let air = &mut bearers[flow.bearer as usize];
            air.flows.push(id);
            air.of_users.push(Blocks::default());
        }
        let users = bearers.iter().map(|air| air.flows.clone()).collect();
        let ears = Ears::new(Recorder::new(scenario.record, scenario.proxy.is_some(), users), listener);
        let env = Env {
            common: Common::new(Time::ZERO + scenario.duration, Sink::new(ears.mask())),
            agenda: Agenda::new(alarms.len()),
            flying: Flying::default(),
        };
        let mut world = Self {
            env,
            alarms,
            ears,
            external: External::default(),
            links,
            to_phones,
            from_phones,
            bearers,
            unfinished: flows.iter().filter(|flow| !flow.is_external).count(),
            flows,
            has_proxy: scenario.proxy.is_some(),
            has_snoop: scenario.snoop.is_some(),
            waits_at_rnc: scenario.radio.facts().has_rnc,
            events: 0,
            outbox: Vec::new(),
            relayed: Outbox::default(),
            again: Vec::new(),
        };
        world.begin();
        world
    }

    /// Sets the first alarms, and measures bandwidth where somebody will ask for it.
    fn begin(&mut self) {
        for flow in &mut self.flows {
            let Some(first) = flow.demand.upcoming else {
                continue;
            };
            let begins = flow.start + first.wait;
            flow.timers.set(&mut self.env, Timer::Traffic, begins);
            if let Some(meter) = &mut flow.meter {
                meter.start(begins);
                flow.timers.set(&mut self.env, Timer::RadioNetworkFeedback, begins);
                if let Some(bandwidth) = self.bearers[flow.bearer as usize].bearer.bandwidth_meter() {
                    bandwidth.measure(flow.position);
                }
            }
        }
        if self.env.sink.wants(Mask::BANDWIDTH) {
            for air in &mut self.bearers {
                if let Some(bandwidth) = air.bearer.bandwidth_meter() {
                    bandwidth.record();
                }
            }
        }
    }
}

/// Returns the group of each user and the user's number in it.
fn members(scenario: &Scenario) -> impl Iterator<Item = (usize, u32)> {
    let groups = scenario.users.iter().enumerate();
    groups.flat_map(|(g, group)| (0..group.count.get()).map(move |nth| (g, nth)))
}

fn flows(scenario: &Scenario, streams: Streams, alarms: &mut Alarms) -> Vec<Flow> {
    let shared = scenario.radio.facts().is_shared;
    let build = |(id, member)| {
        let seat = if shared { (0, id as usize) } else { (id, 0) };
        Flow::new(scenario, streams, member, id, seat, alarms)
    };
    (0..).zip(members(scenario)).map(build).collect()
}

fn bearers(scenario: &Scenario, streams: Streams, alarms: &mut Alarms) -> Vec<HostedBearer> {
    let radio = |(id, (group, _)): (u64, (usize, u32))| {
        let group = &scenario.users[group];
        UserRadio { id, ci: group.ci.clone(), ue: group.ue.clone().unwrap_or_default() }
    };
    let radios: Vec<UserRadio> = (0..).zip(members(scenario)).map(radio).collect();
    let built = (0..).zip(scenario.radio.build(&radios, &streams));
    built
        .map(|(i, bearer)| HostedBearer {
            bearer,
            place: Place::new(Site::Bearer, i),
            counts: Counts::default(),
            of_users: Vec::new(),
            alarm: alarms.add(Alarm::Bearer(i)),
            flows: Vec::new(),
            is_foreseen: false,
        })
        .collect()
}
