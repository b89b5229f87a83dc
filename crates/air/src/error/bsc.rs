use nodeb_base::check::{Check, Checked};
use nodeb_base::rng::{ErrorGaps, Streams};
use nodeb_base::units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ErrorParams, ErrorProcess};

/// Parameters of independent errors, which have the same probability in every step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndependentErrors {
    /// Probability of an error in a step of the process.
    pub error_rate: Probability,
}

impl Checked for IndependentErrors {
    fn check(&self, check: &mut Check) {
        check.require(self.error_rate.0 < 1.0, "error_rate", || {
            "with a rate of 1 nothing ever arrives; expected a probability below 1".to_owned()
        });
    }
}

impl ErrorParams for IndependentErrors {
    fn build(&self, streams: &Streams, user: u64, _steps: u32) -> Box<dyn ErrorProcess> {
        Box::new(ErrorGaps::new(self.error_rate.0, streams.stream("radio link", user, "errors")))
    }

    fn clean(&self, steps: u32) -> f64 {
        libm::pow(1.0 - self.error_rate.0, f64::from(steps))
    }
}

impl ErrorProcess for ErrorGaps {
    fn next_is_error(&mut self) -> bool {
        Self::next_is_error(self)
    }

    /// Steps are independent.
    fn skip(&mut self, _: u64) {}
}
