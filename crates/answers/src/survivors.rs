//! Statistics of unfinished transfers, and of all transfers including unfinished ones.

use std::borrow::Cow;
use std::ops::Add;

use crate::digits::general;
use crate::metrics::Group;
use crate::stats::{mean, quantile};

/// Factor between the duration that transfers seem to need and the suggested one.
const MARGIN: f64 = 1.25;
/// Share of the transfers that would finish within a suggested duration divided by `MARGIN`.
const FINISHED_SHARE: f64 = 0.95;
const DURATIONS: [f64; 9] = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
const ROUNDING: f64 = 1e-12;
/// Duration, s, from which on a run counts as long: if nothing arrived in it, a longer one is not suggested.
const LONG_S: f64 = 1000.0;
const MIN_LONGER_S: f64 = 10.0;
/// Maximum ratio of a suggested duration to the present one.
const MAX_FACTOR: f64 = 100.0;

/// Statistics of a result's transfers that were in progress when their run ended.
#[derive(Clone, Copy, Debug)]
pub struct Unfinished {
    /// Number of transfers, finished or not, without endless ones.
    pub transfers: usize,
    /// Number of transfers of which the receiver had not received everything.
    pub count: usize,
    /// Mean share of bytes that had arrived of an unfinished transfer; 1 if none is unfinished.
    pub received: f64,
    /// Lower bound of the mean download time of all transfers; NaN without transfers.
    ///
    /// An unfinished transfer counts as if it had ended with the run.
    pub at_least_s: f64,
    /// Kaplan-Meier estimate of all transfers' median download time; NaN if it is not reached.
    pub median_s: f64,
    /// Share of the unfinished transfers of which nothing had arrived; 0 if none is unfinished.
    pub starved: f64,
    /// Suggested duration of a run, rounded up, in which most unfinished transfers would finish.
    ///
    /// At their pace, 95 % of those of which something had arrived would finish before this duration divided by
    /// `MARGIN`. NaN if these are fewer than half of the unfinished transfers, as the pace of most is then unknown, or
    /// if the duration exceeds `MAX_FACTOR` times the present one.
    pub enough_s: f64,
}

/// No transfers at all; adding it keeps counts and shares, but not estimated times.
pub const NO_TRANSFERS: Unfinished = Unfinished {
    transfers: 0,
    count: 0,
    received: 1.0,
    at_least_s: f64::NAN,
    median_s: f64::NAN,
    starved: 0.0,
    enough_s: f64::NAN,
};

impl Unfinished {
    /// Statistics of the rows of `flows` of which the function returns columns.
    pub fn of<'a>(column: impl Fn(&str) -> Cow<'a, [f64]>, duration_s: f64) -> Self {
        let endless = column("endless");
        let finite = |name| -> Vec<f64> {
            column(name)
                .iter()
                .zip(&*endless)
                .filter(|(_, endless)| **endless == 0.0)
                .map(|(value, _)| *value)
                .collect()
        };
        let (begin, took) = (finite("start_s"), finite("download_s"));
        let (size, arrived, complete) = (finite("app_bytes"), finite("delivered_bytes"), finite("complete"));
        let is_done: Vec<bool> = took.iter().zip(&complete).map(is_finished).collect();
        let time = |(took, begin): (&f64, &f64)| if took.is_finite() { *took } else { duration_s - begin };
        let times: Vec<f64> = took.iter().zip(&begin).map(time).collect();
        let open: Vec<usize> = (0..times.len()).filter(|&at| !is_done[at]).collect();
        let share = |&at: &usize| if size[at] > 0.0 { arrived[at] / size[at] } else { 0.0 };
        let received: Vec<f64> = open.iter().map(share).collect();
        let goes_on = open.iter().zip(&received).filter(|(_, received)| **received > 0.0);
        let ends: Vec<f64> = goes_on.map(|(&at, received)| begin[at] + times[at] / received).collect();
        let starved = (open.len() - ends.len()) as f64 / open.len() as f64;
        Self {
            transfers: times.len(),
            count: open.len(),
            received: if open.is_empty() { 1.0 } else { mean(&received) },
            at_least_s: mean(&times),
            median_s: median_of_all(times.into_iter().zip(is_done).collect()),
            starved: if open.is_empty() { 0.0 } else { starved },
            enough_s: if starved <= 0.5 { sufficient_duration(&ends, duration_s) } else { f64::NAN },
        }
    }

    /// Share of all transfers that were not complete; 0 if there are no transfers.
    pub fn share(&self) -> f64 {
        if self.transfers > 0 { self.count as f64 / self.transfers as f64 } else { 0.0 }
    }
}

