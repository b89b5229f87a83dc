//! Stopping rules: when a scenario has enough replications.
//!
//! A rule receives batches of replications in order. Its decision depends on the first n replications only, not on
//! batches or on replications beyond n, so the number of threads has no influence.

use crate::digits::general;
use crate::stats::{CONFIDENCE, mean, mean_interval, student};
use crate::words::counted;

/// Names of the rates whose precision a rule judges; the rule uses one of them at a time.
///
/// A user who does not complete in time has no application rate. A mean without such users would be a mean of
/// survivors, so the rule then uses the received bit rate.
const RATES: [&str; 2] =
    ["mean application bit rate", "mean bit rate received (not every transfer was completed)"];
/// Factor on the number of replications that the last interval requires; makes rounds fewer.
const SAFETY: f64 = 1.1;
/// Multiple of the requested half-width up to which an approximate one is computed exactly.
const NEAR: f64 = 1.001;
/// 97.5 % quantile of the normal distribution, which is less than any of Student's.
const NORMAL: f64 = 1.959_963_984_540_054;
/// Ratio of the half-width to the requested one from which the expected number does not grow.
const MAX_RATIO: f64 = 1e3;

/// End of an experiment: the number of replications that suffices, and the reason for the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    pub runs: usize,
    /// Whether the requested precision was reached; true for a fixed number of replications.
    pub reached: bool,
    pub reason: String,
}

/// Stopping rule, which decides on the number of replications of a scenario.
pub trait Rule {
    /// Receives columns of the next `runs` replications, in order; every replication has as many rows.
    fn take(&mut self, runs: usize, columns: &[&[f64]]);

    /// Returns the end of the experiment, or `None` if more replications are needed.
    fn stop(&self) -> Option<Stop>;

    /// Returns how many replications may be started in total, judging by the results so far.
    fn ahead(&self) -> usize;

    /// Returns the probable number of replications in total, for the progress report.
    fn expected(&self) -> usize;
}

/// Stopping rule with a fixed number of replications, whatever their results are.
#[derive(Clone, Debug)]
pub struct Count {
    runs: usize,
    taken: usize,
}

impl Count {
    pub fn new(runs: usize) -> Self {
        Self { runs, taken: 0 }
    }
}

impl Rule for Count {
    fn take(&mut self, runs: usize, _: &[&[f64]]) {
        self.taken += runs;
    }

    fn stop(&self) -> Option<Stop> {
        let reason = || format!("{}, as asked", counted(self.runs, "replication"));
        (self.taken >= self.runs).then(|| Stop { runs: self.runs, reached: true, reason: reason() })
    }

    fn ahead(&self) -> usize {
        self.runs
    }

    fn expected(&self) -> usize {
        self.runs
    }
}

/// Sequential stopping rule: replicate until the mean has a relative precision.
///
/// Source: Law and Kelton, section 9.4.1, "obtaining a specified precision".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Ratio of half-width to mean at which to stop, above 0.
    pub relative: f64,
    /// Replications before the rule is first applied, at least 2.
    pub min_runs: usize,
    /// Replications after which to stop even if the precision is not reached.
    pub max_runs: usize,
}

impl Precision {
    /// Judges the values of all replications so far; `mean` is the name of their mean in the reason.
    ///
    /// Stops without the precision if all values are 0 or one is not finite.
    pub fn judge(&self, values: &[f64], mean: &str) -> Option<Stop> {
        let runs = values.len();
        if runs < self.min_runs {
            return None;
        }
        let stop = |reached, reason| Some(Stop { runs, reached, reason });
        if values.iter().any(|value| !value.is_finite()) || values.iter().all(|&value| value == 0.0) {
            return stop(false, format!("precision not reached: there is no {mean} after {runs} runs"));
        }
        let width = mean_interval(values, CONFIDENCE).relative_half_width();
        let state = format!("half-width {} % of the {mean} after {runs} runs", general(100.0 * width, 2));
        if width <= self.relative {
            stop(true, format!("precision reached: {state}"))
        } else if runs >= self.max_runs {
            stop(false, format!("precision not reached at the limit of runs: {state}"))
        } else {
            None
        }
    }
}

/// Replicates until a mean rate is precise enough; takes the application and the received rate of each user.
#[derive(Clone, Debug)]
pub struct Sequential {
    precision: Precision,
    rates: [Rate; RATES.len()],
    stop: Option<Stop>,
}

