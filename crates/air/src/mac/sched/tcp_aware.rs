//! Proportional fair, with priority for TCP connections in slow start, which an early TTI saves waiting:
//! `rate / mean rate * (1 + head start / air time of this burst)`. "Least attained service first" (Rai,
//! Urvoy-Keller & Biersack, SIGMETRICS 2003) is combined with the channel as by Aalto & Lassila (Performance
//! 2010), and limited by the head start, so that the shares of long transfers remain. No headers are read.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::proportional_fair::{self, ProportionalFair};
use super::{AllocationRule, Candidate, Scheduler, SchedulerParams, View, Weight, best_by};

params! {
    /// Parameters of the scheduler that gives priority to TCP connections that have just begun.
    pub struct TcpAware {
        /// Time constant of each user's mean rate.
        pub window: Duration = ProportionalFair::default().window,
        /// Air time within a burst at which the priority is twice that of proportional fair.
        pub head_start: Duration = Duration::from_millis(100),
        /// Length of a pause after which a user starts a new burst. It should exceed a round trip,
        /// as windows of slow start arrive one round trip apart.
        pub pause: Duration = Duration::from_secs(1),
    }
}

impl Checked for TcpAware {
    fn check(&self, check: &mut Check) {
        ProportionalFair { window: self.window }.check(check);
        check.at_most("head_start", self.head_start, Duration::from_secs(1_000));
    }
}

/// TTIs served since the last pause, and the last TTI as a candidate.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    ttis: u64,
    seen: u64,
}

impl SchedulerParams for TcpAware {
    fn build(&self, users: usize, tti: Duration) -> Box<dyn Scheduler> {
        Box::new(TcpAwareScheduler::new(self, users, tti))
    }
}

#[derive(Debug)]
pub struct TcpAwareScheduler {
    fair: proportional_fair::ProportionalFairScheduler,
    head_start_ttis: f64,
    pause_ttis: u64,
    bursts: Vec<Burst>,
}

impl TcpAwareScheduler {
    /// All users have the same mean rate, almost 0, and begin their first burst.
    pub fn new(params: &TcpAware, users: usize, tti: Duration) -> Self {
        let fair = ProportionalFair { window: params.window };
        Self {
            fair: proportional_fair::ProportionalFairScheduler::new(&fair, users, tti),
            head_start_ttis: params.head_start.0 as f64 / tti.0 as f64,
            pause_ttis: params.pause.0 / tti.0,
            bursts: vec![Burst::default(); users],
        }
    }

    /// Starts a new burst for each candidate that has paused for long enough.
    fn advance(&mut self, tti: u64, candidates: &[Candidate]) {
        self.fair.age(tti);
        for candidate in candidates {
            let burst = &mut self.bursts[candidate.user];
            if tti.saturating_sub(burst.seen) > self.pause_ttis {
                burst.ttis = 0;
            }
            burst.seen = tti;
        }
    }

    /// At least 1, decreasing with the air time of the burst.
    fn priority(&self, candidate: &Candidate) -> f64 {
        let had = self.bursts[candidate.user].ttis + 1;
        1.0 + self.head_start_ttis / had as f64
    }
}

impl Scheduler for TcpAwareScheduler {
    fn view(&self) -> View {
        View { rate: true, ..View::default() }
    }

    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize {
        self.advance(tti, candidates);
        best_by(candidates, |candidate| self.fair.ratio(candidate) * self.priority(candidate))
    }

    fn weigh(&mut self, tti: u64, candidates: &[Candidate], weights: &mut [Weight]) -> AllocationRule {
        self.advance(tti, candidates);
        self.fair.weights(candidates, weights);
        for (weight, candidate) in weights.iter_mut().zip(candidates) {
            weight.scale *= self.priority(candidate) as f32;
        }
        AllocationRule::EachToHighest
    }

    fn served(&mut self, tti: u64, user: usize, units: u32) {
        self.bursts[user].ttis += 1;
        self.fair.served(tti, user, units);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTI: Duration = Duration::from_millis(2);

    /// All users have equal rates.
    fn serve(scheduler: &mut TcpAwareScheduler, ttis: std::ops::Range<u64>, waiting: &[usize]) -> Vec<usize> {
        let candidates: Vec<_> = waiting.iter().map(|user| Candidate::at_rate(*user, 10)).collect();
        let pick = |tti| {
            let user = candidates[scheduler.pick(tti, &candidates)].user;
            scheduler.served(tti, user, 10);
            user
        };
        ttis.map(pick).collect()
    }

    #[test]
    fn a_new_user_is_served_first_and_then_shares() {
        let mut scheduler = TcpAwareScheduler::new(&TcpAware::default(), 3, TTI);
        serve(&mut scheduler, 0..5_000, &[0, 1]);
        let fair = ProportionalFair::default();
        let mut plain = proportional_fair::ProportionalFairScheduler::new(&fair, 3, TTI);
        (0..5_000).for_each(|tti| plain.served(tti, tti as usize % 2, 10));
        // A new user has a low mean rate under proportional fair, too. Its head start is an
        // additional advantage, so this scheduler serves it without interruption for longer.
        let order = serve(&mut scheduler, 5_000..5_600, &[0, 1, 2]);
        let first = order.iter().take_while(|user| **user == 2).count();
        let candidates = [0, 1, 2].map(|user| Candidate::at_rate(user, 10));
        let of_plain = (5_000..5_600).take_while(|tti| {
            let user = plain.pick(*tti, &candidates);
            plain.served(*tti, user, 10);
            user == 2
        });
        assert!(first > of_plain.count() + 20, "{first}");
        // In the long run all three users have the same share.
        let later = serve(&mut scheduler, 5_600..20_000, &[0, 1, 2]);
        let counts = [0, 1, 2].map(|user| later[9_000..].iter().filter(|one| **one == user).count());
        assert!(counts.iter().all(|count| count.abs_diff(1_800) < 20), "{counts:?}");
    }

    #[test]
    fn a_burst_ends_with_a_pause() {
        let mut scheduler = TcpAwareScheduler::new(&TcpAware::default(), 2, TTI);
        serve(&mut scheduler, 0..1_000, &[0, 1]);
        assert_eq!(scheduler.bursts[0].ttis, 500);
        serve(&mut scheduler, 1_000..1_400, &[1]);
        serve(&mut scheduler, 1_400..1_401, &[0]);
        assert_eq!(scheduler.bursts[0].ttis, 501, "0.8 s is not yet a pause");
        serve(&mut scheduler, 2_000..2_001, &[0]);
        assert_eq!(scheduler.bursts[0].ttis, 1, "1.2 s is one");
    }
}
