//! What the proxy takes for the round trip of a packet that waits nowhere, its transmission included.
//!
//! The law needs an estimate that its own queue does not enter: a smoothed round trip would grow with
//! the queue, and the window with it, without end.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::registry;
use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

registry! {
    /// The estimate of the round trip, as a scenario names it.
    "round trip" RoundTripSpec = Minimum {
        /// The least that TCP has measured between proxy and phone.
        "minimum" => Minimum(Minimum),
        /// A given time, right or wrong.
        "fixed" => Fixed(Fixed),
    }
}

params! {
    /// The least round trip has no parameters.
    #[derive(Copy, Eq)]
    pub struct Minimum {}
}

impl Checked for Minimum {}

/// A given round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// The round trip.
    pub value: Duration,
}

impl Checked for Fixed {}

/// What one connection knows of its round trip.
#[derive(Clone, Debug)]
pub struct RoundTrip {
    spec: RoundTripSpec,
    least: Option<Duration>,
}

impl RoundTrip {
    /// Nothing is known but what is given.
    pub fn new(spec: &RoundTripSpec) -> Self {
        Self { spec: spec.clone(), least: None }
    }

    /// Takes a round trip that TCP has measured on data.
    pub fn sample(&mut self, rtt: Duration) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    /// The estimate, if there is one.
    pub fn estimate(&self) -> Option<Duration> {
        match &self.spec {
            RoundTripSpec::Minimum(_) => self.least,
            RoundTripSpec::Fixed(fixed) => Some(fixed.value),
        }
    }
}