impl Add for Unfinished {
    type Output = Self;

    /// Times of all transfers become NaN.
    fn add(self, other: Self) -> Self {
        let transfers = self.transfers + other.transfers;
        let (at_least_s, median_s) = (f64::NAN, f64::NAN);
        if self.count == 0 || other.count == 0 {
            let unfinished = if self.count > 0 { self } else { other };
            return Self { transfers, at_least_s, median_s, ..unfinished };
        }
        let count = self.count + other.count;
        let part = self.count as f64 / count as f64;
        let mixed = |one: f64, other: f64| part * one + (1.0 - part) * other;
        let received = mixed(self.received, other.received);
        let starved = mixed(self.starved, other.starved);
        let enough_s = self.enough_s.max(other.enough_s);
        Self { transfers, count, received, at_least_s, median_s, starved, enough_s }
    }
}

pub fn unfinished(group: &Group<'_>, duration_s: f64) -> Unfinished {
    Unfinished::of(|name| group.column("flows", name), duration_s)
}

/// Whether the receiver has the last byte, even if not ACKed, for each of the group's rows of `flows`.
pub fn finished(group: &Group<'_>) -> Vec<bool> {
    group
        .column("flows", "download_s")
        .iter()
        .zip(&*group.column("flows", "complete"))
        .map(is_finished)
        .collect()
}

fn is_finished((took_s, complete): (&f64, &f64)) -> bool {
    took_s.is_finite() || *complete > 0.0
}

/// Question about why nothing arrived; with `commands` it names the option of a longer run, if the run was not long.
pub fn no_arrival_hint(duration_s: f64, commands: bool) -> String {
    let longer = if commands && duration_s < LONG_S {
        let longer_s = general(MIN_LONGER_S.max(10.0 * duration_s), 6);
        format!(" (--set duration=\"{longer_s} s\" is longer)")
    } else {
        String::new()
    };
    format!("is the run long enough for the delays{longer}, and does the radio carry packets?")
}

/// Median of times, of which those that are not complete are lower bounds; NaN if it is not reached.
///
/// Formula: the time at which the product-limit estimate of the share that is still in progress falls to a half.
/// Source: Kaplan and Meier: Nonparametric estimation from incomplete observations, J. Am. Stat. Assoc. 53, 1958.
fn median_of_all(mut times: Vec<(f64, bool)>) -> f64 {
    times.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
    let (mut under_way, mut left) = (1.0, times.len());
    for same in times.chunk_by(|(one, _), (other, _)| one.total_cmp(other).is_eq()) {
        let done = same.iter().filter(|(_, is_done)| *is_done).count();
        under_way *= 1.0 - done as f64 / left as f64;
        if under_way <= 0.5 + ROUNDING {
            return same[0].0;
        }
        left -= same.len();
    }
    f64::NAN
}

/// A round duration in which 95 of 100 transfers would finish at their pace, from the times at which they would.
fn sufficient_duration(ends: &[f64], duration_s: f64) -> f64 {
    let needed = if ends.is_empty() { f64::NAN } else { MARGIN * quantile(ends, FINISHED_SHARE) };
    if needed.is_nan() || needed > MAX_FACTOR * duration_s {
        return f64::NAN;
    }
    let power = 10_f64.powi(needed.log10().floor() as i32);
    DURATIONS.iter().map(|digit| digit * power).find(|duration_s| *duration_s >= needed).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_counts_transfers_under_way() {
        let times = |of: &[(f64, bool)]| median_of_all(of.to_vec());
        assert!(times(&[(1.0, true), (2.0, true), (9.0, false), (9.0, false), (9.0, false)]).is_nan());
        // Kaplan and Meier's estimator: deaths at 0.8, 3.1, 5.4, 9.2; losses at 1.0, 2.7, 7.0, 12.1.
        let ends = [0.8, 1.0, 2.7, 3.1, 5.4, 7.0, 9.2, 12.1];
        let died = [true, false, false, true, true, false, true, false];
        assert_eq!(median_of_all(ends.into_iter().zip(died).collect()), 9.2);
    }
}
