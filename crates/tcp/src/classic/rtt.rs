//! Round-trip estimation and the retransmission timeout (RTO).
//!
//! The estimator `ticks` is ns-2's fixed-point form of Jacobson's estimator (RFC 2988) on a clock
//! with ticks. It stores the smoothed RTT in eighths of a tick (`srtt8`) and the variation in
//! quarters of a tick (`var4`). From these `RTO = (8 var4 + srtt8) / 8` ticks. The RTO is then
//! multiplied by the backoff factor. It is raised to the minimum before this multiplication if
//! `backoff_from_minimum` is true, otherwise after it. The result is limited to the maximum, but is
//! at least two ticks.
//!
//! The estimator `smoothed` uses exponential averages on a clock without ticks, with one gain for both the
//! mean and the mean deviation: `RTO = mean + 4 deviation` (`hossain`, section II.A). Minimum, maximum and
//! backoff apply as with `ticks`, but the RTO need not be two ticks long, and the mean is never discarded.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::registry;
use nodeb_base::units::{Duration, Probability, Time};

/// Backoff factor above which the `ticks` estimator discards the smoothed RTT (ns-2's
/// `rtt_backoff`).
const DISCARD_BACKOFF: u64 = 8;

/// Largest backoff factor if backoff does not multiply the smallest timeout (ns-2's `rtt_backoff`).
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

/// Estimate of the round-trip time and its variation, by one of the two estimators.
#[derive(Clone, Debug)]
enum Estimate {
    /// State of the `ticks` estimator. `tick` and `phase` are the length of a tick and the phase of
    /// the clock in ns. `srtt8` is the smoothed RTT in eighths of a tick, 0 before the first sample
    /// and after the smoothed RTT was discarded. `var4` is the variation in quarters of a tick.
    Ticks { tick: u64, phase: u64, srtt8: i64, var4: i64 },
    /// State of the `smoothed` estimator: weight `gain` of a new measurement, and the mean and mean deviation
    /// of the round-trip times in nanoseconds. The mean is `None` before the first measurement, unless the
    /// scenario sets `initial_rtt`.
    Smoothed { gain: f64, mean: Option<f64>, deviation: f64 },
}

impl Estimate {
    /// Updates the estimate with a round trip that began at `sent` and lasted `rtt`. Returns the
    /// new timeout in nanoseconds, to which limits and backoff are not yet applied.
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

    /// Updates the estimate after a spurious timeout (RFC 4015, step 11) with `rtt`, the round-trip time that
    /// exceeded the timeout. The mean becomes at least `rtt`, and the variation at least half of `rtt`, as
    /// after a first measurement; larger present values are kept. `ticks` first adds two ticks to its present
    /// mean. The RFC instead waits for the first round trip of data sent after the timer expired. Returns the
    /// new timeout in nanoseconds, to which limits and backoff are not yet applied.
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

    /// Discards the smoothed RTT of the `ticks` estimator, since the network path has probably
    /// changed. The `smoothed` estimator keeps its mean.
    fn discard_srtt(&mut self) {
        if let Self::Ticks { srtt8, var4, .. } = self {
            *var4 += *srtt8 >> 3;
            *srtt8 = 0;
        }
    }

    /// Returns the shortest timeout in nanoseconds that the estimator's clock can measure: two
    /// ticks for the `ticks` estimator, 1 ns for `smoothed`.
    fn shortest(&self) -> u64 {
        match self {
            Self::Ticks { tick, .. } => 2 * tick,
            Self::Smoothed { .. } => 1,
        }
    }
}

/// Clock of a connection and limits of its retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Length of a tick of the clock that measures round-trip times.
    pub tick: Duration,
    /// Phase of the clock when the simulation starts, less than one tick.
    pub phase: Duration,
    /// Timeout that applies until the first round-trip time is measured.
    pub initial: Duration,
    /// Smallest retransmission timeout: before backoff is applied if `backoff_from_minimum` is true,
    /// otherwise after it.
    pub min: Duration,
    /// Largest retransmission timeout, after backoff is applied.
    pub max: Duration,
    /// Whether backoff multiplies the larger of the estimated and the smallest timeout, instead of
    /// only the estimated one.
    pub backoff_from_minimum: bool,
}

/// Round-trip estimator together with the retransmission timeout that follows from it.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    estimate: Estimate,
    min_rto: u64,
    max_rto: u64,
    backoff_from_minimum: bool,
    /// Estimated timeout in nanoseconds, to which limits and backoff are not yet applied.
    rto: u64,
    backoff: u64,
}

impl RttEstimator {
    /// Creates an estimator without measurements. Until the first measurement the timeout is
    /// `limits.initial`, within the other limits.
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

    /// Updates the timeout with a round trip that began at `sent` and lasted `rtt`.
    pub fn sample(&mut self, sent: Time, rtt: Duration) {
        self.rto = self.estimate.sample(sent, rtt);
    }

    /// Adapts the timeout to `rtt`, a round-trip time that exceeded the last timeout, which was
    /// therefore spurious. Ends the backoff.
    pub fn adapt(&mut self, rtt: Duration) {
        self.rto = self.estimate.adapt(rtt);
        self.reset_backoff();
    }

    /// Returns the retransmission timeout with backoff, within the limits of the connection.
    pub fn rto(&self) -> Duration {
        let rto = if self.backoff_from_minimum {
            self.rto.max(self.min_rto) * self.backoff
        } else {
            (self.rto * self.backoff).max(self.min_rto)
        };
        Duration(rto.min(self.max_rto).max(self.estimate.shortest()))
    }

    /// Doubles the backoff factor after the timeout has expired, up to 64. If backoff also
    /// multiplies the smallest timeout, the factor grows further while the timeout is below its
    /// maximum. Above a factor of 8 the `ticks` estimator discards the smoothed RTT, since a path that
    /// stays silent for so long has probably changed.
    pub fn back_off(&mut self) {
        let unlimited = self.backoff_from_minimum && self.rto() < Duration(self.max_rto);
        if unlimited || self.backoff < MAX_BACKOFF {
            self.backoff *= 2;
        }
        if self.backoff > DISCARD_BACKOFF {
            self.estimate.discard_srtt();
        }
    }

    /// Ends the exponential backoff by setting its factor to 1.
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

    /// Starting from the initial RTT of 470 ms, one round-trip time of 170 ms gives a mean of 470 +
    /// 0.1 (170 - 470) = 440 ms and a deviation of 0.1 * 300 = 30 ms.
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

    /// The first round-trip time, 1 s, becomes the mean. The deviation starts at half of it, as RFC
    /// 2988 requires, and the same measurement, which equals the mean, reduces it by the gain of
    /// 0.1 to 450 ms. With further round-trip times of 0.1 s the timeout decays to its minimum.
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

    /// With an estimate of 0.13 s and a minimum of 1 s, successive timeouts are 1, 1, 1, 1.04 and 2.08 s
    /// until March 2002. Then ns-2 set its default `rfc2988_` to true, and they are 1, 2, 4, 8 and 16 s.
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

    /// ns-2 (`TcpAgent::rtt_backoff`) discards the smoothed RTT once `t_backoff_ > 8`: after the
    /// fourth doubling, not the third. Two round-trip times of 20 ticks are measured, one before
    /// and one after the backoff. If the first measurement is kept, the variation is 7.5 ticks and
    /// the timeout 20 + 30 ticks. If the first is discarded, the second is treated like a first
    /// one, and the timeout is 20 + 40 ticks.
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
