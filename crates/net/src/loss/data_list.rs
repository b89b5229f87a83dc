//! Loss of data segments at listed positions, as in emulators that distinguish data segments from
//! other packets.

use nodeb_base::check::Checked;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LossModel;
use super::list::Listed;

/// Parameters of the loss of data segments at listed positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataList {
    /// Data segments to lose, by their positions in the order of arrival, retransmissions included, from 1.
    /// Position 0 is the first packet without data, which is the SYN of the data's sender.
    pub positions: Vec<u64>,
}

impl Checked for DataList {}

impl DataList {
    pub fn build(&self) -> ListedData {
        let (first, data): (Vec<u64>, Vec<u64>) = self.positions.iter().partition(|&&at| at == 0);
        ListedData { syn: !first.is_empty(), data: Listed::new(data), seen: 0 }
    }
}

#[derive(Debug)]
pub struct ListedData {
    syn: bool,
    data: Listed,
    seen: u64,
}

impl LossModel for ListedData {
    fn loses(&mut self, _: u64, payload: bool) -> bool {
        if !payload {
            return std::mem::take(&mut self.syn);
        }
        self.seen += 1;
        self.data.loses(self.seen, payload)
    }
}
