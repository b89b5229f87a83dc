//! Differences between scenarios, replication by replication, and the verdict on each.
//!
//! Replication i of every scenario uses the same random numbers (common random numbers). The statistics are those of
//! differences within pairs, which vary less than the values (Law and Kelton: Simulation Modeling and Analysis, 3rd
//! ed., sections 10.2.1 and 11.2). A pair consists of replication i of the baseline and replication i of the other
//! scenario. It counts once, regardless of the number of users.
//!
//! If several scenarios are compared with a baseline, each interval has a confidence of `1 - 0.05 / k`, so that all k
//! intervals of a metric hold together with 95 % (Bonferroni; Law and Kelton, section 10.3.1). There is no such
//! correction for several metrics or groups.

use std::collections::BTreeSet;

use crate::answer::lines::{Quantity, line_of};
use crate::metrics::{ALL, ALL_UP, Better, Group, Metric, Tables, coverage};
use crate::stats::student::normal_quantile;
use crate::stats::{
    CONFIDENCE, Interval, family_confidence, mean, mean_interval, paired_difference, ratio_interval,
    runs_needed,
};

/// Default equivalence margin, as a share of the baseline's mean.
pub const MARGIN: f64 = 0.02;
/// Maximum total of replications for a decision; a larger total is reported as infinite.
const MAX_RUNS: f64 = 1e6;
/// Probability with which the stated number of further replications decides a true difference.
const POWER: f64 = 0.8;
/// Number of plausible values of the true difference that are considered, all equally probable.
const PLAUSIBLE: usize = 99;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Better,
    Worse,
    /// The scenarios differ in a metric of which neither direction is better.
    Differs,
    /// The interval lies within the margin.
    Same,
    /// There are at least two pairs, all equal to the last bit.
    Equal,
    Undecided,
}

impl Kind {
    const NAMES: [(Self, &'static str); 6] = [
        (Self::Better, "better"),
        (Self::Worse, "worse"),
        (Self::Differs, "differs"),
        (Self::Same, "same"),
        (Self::Equal, "equal"),
        (Self::Undecided, "undecided"),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(_, other)| *other == name).map(|(kind, _)| kind)
    }
}

/// Usual and cautious number of further replications that would decide a verdict; 0 if it is decided.
///
/// The usual number suffices for half of the plausible true differences, the cautious one for four in five of them,
/// and if there is no difference. A number is infinite for a single pair, and if more than [`MAX_RUNS`] replications
/// in all are needed; the cautious one also for a margin of 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoreRuns {
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    pub kind: Kind,
    /// 1 if the other scenario has more than the baseline, -1 if it has less, 0 if that is not decided.
    pub sign: i8,
    pub more_runs: MoreRuns,
}

/// Returns the verdict on the interval of a difference, other scenario minus baseline.
///
/// The scenarios are the same if the whole interval lies within the margin, whose ends belong to it. This is an
/// equivalence test; with a 95 % interval its error probability is 2.5 %. They differ if the interval excludes 0 and
/// does not lie within the margin. Equal pairs prove neither: a rare event may not have happened yet.
pub fn judge(found: &Interval, margin: f64, better: Better, confidence: f64) -> Verdict {
    let decided = |kind, sign| Verdict { kind, sign, more_runs: MoreRuns::default() };
    if found.low == 0.0 && found.high == 0.0 {
        return decided(Kind::Equal, 0);
    }
    if found.low >= -margin && found.high <= margin {
        return decided(Kind::Same, 0);
    }
    if found.low > 0.0 || found.high < 0.0 {
        let sign = if found.low > 0.0 { 1 } else { -1 };
        return match better {
            Better::Neither => decided(Kind::Differs, sign),
            Better::More if sign > 0 => decided(Kind::Better, sign),
            Better::Less if sign < 0 => decided(Kind::Better, sign),
            _ => decided(Kind::Worse, sign),
        };
    }
    Verdict { kind: Kind::Undecided, sign: 0, more_runs: more_runs(found, margin, confidence) }
}

