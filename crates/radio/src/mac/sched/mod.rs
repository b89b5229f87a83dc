//! Schedulers: who gets the next TTI of a shared channel.

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

/// A user who has something to send in a TTI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Position of the user on the bearer.
    pub user: usize,
    /// What this user would be sent in this TTI, in the bearer's units: PDUs or octets.
    pub rate: u32,
    /// What the Node B knows of the user's channel; grows with the user's C/I, in steps of about 1 dB.
    pub quality: f32,
    /// TTI by which the user's next packet shall be there.
    pub deadline: u64,
}

impl Candidate {
    /// A user of whom no more is known than the rate.
    pub fn at_rate(user: usize, rate: u32) -> Self {
        Self { user, rate, quality: rate as f32, deadline: 0 }
    }
}

/// What a scheduler looks at in [`Candidate`]s. The rest need not be found out, which takes the channels
/// of all users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The rate, and that nobody is among the candidates who could be sent nothing.
    pub rate: bool,
    /// The channel's quality.
    pub quality: bool,
    /// The deadline of the packet that waits.
    pub deadline: bool,
}

/// How a scheduler chooses among the users who can be sent something, where that can be said. Then users whose
/// turn cannot come need not be looked at.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'a> {
    /// By [`Scheduler::pick`] among all candidates.
    Pick,
    /// The first user from this one on, or the first of all.
    Turn(usize),
    /// The highest quality; of equals the lowest of these numbers, then the first user.
    Quality(&'a [u64]),
    /// The highest rate over these means; of equals the first user.
    Ratio(&'a [f64]),
}

/// Chooses among the users who have something to send.
pub trait Scheduler: Send + std::fmt::Debug {
    /// What it looks at.
    fn view(&self) -> View;
    /// The position in `candidates`, which is not empty and in order of users, of the one to
    /// serve in TTI number `tti`.
    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize;
    /// How it chooses in TTI number `tti`.
    fn rule(&self, _tti: u64) -> Rule<'_> {
        Rule::Pick
    }
    /// Tells how many units the chosen user was sent in TTI number `tti`.
    fn served(&mut self, tti: u64, user: usize, units: u32);
}

/// The parameters of a scheduler.
pub trait SchedulerParams: Parameters {
    /// The scheduler in its initial state, for `users` users and TTIs of length `tti`.
    fn build(&self, users: usize, tti: Duration) -> Box<dyn Scheduler>;
}

registry! {
    /// The scheduler, as a scenario names it.
    "scheduler" SchedulerSpec = RoundRobin as SchedulerParams + Plugin {
        /// Users take turns.
        "round_robin" => RoundRobin(round_robin::RoundRobin),
        /// The user with the best channel; among equals the one served least recently.
        "max_ci" => MaxCi(max_ci::MaxCi),
        /// The user whose channel is best against what it has been getting.
        "proportional_fair" => ProportionalFair(proportional_fair::ProportionalFair),
        /// The user whose channel is best against its own mean and deviation.
        "normalized" => Normalized(normalized::Normalized),
        /// The user whose packet must be there first.
        "earliest_deadline" => EarliestDeadline(earliest_deadline::EarliestDeadline),
        /// Proportional fair, with a head start for connections that begin.
        "tcp_aware" => TcpAware(tcp_aware::TcpAware),
    }
}

/// The position of the candidate with the highest score; among equals the first.
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
