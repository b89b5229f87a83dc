//! How far a run is, and what it came to.

use super::control::Listener;
use super::flow::Flow;
use super::wire::{Duplex, Wire};
use super::{Air, World};
use crate::error::Result;
use crate::metrics::{BearerRow, LinkRow, RunResult};
use crate::radio::Rows;
use crate::scenario::{Scenario, UserGroup};
use crate::units::{Duration, Rate, Time};

impl<T: Listener> World<T> {
    /// Share of the run that is done, from 0 to 1.
    pub(super) fn progress(&self) -> f64 {
        let (done, all) = self.flows.iter().fold((0.0, 0.0), |(done, all), flow| {
            let total = flow.total_bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
            (done + flow.receiver.delivered_bytes() as f64, all + total)
        });
        (done / all).max(self.env.now.as_secs() / self.env.horizon.as_secs())
    }

    /// Bearers make good what they have put off.
    pub(super) fn settle(&mut self) -> Result<()> {
        for air in &mut self.bearers {
            air.bearer.settle(&mut self.env.context(air.place, &mut air.counts));
        }
        self.hand_on()
    }

    pub(super) fn into_result(mut self, scenario: &Scenario) -> Result<RunResult> {
        self.settle()?;
        let now = self.env.now;
        let rows: Vec<Rows> = self.bearers.iter_mut().map(|air| named_rows(air, now)).collect();
        let channel_rate = channel_rate(scenario);
        let bler = scenario.radio.bler();
        let users = || self.flows.iter().enumerate();
        let flow_row = |(user, flow): (usize, &Flow)| {
            flow.row(user, &scenario.users[flow.group], bler, channel_rate.0 as f64, now)
        };
        Ok(RunResult {
            flows: users().map(flow_row).collect(),
            bearers: self.bearers.iter().map(|air| bearer_row(scenario, air, channel_rate)).collect(),
            links: self.link_rows(),
            proxies: users().filter_map(|(user, flow)| flow.proxy_row(user)).collect(),
            snoops: users().filter_map(|(user, flow)| flow.snoop_row(user)).collect(),
            channels: rows.iter().flat_map(|rows| &rows.channels).copied().collect(),
            cell: rows.iter().flat_map(|rows| &rows.cell).copied().collect(),
            phones: rows.iter().flat_map(|rows| &rows.phones).copied().collect(),
            series: self.recorder.into_series(),
            events: self.events,
            end_s: now.as_secs(),
        })
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

/// What a bearer knows of its users, with their numbers in the scenario.
fn named_rows(air: &mut Air, now: Time) -> Rows {
    let mut rows = air.bearer.rows(now);
    let flows = &air.flows;
    rows.channels.iter_mut().for_each(|row| row.user = flows[row.user] as usize);
    rows.cell.iter_mut().for_each(|row| row.user = flows[row.user] as usize);
    rows.phones.iter_mut().for_each(|row| row.user = flows[row.user] as usize);
    rows
}

fn bearer_row(scenario: &Scenario, air: &Air, channel_rate: Rate) -> BearerRow {
    let counts = air.counts;
    let tti = scenario.radio.tti().unwrap_or(Duration::ZERO);
    BearerRow {
        kind: scenario.radio.key(),
        channel_rate_bps: channel_rate.0,
        bler: scenario.radio.bler().0,
        counts,
        active_s: Duration(counts.ttis * tti.0).as_secs(),
    }
}
