//! Schedulers: who gets the next TTI of a shared channel.

pub mod max_ci;
pub mod proportional_fair;
pub mod round_robin;

use crate::registry;
use crate::units::Duration;

/// A user who has something to send in a TTI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Position of the user on the bearer.
    pub user: usize,
    /// PDUs that a block of this user can carry in this TTI; grows with the user's C/I.
    pub pdus_per_block: u32,
}

/// Chooses among the users who have something to send.
pub trait Scheduler: Send + std::fmt::Debug {
    /// The position in `candidates`, which is not empty and in order of users, of the one to
    /// serve in TTI number `tti`.
    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize;
    /// Tells how many PDUs the chosen user was sent in TTI number `tti`.
    fn served(&mut self, tti: u64, user: usize, pdus: u32);
}

registry! {
    /// The scheduler, as a scenario names it.
    "scheduler" SchedulerSpec {
        /// Users take turns.
        "round_robin" => RoundRobin(round_robin::RoundRobin),
        /// The user with the best channel; among equals the one served least recently.
        "max_ci" => MaxCi(max_ci::MaxCi),
        /// The user whose channel is best against what it has been getting.
        "proportional_fair" => ProportionalFair(proportional_fair::ProportionalFair),
    }
}

impl Default for SchedulerSpec {
    fn default() -> Self {
        Self::RoundRobin(round_robin::RoundRobin::default())
    }
}

impl SchedulerSpec {
    /// The scheduler in its initial state, for `users` users and TTIs of length `tti`.
    pub fn build(&self, users: usize, tti: Duration) -> Box<dyn Scheduler> {
        match self {
            Self::RoundRobin(_) => Box::new(round_robin::Policy::default()),
            Self::MaxCi(_) => Box::new(max_ci::Policy::new(users)),
            Self::ProportionalFair(params) => Box::new(proportional_fair::Policy::new(params, users, tti)),
        }
    }
}
