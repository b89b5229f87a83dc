//! [`Scheduler::pick`] selects the user if a TTI is a single resource. On a band of groups,
//! [`Scheduler::weigh`] gives each user a [`Weight`], from which [`allocation`](super::allocation) computes scores
//! without calls of the scheduler.

pub mod earliest_deadline;
pub mod grid;
pub mod max_ci;
pub mod normalized;
pub mod proportional_fair;
pub mod round_robin;
pub mod shared;
pub mod tcp_aware;

use nodeb_base::plugin::Parameters;
use nodeb_base::registry;
use nodeb_base::units::Duration;

pub use grid::{AllocationRule, Weight};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    pub user: usize,
    /// PDUs or octets in this TTI, depending on the bearer.
    pub rate: u32,
    /// Increases with the C/I: a C/I value, a CQI, or an SNR in dB.
    pub quality: f32,
    /// 0 if the bearer has no deadlines or the scheduler does not need them.
    pub deadline: u64,
}

impl Candidate {
    /// The rate is also the quality; no deadline.
    pub fn at_rate(user: usize, rate: u32) -> Self {
        Self { user, rate, quality: rate as f32, deadline: 0 }
    }
}

/// Other properties are not computed, as some require the channels of all users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Users with a rate of 0 are then no candidates.
    pub rate: bool,
    pub quality: bool,
    pub deadline: bool,
}

/// By a simple rule, `hsdpa` need not examine users that cannot be selected.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'a> {
    /// No simple rule.
    Pick,
    /// The first candidate from this user index on, else the first of all.
    Turn(usize),
    /// The highest quality, then the lowest number in the list, then the lowest index.
    Quality(&'a [u64]),
    /// The highest ratio of rate to mean rate; the list has the mean rates, all times one factor. Among equal
    /// ratios the lowest index wins.
    Ratio(&'a [f64]),
}

pub trait Scheduler: std::fmt::Debug {
    /// Returns which properties of candidates the scheduler needs.
    fn view(&self) -> View;
    /// Index in `candidates`, which is not empty and is ordered by user index.
    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize;
    /// `candidates` are as for [`Self::pick`], with rate and quality over the whole band. By default users
    /// are ranked by repeated calls of [`Self::pick`]: the first gets all groups that it needs, then the
    /// second. A scheduler that uses the differences between groups needs its own method.
    fn weigh(&mut self, tti: u64, candidates: &[Candidate], weights: &mut [Weight]) -> AllocationRule {
        grid::rank_by_picks(self, tti, candidates, weights);
        AllocationRule::EachToHighest
    }
    fn rule(&self, _tti: u64) -> Rule<'_> {
        Rule::Pick
    }
    /// In the uplink granted to the user, or retransmitted by it.
    fn served(&mut self, tti: u64, user: usize, units: u32);
}

pub trait SchedulerParams: Parameters {
    fn build(&self, users: usize, tti: Duration) -> Box<dyn Scheduler>;
}

registry! {
    /// Scheduler with its parameters, as given in a scenario.
    "scheduler" SchedulerSpec = RoundRobin as SchedulerParams + Plugin {
        /// Serves the users in turn.
        "round_robin" => RoundRobin(round_robin::RoundRobin),
        /// Serves the user with the best channel; of equals the one served least recently.
        "max_ci" => MaxCi(max_ci::MaxCi),
        /// Serves the user with the best channel relative to its mean rate so far.
        "proportional_fair" => ProportionalFair(proportional_fair::ProportionalFair),
        /// Serves the user with the best channel relative to its own mean and deviation.
        "normalized" => Normalized(normalized::Normalized),
        /// Serves the user whose packet has the earliest deadline.
        "earliest_deadline" => EarliestDeadline(earliest_deadline::EarliestDeadline),
        /// Proportional fair, with priority for connections that have just begun or resumed.
        "tcp_aware" => TcpAware(tcp_aware::TcpAware),
    }
}

/// The first if several are equal.
fn best_by(candidates: &[Candidate], mut score: impl FnMut(&Candidate) -> f64) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, candidate) in candidates.iter().enumerate() {
        let score = score(candidate);
        if score > best.1 {
            best = (i, score);
        }
    }
    best.0
}