/// An interval decides a true difference d in two cases. Its half-width is small against |d|, so that it excludes 0;
/// or it is small against margin - |d|, so that it lies within the margin.
fn more_runs(found: &Interval, margin: f64, confidence: f64) -> MoreRuns {
    if !found.half_width().is_finite() {
        return MoreRuns { low: f64::INFINITY, high: f64::INFINITY };
    }
    // Standard errors, below and above the mean, of a normal distribution that give the interval its ends.
    let end = normal_quantile(f64::midpoint(1.0, confidence));
    let (below, above) = ((found.mean - found.low) / end, (found.high - found.mean) / end);
    let mut targets: Vec<f64> = (0..PLAUSIBLE)
        .map(|place| normal_quantile((place as f64 + 0.5) / PLAUSIBLE as f64))
        .map(|z| (found.mean + if z > 0.0 { above } else { below } * z).abs())
        .map(|size| size.max(margin - size))
        .collect();
    targets.sort_by(f64::total_cmp);
    let more = |stdev, target: f64| {
        let needed =
            if target > 0.0 { runs_needed(stdev, target, confidence, POWER) as f64 } else { f64::INFINITY };
        if needed > MAX_RUNS { f64::INFINITY } else { (needed - found.n as f64).max(1.0) }
    };
    // The larger of the two standard errors is taken, because the sample may lack rare values.
    let widest = below.max(above) * (found.n as f64).sqrt();
    MoreRuns {
        low: more(found.stdev, targets[PLAUSIBLE / 2]),
        high: more(widest, targets[PLAUSIBLE / 5].min(margin)),
    }
}

/// Difference between two scenarios in a metric of a group of users, over the pairs in which both have a value.
#[derive(Clone, Debug)]
pub struct Difference {
    pub group: String,
    pub metric: Metric,
    /// Mean of the baseline, with its 95 % interval.
    pub baseline: Interval,
    /// Mean of the other scenario, with its 95 % interval.
    pub other: Interval,
    /// Mean of other minus baseline, with an interval of the comparison's confidence.
    pub difference: Interval,
    /// Ratio of the other scenario's mean to the baseline's, with an interval of the comparison's confidence.
    pub ratio: Interval,
    pub verdict: Verdict,
    /// Width of the interval without pairing, relative to that with pairing; NaN if the pairs' differences do not
    /// vary, or there is only one pair.
    pub unpaired: f64,
    /// Number of pairs whose two values differ.
    pub differing: usize,
    /// Number of pairs in which only one scenario has a value.
    pub missing: usize,
    /// Share of users or replications that have a value, in the scenario where it is smaller.
    pub covered: f64,
}

impl Difference {
    /// Size of the change as a share of the baseline's mean; infinite from a mean of 0.
    pub fn change(&self) -> f64 {
        if self.ratio.mean.is_finite() { (self.ratio.mean - 1.0).abs() } else { f64::INFINITY }
    }
}

/// Compares the values of a metric, one per replication and NaN for none, if there is a pair of two values.
///
/// Replications that only one scenario has are ignored. `durations_s` are those of a run of the baseline and of the
/// other scenario; infinite if unknown.
pub fn difference(
    (group, metric): (&str, &Metric),
    (base, own): (&[f64], &[f64]),
    margin: f64,
    confidence: f64,
    durations_s: (f64, f64),
) -> Option<Difference> {
    let pairs = || base.iter().zip(own);
    let (a, b): (Vec<f64>, Vec<f64>) = pairs().filter(|(a, b)| a.is_finite() && b.is_finite()).unzip();
    if a.is_empty() {
        return None;
    }
    let paired = paired_difference(&b, &a, confidence);
    let [mean_a, mean_b] = [(&a, durations_s.0), (&b, durations_s.1)]
        .map(|(values, duration_s)| metric.within(mean_interval(values, CONFIDENCE), duration_s));
    let verdict = judge(&paired, margin * mean(&a).abs(), metric.better, confidence);
    let apart = mean_a.stdev.hypot(mean_b.stdev);
    let mut ratio = ratio_interval(&b, &a, confidence);
    let most = metric.highest(durations_s.1);
    if metric.low >= 0.0 {
        ratio = ratio.within(0.0, if mean_a.low > 0.0 { most / mean_a.low } else { f64::INFINITY });
    }
    Some(Difference {
        group: group.to_owned(),
        metric: metric.clone(),
        baseline: mean_a,
        other: mean_b,
        // The range of differences that can occur follows from that of the metric.
        difference: paired.within(metric.low - mean_a.high, most - mean_a.low),
        ratio,
        verdict,
        unpaired: if paired.stdev > 0.0 { apart / paired.stdev } else { f64::NAN },
        differing: a.iter().zip(&b).filter(|&(a, b)| a - b != 0.0).count(),
        missing: pairs().filter(|(a, b)| a.is_finite() != b.is_finite()).count(),
        covered: 1.0,
    })
}

