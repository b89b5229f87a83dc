use nodeb_base::registry;

use crate::pdcp::Transmit;
use crate::rlc::bytes::am::AmBytes;
use crate::rlc::bytes::um::UmBytes;
use crate::rlc::bytes::{Entity, Framing};

registry! {
    /// RLC mode on LTE, as in a scenario.
    "LTE RLC mode" LteRlcSpec = Am {
        /// Unacknowledged mode (TS 36.322, 5.1.2): packets are lost with blocks that HARQ gives up.
        "um" => Um(UmBytes),
        /// Acknowledged mode (TS 36.322, 5.1.3): octets that HARQ gives up are retransmitted.
        "am" => Am(AmBytes),
    }
}

impl LteRlcSpec {
    pub fn build(&self, framing: Framing, transmit: Transmit) -> Entity {
        match self {
            Self::Um(params) => Entity::um(params, framing, transmit),
            Self::Am(params) => Entity::am(params, framing, transmit),
        }
    }
}
