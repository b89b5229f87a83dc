//! Jalali, Padovani & Pankaj, "Data throughput of CDMA-HDR", VTC 2000: serves the largest `r_k / R_k`; in
//! every TTI `R_k <- (1 - 1/t_c) R_k + (1/t_c) served_k`.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::{AllocationRule, Candidate, Rule, Scheduler, SchedulerParams, View, Weight, best_by};

params! {
    /// Parameters of proportional fair, which compares each user's channel with its mean rate.
    pub struct ProportionalFair {
        /// Time constant `t_c` of the mean rate. Jalali et al. use 1000 slots of 1.67 ms.
        pub window: Duration = Duration(1_670_000_000),
    }
}

impl Checked for ProportionalFair {
    fn check(&self, check: &mut Check) {
        check.require(self.window.0 > 0, "window", || {
            "0 s is out of range; expected at least one TTI".to_owned()
        });
    }
}

/// Below it all means are multiplied by `scale`, which is reset to 1: a double could not represent it.
const SMALLEST_SCALE: f64 = 1e-200;

/// Keeps scores within f32 for rates up to 1e8; users with this weight have not been served for some 50 time
/// constants, and the one with the highest rate is served first.
const HIGHEST_WEIGHT: f64 = 1e30;

impl SchedulerParams for ProportionalFair {
    fn build(&self, users: usize, tti: Duration) -> Box<dyn Scheduler> {
        Box::new(ProportionalFairScheduler::new(self, users, tti))
    }
}

/// The mean rates share the factor `scale`, so that a TTI takes one multiplication for any number of users.
#[derive(Debug)]
pub struct ProportionalFairScheduler {
    /// In units per TTI, divided by `scale`.
    means: Vec<f64>,
    scale: f64,
    /// `1 - 1 / t_c`.
    keep: f64,
    /// For which `scale` is valid.
    tti: u64,
}

impl ProportionalFairScheduler {
    /// All users have the same mean rate, almost 0.
    pub fn new(params: &ProportionalFair, users: usize, tti: Duration) -> Self {
        let window = (params.window.0 as f64 / tti.0 as f64).max(1.0);
        Self { means: vec![1e-9; users], scale: 1.0, keep: 1.0 - 1.0 / window, tti: 0 }
    }

    /// Multiplied by a factor that is the same for all users.
    pub fn ratio(&self, candidate: &Candidate) -> f64 {
        f64::from(candidate.rate) / self.means[candidate.user]
    }

    /// 1 divided by the mean rate at the last [`Self::age`], at most 1e30.
    pub fn weights(&self, candidates: &[Candidate], weights: &mut [Weight]) {
        for (weight, candidate) in weights.iter_mut().zip(candidates) {
            let inverse = 1.0 / (self.means[candidate.user] * self.scale);
            *weight = Weight { scale: inverse.min(HIGHEST_WEIGHT) as f32, offset: 0.0 };
        }
    }

    /// If it is not reset until then.
    fn scale_in(&self, tti: u64) -> f64 {
        match tti.saturating_sub(self.tti).min(i32::MAX as u64) as i32 {
            0 => self.scale,
            1 => self.scale * self.keep,
            passed => self.scale * libm::pow(self.keep, f64::from(passed)),
        }
    }

    /// No user was served since the last update.
    pub fn age(&mut self, tti: u64) {
        (self.scale, self.tti) = (self.scale_in(tti), tti);
        if self.scale < SMALLEST_SCALE {
            for mean in &mut self.means {
                *mean = (*mean * self.scale).max(1e-9);
            }
            self.scale = 1.0;
        }
    }
}

impl Scheduler for ProportionalFairScheduler {
    fn view(&self) -> View {
        View { rate: true, ..View::default() }
    }

    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize {
        self.age(tti);
        best_by(candidates, |candidate| self.ratio(candidate))
    }

