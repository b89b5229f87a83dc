//! Loss in bursts: a Markov chain of two states, good and bad, each with its own loss probability (Gilbert,
//! "Capacity of a burst-noise channel", Bell Syst. Tech. J. 39, 1960, with a good state without loss;
//! Elliott, "Estimates of error rates for codes on burst-noise channels", Bell Syst. Tech. J. 42, 1963, with
//! loss in both).
//!
//! The state changes from packet to packet, not with time. A share `p / (p + r)` of packets is in the bad
//! state, in runs of `1 / r` packets on average. The mean loss is the average of the states' losses, weighted
//! by their shares.

use nodeb_base::check::{Check, Checked};
use nodeb_base::rng::{ErrorGaps, Stream, Streams, uniform};
use nodeb_base::units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossModel, require_passage};

/// Parameters of bursty loss by a model with a good and a bad state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability of a change from the good to the bad state after a packet.
    pub p: Probability,
    /// Probability of a change from the bad to the good state after a packet.
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
    pub fn mean_loss(&self) -> f64 {
        let (p, r) = (self.p.0, self.r.0);
        (r * self.loss_in_good.0 + p * self.loss_in_bad.0) / (p + r)
    }

    pub fn build(&self, streams: &Streams, entity: &str, index: u64) -> TwoStates {
        let chain = Chain { p: self.p, r: self.r, in_good: self.loss_in_good, in_bad: self.loss_in_bad };
        TwoStates::new(chain, streams, entity, index, "loss")
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// From the good to the bad state, per step.
    pub p: Probability,
    /// From the bad to the good state, per step.
    pub r: Probability,
    pub in_good: Probability,
    pub in_bad: Probability,
}

impl Chain {
    /// In the long run: p / (p + r).
    pub fn bad_share(&self) -> f64 {
        self.p.0 / (self.p.0 + self.r.0)
    }
}

#[derive(Debug)]
pub struct TwoStates {
    bad: bool,
    chain: Chain,
    good_state: (ErrorGaps, ErrorGaps),
    bad_state: (ErrorGaps, ErrorGaps),
    skips: Stream,
}

impl TwoStates {
    pub fn new(chain: Chain, streams: &Streams, entity: &str, index: u64, what: &str) -> Self {
        let stream = |purpose| streams.stream(entity, index, &format!("{what}: {purpose}"));
        let gaps = |p: Probability, purpose| ErrorGaps::new(p.0, stream(purpose));
        let first = streams.indexed(entity, index, &format!("{what}: first state")).uniform(0);
        Self {
            bad: first < chain.bad_share(),
            chain,
            good_state: (gaps(chain.in_good, "good"), gaps(chain.p, "good to bad")),
            bad_state: (gaps(chain.in_bad, "bad"), gaps(chain.r, "bad to good")),
            skips: stream("skips"),
        }
    }

    pub fn next_is_error(&mut self) -> bool {
        let (errors, changes) = if self.bad { &mut self.bad_state } else { &mut self.good_state };
        let error = errors.next_is_error();
        self.bad ^= changes.next_is_error();
        error
    }

    /// Takes `steps` steps without drawing their errors. After `k` steps the chain is in the bad
    /// state with probability `b + (s - b) (1 - p - r)^k`. Here b is the long-run share of the bad
    /// state; s is 1 if the chain was in the bad state before the steps, and 0 otherwise.
    pub fn skip(&mut self, steps: u64) {
        if steps > 0 {
            let share = self.chain.bad_share();
            let memory = libm::pow(1.0 - self.chain.p.0 - self.chain.r.0, steps as f64);
            self.bad = uniform(&mut self.skips) < share + (f64::from(self.bad) - share) * memory;
        }
    }
}

impl LossModel for TwoStates {
    fn loses(&mut self, _: u64, _: bool) -> bool {
        self.next_is_error()
    }
}