/// Differences of a scenario from the baseline, and what only one of the two has.
#[derive(Clone, Debug)]
pub struct Tried {
    pub name: String,
    pub differences: Vec<Difference>,
    /// Labels of metrics that have values in only one of the two scenarios.
    pub unknown: Vec<String>,
    /// Groups that only one of the two scenarios has, by name of the scenario.
    pub only: Vec<(String, Vec<String>)>,
    /// Names of those of the two scenarios in which nothing arrived.
    pub empty: Vec<String>,
}

/// Result of comparing one or several scenarios with a baseline.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub baseline: String,
    pub tried: Vec<Tried>,
    /// Number of pairs: the replications of the scenario with fewest.
    pub runs: usize,
    pub seed: u64,
    /// Equivalence margin, as a share of the baseline's mean.
    pub margin: f64,
    /// Duration of the runs of the scenario with the shortest runs, s; NaN if unknown.
    pub duration_s: f64,
    /// Whether all transfers of all scenarios are uploads.
    pub is_upload: bool,
}

impl Comparison {
    /// Confidence level of each interval: 0.95 for one compared scenario, higher for several.
    pub fn confidence(&self) -> f64 {
        family_confidence(self.tried.len())
    }
}

/// Replications of a scenario.
pub struct Side<'a> {
    pub name: &'a str,
    pub tables: &'a dyn Tables,
    pub groups: &'a [Group<'a>],
    /// Duration of a run, s; infinite if unknown.
    pub duration_s: f64,
}

impl Side<'_> {
    fn runs(&self) -> usize {
        self.groups.iter().flat_map(|group| &group.runs).collect::<BTreeSet<_>>().len()
    }

    fn are_uploads(&self) -> bool {
        self.tables.has("flows", "direction") && self.tables.texts("flows", "direction").names == ["up"]
    }

    /// Whether nothing arrived.
    fn is_empty(&self) -> bool {
        self.tables.numbers("flows", "delivered_bytes").iter().all(|&bytes| bytes == 0.0)
    }

    fn end_s(&self) -> f64 {
        self.tables.numbers("bearers", "end_s").iter().copied().fold(0.0, f64::max)
    }
}

/// Compares the replications of a baseline with those of others, all simulated with the same seed.
///
/// Of scenarios with unequal numbers of replications, only as many are used as the one with the fewest has.
pub fn compare(base: &Side, others: &[Side], metrics: &[Metric], seed: u64, margin: f64) -> Comparison {
    let sides = || [base].into_iter().chain(others);
    let is_upload = sides().all(Side::are_uploads);
    let runs = sides().map(Side::runs).min().unwrap_or(0);
    let confidence = family_confidence(others.len());
    let paired = |side| Paired::new(side, metrics, runs, is_upload);
    let first = paired(base);
    Comparison {
        baseline: base.name.to_owned(),
        tried: others.iter().map(|own| first.tried(&paired(own), metrics, margin, confidence)).collect(),
        runs,
        seed,
        margin,
        duration_s: sides().map(Side::end_s).fold(f64::INFINITY, f64::min),
        is_upload,
    }
}

/// Scenario with the replications that have a pair.
struct Paired<'a> {
    side: &'a Side<'a>,
    groups: Vec<Values<'a>>,
}

/// Values of metrics of a group of users.
struct Values<'a> {
    /// Name under which the group is compared.
    name: &'a str,
    group: &'a Group<'a>,
    /// By metric; those of a metric by replication, NaN for none.
    by_run: Vec<Vec<f64>>,
}

