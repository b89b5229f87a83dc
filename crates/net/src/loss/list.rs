//! Loss of the packets at listed positions in the order of arrival.

use nodeb_base::check::Checked;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LossModel;

/// Parameters of the loss of packets at listed positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossList {
    /// Packets to lose, by their positions in the order of arrival, from 0.
    pub positions: Vec<u64>,
}

impl Checked for LossList {}

/// The positions not reached yet are kept in ascending order.
#[derive(Debug)]
pub struct Listed {
    next: Option<u64>,
    rest: std::vec::IntoIter<u64>,
}

impl Listed {
    /// Counted from 0, in any order.
    pub fn new(mut positions: Vec<u64>) -> Self {
        positions.sort_unstable();
        positions.dedup();
        let mut rest = positions.into_iter();
        Self { next: rest.next(), rest }
    }
}

impl LossModel for Listed {
    fn loses(&mut self, position: u64, _: bool) -> bool {
        let hit = self.next == Some(position);
        if hit {
            self.next = self.rest.next();
        }
        hit
    }
}
