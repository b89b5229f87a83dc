//! Loss of listed packets.

use nodeb_base::check::Checked;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LossModel;

/// Parameters of a loss by list of packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossList {
    /// Positions of the packets to lose in the order of arrival, from 0.
    pub positions: Vec<u64>,
}

impl Checked for LossList {}

/// Loss of the packets at listed positions. Holds the positions not reached yet, in ascending
/// order.
#[derive(Debug)]
pub struct Listed {
    next: Option<u64>,
    rest: std::vec::IntoIter<u64>,
}

impl Listed {
    /// Creates a loss of exactly the packets at `positions`, given in any order.
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
