//! Simulated effect of a change on a transfer, in comparison with the time on its critical path that it targets.
//!
//! Two properties of the gain's interval are used: if it excludes 0, there is a gain or a loss; if it excludes the time
//! on the path, the gain is smaller or larger. Agreement is stated only if the interval is narrow enough. A gain differs
//! from the time on the path by what the causes change in addition to their targeted time. The cause that does most of
//! that is the reason for a gain that is smaller or larger.

use std::collections::BTreeMap;

use nodeb_base::cause::Cause;

use crate::causes::called;
use crate::digits::{number, shown};
use crate::stats::Interval;

/// Largest half-width of an interval that counts as narrow, as a share of the time on the path.
const SHARP: f64 = 0.25;
/// Smallest share that a cause has in the difference between gain and time on the path.
const LEAST_REASON: f64 = 0.5;
/// Largest effect that counts as little, as a share of the transfer's time.
const LITTLE: f64 = 0.02;
/// Tolerance for the time on the path: relative, and absolute in s; the larger one counts.
const SLACK: f64 = 0.02;
const LEAST_SLACK_S: f64 = 1e-6;

/// Numbers of pairs of replications, by whether the transfer is complete without and with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairs {
    pub all: u32,
    pub both: u32,
    pub only_plain: u32,
    pub only_changed: u32,
    /// Whether, with the change, the transfer starts in every replication.
    pub begun: bool,
}

impl Pairs {
    /// Such as `3 of 20 pairs` or `all 20 pairs`.
    pub fn of(&self, some: u32) -> String {
        match self.all {
            all if some != all => format!("{some} of {all} pairs"),
            1 => "1 pair".to_owned(),
            all => format!("all {all} pairs"),
        }
    }

    /// Complete transfers with the change minus those without it.
    pub fn more(&self) -> i64 {
        i64::from(self.only_changed) - i64::from(self.only_plain)
    }

    /// Part of a sentence; empty if there are several pairs, and both transfers are complete in each.
    pub fn summary(&self) -> String {
        if self.both == self.all && self.all > 1 {
            return String::new();
        }
        let alone = if self.both == 1 { ", no interval" } else { "" };
        let both = self.of(self.both);
        if self.all == 1 {
            return format!("{both}{alone}");
        }
        let only = |many: u32, which: &str| {
            if many > 0 { format!(", only {which} in {many}") } else { String::new() }
        };
        let (with, without) = (only(self.only_changed, "with it"), only(self.only_plain, "without it"));
        format!("the transfer finishes with it and without in {both}{alone}{with}{without}")
    }

    /// On the effect of a change without a pair of complete transfers: a loss if only unchanged ones are complete.
    pub fn unknown(&self) -> String {
        let ends = "the run ends before the transfer";
        match (self.only_plain, self.only_changed) {
            _ if !self.begun => {
                "unknown: with the change the transfer does not start before the run ends".to_owned()
            }
            (0, _) => format!("unknown: {ends}, with the change and without"),
            (plain, 0) => format!("a loss: with the change {ends}; {}", self.of(plain)),
            _ => format!("unknown: {ends}, with the change or without"),
        }
    }
}

/// Contribution of a cause to a difference in duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    pub cause: Cause,
    /// Mean of changed minus unchanged, s.
    pub difference: Interval,
}

/// Simulated effect of a change on a transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    pub name: String,
    /// Mean saving in s over pairs of complete transfers.
    pub gain: Interval,
    /// Mean duration without the change in these pairs, s; NaN without such pairs.
    pub baseline_s: f64,
    /// Of the difference in these pairs.
    pub parts: Vec<Part>,
    /// Mean time on the path in these pairs that the change targets, s.
    pub targets: BTreeMap<Cause, f64>,
    pub pairs: Pairs,
    /// Mean duration in s with the change, in pairs in which only this transfer is complete.
    pub changed: Interval,
    /// Lower limit of the saving in those pairs, s.
    pub at_least: Interval,
}

impl Tried {
    /// Mean saving in s, or its lower limit without a pair of complete transfers.
    pub fn won(&self) -> Interval {
        if self.pairs.both > 0 { self.gain } else { self.at_least }
    }

    pub fn is_complete(&self) -> bool {
        self.pairs.both == self.pairs.all
    }

    /// Time on the path in s; NaN without a pair of complete transfers.
    pub fn path_s(&self) -> f64 {
        if self.pairs.both > 0 { self.targeted_s() } else { f64::NAN }
    }

