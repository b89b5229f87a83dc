/// 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// In independent units of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub trials: u64,
    pub errors: u64,
    units: u64,
    /// Squared errors, summed over units.
    squares: u128,
}

impl Tally {
    pub fn unit(trials: u64, errors: u64) -> Self {
        Self { trials, errors, units: 1, squares: u128::from(errors).pow(2) }
    }

    /// All units must have the same number of trials.
    pub fn add(&mut self, other: &Self) {
        self.trials += other.trials;
        self.errors += other.errors;
        self.units += other.units;
        self.squares += other.squares;
    }

    pub fn rate(&self) -> f64 {
        self.errors as f64 / self.trials as f64
    }

    /// Covers the normal interval from the variance between units, as errors are bursty, and the score
    /// interval of independent trials (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927), which also holds without
    /// errors; 0 to 1 without trials.
    pub fn interval95(&self) -> (f64, f64) {
        let (n, p) = (self.trials as f64, self.rate());
        let shrink = 1.0 / (1.0 + Z * Z / n);
        let centre = shrink * (p + Z * Z / (2.0 * n));
        let half = shrink * Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let (low, high) = (centre - half, centre + half);
        let scatter = self.half_width_between_units();
        (low.min(p - scatter).max(0.0), high.max(p + scatter).min(1.0))
    }

    fn half_width_between_units(&self) -> f64 {
        if self.units < 2 {
            return 0.0;
        }
        let units = self.units as f64;
        let mean = self.errors as f64 / units;
        let variance = (self.squares as f64 - units * mean * mean) / (units - 1.0);
        Z * (variance.max(0.0) / units).sqrt() * units / self.trials as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_independent_trials_is_wilsons() {
        // Examples of Newcombe (1998), table I: 81 errors in 263 trials give 0.2553 to 0.3662; none
        // in 20 gives 0 to 0.1611.
        for (errors, trials, low, high) in
            [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (15, 148, 0.0624, 0.1605)]
        {
            let interval = Tally::unit(trials, errors).interval95();
            assert!((interval.0 - low).abs() < 1e-4 && (interval.1 - high).abs() < 1e-4, "{interval:?}");
        }
    }

    #[test]
    fn bursts_widen_the_interval() {
        let mut bursts = Tally::default();
        for unit in 0..100 {
            bursts.add(&Tally::unit(1000, if unit % 10 == 0 { 500 } else { 0 }));
        }
        let (low, high) = bursts.interval95();
        // One in ten of the hundred units has an error rate of 0.5, the others have no errors.
        // So the mean rate is 0.05, with a standard error of 0.5 sqrt(0.09 / 99).
        let half = Z * 0.5 * (0.09f64 / 99.0).sqrt();
        assert!((high - low - 2.0 * half).abs() < 1e-6, "{low} to {high}");
    }
}
