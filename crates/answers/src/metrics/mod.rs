//! The metrics of summaries, sweeps and comparisons, computed from the tables of replications.
//!
//! A metric has one value per replication and group of users, because users of one replication can influence each
//! other and are never treated as independent.

mod by_run;
mod compute;
mod group;
mod registry;
mod summary;
mod tables;

use std::borrow::Cow;

use crate::stats::Interval;

pub use by_run::{ByRun, GroupByRun};
pub use group::{ALL, ALL_UP, Group, group_names, is_mixed, phones};
pub use registry::metrics;
pub use summary::{Row, coverage, coverage_by_run, left_out, of_whom, summarize};
pub use tables::Tables;

/// Direction that is better for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    More,
    Less,
    /// It depends.
    Neither,
}

/// A metric: a number about a group of users in each replication, with unit and meaning.
#[derive(Clone, Debug)]
pub struct Metric {
    pub name: Cow<'static, str>,
    /// 1 for a ratio, empty for a count.
    pub unit: Cow<'static, str>,
    pub meaning: Cow<'static, str>,
    pub label: Cow<'static, str>,
    pub formula: Formula,
    pub better: Better,
    /// Smallest possible mean, in the unit of the metric; minus infinity for no limit.
    pub low: f64,
    pub high: f64,
    /// Whether the metric is shown in per cent.
    pub percent: bool,
    /// Whether summaries list the metric even if it has no value.
    pub can_fail: bool,
    /// Table and column that show which users have a value; `None` if it is no mean over users.
    pub column: Option<(Cow<'static, str>, Cow<'static, str>)>,
    /// Whether only complete transfers have a value, so that none is expected of endless traffic.
    pub completed: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Formula {
    /// Mean over the users of [`Metric::column`].
    Mean,
    /// A value per replication, NaN for none; `None` if the metric does not apply.
    Of(fn(&Group<'_>) -> Option<Vec<f64>>),
    /// A user's function, whose values are in [`Group::own`].
    Own,
}

impl Metric {
    /// Largest possible mean of runs of this duration, s.
    pub fn highest(&self, duration_s: f64) -> f64 {
        let is_own = matches!(self.formula, Formula::Own);
        if self.unit == "s" && !is_own { self.high.min(duration_s) } else { self.high }
    }

    /// Cuts an interval to the possible range of the mean of runs of this duration, s.
    pub fn within(&self, mean: Interval, duration_s: f64) -> Interval {
        mean.within(self.low, self.highest(duration_s))
    }

    /// A value per replication of the group, NaN for none; `None` if the metric does not apply.
    pub fn values(&self, group: &Group<'_>) -> Option<Vec<f64>> {
        match (self.formula, &self.column) {
            (Formula::Of(of), _) => of(group),
            (Formula::Mean, Some((table, column))) => {
                group.has(table, column).then(|| group.mean(table, &group.column(table, column)))
            }
            _ => group.own.get(&*self.name).cloned(),
        }
    }
    /// Values of each group, all NaN for one to which the metric does not apply; `None` if it applies to none.
    pub fn by_group(&self, groups: &[Group<'_>]) -> Option<Vec<Vec<f64>>> {
        let each: Vec<_> = groups.iter().map(|group| self.values(group)).collect();
        each.iter().any(Option::is_some).then(|| {
            let all = |(values, group): (Option<_>, &Group<'_>)| {
                values.unwrap_or_else(|| vec![f64::NAN; group.runs.len()])
            };
            each.into_iter().zip(groups).map(all).collect()
        })
    }
}
