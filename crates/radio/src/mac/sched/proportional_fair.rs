//! Proportional fair: the highest ratio of the rate possible now to the mean rate so far.
//!
//! Jalali, Padovani & Pankaj, "Data throughput of CDMA-HDR", VTC 2000: user k is served when
//! `r_k / R_k` is largest, and every TTI `R_k <- (1 - 1/t_c) R_k + (1/t_c) served_k`.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::{Candidate, Rule, Scheduler, SchedulerParams, View, best_by};

params! {
    /// Parameters of proportional fair.
    pub struct ProportionalFair {
        /// Time constant `t_c` of the mean rate. Jalali et al. use 1000 slots of 1.67 ms.
        pub window: Duration = Duration(1_670_000_000),
    }
}

impl Checked for ProportionalFair {
    fn check(&self, check: &mut Check) {
        check.require(self.window.0 > 0, "window", || {
            "a window of 0 s remembers nothing; expected at least one TTI".to_owned()
        });
    }
}

/// Below this scale all means are scaled up again; only their ratios matter.
const SMALLEST_SCALE: f64 = 1e-200;

impl SchedulerParams for ProportionalFair {
    fn build(&self, users: usize, tti: Duration) -> Box<dyn Scheduler> {
        Box::new(ProportionalFairScheduler::new(self, users, tti))
    }
}

/// Mean rates. Instead of shrinking every mean in every TTI, the value of a new unit grows: all
/// means share the factor `scale`, so a TTI costs one multiplication however many users there are.
#[derive(Debug)]
pub struct ProportionalFairScheduler {
    /// Mean rate in units per TTI, divided by `scale`.
    means: Vec<f64>,
    scale: f64,
    /// What is left of the mean after one TTI, `1 - 1 / t_c`.
    keep: f64,
    /// TTI up to which `scale` accounts.
    tti: u64,
}

impl ProportionalFairScheduler {
    /// A scheduler under which all users have the same small mean rate.
    pub fn new(params: &ProportionalFair, users: usize, tti: Duration) -> Self {
        let window = (params.window.0 as f64 / tti.0 as f64).max(1.0);
        Self { means: vec![1e-9; users], scale: 1.0, keep: 1.0 - 1.0 / window, tti: 0 }
    }

    /// The rate possible now over the mean rate, but for a factor common to all users.
    pub fn ratio(&self, candidate: &Candidate) -> f64 {
        f64::from(candidate.rate) / self.means[candidate.user]
    }

    /// What the scale is in TTI number `tti` if nobody is served before.
    fn scale_in(&self, tti: u64) -> f64 {
        match tti.saturating_sub(self.tti).min(i32::MAX as u64) as i32 {
            0 => self.scale,
            1 => self.scale * self.keep,
            passed => self.scale * libm::pow(self.keep, f64::from(passed)),
        }
    }

    /// Lets time pass until TTI number `tti`.
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

    fn rule(&self, tti: u64) -> Rule<'_> {
        // Where the means are about to be scaled up again it is not these that count.
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
        // With constant rates proportional fairness is equal time shares (Jalali et al.).
        let [a, b] = shares([1, 5], 20_000);
        assert!(a.abs_diff(b) < 200, "{a} {b}");
    }

    /// A gap counts for as many TTIs as it has.
    #[test]
    fn a_gap_ages_means_as_its_ttis_do() {
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
    fn long_silence_does_not_break_the_means() {
        let mut scheduler =
            ProportionalFairScheduler::new(&ProportionalFair::default(), 2, Duration::from_millis(2));
        scheduler.served(0, 0, 5);
        scheduler.served(1 << 40, 0, 5);
        let candidates = [0, 1].map(|user| Candidate::at_rate(user, 1));
        assert_eq!(scheduler.pick((1 << 40) + 1, &candidates), 1);
    }

    /// Jalali et al.'s mean taken in every TTI, `R_k <- (1 - 1/t_c) R_k + (1/t_c) served_k`, against the
    /// scheduler, which hears only of the TTIs in which somebody is served or looked at.
    #[test]
    fn a_gap_ages_the_means_by_every_tti_of_it() {
        let tti = Duration::from_millis(2);
        // A window of 10 TTIs, which forgets fast.
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
