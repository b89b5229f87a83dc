//! How far a run is, and what it came to.

use super::control::Tap;
use super::flow::Flow;
use super::wire::{Duplex, Wire};
use super::{Air, World};
use crate::metrics::{BearerRow, LinkRow, RunResult};
use crate::radio::{BandwidthRecord, TtiRecord};
use crate::scenario::{Scenario, UserGroup};
use crate::table::join;
use crate::units::{Duration, Rate, Time};

impl<T: Tap> World<'_, T> {
    /// Share of the run that is done, from 0 to 1.
    pub(super) fn progress(&self, end: Time) -> f64 {
        let (done, all) = self.flows.iter().fold((0.0, 0.0), |(done, all), flow| {
            let total = flow.total_bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
            (done + flow.receiver.delivered_bytes() as f64, all + total)
        });
        (done / all).max(self.now.as_secs() / end.as_secs())
    }

    pub(super) fn into_result(mut self, scenario: &Scenario, events: u64) -> RunResult {
        let mut series = std::mem::take(&mut self.series);
        let mut of_radio = Vec::new();
        for Air { bearer, flows, .. } in &mut self.bearers {
            let named = |record: &TtiRecord| TtiRecord { user: flows[record.user] as usize, ..*record };
            series.scheduler.extend(bearer.tti_records().iter().map(named));
            let mut own = bearer.tables(self.now);
            for table in &mut own {
                table.name_users(|position| u64::from(flows[position]));
            }
            join(&mut of_radio, own);
            let named = |row: BandwidthRecord| BandwidthRecord { user: flows[row.user] as usize, ..row };
            series.bandwidth.extend(bearer.bandwidth_records(self.now).into_iter().map(named));
        }
        let channel_rate = channel_rate(scenario);
        let users = || self.flows.iter().enumerate();
        let flow_row = |(user, flow): (usize, &Flow)| {
            let sent = self.bearers[flow.bearer as usize].bearer.counts().blocks_per_success();
            flow.row(user, &scenario.users[flow.group], sent, channel_rate.0 as f64, self.now)
        };
        RunResult {
            flows: users().map(flow_row).collect(),
            bearers: self.bearer_rows(scenario, channel_rate),
            links: self.link_rows(),
            proxies: users().filter_map(|(user, flow)| flow.proxy_row(user)).collect(),
            snoops: users().filter_map(|(user, flow)| flow.snoop_row(user)).collect(),
            of_radio,
            series,
            events,
            end_s: self.now.as_secs(),
        }
    }

    fn bearer_rows(&self, scenario: &Scenario, channel_rate: Rate) -> Vec<BearerRow> {
        let tti = scenario.radio.tti().unwrap_or(Duration::ZERO);
        let row = |(bearer, air): (u64, &Air)| {
            let counts = air.bearer.counts();
            BearerRow {
                bearer,
                kind: scenario.radio.key(),
                channel_rate_bps: channel_rate.0,
                bler: scenario.radio.bler().0,
                counts,
                active_s: Duration(counts.ttis * tti.0).as_secs(),
                end_s: self.now.as_secs(),
            }
        };
        (0..).zip(&self.bearers).map(row).collect()
    }

    fn link_rows(&self) -> Vec<LinkRow> {
        let both = |link: &Duplex| {
            let row =
                |way, wire: &Wire| LinkRow { link: format!("{}_{way}", link.name), counts: wire.link.counts };
            [row("down", &link.down), row("up", &link.up)]
        };
        let uplink = |(user, flow): (usize, &Flow)| LinkRow {
            link: format!("uplink_{user}"),
            counts: flow.uplink.link.counts,
        };
        let mut rows = Vec::from(both(&self.wired));
        rows.extend(self.core.iter().flat_map(both));
        rows.extend(self.flows.iter().enumerate().map(uplink));
        rows
    }
}

/// The best channel rate of all users.
fn channel_rate(scenario: &Scenario) -> Rate {
    let rate_of = |group: &UserGroup| {
        let best_ci = (!group.ci.is_empty()).then_some(group.ci.len() as u32);
        scenario.radio.channel_rate(best_ci)
    };
    scenario.users.iter().map(rate_of).max().unwrap_or_default()
}
