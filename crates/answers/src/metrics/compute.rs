use std::collections::HashMap;

use super::group::{ALL, Group, distinct, is_mixed, phones};
use crate::stats::{inverted_cdf, jain, quantile};

/// Number of users per replication from which on their 5 % quantile is a metric.
pub const EDGE_USERS: usize = 20;

type Values = Option<Vec<f64>>;

/// A function of the users' values in each replication; `None` with fewer users per replication than `minimum`.
pub fn of_users(group: &Group<'_>, name: &str, minimum: usize, of: impl Fn(&[f64]) -> f64) -> Values {
    let values = group.column("flows", name);
    (values.len() >= minimum * group.runs.len()).then(|| group.each("flows", &values, of))
}

pub fn edge(rates: &[f64]) -> f64 {
    quantile(rates, 0.05)
}

pub fn positive(values: &[f64]) -> f64 {
    values.iter().filter(|value| **value > 0.0).count() as f64 / values.len() as f64
}

/// Quantile of the download times, the inverse of their distribution function.
///
/// Users without a time count as slowest; the quantile is NaN if it falls on one of them.
pub fn downloads(group: &Group<'_>, share: f64) -> Values {
    if group.column("flows", "endless").iter().any(|endless| *endless > 0.0) {
        return None;
    }
    let of = |times: &[f64]| {
        let last = |time: &f64| if time.is_finite() { *time } else { f64::INFINITY };
        let time = inverted_cdf(&times.iter().map(last).collect::<Vec<_>>(), share);
        if time.is_finite() { time } else { f64::NAN }
    };
    any_finite(of_users(group, "download_s", 2, of)?)
}

fn any_finite(values: Vec<f64>) -> Values {
    values.iter().any(|value| value.is_finite()).then_some(values)
}

/// Whether several users share one channel.
fn is_cell(group: &Group<'_>) -> bool {
    let mut runs = group.tables.numbers("bearers", "run").into_owned();
    let bearers = runs.len();
    runs = distinct(runs);
    bearers == runs.len() && phones(group.tables).len() > 1
}

fn cell<const N: usize>(group: &Group<'_>, names: [&str; N]) -> Option<[Vec<f64>; N]> {
    if group.name == ALL && is_cell(group) { group.bearers(names) } else { None }
}

pub fn cell_rate(group: &Group<'_>) -> Values {
    let [bytes, ends] = cell(group, ["bytes_delivered", "end_s"])?;
    Some(ratios(&bytes.iter().map(|bytes| 8.0 * bytes).collect::<Vec<_>>(), &ends))
}

pub fn cell_busy(group: &Group<'_>) -> Values {
    let [active, ends, delivered] = cell(group, ["active_s", "end_s", "bytes_delivered"])?;
    let mut shares = ratios(&active, &ends);
    for ((share, active), delivered) in shares.iter_mut().zip(active).zip(delivered) {
        if active == 0.0 && delivered > 0.0 {
            *share = f64::NAN;
        }
    }
    any_finite(shares)
}

/// Of dedicated channels.
pub fn utilization(group: &Group<'_>) -> Values {
    (!is_cell(group)).then(|| group.mean("flows", &group.column("flows", "utilization")))
}

/// NaN where there is nothing to divide by.
fn ratios(parts: &[f64], wholes: &[f64]) -> Vec<f64> {
    let ratio = |(part, whole): (&f64, &f64)| if *whole > 0.0 { part / whole } else { f64::NAN };
    parts.iter().zip(wholes).map(ratio).collect()
}

pub fn fairness(group: &Group<'_>) -> Values {
    // A run without duration has no rates.
    let index = |rates: &[f64]| {
        let has_rates = rates.len() > 1 && rates.iter().all(|rate| rate.is_finite());
        if has_rates { jain(rates) } else { f64::NAN }
    };
    any_finite(group.each("flows", &group.column("flows", "received_bps"), index))
}

pub fn complete(group: &Group<'_>) -> Values {
    let endless = group.column("flows", "endless");
    if endless.iter().all(|endless| *endless > 0.0) {
        return None;
    }
    let mut complete = group.column("flows", "complete").into_owned();
    for (value, endless) in complete.iter_mut().zip(&*endless) {
        if *endless > 0.0 {
            *value = f64::NAN;
        }
    }
    Some(group.mean("flows", &complete))
}

