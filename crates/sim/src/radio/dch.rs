//! DCH: dedicated channels of one user (TS 25.211, 5.2; here as `wang` models them).

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::UserRadio;
use super::mac::harq::CombiningSpec;
use super::mac::sched::round_robin::Policy as RoundRobin;
use super::tti::{Air, Delivered, TtiBearer};
use crate::check::{Check, Checked};
use crate::rng::Streams;
use crate::units::{Duration, Probability, Size};

/// A user's dedicated channels. The defaults are Tables 5 and 10 of `wang`: 12 parallel channels
/// with one 40-byte PDU per 10 ms TTI each, 384 kbps together, and a retransmission 89 ms after the
/// end of the TTI that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dch {
    /// Parallel channels; each sends one block per TTI.
    pub channels: NonZeroU32,
    /// Transmission time interval.
    pub tti: Duration,
    /// Payload of a PDU. A packet is cut into whole PDUs; the last is padded, not shared.
    pub pdu_size: Size,
    /// PDUs in a block.
    pub pdus_per_tti: NonZeroU32,
    /// Block error rate.
    pub bler: Probability,
    /// From the beginning of a failed TTI until its block may be sent again, at a TTI boundary.
    pub retransmission_delay: Duration,
    /// Transmissions of a block before it is given up; unlimited when absent.
    pub max_transmissions: Option<NonZeroU32>,
    /// Order in which packets leave the bearer.
    pub delivery: Delivered,
    /// Packets that the buffer holds.
    pub buffer: NonZeroU32,
}

impl Default for Dch {
    fn default() -> Self {
        let count = |n| NonZeroU32::new(n).expect("a positive constant");
        Self {
            channels: count(12),
            tti: Duration::from_millis(10),
            pdu_size: Size(40),
            pdus_per_tti: count(1),
            bler: Probability(0.01),
            retransmission_delay: Duration::from_millis(99),
            max_transmissions: None,
            delivery: Delivered::InSequence,
            buffer: count(1000),
        }
    }
}

impl Checked for Dch {
    fn check(&self, check: &mut Check) {
        self.air().check(check);
    }
}

impl Dch {
    /// What the bearer does on the air. Each failed block is decoded anew: no combining.
    pub fn air(&self) -> Air {
        Air {
            channels: self.channels.get(),
            tti: self.tti,
            pdu_bytes: u32::try_from(self.pdu_size.0).unwrap_or(u32::MAX),
            pdus_per_block: self.pdus_per_tti.get(),
            bler: self.bler,
            retransmission_delay: self.retransmission_delay,
            max_transmissions: self.max_transmissions.map(NonZeroU32::get),
            delivered: self.delivery,
            buffer: self.buffer.get() as usize,
            combining: CombiningSpec::default(),
        }
    }

    /// The bearer of one user.
    pub fn build(&self, user: &UserRadio, streams: &Streams) -> TtiBearer {
        let fixed = UserRadio { id: user.id, ci: Vec::new() };
        TtiBearer::new(self.air(), &[fixed], Box::new(RoundRobin::default()), streams)
    }
}
