//! Serves the largest `(x - mean) / sigma`, with exponential averages of each user's channel quality `x`: the
//! fair channel-dependent scheduler in the MAC-hs of EURANE, whose memory of 0.999 is the default.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::{AllocationRule, Candidate, Scheduler, SchedulerParams, View, Weight, best_by};

params! {
    /// Parameters of the scheduler that compares each user's channel with its own mean and
    /// deviation.
    pub struct Normalized {
        /// Weight of the old mean and variance in a TTI in which the user waits, 0 to below 1.
        pub memory: f64 = 0.999,
    }
}

impl Checked for Normalized {
    fn check(&self, check: &mut Check) {
        check.require((0.0..1.0).contains(&self.memory), "memory", || {
            format!("{} is out of range; expected 0 to below 1", self.memory)
        });
    }
}

#[derive(Clone, Copy, Debug)]
struct Statistics {
    mean: f64,
    variance: f64,
    /// TTI of the last update.
    seen: u64,
}

impl SchedulerParams for Normalized {
    fn build(&self, users: usize, _tti: Duration) -> Box<dyn Scheduler> {
        Box::new(NormalizedScheduler::new(self, users))
    }
}

#[derive(Debug)]
pub struct NormalizedScheduler {
    memory: f64,
    users: Vec<Option<Statistics>>,
}

impl NormalizedScheduler {
    pub fn new(params: &Normalized, users: usize) -> Self {
        Self { memory: params.memory, users: vec![None; users] }
    }

    /// After updating them with the quality in TTI `tti`.
    fn statistics(&mut self, tti: u64, candidate: &Candidate) -> (f64, f64) {
        let x = f64::from(candidate.quality);
        let first = Statistics { mean: x, variance: 0.0, seen: tti };
        let user = self.users[candidate.user].get_or_insert(first);
        if user.seen != tti {
            let off = x - user.mean;
            user.mean += (1.0 - self.memory) * off;
            user.variance = self.memory * (user.variance + (1.0 - self.memory) * off * off);
            user.seen = tti;
        }
        (user.mean, libm::sqrt(user.variance))
    }

    fn score(&mut self, tti: u64, candidate: &Candidate) -> f64 {
        let (mean, sigma) = self.statistics(tti, candidate);
        if sigma > 0.0 { (f64::from(candidate.quality) - mean) / sigma } else { 0.0 }
    }
}

impl Scheduler for NormalizedScheduler {
    fn view(&self) -> View {
        // All candidates enter the statistics, so the scheduler requires rates: users that cannot
        // be sent anything are then not candidates.
        View { rate: true, quality: true, deadline: false }
    }

    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize {
        best_by(candidates, |candidate| self.score(tti, candidate))
    }

    /// Compared with the mean and deviation over the whole band.
    fn weigh(&mut self, tti: u64, candidates: &[Candidate], weights: &mut [Weight]) -> AllocationRule {
        for (weight, candidate) in weights.iter_mut().zip(candidates) {
            let (mean, sigma) = self.statistics(tti, candidate);
            *weight = if sigma > 0.0 {
                Weight { scale: (1.0 / sigma) as f32, offset: (-mean / sigma) as f32 }
            } else {
                Weight::default()
            };
        }
        AllocationRule::EachToHighest
    }

    fn served(&mut self, _tti: u64, _user: usize, _units: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::rng::{Streams, normal};

    #[test]
    fn mean_and_variation_of_the_channel_do_not_matter() {
        let mut scheduler = NormalizedScheduler::new(&Normalized::default(), 2);
        let mut stream = Streams::new(1, 0).stream("test", 0, "quality");
        let ttis = 40_000;
        let mut served = [0u32; 2];
        for tti in 0..ttis {
            let candidates =
                [(20.0, 1.0), (5.0, 4.0)].map(|(mean, sigma)| mean + sigma * normal(&mut stream));
            let candidates = [0, 1]
                .map(|user| Candidate { quality: candidates[user] as f32, ..Candidate::at_rate(user, 1) });
            served[scheduler.pick(tti, &candidates)] += 1;
        }
        assert!(served[0].abs_diff(served[1]) < 1_000, "{served:?}");
    }

    /// By hand, for qualities of 10, 12 and 8 and a memory of 0.5.
    #[test]
    fn statistics_follow_the_channel() {
        let mut scheduler = NormalizedScheduler::new(&Normalized { memory: 0.5 }, 1);
        let mut see = |tti, quality| {
            let candidate = Candidate { quality, ..Candidate::at_rate(0, 1) };
            scheduler.pick(tti, &[candidate]);
            scheduler.pick(tti, &[candidate]);
            let Statistics { mean, variance, .. } = scheduler.users[0].unwrap();
            (mean, variance)
        };
        assert_eq!(see(0, 10.0), (10.0, 0.0));
        assert_eq!(see(1, 12.0), (11.0, 1.0));
        assert_eq!(see(2, 8.0), (9.5, 2.75));
    }
}