/// Users' mean of a column of load times.
///
/// `None` if no user loads more than one file or page, because the download time is then the load time; for all users
/// also if some groups load one file per user and others load more.
pub fn loads(group: &Group<'_>, name: &str) -> Values {
    let loads = group.column("flows", "loads");
    let are_many = loads.iter().any(|loads| *loads > 1.0) && !are_mixed(group, &loads);
    are_many.then(|| group.mean("flows", &group.column("flows", name)))
}

fn are_mixed(group: &Group<'_>, loads: &[f64]) -> bool {
    if group.name != ALL {
        return false;
    }
    let names = group.tables.texts("flows", "group");
    let rows = group.rows("flows");
    let mut most = vec![0.0_f64; names.names.len()];
    for (at, loads) in loads.iter().enumerate() {
        let row = rows.mine.as_ref().map_or(at, |mine| mine[at] as usize);
        let most = &mut most[names.places[row] as usize];
        *most = most.max(*loads);
    }
    most.iter().any(|loads| *loads > 1.0) && most.contains(&1.0)
}

/// Users' mean of the mean round trip minus the shortest round trip.
pub fn queueing(group: &Group<'_>) -> Vec<f64> {
    let mut delays = group.column("flows", "rtt_mean_s").into_owned();
    for (delay, shortest) in delays.iter_mut().zip(&*group.column("flows", "rtt_min_s")) {
        *delay -= shortest;
    }
    group.mean("flows", &delays)
}

pub fn block_errors(group: &Group<'_>) -> Values {
    let [blocks, failed] = group.bearers(["blocks", "blocks_failed"])?;
    blocks.iter().any(|blocks| *blocks != 0.0).then(|| ratios(&failed, &blocks))
}

/// States in which a dedicated channel is held, or is being set up or released.
pub const HELD: [&str; 3] = ["setting_up_s", "dch_s", "releasing_s"];
const NOT_HELD: [&str; 3] = ["fach_s", "pch_s", "paging_s"];
pub const SWITCHES: [&str; 2] = ["set_ups", "releases"];

#[derive(Clone, Copy)]
pub enum Per {
    Second,
    Transfer,
}

/// Users' mean of a sum of columns of `channels`, per second or per completed transfer.
pub fn switching(group: &Group<'_>, names: &[&str], per: Per) -> Values {
    if !group.has("channels", "run") {
        return None;
    }
    let below = match per {
        Per::Second => added(total(group, &HELD), &total(group, &NOT_HELD)),
        Per::Transfer => transfers(group),
    };
    // Uploads of phones that also download have no channels of their own.
    let are_phones = below.len() == group.rows("channels").at.len();
    are_phones.then(|| group.mean("channels", &ratios(&total(group, names), &below)))
}

fn total(group: &Group<'_>, names: &[&str]) -> Vec<f64> {
    let first = group.column("channels", names[0]).into_owned();
    names[1..].iter().fold(first, |sums, name| added(sums, &group.column("channels", name)))
}

fn added(mut values: Vec<f64>, more: &[f64]) -> Vec<f64> {
    for (value, more) in values.iter_mut().zip(more) {
        *value += more;
    }
    values
}

/// Completed transfers of each user; for all users of downloads and uploads, those of each phone.
fn transfers(group: &Group<'_>) -> Vec<f64> {
    if group.name != ALL || !is_mixed(group.tables) {
        return group.column("flows", "transfers").into_owned();
    }
    let of = |table, name| group.tables.numbers(table, name);
    let key = |(run, phone): (&f64, &f64)| (*run as u64, *phone as u64);
    let mut sums = HashMap::new();
    let keys = of("flows", "run");
    for (at, transfers) in keys.iter().zip(&*of("flows", "phone")).map(key).zip(&*of("flows", "transfers")) {
        *sums.entry(at).or_insert(0.0) += transfers;
    }
    let runs = of("channels", "run");
    runs.iter()
        .zip(&*of("channels", "user"))
        .map(key)
        .map(|at| sums.get(&at).copied().unwrap_or(0.0))
        .collect()
}