    fn targeted_s(&self) -> f64 {
        self.targets.values().sum()
    }

    /// In words, compared with the time on the path; with the number of pairs unless all of several are complete.
    pub fn outcome(&self) -> String {
        if self.pairs.both > 0 {
            let (mut agree, why) = (self.agreement(), self.why());
            if !why.is_empty() {
                agree = format!("{agree}: {why}");
            } else if ["less", "more"].contains(&&*agree) {
                agree += " than the path says";
            }
            let summary = self.pairs.summary();
            return if summary.is_empty() { agree } else { format!("{agree}; {summary}") };
        }
        if self.at_least.n > 0 {
            let Interval { mean, low, high, .. } = self.changed;
            let takes = shown(mean, low, high, "s").in_one_cell();
            let pairs = self.pairs.of(self.at_least.n as u32);
            return format!(
                "a gain: with the change it takes {takes}, without it the run ends before; {pairs}"
            );
        }
        self.pairs.unknown()
    }

    fn agreement(&self) -> String {
        let (low, high) = ends(self.gain);
        let path_s = self.targeted_s();
        let slack = (SLACK * path_s).max(LEAST_SLACK_S);
        let text = if low == 0.0 && high == 0.0 {
            if path_s == 0.0 { "as the path says" } else { "no effect here" }
        } else if low > path_s + slack {
            "more"
        } else if high >= path_s - slack {
            return self.compatible(path_s);
        } else if high < 0.0 {
            "a loss"
        } else if low > 0.0 {
            "less"
        } else {
            "less, if anything"
        };
        text.to_owned()
    }

    /// The interval contains the time on the path.
    fn compatible(&self, path_s: f64) -> String {
        const WANTED: &str = "more replications are needed";
        let (low, high) = ends(self.gain);
        let is_little = low.abs().max(high.abs()) <= (LITTLE * self.baseline_s).max(LEAST_SLACK_S);
        if (high - low) / 2.0 <= SHARP * path_s || path_s == 0.0 && is_little {
            "as the path says".to_owned()
        } else if low > 0.0 {
            format!("a gain of undecided size: {WANTED}")
        } else if is_little {
            format!("undecided, but little: within {:.0} % of the time", 100.0 * LITTLE)
        } else {
            format!("undecided: {WANTED}")
        }
    }

    /// The cause that makes the gain differ most from the time on the path, with its change. Empty if the gain does not
    /// differ, or no cause changes significantly by enough.
    pub fn why(&self) -> String {
        let path_s = self.targeted_s();
        let slack = (SLACK * path_s).max(LEAST_SLACK_S);
        let (low, high) = ends(self.gain);
        let sign = if self.pairs.both == 0 {
            return String::new();
        } else if low > path_s + slack {
            -1.0
        } else if high < path_s - slack && (low, high) != (0.0, 0.0) {
            1.0
        } else {
            return String::new();
        };
        let target = |part: &Part| self.targets.get(&part.cause).copied().unwrap_or(0.0);
        let beyond = |part: &Part| part.difference.mean + target(part);
        let exceeds = |part: &&Part| {
            let (low, high) = ends(part.difference);
            [low, high].iter().all(|end| sign * (end + target(part)) > 0.0)
        };
        let by_size = |a: &&Part, b: &&Part| (sign * beyond(a)).total_cmp(&(sign * beyond(b)));
        // The first one of several with the same change.
        let most = self.parts.iter().rev().filter(exceeds).max_by(by_size);
        let Some(most) = most.filter(|most| beyond(most) / (path_s - self.gain.mean) >= LEAST_REASON) else {
            return String::new();
        };
        let (change, target) = (most.difference.mean, target(most));
        let way = match change {
            0.0 => "stays".to_owned(),
            _ => {
                format!("{} by {}", if change > 0.0 { "grows" } else { "shrinks" }, number(change.abs(), "s"))
            }
        };
        let text = format!("{} {way}", called(most.cause));
        match number(target, "s") {
            _ if target == 0.0 => text,
            target if change < 0.0 => format!("{text} instead of {target}"),
            target => format!("{text} instead of shrinking by {target}"),
        }
    }
}

/// The mean twice for a single pair, which has no interval.
fn ends(interval: Interval) -> (f64, f64) {
    if interval.low.is_nan() { (interval.mean, interval.mean) } else { (interval.low, interval.high) }
}
