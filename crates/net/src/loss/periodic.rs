//! Loss of every n-th packet that arrives at a link.

use std::num::NonZeroU64;

use nodeb_base::check::{Check, Checked};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LossModel;

/// Parameters of periodic loss, which loses one of every `every` packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeriodicLoss {
    /// Period of the loss in packets: one packet in this many is lost.
    pub every: NonZeroU64,
    /// Position of the first packet lost in the order of arrival, from 0.
    #[serde(default)]
    pub offset: u64,
}

impl Checked for PeriodicLoss {
    fn check(&self, check: &mut Check) {
        check.require(self.every.get() > 1, "every", || {
            "with a loss of every packet none passes; expected at least 2".to_owned()
        });
    }
}

impl LossModel for PeriodicLoss {
    fn loses(&mut self, position: u64, _: bool) -> bool {
        position.checked_sub(self.offset).is_some_and(|since| since.is_multiple_of(self.every.get()))
    }
}
