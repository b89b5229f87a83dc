use nodeb_base::check::{Check, Checked};
use nodeb_base::rng::Streams;
use nodeb_base::units::Probability;
use nodeb_net::loss::gilbert_elliott::{Chain, TwoStates};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hmm::HiddenMarkov;
use super::{ErrorParams, ErrorProcess};

/// Parameters of a Gilbert-Elliott channel, whose errors come in bursts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottErrors {
    /// Probability of a change from the good to the bad state after a step.
    pub p: Probability,
    /// Probability of a change from the bad to the good state after a step.
    pub r: Probability,
    /// Probability of an error in a step in the good state.
    #[serde(default)]
    pub error_in_good: Probability,
    /// Probability of an error in a step in the bad state.
    #[serde(default = "certain")]
    pub error_in_bad: Probability,
}

fn certain() -> Probability {
    Probability(1.0)
}

impl Checked for GilbertElliottErrors {
    fn check(&self, check: &mut Check) {
        check.require(self.r.0 > 0.0, "r", || {
            "the bad state never ends; expected a probability above 0".to_owned()
        });
        check.require(self.error_in_good.0 < 1.0, "error_in_good", || {
            "nothing arrives in the good state; expected a probability below 1".to_owned()
        });
    }
}

impl ErrorParams for GilbertElliottErrors {
    fn build(&self, streams: &Streams, user: u64, _steps: u32) -> Box<dyn ErrorProcess> {
        let chain = Chain { p: self.p, r: self.r, in_good: self.error_in_good, in_bad: self.error_in_bad };
        Box::new(TwoStates::new(chain, streams, "radio link", user, "errors"))
    }

    fn clean(&self, steps: u32) -> f64 {
        self.as_hidden_markov().clean(steps)
    }
}

impl GilbertElliottErrors {
    pub fn as_hidden_markov(&self) -> HiddenMarkov {
        let (p, r) = (self.p.0, self.r.0);
        HiddenMarkov {
            start: Vec::new(),
            transition: vec![vec![1.0 - p, p], vec![r, 1.0 - r]],
            error: vec![self.error_in_good, self.error_in_bad],
        }
    }
}

impl ErrorProcess for TwoStates {
    fn next_is_error(&mut self) -> bool {
        Self::next_is_error(self)
    }

    fn skip(&mut self, steps: u64) {
        Self::skip(self, steps);
    }
}
