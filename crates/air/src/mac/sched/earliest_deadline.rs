//! Without regard to the channel (Liu & Layland, J. ACM 20(1), 1973). A deadline is the arrival plus the
//! user's delay budget, and does not change when it is missed. Without deadlines, users take turns.

use nodeb_base::units::Duration;

use super::grid::{Ranks, Weight};
use super::{AllocationRule, Candidate, Scheduler, SchedulerParams, View};

nodeb_base::no_parameters! {
    /// Earliest deadline first has no parameters.
    EarliestDeadline
}

#[derive(Debug)]
pub struct EarliestDeadlineScheduler {
    last_served: Vec<Option<u64>>,
    ranks: Ranks,
}

impl SchedulerParams for EarliestDeadline {
    fn build(&self, users: usize, _tti: Duration) -> Box<dyn Scheduler> {
        Box::new(EarliestDeadlineScheduler { last_served: vec![None; users], ranks: Ranks::default() })
    }
}

impl Scheduler for EarliestDeadlineScheduler {
    fn view(&self) -> View {
        View { deadline: true, ..View::default() }
    }

    fn pick(&mut self, _tti: u64, candidates: &[Candidate]) -> usize {
        let urgency =
            |(_, candidate): &(usize, &Candidate)| (candidate.deadline, self.last_served[candidate.user]);
        candidates.iter().enumerate().min_by_key(urgency).map_or(0, |(i, _)| i)
    }

    /// The user with the earliest deadline gets all groups that it needs, then the next one.
    fn weigh(&mut self, _tti: u64, candidates: &[Candidate], weights: &mut [Weight]) -> AllocationRule {
        let ranks =
            self.ranks.of(candidates, |candidate| (candidate.deadline, self.last_served[candidate.user]));
        for (weight, rank) in weights.iter_mut().zip(ranks) {
            *weight = Weight::by_rank(*rank);
        }
        AllocationRule::EachToHighest
    }

    fn served(&mut self, tti: u64, user: usize, _units: u32) {
        self.last_served[user] = Some(tti);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_deadline_is_served_and_ties_rotate() {
        let mut scheduler = EarliestDeadline::default().build(3, Duration::ZERO);
        let candidates = [(0, 90), (1, 50), (2, 50)]
            .map(|(user, deadline)| Candidate { deadline, ..Candidate::at_rate(user, 1) });
        let order: Vec<usize> = (0..3)
            .map(|tti| {
                let user = candidates[scheduler.pick(tti, &candidates)].user;
                scheduler.served(tti, user, 1);
                user
            })
            .collect();
        assert_eq!(order, [1, 2, 1]);
    }
}