impl Values<'_> {
    fn has(&self, metric: usize) -> bool {
        self.by_run[metric].iter().any(|value| value.is_finite())
    }

    /// Whether no transfer is endless, and some are finished.
    fn are_finite(&self) -> bool {
        self.group.column("flows", "endless").iter().all(|&endless| endless == 0.0)
            && self.group.column("flows", "download_s").iter().any(|took_s| took_s.is_finite())
    }
}

impl<'a> Paired<'a> {
    /// All users of a scenario with uploads only are compared with uploads of scenarios that also have downloads.
    fn new(side: &'a Side<'a>, metrics: &[Metric], runs: usize, is_upload: bool) -> Self {
        let is_renamed = !is_upload && side.are_uploads();
        let values = |group: &'a Group<'a>| {
            let count = group.runs.partition_point(|&run| run < runs as u64);
            let of_metric = |metric: &Metric| {
                let mut values = metric.values(group).unwrap_or_default();
                values.truncate(count);
                values
            };
            Values {
                name: if is_renamed && group.name == ALL { ALL_UP } else { &group.name },
                group,
                by_run: metrics.iter().map(of_metric).collect(),
            }
        };
        Self { side, groups: side.groups.iter().map(values).collect() }
    }

    fn group(&self, name: &str) -> Option<&Values<'a>> {
        self.groups.iter().find(|group| group.name == name)
    }

    fn groups_without(&self, other: &Self) -> (String, Vec<String>) {
        let only = self.groups.iter().filter(|group| other.group(group.name).is_none());
        (self.side.name.to_owned(), only.map(|group| group.name.to_owned()).collect())
    }

    fn tried(&self, own: &Self, metrics: &[Metric], margin: f64, confidence: f64) -> Tried {
        let mut differences = Vec::new();
        for base in &self.groups {
            let Some(other) = own.group(base.name) else { continue };
            for (place, metric) in metrics.iter().enumerate() {
                let (a, b) = (&base.by_run[place], &other.by_run[place]);
                let durations_s = (self.side.duration_s, own.side.duration_s);
                let named = (base.name, metric);
                let Some(mut found) = difference(named, (a, b), margin, confidence, durations_s) else {
                    continue;
                };
                found.covered = coverage(metric, base.group, a).min(coverage(metric, other.group, b));
                // A rate of finite transfers is neutral: who sends less receives less.
                let is_rate = line_of(&metric.name).1.quantity == Quantity::Rate;
                if found.verdict.sign != 0 && is_rate && base.are_finite() && other.are_finite() {
                    found.verdict.kind = Kind::Differs;
                }
                differences.push(found);
            }
        }
        let has = |side: &Self, place| side.groups.iter().any(|group| group.has(place));
        let unknown = metrics.iter().enumerate().filter(|(place, _)| has(self, *place) != has(own, *place));
        let empty = [self.side, own.side].into_iter().filter(|side| side.is_empty());
        Tried {
            name: own.side.name.to_owned(),
            differences,
            unknown: unknown.map(|(_, metric)| metric.label.to_string()).collect(),
            only: vec![self.groups_without(own), own.groups_without(self)],
            empty: empty.map(|side| side.name.to_owned()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_interval_and_margin() {
        let of = |low, high, better| {
            let found = Interval { mean: f64::midpoint(low, high), low, high, stdev: 1.0, n: 20 };
            let verdict = judge(&found, 2.0, better, CONFIDENCE);
            (verdict.kind, verdict.sign, verdict.more_runs.low > 0.0)
        };
        assert_eq!(of(0.0, 0.0, Better::Less), (Kind::Equal, 0, false));
        assert_eq!(of(-2.0, 2.0, Better::Less), (Kind::Same, 0, false));
        assert_eq!(of(1.0, 2.1, Better::Less), (Kind::Worse, 1, false));
        assert_eq!(of(-2.1, -1.0, Better::Less), (Kind::Better, -1, false));
        assert_eq!(of(1.0, 2.1, Better::Neither), (Kind::Differs, 1, false));
        assert_eq!(of(-0.1, 2.1, Better::More), (Kind::Undecided, 0, true));
    }
}
