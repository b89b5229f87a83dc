//! Channel shared in time: the scheduler selects one user per TTI.

use super::{Candidate, Scheduler};

/// Shared channel with the scheduler that selects the user of each TTI.
#[derive(Debug)]
pub struct SharedChannel {
    scheduler: Box<dyn Scheduler>,
    /// Candidates of the current TTI, stored here to reuse the memory.
    candidates: Vec<Candidate>,
}

impl SharedChannel {
    /// Creates a channel with the given scheduler.
    pub fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Self { scheduler, candidates: Vec::new() }
    }

    /// Returns the user to serve in TTI `tti`, selected among the `users` for which `candidate`
    /// returns a candidate, or `None` if there is none. If `users` has one element, it is selected
    /// without the scheduler.
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

    /// Informs the scheduler that the selected user was sent `units` units in TTI `tti`, unless the
    /// channel has a single user.
    #[inline]
    pub fn served(&mut self, tti: u64, user: usize, units: u32) {
        if !self.candidates.is_empty() {
            self.scheduler.served(tti, user, units);
        }
    }
}
