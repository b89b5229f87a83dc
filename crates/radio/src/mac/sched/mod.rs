//! Schedulers: selection of the user of each TTI on a shared channel.

pub mod earliest_deadline;
pub mod max_ci;
pub mod normalized;
pub mod proportional_fair;
pub mod round_robin;
pub mod shared;
pub mod tcp_aware;

use nodeb_base::plugin::Parameters;
use nodeb_base::registry;
use nodeb_base::units::Duration;

/// A user with something to send in a TTI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the user on the bearer.
    pub user: usize,
    /// Amount that the user could be sent in this TTI, in the bearer's units: PDUs or octets.
    pub rate: u32,
    /// Channel quality known to the Node B: increases with the user's C/I, in steps of about 1 dB.
    pub quality: f32,
    /// TTI by which the user's next packet should arrive.
    pub deadline: u64,
}

impl Candidate {
    /// Creates a candidate of which only the rate is known.
    pub fn at_rate(user: usize, rate: u32) -> Self {
        Self { user, rate, quality: rate as f32, deadline: 0 }
    }
}

/// Properties of [`Candidate`]s that a scheduler needs. The others need not be computed, which for some takes
/// the channels of all users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Whether the rate is needed, which also excludes candidates that could be sent nothing.
    pub rate: bool,
    /// Whether the channel quality is needed.
    pub quality: bool,
    /// Whether the deadline is needed.
    pub deadline: bool,
}

/// Selection rule of a scheduler among the users that can be sent something, if it has a simple form. Users
/// that cannot be selected by it need not be examined.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'a> {
    /// The result of [`Scheduler::pick`] among all candidates.
    Pick,
    /// The first user from this one, cyclically.
    Turn(usize),
    /// The highest quality; ties are resolved by the lowest of these numbers, then by the first user.
    Quality(&'a [u64]),
    /// The highest ratio of the rate to these means; ties are resolved by the first user.
    Ratio(&'a [f64]),
}

/// A scheduler, which selects among the users with something to send.
pub trait Scheduler: Send + std::fmt::Debug {
    /// Returns the properties of candidates that the scheduler needs.
    fn view(&self) -> View;
    /// Returns the index in `candidates` of the user to serve in TTI `tti`. `candidates` is not empty and in
    /// order of users.
    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize;
    /// Returns the selection rule in TTI `tti`.
    fn rule(&self, _tti: u64) -> Rule<'_> {
        Rule::Pick
    }
    /// Informs the scheduler that the selected user was sent `units` units in TTI `tti`.
    fn served(&mut self, tti: u64, user: usize, units: u32);
}

/// Parameters of a scheduler.
pub trait SchedulerParams: Parameters {
    /// Returns the scheduler in its initial state, for `users` users and TTIs of length `tti`.
    fn build(&self, users: usize, tti: Duration) -> Box<dyn Scheduler>;
}

registry! {
    /// Scheduler, as in a scenario.
    "scheduler" SchedulerSpec = RoundRobin as SchedulerParams + Plugin {
        /// Users take turns.
        "round_robin" => RoundRobin(round_robin::RoundRobin),
        /// The user with the best channel; of equals the one served least recently.
        "max_ci" => MaxCi(max_ci::MaxCi),
        /// The user with the best channel relative to its mean rate so far.
        "proportional_fair" => ProportionalFair(proportional_fair::ProportionalFair),
        /// The user with the best channel relative to its own mean and deviation.
        "normalized" => Normalized(normalized::Normalized),
        /// The user whose packet has the earliest deadline.
        "earliest_deadline" => EarliestDeadline(earliest_deadline::EarliestDeadline),
        /// Proportional fair, with priority for connections that have just begun.
        "tcp_aware" => TcpAware(tcp_aware::TcpAware),
    }
}

/// Returns the index of the candidate with the highest score, the first one if several are equal.
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