impl Sequential {
    pub fn new(precision: Precision) -> Self {
        Self { precision, rates: Default::default(), stop: None }
    }

    /// Index of the rate that is judged: the first one that no replication lacks.
    fn judged(&self) -> usize {
        self.rates.iter().position(|rate| !rate.is_missing).unwrap_or(RATES.len() - 1)
    }

    /// Whether the mean may be precise enough, or has no precision.
    fn is_near(&self) -> bool {
        let width = self.rates[self.judged()].relative_half_width(NORMAL);
        width.is_nan() || width <= NEAR * self.precision.relative
    }

    fn taken(&self) -> usize {
        self.rates[0].values.len()
    }
}

impl Rule for Sequential {
    fn take(&mut self, runs: usize, columns: &[&[f64]]) {
        let users = columns[0].len() / runs.max(1);
        for run in 0..runs {
            for (rate, column) in self.rates.iter_mut().zip(columns) {
                rate.push(mean(&column[run * users..(run + 1) * users]));
            }
            if self.stop.is_none() && (self.is_near() || self.taken() >= self.precision.max_runs) {
                let judged = self.judged();
                self.stop = self.precision.judge(&self.rates[judged].values, RATES[judged]);
            }
        }
    }

    fn stop(&self) -> Option<Stop> {
        self.stop.clone()
    }

    /// Returns the expected total, but at least one more than received and at most the maximum.
    fn ahead(&self) -> usize {
        let Precision { min_runs, max_runs, .. } = self.precision;
        let likely = if self.taken() >= min_runs { self.expected() } else { min_runs };
        likely.max(self.taken() + 1).min(max_runs)
    }

    /// Returns the expected total, extrapolated from the last half-width; without one, the maximum.
    fn expected(&self) -> usize {
        let (n, Precision { relative, min_runs, max_runs }) = (self.taken(), self.precision);
        if n < 2 {
            return max_runs;
        }
        let quantile = student::quantile(n - 1, f64::midpoint(1.0, CONFIDENCE));
        let width = self.rates[self.judged()].relative_half_width(quantile);
        if !width.is_finite() {
            return max_runs;
        }
        let needed = n as f64 * (width / relative).min(MAX_RATIO).powi(2);
        (needed.ceil() as usize).max(min_runs).max(n).min(max_runs)
    }
}

/// Values of all replications, with running sums, from which their half-width is known to about 1e-6.
#[derive(Clone, Debug, Default)]
struct Rate {
    values: Vec<f64>,
    is_missing: bool,
    /// Sums of the values less the first one, which keeps digits if the mean is large, and of their squares.
    sum: f64,
    squares: f64,
}

impl Rate {
    fn push(&mut self, value: f64) {
        self.values.push(value);
        self.is_missing |= !value.is_finite();
        let shifted = value - self.values[0];
        self.sum += shifted;
        self.squares += shifted * shifted;
    }

    /// NaN if there is none.
    fn relative_half_width(&self, quantile: f64) -> f64 {
        let n = self.values.len() as f64;
        let variance = (self.squares - self.sum * self.sum / n).max(0.0) / (n - 1.0);
        let half = quantile * (variance / n).sqrt();
        half / (self.values[0] + self.sum / n).abs()
    }
}

/// Replicates in rounds, whose last interval determines how many replications the next round has; takes one value
/// of each replication.
#[derive(Clone, Debug)]
pub struct Rounds {
    max_runs: usize,
    /// Precision to reach; `None` for one round only.
    relative: Option<f64>,
    values: Vec<f64>,
    target: usize,
    is_enough: bool,
}

impl Rounds {
    pub fn new(runs: usize, max_runs: usize, relative: Option<f64>) -> Self {
        Self { max_runs, relative, values: Vec::new(), target: runs, is_enough: false }
    }

    /// Returns the total number of replications needed, as estimated from those of all rounds so far.
    fn wanted(&self) -> usize {
        let done = self.target;
        let values = &self.values[..done];
        // A missing value, such as the duration of an endless download, ends the replications, because more of them
        // cannot help.
        if done >= self.max_runs || values.iter().any(|value| !value.is_finite()) {
            return done;
        }
        let Some(relative) = self.relative else { return done };
        let width = mean_interval(values, CONFIDENCE).relative_half_width();
        if width <= relative {
            return done;
        }
        let needed = (done as f64 * (width / relative).powi(2) * SAFETY).ceil() as usize;
        needed.max(done + 1).min(self.max_runs)
    }
}

