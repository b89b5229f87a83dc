//! Loss of each packet with the same probability, independently of the others.

use nodeb_base::check::{Check, Checked};
use nodeb_base::rng::ErrorGaps;
use nodeb_base::units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossModel, require_passage};

/// Parameters of independent loss, which has the same probability for every packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomLoss {
    /// Probability that a packet is lost.
    pub p: Probability,
}

impl Checked for RandomLoss {
    fn check(&self, check: &mut Check) {
        require_passage(check, "p", self.p);
    }
}

impl LossModel for ErrorGaps {
    fn loses(&mut self, _: u64, _: bool) -> bool {
        self.next_is_error()
    }
}
