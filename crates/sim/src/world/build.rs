use std::ops::Range;

use nodeb_air::{Hop, UserRadio};
use nodeb_base::context::Common;
use nodeb_base::event::{Mask, Place, Sink, Site};
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;
use nodeb_net::Core;
use nodeb_radio::{Bearers, Uplink};

use super::World;
use super::connection_timers::Timer;
use super::control::Listener;
use super::env::{Env, InFlight};
use super::events::Listeners;
use super::external::External;
use super::flow::{Flow, Flows, Phone};
use super::hop::{Hops, Hosted, Port, Stage};
use super::recorder::Recorder;
use crate::proxy::split::Outbox;
use crate::scenario::Scenario;

impl<T: Listener> World<T> {
    pub(super) fn new(scenario: &Scenario, seed: u64, run: u64, listener: T) -> Self {
        let streams = Streams::new(seed, run);
        let radios = radios(scenario);
        let mut hops = links(scenario, streams);
        add_radio(&mut hops, scenario, &radios, streams);
        let connections = scenario.connections();
        let event_queue = hops.event_queue(connections.len() as u32, &streams);
        let phones = phones(scenario, &mut hops);
        let timers = hops.all.len()..;
        let flows = (0..).zip(timers).zip(&connections).map(|((id, timer), connection)| {
            Flow::new(scenario, streams, connection, id, timer).map(Box::new)
        });
        let flows = Flows(flows.collect());
        let users = hops.bearers().iter().map(|bearer| bearer.users.clone()).collect();
        let listeners = Listeners::new(Recorder::new(scenario, users), listener);
        let env = Env {
            common: Common::new(Time::ZERO + scenario.duration, Sink::new(listeners.mask())),
            event_queue,
            in_flight: InFlight::default(),
            external: External::default(),
        };
        let mut world = Self {
            env,
            hops,
            listeners,
            has_external: flows.0.iter().any(Option::is_none),
            phones_sleep: scenario.radio.parts().sleeps,
            unfinished: flows.iter().count(),
            phones,
            flows,
            has_proxy: scenario.proxy.is_some(),
            has_snoop: scenario.snoop.is_some(),
            waits_at_rnc: scenario.radio.parts().has_rnc(),
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
                let Port { hop, user } = phone.down;
                if let Some(bandwidth) = self.hops.all[hop].hop().bandwidth_meter() {
                    bandwidth.measure(user);
                }
            }
        }
        if self.env.sink.wants(Mask::BANDWIDTH) {
            for bearer in self.hops.bearers() {
                if let Some(bandwidth) = bearer.hop().bandwidth_meter() {
                    bandwidth.record();
                }
            }
        }
    }
}

/// Link 0 is between server and gateway, then those of the core network to the Node B.
fn links(scenario: &Scenario, streams: Streams) -> Hops {
    let wired = scenario.wired.name.clone().unwrap_or_else(|| "wired".to_owned());
    let wired = (wired, &scenario.wired, [Site::WiredDown, Site::WiredUp], 0);
    let core = (0..).zip(scenario.core.iter().flat_map(Core::links));
    let core = core.map(|(at, (name, link))| (name, link, [Site::CoreDown, Site::CoreUp], at));
    let (mut all, mut down, mut up) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (name, link, sites, index)) in std::iter::once(wired).chain(core).enumerate() {
        let ways = [
            (&mut down, Stage::Down(at), "down", link.down(&name, &streams)),
            (&mut up, Stage::Up(at), "up", link.up(&name, &streams)),
        ];
        for ((direction, stage, way, link), site) in ways.into_iter().zip(sites) {
            let mut hop = Hosted::new(Box::new(link), stage, Place::new(site, index));
            hop.links.push((all.len(), format!("{name}_{way}")));
            direction.push(all.len());
            all.push(hop);
        }
    }
    Hops { all, down, up, bearers: 0..0, uplinks: 0..0 }
}

fn add_radio(hops: &mut Hops, scenario: &Scenario, users: &[UserRadio], streams: Streams) {
    let all = &mut hops.all;
    hops.bearers.start = all.len();
    let Bearers { down, up } = scenario.radio.build(users, &streams);
    debug_assert_eq!(up.is_some(), scenario.radio.parts().uplink.is_scheduled());
    for (index, bearer) in (0..).zip(down) {
        all.push(Hosted::new(bearer, Stage::Bearer, Place::new(Site::Bearer, index)));
    }
    hops.bearers.end = all.len();
    hops.uplinks.start = all.len();
    if let Some(uplink) = up {
        let place = Place::new(Site::Uplink, hops.bearers.len() as u32);
        all.push(Hosted::new(uplink, Stage::Uplink, place));
    } else {
        let uplink = scenario.radio.parts().uplink;
        for UserRadio { id, .. } in users {
            let link: Box<dyn Hop> = match &uplink {
                Uplink::Recorded(recording) => Box::new(scenario.uplink.traced(*id, recording, &streams)),
                Uplink::Plain | Uplink::Scheduled(_) => Box::new(scenario.uplink.link(*id, &streams)),
            };
            let mut hop = Hosted::new(link, Stage::Uplink, Place::new(Site::Uplink, *id as u32));
            hop.links.push((all.len(), format!("uplink_{id}")));
            hop.users.push(*id as u32);
            all.push(hop);
        }
    }
    hops.uplinks.end = all.len();
}

/// In the order of their numbers.
fn phones(scenario: &Scenario, hops: &mut Hops) -> Vec<Phone> {
    let parts = scenario.radio.parts();
    let shares_uplink = parts.uplink.is_scheduled();
    let port = |hops: &Range<usize>, is_shared: bool, user: usize| {
        if is_shared { Port { hop: hops.start, user } } else { Port { hop: hops.start + user, user: 0 } }
    };
    let phone = |(user, member)| {
        let down = port(&hops.bearers, parts.is_shared, user);
        let up = port(&hops.uplinks, shares_uplink, user);
        hops.all[down.hop].add(user as u32);
        if shares_uplink {
            hops.all[up.hop].add(user as u32);
        }
        Phone::new(scenario, member, down, up)
    };
    scenario.phones().enumerate().map(phone).collect()
}

/// In the order of their numbers.
fn radios(scenario: &Scenario) -> Vec<UserRadio> {
    (0..).zip(scenario.phones()).map(|(id, (group, _))| scenario.users[group].radio(id)).collect()
}