impl Rule for Rounds {
    /// Judges the interval at the end of each round, not within a round.
    fn take(&mut self, _: usize, columns: &[&[f64]]) {
        self.values.extend(columns[0]);
        while !self.is_enough && self.values.len() >= self.target {
            let wanted = self.wanted();
            self.is_enough = wanted == self.target;
            self.target = wanted;
        }
    }

    fn stop(&self) -> Option<Stop> {
        let reason = "known well enough".to_owned();
        self.is_enough.then_some(Stop { runs: self.target, reached: true, reason })
    }

    fn ahead(&self) -> usize {
        self.target
    }

    fn expected(&self) -> usize {
        self.target
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fixed_number_ends_after_it() {
        let mut rule = Count::new(2);
        rule.take(1, &[]);
        assert_eq!(rule.stop(), None);
        rule.take(3, &[]);
        assert_eq!(rule.stop().unwrap().reason, "2 replications, as asked");
    }

    #[test]
    fn rates_are_means_over_users() {
        let mut rule = Sequential::new(Precision { relative: 0.5, min_runs: 2, max_runs: 9 });
        rule.take(2, &[&[1.0, f64::NAN, 3.0, 5.0], &[1.0, 3.0, 3.0, 1.0]]);
        let reason = format!("precision reached: half-width 0 % of the {} after 2 runs", RATES[1]);
        assert_eq!(rule.stop(), Some(Stop { runs: 2, reached: true, reason }));
    }

    #[test]
    fn expected_number_follows_the_last_half_width() {
        let mut rule = Sequential::new(Precision { relative: 0.01, min_runs: 5, max_runs: 1000 });
        assert_eq!((rule.ahead(), rule.expected()), (5, 1000));
        let values = [9.0, 11.0].repeat(10);
        rule.take(20, &[&values, &values]);
        let exact = 20.0 * (mean_interval(&values, CONFIDENCE).relative_half_width() / 0.01).powi(2);
        assert_eq!((rule.ahead(), rule.expected()), (exact.ceil() as usize, exact.ceil() as usize));
    }

    #[test]
    fn few_replications_are_judged_exactly() {
        let mut rule = Sequential::new(Precision { relative: 0.005, min_runs: 10, max_runs: 100_000 });
        let mut judged = 0;
        for value in [5.0, 15.0].into_iter().cycle() {
            rule.take(1, &[&[value], &[value]]);
            judged += usize::from(rule.is_near());
            if rule.stop().is_some() {
                break;
            }
        }
        // The half-width falls by `NEAR` within 2 (`NEAR` - 1) of all replications.
        let runs = rule.stop().unwrap().runs;
        assert!(runs > 30_000 && (judged as f64) < 2.2 * (NEAR - 1.0) * runs as f64, "{judged} of {runs}");
    }

    #[test]
    fn rounds_grow_until_the_interval_is_short() {
        let mut rule = Rounds::new(4, 100, Some(0.1));
        rule.take(4, &[&[9.0, 11.0, 9.0, 11.0]]);
        assert_eq!((rule.stop(), rule.ahead()), (None, 15));
        rule.take(1, &[&[f64::NAN; 11]]);
        assert_eq!(rule.stop().unwrap().runs, 15);
    }

    proptest! {
        #[test]
        fn decision_is_that_after_every_single_replication(
            values in prop::collection::vec(prop_oneof![1e3..2e3_f64, 1.0..1e6_f64, Just(0.0), Just(5.0)], 0..60),
            lost in 0..80_usize,
            relative in 0.001..0.9_f64,
            min_runs in 2..12_usize,
            size in 1..20_usize,
        ) {
            let precision = Precision { relative, min_runs, max_runs: min_runs + 30 };
            let application: Vec<_> = (0..values.len()).map(|n| if n == lost { f64::NAN } else { 2.0 * values[n] }).collect();
            let mut rule = Sequential::new(precision);
            for (first, second) in application.chunks(size).zip(values.chunks(size)) {
                rule.take(first.len(), &[first, second]);
            }
            let exact = (1..=values.len()).find_map(|n| {
                if n > lost { precision.judge(&values[..n], RATES[1]) } else { precision.judge(&application[..n], RATES[0]) }
            });
            prop_assert_eq!(rule.stop(), exact);
        }
    }
}
