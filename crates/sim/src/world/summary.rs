use nodeb_base::table::join;
use nodeb_base::units::{Duration, Rate};
use nodeb_net::{OPPORTUNITIES, UsageRow};

use super::World;
use super::bearer::HostedBearer;
use super::control::Listener;
use super::flow::{Flow, Phone};
use super::wire::{Duplex, Wire};
use crate::metrics::{BearerRow, LinkRow, RunResult};
use crate::scenario::{Connection, Direction, Scenario, UserGroup};

impl<T: Listener> World<T> {
    /// 0 to 1: the larger of the fractions of all bytes that have arrived, 0 if any traffic has no end, and
    /// of the duration.
    pub(super) fn progress(&self) -> f64 {
        let (done, all) = self.flows.iter().fold((0.0, 0.0), |(done, all), flow| {
            let total = flow.total_bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
            (done + flow.receiver.delivered_bytes() as f64, all + total)
        });
        (done / all).max(self.env.now.as_secs() / self.env.horizon.as_secs())
    }

    /// Also corrects the counts of links, in which look-ahead has counted packets after the current time.
    pub(super) fn settle(&mut self) {
        let now = self.env.now;
        let up = self.phones.iter_mut().map(|phone| &mut phone.uplink);
        for wire in self.links.iter_mut().flat_map(|link| [&mut link.down, &mut link.up]).chain(up) {
            wire.link.settle(now);
        }
        for index in 0..self.bearers.len() as u32 {
            self.with_bearer(index, |bearer, ctx| bearer.settle(ctx));
        }
        self.with_uplink(|bearer, ctx| bearer.settle(ctx));
        self.emit();
    }

    pub(super) fn into_result(mut self, scenario: &Scenario) -> RunResult {
        self.settle();
        let now = self.env.now;
        for flow in self.flows.iter_mut() {
            flow.metrics.end(now);
        }
        let mut of_radio = Vec::new();
        for air in self.bearers.iter_mut().chain(&mut self.uplink) {
            join(&mut of_radio, air.tables(now));
        }
        let uplinks = (0..).zip(&mut self.phones).filter_map(|(user, phone)| {
            let usage = phone.uplink.link.usage(now)?;
            Some(UsageRow { user, direction: "up", usage })
        });
        let uplinks: Vec<_> = uplinks.collect();
        if !uplinks.is_empty() {
            join(&mut of_radio, [OPPORTUNITIES.table(&uplinks)]);
        }
        let channel_rate = channel_rate(scenario);
        let users =
            || self.flows.0.iter().enumerate().filter_map(|(user, flow)| Some((user, flow.as_deref()?)));
        let flow_row = |((user, connection), flow): ((usize, &Connection), &Option<Box<Flow>>)| {
            let phone = &self.phones[connection.phone as usize];
            let row = phone.row(user, scenario, connection, now);
            let Some(flow) = flow else { return row };
            let (sent, rate_bps) = self.radio_of(connection, channel_rate);
            flow.row(phone.start, sent, rate_bps, now, row)
        };
        RunResult {
            flows: scenario.connections().iter().enumerate().zip(&self.flows.0).map(flow_row).collect(),
            bearers: self.bearer_rows(scenario, channel_rate),
            links: self.link_rows(),
            proxies: users().filter_map(|(user, flow)| flow.proxy_row(user)).collect(),
            snoops: users().filter_map(|(user, flow)| flow.snoop_row(user)).collect(),
            of_radio,
            series: self.listeners.recorder.into_series(),
            events: self.events,
            end_s: now.as_secs(),
        }
    }

    /// Blocks sent per block received, 1 for an upload over a phone's own link, and the bit rate, NaN for an
    /// upload, as no rate counts as full utilization of an uplink.
    fn radio_of(&self, connection: &Connection, down: Rate) -> (f64, f64) {
        let user = connection.phone as usize;
        match (connection.direction, &self.uplink) {
            (Direction::Down, _) => {
                let phone = &self.phones[user];
                let air = &self.bearers[phone.bearer as usize];
                (air.of_users[phone.position].per_success(), down.0 as f64)
            }
            (Direction::Up, Some(air)) => (air.of_users[user].per_success(), f64::NAN),
            (Direction::Up, None) => (1.0, f64::NAN),
        }
    }

    fn bearer_rows(&self, scenario: &Scenario, channel_rate: Rate) -> Vec<BearerRow> {
        let tti = scenario.radio.facts().tti.unwrap_or(Duration::ZERO);
        let row = |(bearer, air): (u64, &HostedBearer)| {
            let counts = air.counts;
            BearerRow {
                bearer,
                kind: scenario.radio.key(),
                channel_rate_bps: channel_rate.0,
                bler: scenario.radio.facts().bler.map_or(0.0, |bler| bler.0),
                counts,
                active_s: Duration(counts.ttis * tti.0).as_secs(),
                end_s: self.env.now.as_secs(),
            }
        };
        (0..).zip(&self.bearers).map(row).collect()
    }

    fn link_rows(&self) -> Vec<LinkRow> {
        let both = |link: &Duplex| {
            let row = |way, wire: &Wire| LinkRow {
                link: format!("{}_{way}", link.name),
                counts: wire.link.counts(),
            };
            [row("down", &link.down), row("up", &link.up)]
        };
        let uplink = |(user, phone): (usize, &Phone)| LinkRow {
            link: format!("uplink_{user}"),
            counts: phone.uplink.link.counts(),
        };
        let mut rows: Vec<_> = self.links.iter().flat_map(both).collect();
        if self.uplink.is_none() {
            rows.extend(self.phones.iter().enumerate().map(uplink));
        }
        rows
    }
}

/// In bit/s, each at its best C/I value; 0 without users.
fn channel_rate(scenario: &Scenario) -> Rate {
    let rate_of = |group: &UserGroup| {
        let best_ci = (!group.ci.is_empty()).then_some(group.ci.len() as u32);
        scenario.radio.channel_rate(best_ci)
    };
    scenario.users.iter().map(rate_of).max().unwrap_or_default()
}
