pub mod newreno;
pub mod reno;
pub mod sack;
pub mod tahoe;

use nodeb_base::registry;
use nodeb_base::units::Time;

use super::era::Era;
use super::sender::{DUPACK_THRESHOLD, Transmission};
use crate::segment::{SackBlocks, Segment};

#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Highest segment received in order.
    pub number: u64,
    pub sack: &'a SackBlocks,
}

impl Ack<'_> {
    /// Segments below it are acknowledged.
    pub fn acked(&self) -> u64 {
        self.number + 1
    }
}

/// Of one variant; controls `Transmission`.
pub trait Recovery: std::fmt::Debug {
    /// Appends what the variant sends itself; then so many segments may follow within the window.
    fn on_ack(
        &mut self,
        tx: &mut Transmission,
        now: Time,
        ack: Ack<'_>,
        out: &mut Vec<Segment>,
    ) -> Option<u64>;
    /// As [`Self::on_ack`].
    fn on_write(&mut self, _tx: &mut Transmission, _now: Time, _out: &mut Vec<Segment>) -> Option<u64> {
        Some(u64::MAX)
    }
    /// After a spurious retransmission, or at a timeout, which goes back to `una`.
    fn abandon(&mut self, tx: &mut Transmission);
    /// Tahoe returns true also after a timeout, so check for a timeout first.
    fn is_repairing(&self, tx: &Transmission) -> bool;
    /// In segments; 0 without inflation.
    fn inflation(&self) -> u64 {
        0
    }
}

/// Without SACK blocks.
trait Cumulative {
    /// Segments below `acked` are acknowledged.
    fn on_new_ack(&mut self, tx: &mut Transmission, now: Time, acked: u64, out: &mut Vec<Segment>);
    /// The third or a later one.
    fn on_dupack(&mut self, tx: &mut Transmission, now: Time, out: &mut Vec<Segment>);
}

/// The first two duplicate ACKs only trigger Limited Transmit; an older ACK is ignored.
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

/// 3 at the third of `dupacks`, then 1 more each.
fn inflated(inflation: u64, dupacks: u32) -> u64 {
    if dupacks == DUPACK_THRESHOLD { u64::from(DUPACK_THRESHOLD) } else { inflation + 1 }
}

/// No limit without duplicate ACKs, `None` after the first two (only Limited Transmit sends), then
/// `in_recovery`, also for partial ACKs of NewReno, which do not reset the count.
fn limit_after_ack(tx: &Transmission, in_recovery: u64) -> Option<u64> {
    match tx.dupacks {
        0 => Some(u64::MAX),
        DUPACK_THRESHOLD.. => Some(in_recovery),
        _ => None,
    }
}

registry! {
    /// TCP variant, as a scenario names it.
    "control" ControlSpec = NewReno {
        /// Tahoe: after any loss, slow start from one segment.
        "tahoe" => Tahoe(tahoe::Tahoe),
        /// Reno (RFC 2581): fast recovery until the first new ACK.
        "reno" => Reno(reno::Reno),
        /// NewReno (RFC 6582): stays in fast recovery until the whole window is acknowledged.
        "newreno" => NewReno(newreno::NewReno),
        /// SACK (RFC 2018) with ns-2's pipe algorithm: retransmits only missing segments.
        "sack" => Sack(sack::Sack),
    }
}

impl ControlSpec {
    /// Unset parameters have the defaults of `era`.
    pub fn build(&self, era: Era) -> Box<dyn Recovery> {
        match self {
            Self::Tahoe(_) => Box::new(tahoe::TahoeRecovery),
            Self::Reno(params) => Box::new(reno::RenoRecovery::new(params, era)),
            Self::NewReno(params) => Box::new(newreno::NewRenoRecovery::new(params, era)),
            Self::Sack(_) => Box::new(sack::SackRecovery::default()),
        }
    }

    pub fn wants_sack(&self) -> bool {
        matches!(self, Self::Sack(_))
    }
}
