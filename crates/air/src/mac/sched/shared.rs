use super::{Candidate, Scheduler};

#[derive(Debug)]
pub struct SharedChannel {
    scheduler: Box<dyn Scheduler>,
    /// Kept between TTIs only to reuse the memory.
    candidates: Vec<Candidate>,
}

impl SharedChannel {
    pub fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Self { scheduler, candidates: Vec::new() }
    }

    /// `candidate` is `None` for a user that cannot be served; the scheduler is not called for a single user.
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

    /// Not passed on for a single user.
    #[inline]
    pub fn served(&mut self, tti: u64, user: usize, units: u32) {
        if !self.candidates.is_empty() {
            self.scheduler.served(tti, user, units);
        }
    }
}
