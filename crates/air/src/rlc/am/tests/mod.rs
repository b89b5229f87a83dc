mod properties;
mod timelines;

use nodeb_base::rng::Streams;

use super::params::AcknowledgedMode;
use super::pdu::{Data, Pdu};
use super::{Entities, Setting};
use crate::rlc::Delivered;
use crate::rlc::testing::Air;

fn params(text: &str) -> AcknowledgedMode {
    toml::from_str(text).unwrap()
}

/// PDUs of 12 bytes, of which 10 are payload.
fn entities(params: &AcknowledgedMode, order: Delivered, seed: u64) -> Entities {
    let setting = Setting { pdu_bytes: 12, buffer: 1_000, order };
    params.build(setting, 0, &Streams::new(seed, 0))
}

impl Air<Entities> {
    /// Time in ms, number and poll bit.
    fn data(&self) -> Vec<(u64, u64, bool)> {
        let of_data = |(at, pdu): &(u64, Pdu)| match pdu {
            Pdu::Data(Data { sn, poll, .. }) => Some((*at, *sn, *poll)),
            Pdu::Command(_) => None,
        };
        self.sent.iter().filter_map(of_data).collect()
    }
}
