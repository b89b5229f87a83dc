//! Functions such as logarithms are from `libm`, so that a seed gives the same draws on every machine.

use nodeb_base::check::{Check, Checked};
use nodeb_base::registry;
use nodeb_base::rng::{Stream, normal, uniform};
use nodeb_base::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Quantity that can be drawn from a distribution: a size or a duration.
pub trait Scale: Copy {
    /// Bytes or ns.
    fn base(self) -> f64;
}

impl Scale for Size {
    fn base(self) -> f64 {
        self.0 as f64
    }
}

impl Scale for Duration {
    fn base(self) -> f64 {
        self.0 as f64
    }
}

/// Distribution with a constant value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Constant{Q}")]
pub struct Constant<Q> {
    /// Value of every draw.
    pub value: Q,
}

/// Exponential distribution, given by its mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Exponential{Q}")]
pub struct Exponential<Q> {
    /// Mean of the distribution; greater than 0.
    pub mean: Q,
}

/// Pareto distribution with P(X > x) = (k / x)^shape for x > k. The smallest value is k = `mean
/// (shape - 1) / shape`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pareto{Q}")]
pub struct Pareto<Q> {
    /// Mean of the distribution without `max`.
    pub mean: Q,
    /// Shape of the distribution; greater than 1, as the mean would be infinite otherwise. Up to 2
    /// the variance is infinite.
    pub shape: f64,
    /// Maximum, to which larger draws are reduced. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Q>,
}

/// Log-normal distribution, given by the mean and standard deviation of its values, not of their
/// logarithms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LogNormal{Q}")]
pub struct LogNormal<Q> {
    /// Mean of the distribution without `min` and `max`; greater than 0.
    pub mean: Q,
    /// Standard deviation of the distribution without `min` and `max`.
    pub sd: Q,
    /// Minimum, to which smaller draws are raised. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Q>,
    /// Maximum, to which larger draws are reduced. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Q>,
}

fn require_positive<Q: Scale>(check: &mut Check, key: &str, value: Q) {
    check.require(value.base() > 0.0, key, || "the value is 0; expected more than 0".to_owned());
}

impl<Q> Checked for Constant<Q> {}

impl<Q: Scale> Checked for Exponential<Q> {
    fn check(&self, check: &mut Check) {
        require_positive(check, "mean", self.mean);
    }
}

impl<Q: Scale> Checked for Pareto<Q> {
    fn check(&self, check: &mut Check) {
        require_positive(check, "mean", self.mean);
        check.require(self.shape > 1.0 && self.shape.is_finite(), "shape", || {
            format!("a Pareto distribution of shape {} has no mean; expected more than 1", self.shape)
        });
    }
}

impl<Q: Scale> Checked for LogNormal<Q> {
    fn check(&self, check: &mut Check) {
        require_positive(check, "mean", self.mean);
        let crossed = matches!((self.min, self.max), (Some(min), Some(max)) if min.base() > max.base());
        check.require(!crossed, "min", || "`min` is greater than `max`; expected at most `max`".to_owned());
    }
}

impl<Q: Scale> Constant<Q> {
    fn draw(&self, _: &mut Stream) -> f64 {
        self.value.base()
    }
}

impl<Q: Scale> Exponential<Q> {
    fn draw(&self, stream: &mut Stream) -> f64 {
        -libm::log(1.0 - uniform(stream)) * self.mean.base()
    }
}

impl<Q: Scale> Pareto<Q> {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let smallest = self.mean.base() * (self.shape - 1.0) / self.shape;
        let drawn = smallest * libm::pow(1.0 - uniform(stream), -1.0 / self.shape);
        self.max.map_or(drawn, |max| drawn.min(max.base()))
    }
}

impl<Q: Scale> Pareto<Q> {
    fn median(&self) -> f64 {
        let smallest = self.mean.base() * (self.shape - 1.0) / self.shape;
        let median = smallest * libm::pow(2.0, 1.0 / self.shape);
        self.max.map_or(median, |max| median.min(max.base()))
    }
}

impl<Q: Scale> LogNormal<Q> {
    fn median(&self) -> f64 {
        let median = self.mean.base() / libm::hypot(1.0, self.sd.base() / self.mean.base());
        let raised = self.min.map_or(median, |min| median.max(min.base()));
        self.max.map_or(raised, |max| raised.min(max.base()))
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        let ratio = self.sd.base() / self.mean.base();
        let variance = libm::log1p(ratio * ratio);
        let mu = libm::log(self.mean.base()) - variance / 2.0;
        let drawn = libm::exp(mu + libm::sqrt(variance) * normal(stream));
        let raised = self.min.map_or(drawn, |min| drawn.max(min.base()));
        self.max.map_or(raised, |max| raised.min(max.base()))
    }
}

