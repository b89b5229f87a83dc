//! RLC: a user's packets cut into PDUs, and put together again.
//!
//! The simple ARQ is a buffer at the Node B that the TTI bearer repeats failed blocks from. The
//! other modes are protocols with two ends and a way back between them: [`Peers`].

pub mod am;
pub mod arq;
pub mod reassembly;
pub mod sdu_buffer;
pub mod segmentation;
pub mod slotted;

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
    /// A packet waits until all before it are complete.
    #[default]
    InSequence,
    /// A packet leaves as soon as it is complete.
    OutOfSequence,
}

registry! {
    /// How RLC sees to it that PDUs arrive, as a scenario names it.
    "rlc" RlcSpec = Arq {
        /// A failed block goes again after a fixed delay: no headers, windows or reports.
        "arq" => Arq(arq::Arq),
        /// Acknowledged mode (TS 25.322): windows, polling, STATUS reports, discard and reset.
        "am" => Am(am::AcknowledgedMode),
        /// A window of places, each repeated until it is right, and reports of a few PDUs together.
        "slotted" => Slotted(slotted::Slotted),
    }
}

impl RlcSpec {
    /// Returns true if failed blocks go again after a fixed delay.
    pub fn repeats_blocks(&self) -> bool {
        matches!(self, Self::Arq(_))
    }

    /// Reports impossible values, and what does not go with PDUs of `pdu_bytes`.
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

/// Both ends of one user's RLC, with the way back between them.
pub trait Peers: Send + std::fmt::Debug {
    /// What goes over the air.
    type Pdu: Send + std::fmt::Debug;
    /// Takes a packet; `false` means that the buffer is full.
    fn push(&mut self, now: Time, packet: Packet) -> bool;
    /// Whether there is something to send.
    fn is_ready(&self) -> bool;
    /// The next PDU to send.
    fn send(&mut self, now: Time) -> Option<Self::Pdu>;
    /// The parts of packets that a PDU carries.
    fn carried(&self, pdu: &Self::Pdu) -> Vec<Part>;
    /// A PDU arrives at the phone, intact or not.
    fn arrive(&mut self, now: Time, pdu: Self::Pdu, intact: bool);
    /// When [`Self::on_time`] must be called next.
    fn due(&self) -> Option<Time>;
    /// Does what is due by `now`.
    fn on_time(&mut self, now: Time);
    /// The packets that have been taken, and what has become of them.
    fn sdus(&mut self) -> &mut SduBuffer;
    /// Packets and bytes that have neither been delivered nor dropped.
    fn backlog(&self) -> Backlog;
}
