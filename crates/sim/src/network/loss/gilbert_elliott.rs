//! Loss in bursts: a chain of two states, good and bad, each with a loss probability of its own
//! (Gilbert, "Capacity of a burst-noise channel", Bell Syst. Tech. J. 39, 1960, with a good state
//! without loss; Elliott, "Estimates of error rates for codes on burst-noise channels", Bell Syst.
//! Tech. J. 42, 1963, with loss in both).
//!
//! The state changes between packets, not with time. A share `p / (p + r)` of packets meets the
//! bad state, in runs of `1 / r` on average, and the loss is the states' losses so weighted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossModel, require_passage};
use crate::check::{Check, Checked};
use crate::rng::{ErrorGaps, Streams};
use crate::units::Probability;

/// Parameters of bursty loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability of going from the good to the bad state after a packet.
    pub p: Probability,
    /// Probability of going from the bad to the good state after a packet.
    pub r: Probability,
    /// Probability that a packet is lost in the good state.
    #[serde(default)]
    pub loss_in_good: Probability,
    /// Probability that a packet is lost in the bad state.
    #[serde(default = "certain")]
    pub loss_in_bad: Probability,
}

fn certain() -> Probability {
    Probability(1.0)
}

impl Checked for GilbertElliott {
    fn check(&self, check: &mut Check) {
        check.require(self.r.0 > 0.0, "r", || {
            "the bad state would never end; expected a probability above 0".to_owned()
        });
        require_passage(check, "loss_in_good", self.loss_in_good);
    }
}

impl GilbertElliott {
    /// Share of packets that are lost in the long run.
    pub fn mean_loss(&self) -> f64 {
        let (p, r) = (self.p.0, self.r.0);
        (r * self.loss_in_good.0 + p * self.loss_in_bad.0) / (p + r)
    }

    /// The chain of one link, begun in either state as often as it is in it.
    pub fn build(&self, streams: &Streams, entity: &str, index: u64) -> TwoStates {
        let gaps = |p: Probability, purpose| ErrorGaps::new(p.0, streams.stream(entity, index, purpose));
        let bad_share = self.p.0 / (self.p.0 + self.r.0);
        TwoStates {
            bad: streams.indexed(entity, index, "loss: first state").uniform(0) < bad_share,
            good_state: (gaps(self.loss_in_good, "loss: good"), gaps(self.p, "loss: good to bad")),
            bad_state: (gaps(self.loss_in_bad, "loss: bad"), gaps(self.r, "loss: bad to good")),
        }
    }
}

/// The chain. Losses and changes of state are drawn as gaps within each state.
#[derive(Debug)]
pub struct TwoStates {
    bad: bool,
    /// For each state its losses and the changes to the other.
    good_state: (ErrorGaps, ErrorGaps),
    bad_state: (ErrorGaps, ErrorGaps),
}

impl LossModel for TwoStates {
    fn loses(&mut self, _: u64) -> bool {
        let (losses, changes) = if self.bad { &mut self.bad_state } else { &mut self.good_state };
        let lost = losses.next_is_error();
        self.bad ^= changes.next_is_error();
        lost
    }
}
