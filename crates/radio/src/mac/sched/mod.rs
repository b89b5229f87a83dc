//! Schedulers: selection of the user of each TTI on a shared channel.
//!
//! If a TTI is a single resource, [`Scheduler::pick`] selects the user who gets it. If a TTI is a
//! band of groups, [`Scheduler::weigh`] computes a [`Weight`] for each user from the scheduler's
//! state. From the weights, [`deal`](super::deal) computes the scores of all users on all groups
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

pub use grid::{Deal, Weight};

/// User for whom data waits in a TTI (in the uplink, at the user's phone), with the properties by
/// which schedulers select users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the user on the bearer.
    pub user: usize,
    /// Number of units that the user could receive or, in the uplink, send in this TTI. A unit is a
    /// PDU or an octet, depending on the bearer.
    pub rate: u32,
    /// Channel quality reported to the Node B, which increases with the user's C/I: a C/I value, a
    /// CQI, or an SNR in dB.
    pub quality: f32,
    /// TTI by which the user's next packet should arrive; 0 if the bearer has no deadlines or the
    /// scheduler does not need them.
    pub deadline: u64,
}

impl Candidate {
    /// Creates a candidate with a rate only. The rate is also used as channel quality, and the
    /// deadline is 0.
    pub fn at_rate(user: usize, rate: u32) -> Self {
        Self { user, rate, quality: rate as f32, deadline: 0 }
    }
}

/// Properties of [`Candidate`]s that a scheduler needs. Other properties are not computed, as some
/// of them require evaluating the channels of all users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Whether the scheduler needs the rate. If so, users with a rate of 0 are not candidates.
    pub rate: bool,
    /// Whether the scheduler needs the channel quality of each candidate.
    pub quality: bool,
    /// Whether the scheduler needs the deadline of each candidate.
    pub deadline: bool,
}

/// Rule by which a scheduler selects a user among those that can be sent something. If it is a
/// simple rule, the MAC of `hsdpa` applies it without examining users that cannot be selected.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'a> {
    /// No simple rule: [`Scheduler::pick`] selects among all candidates.
    Pick,
    /// Selects the first candidate, in order of user index, from this index on, or the first of all
    /// candidates if there is none from this index on.
    Turn(usize),
    /// Selects the candidate with the highest channel quality. The list has a number for each user;
    /// among users with equal qualities the one with the lowest number wins and, if numbers are
    /// equal too, the one with the lowest index.
    Quality(&'a [u64]),
    /// Selects the candidate with the highest ratio of rate to mean rate. The list has the mean rate of
    /// each user, all multiplied by the same factor. Among equal ratios the user with the lowest index
    /// wins.
    Ratio(&'a [f64]),
}

/// Scheduler, which selects the users to be served among those with waiting data.
pub trait Scheduler: Send + std::fmt::Debug {
    /// Returns which properties of candidates the scheduler needs.
    fn view(&self) -> View;
    /// Returns the index in `candidates` of the user to serve in TTI `tti`. `candidates` is not
    /// empty and is ordered by user index.
    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize;
    /// Sets the weight of each candidate, from which its scores on the groups of a band in TTI
    /// `tti` are computed. Returns the method by which the groups are divided. `weights` has an
    /// element for each candidate. `candidates` is as for [`Self::pick`], with rate and quality
    /// over the whole band.
    ///
    /// By default, users are ranked by repeated calls of [`Self::pick`], each without the users
    /// picked before. The first user gets all groups that it needs, then the second one, and so on.
    /// A scheduler that uses the differences between groups needs its own method.
    fn weigh(&mut self, tti: u64, candidates: &[Candidate], weights: &mut [Weight]) -> Deal {
        grid::rank_by_picks(self, tti, candidates, weights);
        Deal::EachToHighest
    }
    /// Returns the rule by which the scheduler selects a user in TTI `tti`. Default:
    /// [`Rule::Pick`].
    fn rule(&self, _tti: u64) -> Rule<'_> {
        Rule::Pick
    }
    /// Informs the scheduler that in TTI `tti` `units` units were sent to `user` or, in the uplink,
    /// granted to it or retransmitted by it.
    fn served(&mut self, tti: u64, user: usize, units: u32);
}

/// Parameters of a kind of scheduler, from which the scheduler of each cell is built.
pub trait SchedulerParams: Parameters {
    /// Returns the scheduler in its initial state, for `users` users and TTIs of length `tti`.
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

/// Returns the index of the candidate with the highest score, or the first such index if several
/// are equal.
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
