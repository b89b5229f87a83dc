use nodeb_base::registry;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Duration, Rate};
use nodeb_net::QueueSpec;

use nodeb_air::pdcp::{SnLength, Transmit};
use nodeb_air::rlc::lte::am::LteAm;
use nodeb_air::rlc::lte::um::LteUm;
use nodeb_air::rlc::lte::{Entity, Framing};

registry! {
    /// RLC mode on LTE, as in a scenario.
    "LTE RLC mode" LteRlcSpec = Am {
        /// Unacknowledged mode (TS 36.322, 5.1.2): packets are lost with blocks that HARQ gives up.
        "um" => Um(LteUm),
        /// Acknowledged mode (TS 36.322, 5.1.3): octets that HARQ gives up are retransmitted.
        "am" => Am(LteAm),
    }
}

// Clause: TS 36.321, 6.1.2: MAC headers and padding
// Simplified: every subheader has three octets
/// Octets of the MAC subheader of a PDU of 128 octets or more (TS 36.321, 6.1.2), counted for all PDUs.
pub const SUBHEADER: u32 = 3;

/// Queue, PDCP and RLC of each user in one direction.
#[derive(Clone, Debug)]
pub struct Layer2 {
    pub rlc: LteRlcSpec,
    pub sn_length: SnLength,
    /// `None` if packets are never discarded.
    pub discard_timer: Option<Duration>,
    pub queue: QueueSpec,
    /// For queues that compute their parameters from it.
    pub peak_rate: Rate,
}

impl Layer2 {
    /// `stream` is the queue's.
    pub fn build(&self, stream: Stream) -> Entity {
        let framing = Framing::new(self.sn_length, SUBHEADER);
        let transmit = Transmit::new(self.queue.build(self.peak_rate, stream), self.discard_timer);
        match &self.rlc {
            LteRlcSpec::Um(params) => Entity::um(params, framing, transmit),
            LteRlcSpec::Am(params) => Entity::am(params, framing, transmit),
        }
    }
}
