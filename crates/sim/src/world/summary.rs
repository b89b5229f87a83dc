use nodeb_base::context::BlockCounts;
use nodeb_base::table::join;
use nodeb_base::units::{Duration, Rate};

use super::World;
use super::control::Listener;
use super::flow::Flow;
use super::hop::Hosted;
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

    fn apply_deferred(&mut self) {
        for index in 0..self.hops.all.len() {
            self.with_hop(index, |hop, ctx| hop.apply_deferred(ctx));
        }
        self.emit();
    }

    pub(super) fn into_result(mut self, scenario: &Scenario) -> RunResult {
        self.apply_deferred();
        let now = self.env.now;
        for flow in self.flows.iter_mut() {
            flow.metrics.end(now);
        }
        let mut of_radio = Vec::new();
        for hop in &mut self.hops.all {
            join(&mut of_radio, hop.tables(now));
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
        let phone = &self.phones[connection.phone as usize];
        let (port, rate_bps) = match connection.direction {
            Direction::Down => (phone.down, down.0 as f64),
            Direction::Up => (phone.up, f64::NAN),
        };
        let blocks = self.hops.all[port.hop].of_users.get(port.user);
        (blocks.map_or(1.0, BlockCounts::per_success), rate_bps)
    }

    fn bearer_rows(&self, scenario: &Scenario, channel_rate: Rate) -> Vec<BearerRow> {
        let tti = scenario.radio.parts().tti.map_or(Duration::ZERO, |tti| tti.duration);
        let row = |(bearer, hop): (u64, &Hosted)| {
            // Links of users that were joined to one hop are counted there.
            let counts =
                self.hops.all[self.hops.bearers.start].counts_of(bearer as usize).unwrap_or(hop.counts);
            BearerRow {
                bearer,
                kind: scenario.radio.key(),
                channel_rate_bps: channel_rate.0,
                bler: scenario.radio.parts().tti.and_then(|tti| tti.bler).map_or(0.0, |bler| bler.0),
                counts,
                active_s: Duration(counts.ttis * tti.0).as_secs(),
                end_s: self.env.now.as_secs(),
            }
        };
        (0..).zip(&self.hops.all[self.hops.bearers.clone()]).map(row).collect()
    }

    fn link_rows(&self) -> Vec<LinkRow> {
        let mut rows: Vec<_> = self.hops.all.iter().flat_map(Hosted::link_rows).collect();
        rows.sort_by_key(|((place, _), _)| *place);
        rows.into_iter().map(|((_, link), counts)| LinkRow { link: link.clone(), counts }).collect()
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
