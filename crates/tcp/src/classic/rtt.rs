//! `ticks` is ns-2's fixed-point form of Jacobson's estimator (RFC 2988): `RTO = (8 var4 + srtt8) / 8` ticks,
//! with the smoothed RTT in eighths and the variation in quarters of a tick, times the backoff, raised to the
//! minimum before or after it (`backoff_from_minimum`), at most the maximum but at least two ticks.
//! `smoothed` has one gain for mean and mean deviation and no ticks: `RTO = mean + 4 deviation` (`hossain`,
//! section II.A), and never discards the mean.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::registry;
use nodeb_base::units::{Duration, Probability, Time};

/// Above it `ticks` discards the smoothed RTT (ns-2's `rtt_backoff`).
const DISCARD_BACKOFF: u64 = 8;

/// If backoff does not multiply the smallest timeout (ns-2's `rtt_backoff`).
const MAX_BACKOFF: u64 = 64;

registry! {
    /// Round-trip estimator, as a scenario names it.
    "estimator" EstimatorSpec = Ticks {
        /// Jacobson's estimator in ns-2's fixed-point form: one segment is timed at a time.
        "ticks" => Ticks(Ticks),
        /// Exponential averages of round-trip time and deviation; every new segment is timed.
        "smoothed" => Smoothed(Smoothed),
    }
}

params! {
    /// The estimator that counts clock ticks has no parameters. The connection's `clock` sets the length of a
    /// tick.
    #[derive(Eq)]
    pub struct Ticks {}
}

impl Checked for Ticks {}

params! {
    /// Parameters of the estimator that averages round-trip times and their deviations
    /// exponentially.
    pub struct Smoothed {
        /// Weight of a new round-trip time in the mean round-trip time, and weight of its deviation
        /// in the mean deviation (c in `hossain`).
        pub gain: Probability = Probability(0.1),
        /// Mean round-trip time before the first measurement. If absent, the first measured time
        /// becomes the mean, and half of it the deviation.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial_rtt: Option<Duration>,
    }
}

impl Checked for Smoothed {
    fn check(&self, check: &mut Check) {
        check.require(self.gain.0 > 0.0, "gain", || {
            "with a gain of 0 the estimate never changes; expected more, up to 1".to_owned()
        });
    }
}

#[derive(Clone, Debug)]
enum Estimate {
    /// `tick` and `phase` in ns; `srtt8` in eighths of a tick, 0 before the first sample and once discarded;
    /// `var4` in quarters of a tick.
    Ticks { tick: u64, phase: u64, srtt8: i64, var4: i64 },
    /// In ns; `None` before the first measurement, unless the scenario sets `initial_rtt`.
    Smoothed { gain: f64, mean: Option<f64>, deviation: f64 },
}

impl Estimate {
    /// Timeout in ns, without limits and backoff.
    fn sample(&mut self, sent: Time, rtt: Duration) -> u64 {
        match self {
            Self::Ticks { tick, phase, srtt8, var4 } => {
                let offset = (sent.0 + *phase) % *tick;
                let ticks = ((rtt.0 + offset) / *tick).max(1).cast_signed();
                if *srtt8 == 0 {
                    *srtt8 = ticks << 3;
                    *var4 = ticks << 1;
                } else {
                    let delta = ticks - (*srtt8 >> 3);
                    *srtt8 = (*srtt8 + delta).max(1);
                    *var4 = (*var4 + delta.abs() - (*var4 >> 2)).max(1);
                }
                // The timeout is srtt + 4 variations = srtt + `var4` ticks. In eighths of a tick,
                // the unit of `srtt8`, this is `srtt8 + 8 var4`.
                (((*var4 << 3) + *srtt8) >> 3) as u64 * *tick
            }
            Self::Smoothed { gain, mean, deviation } => {
                let rtt = rtt.0 as f64;
                let mean = mean.get_or_insert_with(|| {
                    *deviation = rtt / 2.0;
                    rtt
                });
                let error = rtt - *mean;
                *mean += *gain * error;
                *deviation += *gain * (error.abs() - *deviation);
                (*mean + 4.0 * *deviation) as u64
            }
        }
    }

