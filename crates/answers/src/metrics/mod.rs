//! The metrics of summaries, sweeps and comparisons, computed from the tables of replications.

use std::borrow::Cow;

/// Tables of some replications, whose rows are in order of the run; columns are read when a metric needs them.
pub trait Tables {
    fn has(&self, table: &str, column: &str) -> bool;
    /// Values of a column of numbers or truth values; panics without the column ([`Tables::has`]).
    fn numbers(&self, table: &str, column: &str) -> Cow<'_, [f64]>;
    fn texts(&self, table: &str, column: &str) -> Cow<'_, Texts>;
}

/// Column of texts, of which each distinct one is stored once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    pub names: Vec<String>,
    /// Index in `names`, for each row.
    pub places: Vec<u32>,
}

/// Direction that is better for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    More,
    Less,
    /// It depends.
    Neither,
}

/// A metric: a number about a group of users in each replication, with unit and meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    pub name: Cow<'static, str>,
    /// 1 for a ratio, empty for a count.
    pub unit: Cow<'static, str>,
    pub meaning: Cow<'static, str>,
    pub label: Cow<'static, str>,
    pub better: Better,
    /// Smallest possible mean, in the unit of the metric; minus infinity for no limit.
    pub low: f64,
    pub high: f64,
    /// Whether the metric is shown in per cent.
    pub percent: bool,
    /// Whether summaries list the metric even if it has no value.
    pub can_fail: bool,
    /// Table and column that show which users have a value; `None` if it is no mean over users.
    pub column: Option<(&'static str, &'static str)>,
    /// Whether only complete transfers have a value, so that none is expected of endless traffic.
    pub completed: bool,
    /// Whether the metric is nodeb's own: a time of it is then at most the duration of a run.
    pub built_in: bool,
}

impl Metric {
    /// Largest possible mean of runs of this duration, s.
    pub fn highest(&self, duration_s: f64) -> f64 {
        if self.built_in && self.unit == "s" { self.high.min(duration_s) } else { self.high }
    }
}
