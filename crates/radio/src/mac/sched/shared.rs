//! A channel that one user has in a TTI: who competes for it, and who gets it.

use super::{Candidate, Scheduler};

/// A shared channel, for which a scheduler chooses.
#[derive(Debug)]
pub struct SharedChannel {
    scheduler: Box<dyn Scheduler>,
    /// Kept for its memory.
    candidates: Vec<Candidate>,
}

impl SharedChannel {
    /// The channel for which `scheduler` chooses.
    pub fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Self { scheduler, candidates: Vec::new() }
    }

    /// Who of `users` gets TTI number `tti`: nobody, or one of whom `candidate` makes candidates. Where there
    /// is but one user, nobody has to choose.
    pub fn choose<U>(
        &mut self,
        tti: u64,
        users: &[U],
        candidate: impl Fn(usize, &U) -> Option<Candidate>,
    ) -> Option<Candidate> {
        if let [alone] = users {
            return candidate(0, alone);
        }
        let Self { scheduler, candidates } = self;
        candidates.clear();
        candidates.extend(users.iter().enumerate().filter_map(|(user, state)| candidate(user, state)));
        let chosen = (!candidates.is_empty()).then(|| scheduler.pick(tti, candidates));
        chosen.map(|position| candidates[position])
    }

    /// Tells how many units the chosen user was sent in TTI number `tti`, which does not matter to one that
    /// never has to choose.
    #[inline]
    pub fn served(&mut self, tti: u64, user: usize, units: u32) {
        if !self.candidates.is_empty() {
            self.scheduler.served(tti, user, units);
        }
    }
}
