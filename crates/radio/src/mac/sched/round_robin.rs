//! Round robin: users with waiting data take turns, TTI by TTI.

use nodeb_base::units::Duration;

use super::{Candidate, Deal, Rule, Scheduler, SchedulerParams, View, Weight};

no_parameters! {
    /// Round robin has no parameters.
    RoundRobin
}

impl SchedulerParams for RoundRobin {
    fn build(&self, _users: usize, _tti: Duration) -> Box<dyn Scheduler> {
        Box::new(RoundRobinScheduler::default())
    }
}

/// State of the scheduler. The next user is the first candidate, in order of user index, after the
/// user served last. If no candidate is after that user, it is the first of all candidates.
#[derive(Debug, Default)]
pub struct RoundRobinScheduler {
    next_user: usize,
}

impl Scheduler for RoundRobinScheduler {
    fn view(&self) -> View {
        View::default()
    }

    fn pick(&mut self, _tti: u64, candidates: &[Candidate]) -> usize {
        candidates.iter().position(|candidate| candidate.user >= self.next_user).unwrap_or(0)
    }

    /// Ranks the users in the order of their turns. [`Deal::FirstShareEvenly`] then gives the users
    /// whose turns are next about equal numbers of resource block groups, whatever their channels.
    fn weigh(&mut self, tti: u64, candidates: &[Candidate], weights: &mut [Weight]) -> Deal {
        let first = self.pick(tti, candidates);
        for (i, weight) in weights.iter_mut().enumerate() {
            let wraps = if i < first { candidates.len() } else { 0 };
            *weight = Weight::by_rank((i + wraps - first) as u32);
        }
        Deal::FirstShareEvenly
    }

    fn rule(&self, _tti: u64) -> Rule<'_> {
        Rule::Turn(self.next_user)
    }

    fn served(&mut self, _tti: u64, user: usize, _units: u32) {
        self.next_user = user + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_take_turns_and_absent_ones_are_skipped() {
        let mut scheduler = RoundRobinScheduler::default();
        let mut serve = |users: &[usize]| {
            let candidates: Vec<_> = users.iter().map(|&user| Candidate::at_rate(user, 1)).collect();
            let user = candidates[scheduler.pick(0, &candidates)].user;
            scheduler.served(0, user, 1);
            user
        };
        let order: Vec<usize> = (0..4).map(|_| serve(&[0, 1, 2])).collect();
        assert_eq!(order, [0, 1, 2, 0]);
        assert_eq!(serve(&[0, 2]), 2);
        assert_eq!(serve(&[0, 1]), 0);
    }
}
