//! Estimate of the round-trip time without queueing, including the transmission time of a packet.
//!
//! The control law needs an estimate without the delay of the queue that it controls. With a smoothed round-trip
//! time, a longer queue would give a larger window, and the larger window a longer queue, without end.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::registry;
use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

registry! {
    /// Estimate of the round-trip time, as a scenario names it.
    "round trip" RoundTripSpec = Minimum {
        /// Smallest round-trip time that TCP has measured between proxy and phone.
        "minimum" => Minimum(Minimum),
        /// A constant round-trip time, set in the scenario.
        "fixed" => Fixed(Fixed),
    }
}

params! {
    /// Minimum of the measured round-trip times; it has no parameters.
    #[derive(Copy, Eq)]
    pub struct Minimum {}
}

impl Checked for Minimum {}

/// Parameters of a constant estimate of the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// Round-trip time between proxy and phone without queueing.
    pub value: Duration,
}

impl Checked for Fixed {}

/// Estimate of the round-trip time of one connection, fixed or the minimum of samples.
#[derive(Clone, Debug)]
pub struct RoundTrip {
    spec: RoundTripSpec,
    least: Option<Duration>,
}

impl RoundTrip {
    /// Creates an estimate of the kind `spec` that has no samples yet.
    pub fn new(spec: &RoundTripSpec) -> Self {
        Self { spec: spec.clone(), least: None }
    }

    /// Adds a round-trip time that TCP has measured on data. A fixed estimate ignores it.
    pub fn sample(&mut self, rtt: Duration) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    /// Returns the estimate, or `None` if it is the minimum of the samples and there are no samples.
    pub fn estimate(&self) -> Option<Duration> {
        match &self.spec {
            RoundTripSpec::Minimum(_) => self.least,
            RoundTripSpec::Fixed(fixed) => Some(fixed.value),
        }
    }
}
