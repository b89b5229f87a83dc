//! A world at time zero, as a scenario describes it.

use super::alarms::{Alarms, Event};
use super::control::Tap;
use super::flow::Flow;
use super::wire::Duplex;
use super::{Air, World};
use crate::engine::Agenda;
use crate::metrics::series::Series;
use crate::network::Core;
use crate::proxy::split::Outbox;
use crate::radio::UserRadio;
use crate::rng::Streams;
use crate::scenario::Scenario;
use crate::units::Time;

impl<'t, T: Tap> World<'t, T> {
    pub(super) fn new(scenario: &Scenario, seed: u64, run: u64, tap: &'t mut T) -> Self {
        let streams = Streams::new(seed, run);
        let mut alarms = Alarms::default();
        let wired_events = [Event::WiredDown, Event::WiredUp];
        let name = scenario.wired.name.clone().unwrap_or_else(|| "wired".to_owned());
        let wired = Duplex::new(&scenario.wired, name, streams, &mut alarms, wired_events);
        let links = (0..).zip(scenario.core.iter().flat_map(Core::links));
        let core = links.map(|(at, (name, link))| {
            Duplex::new(link, name, streams, &mut alarms, [Event::CoreDown(at), Event::CoreUp(at)])
        });
        let core = core.collect();
        let flows = flows(scenario, streams, &mut alarms);
        let bearers = bearers(scenario, streams, &flows, &mut alarms);
        let mut world = Self {
            now: Time::ZERO,
            tap,
            agenda: Agenda::new(alarms.len()),
            alarms,
            wired,
            core,
            bearers,
            unfinished: flows.len(),
            flows,
            record: scenario.record,
            series: Series::default(),
            outbox: Vec::new(),
            relayed: Outbox::default(),
            again: Vec::new(),
            delivered: Vec::new(),
        };
        for flow in &mut world.flows {
            if let Some(first) = flow.demand.upcoming {
                let begins = flow.start + first.wait;
                world.agenda.set_time(flow.alarms.traffic, Some(begins));
                if let Some(meter) = &mut flow.meter {
                    meter.agent.start(begins);
                    world.agenda.set_time(meter.alarm, Some(begins));
                    world.bearers[flow.bearer as usize].bearer.measure_bandwidth(flow.position);
                }
            }
        }
        world.prepare_records();
        world
    }

    /// Tells those who can keep a record to do so where one is asked for.
    fn prepare_records(&mut self) {
        if self.record.segments {
            self.wired.down.link.keep_discarded();
            for core in &mut self.core {
                core.down.link.keep_discarded();
            }
        }
        for air in &mut self.bearers {
            if self.record.scheduler {
                air.bearer.record_ttis();
            }
            if self.record.bandwidth {
                air.bearer.record_bandwidth();
            }
            if self.record.segments {
                air.bearer.keep_discarded();
            }
        }
    }
}

fn flows(scenario: &Scenario, streams: Streams, alarms: &mut Alarms) -> Vec<Flow> {
    let shared = scenario.radio.is_shared();
    let groups = scenario.users.iter().enumerate();
    let members = groups.flat_map(|(g, group)| (0..group.count.get()).map(move |nth| (g, nth)));
    let build = |(id, member)| {
        let seat = if shared { (0, id as usize) } else { (id, 0) };
        Flow::new(scenario, streams, member, id, seat, alarms)
    };
    (0..).zip(members).map(build).collect()
}

fn bearers(scenario: &Scenario, streams: Streams, flows: &[Flow], alarms: &mut Alarms) -> Vec<Air> {
    let radio = |(id, flow): (u64, &Flow)| {
        let group = &scenario.users[flow.group];
        UserRadio { id, ci: group.ci.clone(), ue: group.ue.clone().unwrap_or_default() }
    };
    let radios: Vec<UserRadio> = (0..).zip(flows).map(radio).collect();
    let built = (0..).zip(scenario.radio.build(&radios, &streams));
    let mut bearers: Vec<Air> = built
        .map(|(i, bearer)| Air { bearer, alarm: alarms.add(Event::Bearer(i)), flows: Vec::new() })
        .collect();
    for (id, flow) in (0..).zip(flows) {
        bearers[flow.bearer as usize].flows.push(id);
    }
    bearers
}