    fn weigh(&mut self, tti: u64, candidates: &[Candidate], weights: &mut [Weight]) -> AllocationRule {
        self.age(tti);
        self.weights(candidates, weights);
        AllocationRule::EachToHighest
    }

    fn rule(&self, tti: u64) -> Rule<'_> {
        // If the means are due to be rescaled in this TTI, the rule must not use their present
        // values, so `pick` is called.
        if self.scale_in(tti) >= SMALLEST_SCALE { Rule::Ratio(&self.means) } else { Rule::Pick }
    }

    fn served(&mut self, tti: u64, user: usize, units: u32) {
        self.age(tti);
        self.means[user] += (1.0 - self.keep) * f64::from(units) / self.scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(rates: [u32; 2], ttis: u64) -> [u64; 2] {
        let mut scheduler =
            ProportionalFairScheduler::new(&ProportionalFair::default(), 2, Duration::from_millis(2));
        let mut served = [0; 2];
        for tti in 0..ttis {
            let candidates = [0, 1].map(|user| Candidate::at_rate(user, rates[user]));
            let user = candidates[scheduler.pick(tti, &candidates)].user;
            scheduler.served(tti, user, rates[user]);
            served[user] += 1;
        }
        served
    }

    #[test]
    fn users_with_constant_rates_get_equal_time() {
        // If rates are constant, proportional fair gives users equal shares of time (Jalali et
        // al.).
        let [a, b] = shares([1, 5], 20_000);
        assert!(a.abs_diff(b) < 200, "{a} {b}");
    }

    #[test]
    fn means_age_over_a_gap_as_tti_by_tti() {
        let scheduler =
            || ProportionalFairScheduler::new(&ProportionalFair::default(), 2, Duration::from_millis(2));
        let [mut leaps, mut steps] = [scheduler(), scheduler()];
        for (from, to) in [(0, 1), (1, 4), (4, 500)] {
            leaps.served(from, 0, 7);
            steps.served(from, 0, 7);
            leaps.age(to);
            (from..=to).for_each(|tti| steps.age(tti));
            let [found, expected] = [&leaps, &steps].map(|scheduler| scheduler.means[0] * scheduler.scale);
            assert!((found / expected - 1.0).abs() < 1e-12, "{from} to {to}: {found}, expected {expected}");
        }
    }

    #[test]
    fn means_survive_a_long_pause() {
        let mut scheduler =
            ProportionalFairScheduler::new(&ProportionalFair::default(), 2, Duration::from_millis(2));
        scheduler.served(0, 0, 5);
        scheduler.served(1 << 40, 0, 5);
        let candidates = [0, 1].map(|user| Candidate::at_rate(user, 1));
        assert_eq!(scheduler.pick((1 << 40) + 1, &candidates), 1);
    }

    /// The scheduler is only called in TTIs in which a user is served or examined; Jalali et al. update in
    /// every TTI.
    #[test]
    fn means_age_by_every_tti_of_a_gap() {
        let tti = Duration::from_millis(2);
        // The time constant is 10 TTIs, which is short, so the means decay quickly.
        let mut scheduler =
            ProportionalFairScheduler::new(&ProportionalFair { window: Duration::from_millis(20) }, 2, tti);
        let mut means = [0.0; 2];
        let mut until = 0;
        for (now, user, units) in [(3, 0, 700), (4, 1, 500), (6, 0, 30), (16, 1, 80), (47, 0, 90), (48, 1, 4)]
        {
            for mean in &mut means {
                *mean *= 0.9f64.powi(now - until);
            }
            (means[user], until) = (means[user] + 0.1 * f64::from(units), now);
            scheduler.served(now as u64, user, units);
            let ratios = [0, 1].map(|user| scheduler.ratio(&Candidate::at_rate(user, 1)));
            let found = ratios[1] / ratios[0];
            assert!(now < 4 || (found * means[1] / means[0] - 1.0).abs() < 1e-6, "{now}: {found} {means:?}");
        }
    }
}
