//! RLC above MAC-hs: a user's packets from the RNC to the phone.
//!
//! RLC ends at the RNC. It hands over units, which are PDUs or octets of PDUs, with numbers that
//! never wrap. Without an Iub, RLC hands units over to the block that is being filled. With an Iub,
//! it hands them over to the Iub, as far as credits allow. MAC-hs reports for each range of units
//! whether it has arrived.

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
    /// RLC mode above MAC-hs, as a scenario names it.
    "RLC mode" RlcModeSpec = Um {
        /// Unacknowledged mode: packets are lost with blocks that MAC-hs gives up.
        "um" => Um(um::UnacknowledgedMode),
        /// Acknowledged mode (TS 25.322): PDUs that MAC-hs gives up are retransmitted.
        "am" => Am(AcknowledgedMode),
    }
}

/// Final outcome of a packet: it has arrived or is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet has arrived completely at the phone.
    Arrived(Packet),
    /// A part of the packet was lost, or the packet was discarded.
    Lost(Packet),
}

/// RLC of one user, which contains the user's packets until they are delivered or lost.
#[derive(Debug)]
pub enum Packets {
    /// Unacknowledged mode, with the packets in this mode.
    Um(um::Unacknowledged),
    /// Acknowledged mode, with the packets in this mode.
    Am(Box<am::Acknowledged>),
}

impl RlcModeSpec {
    /// Returns the smallest portion that the RNC must be able to hand over at a time: a PDU with a
    /// payload of `pdu_size`, in acknowledged mode with its header.
    pub fn smallest_portion(&self, pdu_size: Size) -> Size {
        match self {
            Self::Um(_) => pdu_size,
            Self::Am(_) => Size(pdu_size.0 + RLC_HEADER),
        }
    }

    /// Returns true if the RLC mode has timers. Acknowledged mode always has timers; unacknowledged
    /// mode has them only if a discard timer is set.
    pub fn has_timers(&self) -> bool {
        match self {
            Self::Um(params) => params.discard_timer.is_some(),
            Self::Am(_) => true,
        }
    }

    /// Reports invalid values, and PDUs that are too small for a status report in acknowledged
    /// mode.
    pub fn check_for(&self, pdu_size: Size, check: &mut Check) {
        check.within("rlc", |check| self.check(check));
        let least = u64::from(status::SMALLEST_PDU_BYTES) - RLC_HEADER;
        check.require(matches!(self, Self::Um(_)) || pdu_size.0 >= least, "pdu_size", || {
            format!("no status report fits into a PDU of {pdu_size}; expected at least {least} B with `am`")
        });
    }

    /// Returns the RLC of user `id`, whose buffer holds `buffer` packets.
    pub fn build(&self, payload: Payload, buffer: usize, id: u64, streams: &Streams) -> Packets {
        match self {
            Self::Um(params) => Packets::Um(um::Unacknowledged::new(params, payload, buffer)),
            Self::Am(params) => {
                Packets::Am(Box::new(am::Acknowledged::new(params, payload, buffer, id, streams)))
            }
        }
    }
}

/// Calls a method of the RLC mode that is in use, on the packets in that mode.
macro_rules! in_mode {
    ($packets:ident.$method:ident($($argument:expr),*)) => {
        match $packets {
            Self::Um(packets) => packets.$method($($argument),*),
            Self::Am(packets) => packets.$method($($argument),*),
        }
    };
}

impl Packets {
    /// Accepts a packet that may be sent from TTI `since`. Returns false if the buffer is full.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        in_mode!(self.push(now, packet, since))
    }

    /// Returns the number of units that the RNC could hand over now. In acknowledged mode, the
    /// number is an upper bound.
    pub fn waiting(&self) -> u64 {
        in_mode!(self.waiting())
    }

    /// Hands over at most `most` units from the RNC. Returns the number of units handed over.
    pub fn take(&mut self, now: Time, most: u64) -> u64 {
        in_mode!(self.take(now, most))
    }

    /// Hands over `units` units from the RNC, or fewer if RLC cannot send so many now. Acknowledged
    /// mode rounds `units` up to whole PDUs. Returns the number of units handed over.
    pub fn take_for(&mut self, now: Time, units: u64) -> u64 {
        match self {
            Self::Um(packets) => packets.take(now, units),
            Self::Am(packets) => packets.take(now, units.next_multiple_of(packets.pdu_units())),
        }
    }

    /// Puts the next `units` units that were handed over into a block. Returns the numbers of these
    /// units.
    pub fn send(&mut self, units: u64) -> Range<u64> {
        in_mode!(self.send(units))
    }

    /// Returns the parts of packets that `units` carry; these units must have been sent already.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        in_mode!(self.carried(units))
    }

    /// Records that `units` were received or lost. Calls `decided` with each packet that is
    /// complete or lost as a result.
    pub fn settle(&mut self, now: Time, units: Range<u64>, lost: bool, decided: impl FnMut(Fate)) {
        in_mode!(self.settle(now, units, lost, decided));
    }

    /// Returns the TTI since which the next packet to be sent has waited, or `None` if no packet
    /// waits or, in acknowledged mode, the next PDU is a command.
    pub fn waits_since(&self) -> Option<u64> {
        in_mode!(self.waits_since())
    }

    /// Returns the number and bytes of the packets that are neither delivered nor lost.
    pub fn backlog(&self) -> Backlog {
        in_mode!(self.backlog())
    }

    /// Returns the time at which [`Self::on_time`] must be called next, or `None` if no timer runs.
    pub fn due(&self) -> Option<Time> {
        in_mode!(self.due())
    }

    /// Handles the timers and status reports that are due until `now`. Calls `decided` with each
    /// packet that is complete or lost as a result.
    pub fn on_time(&mut self, now: Time, decided: impl FnMut(Fate)) {
        in_mode!(self.on_time(now, decided));
    }
}
