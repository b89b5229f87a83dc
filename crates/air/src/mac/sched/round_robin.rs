use nodeb_base::units::Duration;

use super::{AllocationRule, Candidate, Rule, Scheduler, SchedulerParams, View, Weight};

nodeb_base::no_parameters! {
    /// Round robin has no parameters.
    RoundRobin
}

impl SchedulerParams for RoundRobin {
    fn build(&self, _users: usize, _tti: Duration) -> Box<dyn Scheduler> {
        Box::new(RoundRobinScheduler::default())
    }
}

/// Next is the first candidate after the user served last, by index, else the first of all.
#[derive(Debug, Default)]
pub struct RoundRobinScheduler {
    next_user: usize,
    /// TTI in which a band was divided last; `None` if TTIs are a single resource.
    divided: Option<u64>,
}

impl Scheduler for RoundRobinScheduler {
    fn view(&self) -> View {
        View::default()
    }

    fn pick(&mut self, _tti: u64, candidates: &[Candidate]) -> usize {
        candidates.iter().position(|candidate| candidate.user >= self.next_user).unwrap_or(0)
    }

    fn weigh(&mut self, tti: u64, candidates: &[Candidate], _weights: &mut [Weight]) -> AllocationRule {
        self.divided = Some(tti);
        AllocationRule::InTurnFrom(self.pick(tti, candidates))
    }

    fn rule(&self, _tti: u64) -> Rule<'_> {
        Rule::Turn(self.next_user)
    }

    fn served(&mut self, tti: u64, user: usize, _units: u32) {
        // Retransmissions are sent before the rest of a band is divided. They are no turns, as otherwise the users before
        // a user with many retransmissions would miss theirs.
        if self.divided.is_none_or(|divided| divided == tti) {
            self.next_user = user + 1;
        }
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

    #[test]
    fn retransmissions_take_no_turns() {
        let mut scheduler = RoundRobinScheduler::default();
        let candidates = [0, 1, 2].map(|user| Candidate::at_rate(user, 1));
        let first =
            |scheduler: &mut RoundRobinScheduler, tti| match scheduler.weigh(tti, &candidates, &mut []) {
                AllocationRule::InTurnFrom(first) => first,
                AllocationRule::EachToHighest => panic!("no turns"),
            };
        for tti in 0..9 {
            scheduler.served(tti, 0, 1);
            let user = first(&mut scheduler, tti);
            assert!(tti == 0 || user == tti as usize % 3, "{tti}: {user}");
            scheduler.served(tti, tti as usize % 3, 1);
        }
    }
}
