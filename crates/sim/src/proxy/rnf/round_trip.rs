//! Without queueing, with the transmission time of a packet: with a smoothed round-trip time, a longer queue
//! would give a larger window, and so on without end.

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

#[derive(Clone, Debug)]
pub struct RoundTrip {
    spec: RoundTripSpec,
    least: Option<Duration>,
}

impl RoundTrip {
    pub fn new(spec: &RoundTripSpec) -> Self {
        Self { spec: spec.clone(), least: None }
    }

    /// Measured on data; a fixed estimate ignores it.
    pub fn sample(&mut self, rtt: Duration) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    /// `None` without samples.
    pub fn estimate(&self) -> Option<Duration> {
        match &self.spec {
            RoundTripSpec::Minimum(_) => self.least,
            RoundTripSpec::Fixed(fixed) => Some(fixed.value),
        }
    }
}