registry! {
    /// Distribution of a size, as a scenario names it.
    "size distribution" SizeLaw {
        /// The same size in every draw.
        "constant" => Constant(Constant<Size>),
        /// Exponential distribution, given by its mean.
        "exponential" => Exponential(Exponential<Size>),
        /// Pareto distribution, given by its mean and shape.
        "pareto" => Pareto(Pareto<Size>),
        /// Log-normal distribution, given by its mean and standard deviation.
        "log_normal" => LogNormal(LogNormal<Size>),
    }
}

registry! {
    /// Distribution of a time, as a scenario names it.
    "time distribution" TimeLaw {
        /// The same time in every draw.
        "constant" => Constant(Constant<Duration>),
        /// Exponential distribution, given by its mean.
        "exponential" => Exponential(Exponential<Duration>),
        /// Pareto distribution, given by its mean and shape.
        "pareto" => Pareto(Pareto<Duration>),
        /// Log-normal distribution, given by its mean and standard deviation.
        "log_normal" => LogNormal(LogNormal<Duration>),
    }
}

impl SizeLaw {
    /// At least one byte.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let bytes = match self {
            Self::Constant(law) => law.draw(stream),
            Self::Exponential(law) => law.draw(stream),
            Self::Pareto(law) => law.draw(stream),
            Self::LogNormal(law) => law.draw(stream),
        };
        // The limit is 1 PB, which 1 Gbit/s carries in the longest run, 93 days. It cuts draws from heavy tails.
        bytes.ceil().clamp(1.0, 1e15) as u64
    }
}

impl TimeLaw {
    /// 0 to 10^18 ns, rounded to ns.
    pub fn draw(&self, stream: &mut Stream) -> Duration {
        let nanos = match self {
            Self::Constant(law) => law.draw(stream),
            Self::Exponential(law) => law.draw(stream),
            Self::Pareto(law) => law.draw(stream),
            Self::LogNormal(law) => law.draw(stream),
        };
        Duration(nanos.round().clamp(0.0, 1e18) as u64)
    }

    /// For estimates of the number of draws in a run, as the mean of a long-tailed distribution is
    /// unsuitable.
    pub fn median_s(&self) -> f64 {
        let nanos = match self {
            Self::Constant(law) => law.value.base(),
            Self::Exponential(law) => law.mean.base() * std::f64::consts::LN_2,
            Self::Pareto(law) => law.median(),
            Self::LogNormal(law) => law.median(),
        };
        nanos / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::rng::Streams;

    fn draws(law: &SizeLaw, n: usize) -> Vec<f64> {
        let mut stream = Streams::new(1, 0).stream("law", 0, "test");
        (0..n).map(|_| law.draw(&mut stream) as f64).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn draws_have_the_configured_mean() {
        let exponential = draws(&SizeLaw::Exponential(Exponential { mean: Size(30_000) }), 100_000);
        assert!((mean(&exponential) / 30_000.0 - 1.0).abs() < 0.02);
        let log_normal = LogNormal { mean: Size(10_710), sd: Size(25_032), min: None, max: None };
        let log_normal = draws(&SizeLaw::LogNormal(log_normal), 400_000);
        assert!((mean(&log_normal) / 10_710.0 - 1.0).abs() < 0.03);
    }

    #[test]
    fn half_of_the_draws_exceed_the_median() {
        let mean = Duration::from_secs(2);
        let cut = Some(Duration::from_millis(700));
        for law in [
            TimeLaw::Exponential(Exponential { mean }),
            TimeLaw::Pareto(Pareto { mean, shape: 1.3, max: None }),
            TimeLaw::LogNormal(LogNormal { mean, sd: Duration::from_secs(9), min: None, max: cut }),
        ] {
            let mut stream = Streams::new(1, 0).stream("law", 0, "test");
            let above = |_: &usize| law.draw(&mut stream).as_secs() > law.median_s();
            let share = (0..40_000).filter(above).count() as f64 / 40_000.0;
            assert!((share - 0.5).abs() < 0.01, "{law:?}: {share}");
        }
    }

    #[test]
    fn pareto_draws_have_the_tail_of_their_shape() {
        let law = SizeLaw::Pareto(Pareto { mean: Size(33_000), shape: 1.1, max: Some(Size(1 << 40)) });
        let values = draws(&law, 100_000);
        // The minimum of the distribution is k = 33000 x 0.1 / 1.1 = 3000, so P(X > 30000) is
        // (k / 30000)^1.1 = 10^-1.1.
        assert!(values.iter().all(|v| *v >= 3_000.0));
        let tail = values.iter().filter(|v| **v > 30_000.0).count() as f64 / 100_000.0;
        assert!((tail - 0.0794).abs() < 0.003, "{tail}");
    }
}
