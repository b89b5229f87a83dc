use nodeb_base::units::Duration;

use super::grid::{Ranks, Weight};
use super::{AllocationRule, Candidate, Rule, Scheduler, SchedulerParams, View};

nodeb_base::no_parameters! {
    /// Max C/I has no parameters.
    MaxCi
}

/// C/I has few values: among equal ones the user served least recently is selected.
#[derive(Debug)]
pub struct MaxCiScheduler {
    /// One plus the TTI in which each user was last served; 0 if never.
    last_served: Vec<u64>,
    ranks: Ranks,
}

/// Below this difference the user served less recently may get a group; of CQIs, which are whole numbers,
/// only equal ones.
const EQUAL: f32 = 0.25;

impl SchedulerParams for MaxCi {
    fn build(&self, users: usize, _tti: Duration) -> Box<dyn Scheduler> {
        Box::new(MaxCiScheduler { last_served: vec![0; users], ranks: Ranks::default() })
    }
}

impl Scheduler for MaxCiScheduler {
    fn view(&self) -> View {
        View { quality: true, ..View::default() }
    }

    fn pick(&mut self, _tti: u64, candidates: &[Candidate]) -> usize {
        let mut best = 0;
        for (i, candidate) in candidates.iter().enumerate().skip(1) {
            let champion = &candidates[best];
            let longer_ago = self.last_served[candidate.user] < self.last_served[champion.user];
            if candidate.quality > champion.quality || (candidate.quality >= champion.quality && longer_ago) {
                best = i;
            }
        }
        best
    }

    fn weigh(&mut self, _tti: u64, candidates: &[Candidate], weights: &mut [Weight]) -> AllocationRule {
        let step = EQUAL / candidates.len() as f32;
        let ranks = self.ranks.of(candidates, |candidate| self.last_served[candidate.user]);
        for (weight, rank) in weights.iter_mut().zip(ranks) {
            *weight = Weight { scale: 1.0, offset: -(*rank as f32) * step };
        }
        AllocationRule::EachToHighest
    }

    fn rule(&self, _tti: u64) -> Rule<'_> {
        Rule::Quality(&self.last_served)
    }

    fn served(&mut self, tti: u64, user: usize, _units: u32) {
        self.last_served[user] = tti + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_channel_is_served_and_ties_rotate() {
        let mut scheduler = MaxCi::default().build(3, Duration::ZERO);
        let candidates = [(0, 2), (1, 5), (2, 5)].map(|(user, rate)| Candidate::at_rate(user, rate));
        let order: Vec<usize> = (0..4)
            .map(|tti| {
                let user = candidates[scheduler.pick(tti, &candidates)].user;
                scheduler.served(tti, user, 5);
                user
            })
            .collect();
        assert_eq!(order, [1, 2, 1, 2]);
    }
}
