//! `hossain`, equation 1 and section II.B.

/// Frames per slot that arrive (equation 1), from rates in frames per slot and frame error rates.
pub fn throughput(connections: impl IntoIterator<Item = (u32, f64)>) -> f64 {
    connections.into_iter().map(|(rate, failure)| f64::from(rate) * (1.0 - failure)).sum()
}

/// Highest throughput if all `n` connections use one rate (one-step search), the first among equals;
/// `success` takes the frames of the basic rate per slot.
pub fn one_step(rates: &[u32], n: u32, mut success: impl FnMut(u32) -> f64) -> u32 {
    let mut best = (0.0, rates.first().copied().unwrap_or(1));
    for &rate in rates {
        let throughput = f64::from(rate) * success(rate.saturating_mul(n));
        if throughput > best.0 {
            best = (throughput, rate);
        }
    }
    best.1
}

/// Method of averaging by which alpha, the mean rate of connections in other cells, is computed.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Averaging {
    /// Mean over the cells with at least one connection, all with the same weight (`hossain`: alpha =
    /// E{m}).
    #[default]
    Cells,
    /// Mean over the connections, so that cells with many connections weigh more. It is lower than
    /// the mean over cells, as such cells use low rates. This mean times the mean number of
    /// connections (`hossain`: alpha G) is a cell's mean power in units of a code of the basic rate.
    Connections,
    /// Rate of a cell whose number of connections is the mean number, rounded to a whole number.
    TypicalCell,
}

/// Probability above the mean at which all larger numbers are neglected.
const NEGLIGIBLE: f64 = 1e-12;

/// Alpha for Poisson numbers of connections, which use `rate_of(n)`; 0 if `load` is 0.
pub fn mean_rate(load: f64, averaging: Averaging, mut rate_of: impl FnMut(u32) -> u32) -> f64 {
    if load <= 0.0 {
        return 0.0;
    }
    if averaging == Averaging::TypicalCell {
        return f64::from(rate_of((load + 0.5) as u32).max(1));
    }
    let (mut sum, mut weights) = (0.0, 0.0);
    let (mut n, mut p, mut ln_p) = (0u32, 1.0, -load);
    while p > NEGLIGIBLE || f64::from(n) < load {
        n += 1;
        ln_p += libm::log(load / f64::from(n));
        p = libm::exp(ln_p);
        let weight = if averaging == Averaging::Connections { p * f64::from(n) } else { p };
        sum += weight * f64::from(rate_of(n));
        weights += weight;
    }
    sum / weights
}

/// Precision of 1e-7 times the highest rate.
const BISECTIONS: u32 = 24;

/// Solves `mean(alpha) = alpha`, where `mean` decreases; as rates are whole numbers it may jump over alpha,
/// and the result is then the position of the jump.
pub fn self_consistent(highest: f64, mut mean: impl FnMut(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, highest);
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if mean(middle) > middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn throughput_is_a_sum() {
        assert!((throughput([(8, 0.25), (2, 0.5)]) - 7.0).abs() < 1e-12);
    }

    #[test]
    fn one_step_finds_the_best_rate_computed_by_hand() {
        // With 4 connections, the rates 1, 2, 4 and 8 give the throughputs per connection 1 * 0.9,
        // 2 * 0.8, 4 * 0.3 and 8 * 0.
        let success = |x: u32| match x {
            0..=4 => 0.9,
            5..=8 => 0.8,
            9..=16 => 0.3,
            _ => 0.0,
        };
        assert_eq!(one_step(&[1, 2, 4, 8], 4, success), 2);
        assert_eq!(one_step(&[1, 2, 4, 8], 1, success), 8);
        assert_eq!(one_step(&[3, 5], 4, |_| 0.0), 3);
    }

    /// Poisson with mean 2, at a rate of 8 / n, rounded down to at least 1.
    #[test]
    fn means_over_other_cells() {
        let rate = |n: u32| (8 / n.max(1)).max(1);
        let p = |n: u32| (-2f64).exp() * (1..=n).map(|i| 2.0 / f64::from(i)).product::<f64>();
        let (mut cells, mut connections) = (0.0, 0.0);
        for n in 1..60 {
            cells += p(n) * f64::from(rate(n));
            connections += p(n) * f64::from(n * rate(n));
        }
        let found = |averaging| mean_rate(2.0, averaging, rate);
        assert!((found(Averaging::Cells) - cells / (1.0 - p(0))).abs() < 1e-9);
        assert!((found(Averaging::Connections) - connections / 2.0).abs() < 1e-9);
        assert!((found(Averaging::TypicalCell) - 4.0).abs() < 1e-12);
        assert!(mean_rate(0.0, Averaging::Cells, rate).abs() < f64::EPSILON);
    }

    #[test]
    fn large_loads_terminate() {
        let found = mean_rate(2_000.0, Averaging::Connections, |_| 3);
        assert!((found - 3.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn alpha_is_a_fixed_point_or_a_jump() {
        let smooth = self_consistent(8.0, |alpha| 6.0 - alpha);
        assert!((smooth - 3.0).abs() < 1e-6);
        let jump = self_consistent(8.0, |alpha| if alpha < 2.5 { 4.0 } else { 1.0 });
        assert!((jump - 2.5).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn one_step_finds_the_best_rate(successes in prop::collection::vec(0.0..1.0f64, 8), n in 1..20u32) {
            let rates: Vec<u32> = (1..=8).collect();
            let success = |x: u32| successes[(x / n - 1) as usize];
            let of = |rate: u32| f64::from(rate) * success(rate * n);
            let best = one_step(&rates, n, success);
            prop_assert!(rates.iter().all(|rate| of(*rate) <= of(best)));
        }
    }
}
