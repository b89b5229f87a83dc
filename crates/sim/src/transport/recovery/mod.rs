//! What a classic TCP variant does about loss.

pub mod newreno;

use super::sender::Transmission;
use crate::packet::Packet;
use crate::registry;
use crate::units::Time;

/// The policy of one variant. The machine it steers is [`Transmission`].
pub trait Recovery: Send + std::fmt::Debug {
    /// An ACK for segments not acknowledged before, everything below `acked`.
    fn on_new_ack(&mut self, tx: &mut Transmission, now: Time, acked: u64, out: &mut Vec<Packet>);
    /// The third or a later duplicate ACK in a row.
    fn on_dupack(&mut self, tx: &mut Transmission, now: Time, out: &mut Vec<Packet>);
    /// The retransmission timer has expired; the machine goes back to `una` by itself.
    fn on_timeout(&mut self, tx: &mut Transmission);
    /// Segments by which duplicate ACKs inflate the window.
    fn inflation(&self) -> u64;
    /// How many segments may be sent now that an ACK has been processed; `None` for none.
    fn burst_limit(&self, tx: &Transmission) -> Option<u64>;
}

registry! {
    /// The TCP variant, as a scenario names it.
    "control" ControlSpec {
        /// NewReno (RFC 6582): stays in fast recovery until the whole window is acknowledged.
        "newreno" => NewReno(newreno::NewReno),
    }
}

impl Default for ControlSpec {
    fn default() -> Self {
        Self::NewReno(newreno::NewReno::default())
    }
}

impl ControlSpec {
    /// The policy in its initial state.
    pub fn build(&self) -> Box<dyn Recovery> {
        match self {
            Self::NewReno(_) => Box::new(newreno::Policy::default()),
        }
    }
}
