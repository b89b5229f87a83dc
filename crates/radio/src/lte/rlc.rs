use nodeb_air::UserRadio;
use nodeb_air::mac::multiplexing::{ChannelRules, LogicalChannels};
use nodeb_air::pdcp::{SnLength, Transmit};
use nodeb_air::rlc::lte::{Framing, LteRlcSpec};
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Rate};
use nodeb_net::QueueSpec;

use super::reports::TTI;

// Clause: TS 36.321, 6.1.2: MAC headers and padding
// Simplified: every subheader has three octets
/// Octets of the MAC subheader of a PDU of 128 octets or more (TS 36.321, 6.1.2), counted for all PDUs.
pub const SUBHEADER: u32 = 3;

/// Queue, PDCP and RLC of each bearer in one direction.
#[derive(Clone, Debug)]
pub struct Layer2 {
    /// Of bearers without one of their own.
    pub rlc: LteRlcSpec,
    pub sn_length: SnLength,
    /// `None` if packets are never discarded.
    pub discard_timer: Option<Duration>,
    pub queue: QueueSpec,
    /// For queues that compute their parameters from it.
    pub peak_rate: Rate,
}

impl Layer2 {
    /// `purpose` is that of the queues' random numbers.
    pub fn build(&self, user: &UserRadio, streams: &Streams, purpose: &str) -> LogicalChannels {
        let framing = Framing::new(self.sn_length, SUBHEADER);
        LogicalChannels::new(user.bearers.iter().enumerate().map(|(number, bearer)| {
            let purpose = if number == 0 { purpose.to_owned() } else { format!("{purpose} {number}") };
            let queue = self.queue.build(self.peak_rate, streams.stream("user", user.id, &purpose));
            let rlc = bearer.rlc.as_ref().unwrap_or(&self.rlc);
            let entity = rlc.build(framing, Transmit::new(queue, self.discard_timer));
            (ChannelRules::new(bearer, TTI), entity)
        }))
    }
}
