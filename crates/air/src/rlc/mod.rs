//! The simple ARQ is only a [`Buffer`] at the Node B, from which the MAC retransmits failed blocks. [`am`]
//! and [`slotted`] are protocols with an entity at the sender, one in the phone, and feedback between them:
//! [`RlcPair`]. [`umts`] is the RLC above MAC-hs, and [`lte`] that of LTE, whose PDUs have any number of
//! bytes.

pub mod am;
pub mod arq;
pub mod lte;
pub mod reassembly;
pub mod sdu_buffer;
pub mod segmentation;
pub mod slotted;
pub mod umts;

#[cfg(test)]
mod testing;

pub use arq::{Buffer, FailedBlock};

use nodeb_base::check::Check;
use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::registry;
use nodeb_base::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Backlog;
use sdu_buffer::SduBuffer;

/// Order in which packets leave a bearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivered {
    /// A packet waits until each earlier one is delivered or dropped.
    #[default]
    InSequence,
    /// A packet leaves as soon as it is complete.
    OutOfSequence,
}

registry! {
    /// RLC mode of DCH and HS-DSCH with its parameters, as given in a scenario.
    "rlc" RlcSpec = Arq {
        /// Failed blocks are retransmitted after a fixed delay: no headers, windows or reports.
        "arq" => Arq(arq::Arq),
        /// Acknowledged mode (TS 25.322): windows, polling, STATUS reports, discard and reset.
        "am" => Am(am::AcknowledgedMode),
        /// A window of slots, in which each PDU is retransmitted in its slot until it is received.
        "slotted" => Slotted(slotted::Slotted),
    }
}

impl RlcSpec {
    /// After a fixed delay: the simple ARQ only.
    pub fn retransmits_blocks(&self) -> bool {
        matches!(self, Self::Arq(_))
    }

    /// PDUs may be too small for the mode.
    pub fn check_for(&self, pdu_bytes: u32, check: &mut Check) {
        check.within("rlc", |check| self.check(check));
        let (least, header) = match self {
            Self::Arq(_) => (1, 0),
            Self::Am(_) => (am::status::SMALLEST_PDU_BYTES, u64::from(am::pdu::HEADER_BYTES)),
            Self::Slotted(params) => (1, params.header.0),
        };
        let fits = pdu_bytes >= least && u64::from(pdu_bytes) > header;
        check.require(fits, "pdu_size", || {
            format!(
                "a PDU of {pdu_bytes} B is too small for `{}`; expected at least {} B",
                self.key(),
                u64::from(least).max(header + 1)
            )
        });
    }
}

pub trait RlcPair: std::fmt::Debug {
    /// With user data or commands.
    type Pdu: std::fmt::Debug;
    /// False if the buffer is full.
    fn push(&mut self, now: Time, packet: Packet) -> bool;
    fn is_ready(&self) -> bool;
    fn send(&mut self, now: Time) -> Option<Self::Pdu>;
    /// A PDU without user data carries none.
    fn carried(&self, pdu: &Self::Pdu) -> Vec<Part>;
    /// Not `intact`: in error, its contents are lost.
    fn arrive(&mut self, now: Time, pdu: Self::Pdu, intact: bool);
    fn due(&self) -> Option<Time>;
    fn on_time(&mut self, now: Time);
    /// Also has the packets delivered and dropped.
    fn sdus(&mut self) -> &mut SduBuffer;
    fn backlog(&self) -> Backlog;
}
