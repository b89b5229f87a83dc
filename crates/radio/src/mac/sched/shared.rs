//! Channel that users share in time, as the scheduler selects one user per TTI.

use super::{Candidate, Scheduler};

/// Channel that users share in time, with the scheduler that selects the user of each TTI.
#[derive(Debug)]
pub struct SharedChannel {
    scheduler: Box<dyn Scheduler>,
    /// Candidates of the current TTI; kept between TTIs only to reuse the memory.
    candidates: Vec<Candidate>,
}

impl SharedChannel {
    /// Creates a channel that `scheduler` divides among users.
    pub fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Self { scheduler, candidates: Vec::new() }
    }

    /// Returns the candidate that the scheduler selects in TTI `tti`, or `None` if there is none.
    /// `candidate` is called for each of `users` and returns `None` if the user cannot be served.
    /// If the channel has a single user, the scheduler is not called.
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

    /// Informs the scheduler that `user` was sent `units` units in TTI `tti`. Does nothing if the
    /// channel has a single user, for which the scheduler is never called.
    #[inline]
    pub fn served(&mut self, tti: u64, user: usize, units: u32) {
        if !self.candidates.is_empty() {
            self.scheduler.served(tti, user, units);
        }
    }
}
