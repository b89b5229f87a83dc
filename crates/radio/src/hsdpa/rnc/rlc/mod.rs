//! RLC above MAC-hs: a user's packets from the RNC to the phone.
//!
//! RLC ends at the RNC. It hands over units, which are PDUs or octets of them and are numbered
//! without end: to the Iub as there are credits or, without an Iub, to the block that is being filled.
//! MAC-hs says of each range of units whether it has arrived.

pub mod am;
pub mod um;

use std::ops::Range;

use nodeb_base::check::Check;
use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::registry;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Size, Time};

use crate::Backlog;
use crate::hsdpa::payload::{Payload, RLC_HEADER};
use crate::rlc::am::{AcknowledgedMode, status};

registry! {
    /// RLC above MAC-hs, as a scenario names it.
    "RLC mode" RlcModeSpec = Um {
        /// Unacknowledged mode: what MAC-hs gives up costs its packets.
        "um" => Um(um::UnacknowledgedMode),
        /// Acknowledged mode (TS 25.322): what MAC-hs gives up goes again.
        "am" => Am(AcknowledgedMode),
    }
}

/// What has become of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is complete at the phone.
    Arrived(Packet),
    /// Something of it was lost, or it was discarded.
    Lost(Packet),
}

/// The packets of a user that are neither delivered nor lost.
#[derive(Debug)]
pub enum Packets {
    /// In unacknowledged mode.
    Um(um::Unacknowledged),
    /// In acknowledged mode.
    Am(Box<am::Acknowledged>),
}

impl RlcModeSpec {
    /// Octets that the RNC hands over at least at a time, for PDUs with `pdu_size` of payload.
    pub fn smallest_portion(&self, pdu_size: Size) -> Size {
        match self {
            Self::Um(_) => pdu_size,
            Self::Am(_) => Size(pdu_size.0 + RLC_HEADER),
        }
    }

    /// Whether something falls due in it at times of its own.
    pub fn has_timers(&self) -> bool {
        match self {
            Self::Um(params) => params.discard_timer.is_some(),
            Self::Am(_) => true,
        }
    }

    /// Reports impossible values, and PDUs that are too small.
    pub fn check_for(&self, pdu_size: Size, check: &mut Check) {
        check.within("rlc", |check| self.check(check));
        let least = u64::from(status::SMALLEST_PDU_BYTES) - RLC_HEADER;
        check.require(matches!(self, Self::Um(_)) || pdu_size.0 >= least, "pdu_size", || {
            format!("no status report fits into a PDU of {pdu_size}; expected at least {least} B with `am`")
        });
    }

    /// RLC of user number `id`, whose buffer holds `buffer` packets.
    pub fn build(&self, payload: Payload, buffer: usize, id: u64, streams: &Streams) -> Packets {
        match self {
            Self::Um(params) => Packets::Um(um::Unacknowledged::new(params, payload, buffer)),
            Self::Am(params) => {
                Packets::Am(Box::new(am::Acknowledged::new(params, payload, buffer, id, streams)))
            }
        }
    }
}

/// The same of the packets in whatever mode.
macro_rules! in_mode {
    ($packets:ident.$method:ident($($argument:expr),*)) => {
        match $packets {
            Self::Um(packets) => packets.$method($($argument),*),
            Self::Am(packets) => packets.$method($($argument),*),
        }
    };
}

impl Packets {
    /// Takes a packet that may be sent from TTI number `since` on; `false` means that the buffer is full.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        in_mode!(self.push(now, packet, since))
    }

    /// Units that the RNC could hand over: all there are, and at most a few more.
    pub fn waiting(&self) -> u64 {
        in_mode!(self.waiting())
    }

    /// The RNC hands over at most `most` units; how many.
    pub fn take(&mut self, now: Time, most: u64) -> u64 {
        in_mode!(self.take(now, most))
    }

    /// The RNC hands over at least `units`, if it has as many, and no more than PDUs being whole asks for.
    pub fn take_for(&mut self, now: Time, units: u64) -> u64 {
        match self {
            Self::Um(packets) => packets.take(now, units),
            Self::Am(packets) => packets.take(now, units.next_multiple_of(packets.pdu_units())),
        }
    }

    /// The next `units` of what has been handed over, to be sent.
    pub fn send(&mut self, units: u64) -> Range<u64> {
        in_mode!(self.send(units))
    }

    /// The parts of packets that units carry which have been sent.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        in_mode!(self.carried(units))
    }

    /// Units have been received or lost; hands over whose fate this decides.
    pub fn settle(&mut self, now: Time, units: Range<u64>, lost: bool, decided: impl FnMut(Fate)) {
        in_mode!(self.settle(now, units, lost, decided));
    }

    /// The TTI since which the packet waits that is sent next.
    pub fn waits_since(&self) -> Option<u64> {
        in_mode!(self.waits_since())
    }

    /// Packets and bytes whose fate is open.
    pub fn backlog(&self) -> Backlog {
        in_mode!(self.backlog())
    }

    /// When [`Self::on_time`] must be called next.
    pub fn due(&self) -> Option<Time> {
        in_mode!(self.due())
    }

    /// Does what is due by `now`; hands over the packets that it discards.
    pub fn on_time(&mut self, now: Time, decided: impl FnMut(Fate)) {
        in_mode!(self.on_time(now, decided));
    }
}
