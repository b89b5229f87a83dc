use nodeb_base::registry;

use crate::pdcp::{SnLength, Transmit};
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

// Clause: TS 36.321, 6.1.2: MAC headers and padding
// Simplified: every subheader has three octets
/// Octets of the MAC subheader of a PDU of 128 octets or more (TS 36.321, 6.1.2), counted for all PDUs.
pub const SUBHEADER: u32 = 3;

impl LteRlcSpec {
    pub fn build(&self, sn_length: SnLength, transmit: Transmit) -> Entity {
        let framing = Framing::new(sn_length, SUBHEADER);
        match self {
            Self::Um(params) => Entity::um(params, framing, transmit),
            Self::Am(params) => Entity::am(params, framing, transmit),
        }
    }
}