    /// RFC 4015, step 11: mean at least `rtt`, variation at least half of it; `ticks` first adds two ticks to
    /// its mean. The RFC waits for the first round trip of later data. Timeout in ns, without limits and
    /// backoff.
    fn adapt(&mut self, rtt: Duration) -> u64 {
        match self {
            Self::Ticks { tick, srtt8, var4, .. } => {
                let ticks = (rtt.0 / *tick).max(1).cast_signed();
                *srtt8 = (*srtt8 + (2 << 3)).max(ticks << 3);
                *var4 = (*var4).max(ticks << 1);
                (((*var4 << 3) + *srtt8) >> 3) as u64 * *tick
            }
            Self::Smoothed { mean, deviation, .. } => {
                let rtt = rtt.0 as f64;
                let longest = mean.map_or(rtt, |mean| mean.max(rtt));
                *deviation = deviation.max(rtt / 2.0);
                (*mean.insert(longest) + 4.0 * *deviation) as u64
            }
        }
    }

    /// The path has probably changed; only `ticks`.
    fn discard_srtt(&mut self) {
        if let Self::Ticks { srtt8, var4, .. } = self {
            *var4 += *srtt8 >> 3;
            *srtt8 = 0;
        }
    }

    /// In ns: two ticks, or 1 ns.
    fn shortest(&self) -> u64 {
        match self {
            Self::Ticks { tick, .. } => 2 * tick,
            Self::Smoothed { .. } => 1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of the clock that measures round-trip times.
    pub tick: Duration,
    /// At the start, less than one tick.
    pub phase: Duration,
    /// Until the first measurement.
    pub initial: Duration,
    /// Before backoff if `backoff_from_minimum`, otherwise after it.
    pub min: Duration,
    /// After backoff.
    pub max: Duration,
    /// Backoff multiplies the larger of the estimated and the smallest timeout.
    pub backoff_from_minimum: bool,
}

#[derive(Clone, Debug)]
pub struct RttEstimator {
    estimate: Estimate,
    min_rto: u64,
    max_rto: u64,
    backoff_from_minimum: bool,
    /// In ns, without limits and backoff.
    rto: u64,
    backoff: u64,
}

impl RttEstimator {
    pub fn new(spec: &EstimatorSpec, limits: Limits) -> Self {
        let estimate = match spec {
            EstimatorSpec::Ticks(_) => {
                Estimate::Ticks { tick: limits.tick.0, phase: limits.phase.0, srtt8: 0, var4: 0 }
            }
            EstimatorSpec::Smoothed(params) => Estimate::Smoothed {
                gain: params.gain.0,
                mean: params.initial_rtt.map(|rtt| rtt.0 as f64),
                deviation: 0.0,
            },
        };
        let (min_rto, max_rto, rto) = (limits.min.0, limits.max.0, limits.initial.0);
        let backoff_from_minimum = limits.backoff_from_minimum;
        Self { estimate, min_rto, max_rto, backoff_from_minimum, rto, backoff: 1 }
    }

    pub fn sample(&mut self, sent: Time, rtt: Duration) {
        self.rto = self.estimate.sample(sent, rtt);
    }

    /// `rtt` exceeded the last timeout, which was spurious; ends the backoff.
    pub fn adapt(&mut self, rtt: Duration) {
        self.rto = self.estimate.adapt(rtt);
        self.reset_backoff();
    }

    /// With backoff and limits.
    pub fn rto(&self) -> Duration {
        let rto = if self.backoff_from_minimum {
            self.rto.max(self.min_rto) * self.backoff
        } else {
            (self.rto * self.backoff).max(self.min_rto)
        };
        Duration(rto.min(self.max_rto).max(self.estimate.shortest()))
    }

    /// Up to 64, or further while the timeout is below its maximum if backoff also multiplies the smallest.
    /// Above 8 `ticks` discards the smoothed RTT, since a path that stays silent for so long has probably
    /// changed.
    pub fn back_off(&mut self) {
        let unlimited = self.backoff_from_minimum && self.rto() < Duration(self.max_rto);
        if unlimited || self.backoff < MAX_BACKOFF {
            self.backoff *= 2;
        }
        if self.backoff > DISCARD_BACKOFF {
            self.estimate.discard_srtt();
        }
    }

    pub fn reset_backoff(&mut self) {
        self.backoff = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        let ms = Duration::from_millis;
        Limits {
            tick: ms(10),
            phase: Duration::ZERO,
            initial: ms(3_000),
            min: ms(200),
            max: ms(60_000),
            backoff_from_minimum: true,
        }
    }

    fn with(spec: &EstimatorSpec) -> RttEstimator {
        RttEstimator::new(spec, limits())
    }

    fn estimator() -> RttEstimator {
        with(&EstimatorSpec::default())
    }

    /// 470 + 0.1 (170 - 470) = 440 ms, and a deviation of 0.1 * 300 = 30 ms.
    #[test]
    fn smoothed_estimate_starts_from_initial_rtt() {
        let initial_rtt = Some(Duration::from_millis(470));
        let mut rtt = with(&EstimatorSpec::Smoothed(Smoothed { initial_rtt, ..Smoothed::default() }));
        assert_eq!(rtt.rto(), Duration::from_secs(3));
        rtt.sample(Time::ZERO, Duration::from_millis(170));
        assert_eq!(rtt.rto(), Duration::from_millis(440 + 4 * 30));
        rtt.back_off();
        assert_eq!(rtt.rto(), Duration::from_millis(2 * 560));
    }

    /// 1 s; the deviation starts at half of it (RFC 2988), reduced by the gain of 0.1 to 450 ms.
    #[test]
    fn first_rtt_initializes_smoothed_estimate() {
        let mut rtt = with(&EstimatorSpec::Smoothed(Smoothed::default()));
        rtt.sample(Time::ZERO, Duration::from_millis(1_000));
        assert_eq!(rtt.rto(), Duration::from_millis(1_000 + 4 * 450));
        for _ in 0..400 {
            rtt.sample(Time::ZERO, Duration::from_millis(100));
        }
        assert_eq!(rtt.rto(), Duration::from_millis(200));
    }

    #[test]
    fn first_rtt_sets_srtt_and_half_of_it_as_variation() {
        let mut rtt = estimator();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
        rtt.sample(Time::ZERO, Duration::from_millis(200));
        // The round-trip time of 200 ms is 20 ticks, so the smoothed RTT is 20 ticks, the variation
        // 10 ticks, and the timeout 20 + 4 * 10 ticks.
        assert_eq!(rtt.rto(), Duration::from_millis(600));
    }

    #[test]
    fn steady_rtt_reduces_timeout_to_minimum() {
        let mut rtt = estimator();
        for _ in 0..200 {
            rtt.sample(Time::ZERO, Duration::from_millis(100));
        }
        assert_eq!(rtt.rto(), Duration::from_millis(200));
    }

    #[test]
    fn backoff_doubles_up_to_maximum() {
        let mut rtt = estimator();
        let timeouts: Vec<u64> = std::iter::repeat_with(|| {
            let rto = rtt.rto();
            rtt.back_off();
            rto.0 / 1_000_000_000
        })
        .take(7)
        .collect();
        assert_eq!(timeouts, [3, 6, 12, 24, 48, 60, 60]);
        rtt.reset_backoff();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
    }

    /// An estimate of 0.13 s and a minimum of 1 s: 1, 1, 1, 1.04 and 2.08 s until ns-2 set `rfc2988_` in
    /// March 2002, then 1, 2, 4, 8 and 16 s.
    #[test]
    fn backoff_multiplies_minimum_since_march_2002() {
        for (backoff_from_minimum, expected) in
            [(false, [1_000, 1_000, 1_000, 1_040, 2_080]), (true, [1_000, 2_000, 4_000, 8_000, 16_000])]
        {
            let limits = Limits { min: Duration::from_secs(1), backoff_from_minimum, ..limits() };
            let mut rtt = RttEstimator::new(&EstimatorSpec::default(), limits);
            (0..200).for_each(|_| rtt.sample(Time::ZERO, Duration::from_millis(100)));
            let timeouts = expected.map(|_| {
                let rto = rtt.rto();
                rtt.back_off();
                rto
            });
            assert_eq!(timeouts, expected.map(Duration::from_millis), "{backoff_from_minimum}");
        }
    }

    /// ns-2 (`TcpAgent::rtt_backoff`): once `t_backoff_ > 8`. With 20 ticks before and after, the timeout is
    /// 20 + 30 ticks if the first is kept, else 20 + 40.
    #[test]
    fn srtt_is_discarded_after_four_doublings() {
        for (doublings, ticks) in [(0, 50), (3, 50), (4, 60), (5, 60)] {
            let mut rtt = estimator();
            rtt.sample(Time::ZERO, Duration::from_millis(200));
            (0..doublings).for_each(|_| rtt.back_off());
            rtt.reset_backoff();
            rtt.sample(Time::ZERO, Duration::from_millis(200));
            assert_eq!(rtt.rto(), Duration::from_millis(10 * ticks), "{doublings} doublings");
        }
    }
}
