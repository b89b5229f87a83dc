//! What a classic TCP variant does about loss.

pub mod newreno;
pub mod reno;
pub mod sack;
pub mod tahoe;

use nodeb_base::registry;
use nodeb_base::units::Time;

use super::era::Era;
use super::sender::{DUPACK_THRESHOLD, Transmission};
use crate::segment::{SackBlocks, Segment};

/// An ACK as a recovery sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Highest segment received in order.
    pub number: u64,
    /// Segments received beyond it.
    pub sack: &'a SackBlocks,
}

impl Ack<'_> {
    /// One past the highest segment received in order.
    pub fn acked(&self) -> u64 {
        self.number + 1
    }
}

/// The loss recovery of one variant. The machine it steers is [`Transmission`].
pub trait Recovery: Send + std::fmt::Debug {
    /// Takes an ACK; returns how many segments the window may let out now, `None` for none.
    fn on_ack(
        &mut self,
        tx: &mut Transmission,
        now: Time,
        ack: Ack<'_>,
        out: &mut Vec<Segment>,
    ) -> Option<u64>;
    /// The application has written data; returns how many segments the window may let out now, `None` for none.
    fn on_write(&mut self, _tx: &mut Transmission, _now: Time, _out: &mut Vec<Segment>) -> Option<u64> {
        Some(u64::MAX)
    }
    /// Ends a recovery: the retransmission timer has expired, after which the machine goes back to `una`, or
    /// a retransmission was a mistake.
    fn abandon(&mut self, tx: &mut Transmission);
    /// Whether a loss is being repaired that duplicate ACKs have told of.
    fn is_repairing(&self, tx: &Transmission) -> bool;
    /// Segments by which duplicate ACKs inflate the window.
    fn inflation(&self) -> u64 {
        0
    }
}

/// The loss recovery of a variant that looks at the ACK's number alone.
trait Cumulative {
    /// An ACK for segments not acknowledged before, everything below `acked`.
    fn on_new_ack(&mut self, tx: &mut Transmission, now: Time, acked: u64, out: &mut Vec<Segment>);
    /// The third or a later duplicate ACK in a row.
    fn on_dupack(&mut self, tx: &mut Transmission, now: Time, out: &mut Vec<Segment>);
}

/// Tells new ACKs from duplicates.
fn classify(
    recovery: &mut impl Cumulative,
    tx: &mut Transmission,
    now: Time,
    acked: u64,
    out: &mut Vec<Segment>,
) {
    if acked > tx.una {
        recovery.on_new_ack(tx, now, acked, out);
    } else if acked == tx.una {
        tx.dupacks += 1;
        if tx.dupacks >= DUPACK_THRESHOLD {
            recovery.on_dupack(tx, now, out);
        } else {
            tx.send_beyond_window(now, out);
        }
    }
}

/// The inflation of the window after one more duplicate ACK, the `dupacks`-th in a row.
fn inflated(inflation: u64, dupacks: u32) -> u64 {
    if dupacks == DUPACK_THRESHOLD { u64::from(DUPACK_THRESHOLD) } else { inflation + 1 }
}

/// Between the first and the third duplicate ACK only Limited Transmit sends.
fn unless_waiting(tx: &Transmission, in_recovery: u64) -> Option<u64> {
    match tx.dupacks {
        0 => Some(u64::MAX),
        DUPACK_THRESHOLD.. => Some(in_recovery),
        _ => None,
    }
}

registry! {
    /// The TCP variant, as a scenario names it.
    "control" ControlSpec = NewReno {
        /// Tahoe: any loss is answered by slow start from one segment.
        "tahoe" => Tahoe(tahoe::Tahoe),
        /// Reno (RFC 2581): fast recovery until the first new ACK.
        "reno" => Reno(reno::Reno),
        /// NewReno (RFC 6582): stays in fast recovery until the whole window is acknowledged.
        "newreno" => NewReno(newreno::NewReno),
        /// SACK (RFC 2018) with ns-2's pipe algorithm: retransmits just what is missing.
        "sack" => Sack(sack::Sack),
    }
}

impl ControlSpec {
    /// The recovery in its initial state, as it was in `era` where its parameters do not say otherwise.
    pub fn build(&self, era: Era) -> Box<dyn Recovery> {
        match self {
            Self::Tahoe(_) => Box::new(tahoe::TahoeRecovery),
            Self::Reno(params) => Box::new(reno::RenoRecovery::new(params, era)),
            Self::NewReno(params) => Box::new(newreno::NewRenoRecovery::new(params, era)),
            Self::Sack(_) => Box::new(sack::SackRecovery::default()),
        }
    }

    /// Whether the receiver should report segments beyond a gap.
    pub fn wants_sack(&self) -> bool {
        matches!(self, Self::Sack(_))
    }
}
