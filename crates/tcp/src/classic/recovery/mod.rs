//! Loss recovery of the `classic` TCP variants: Tahoe, Reno, NewReno and SACK.

pub mod newreno;
pub mod reno;
pub mod sack;
pub mod tahoe;

use nodeb_base::registry;
use nodeb_base::units::Time;

use super::era::Era;
use super::sender::{DUPACK_THRESHOLD, Transmission};
use crate::segment::{SackBlocks, Segment};

/// Fields of an ACK on which loss recovery depends.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Number of the highest segment received in order.
    pub number: u64,
    /// SACK blocks with segments that the receiver holds beyond `number`.
    pub sack: &'a SackBlocks,
}

impl Ack<'_> {
    /// Returns the number of the segment that the receiver expects next: all segments below this
    /// number are acknowledged.
    pub fn acked(&self) -> u64 {
        self.number + 1
    }
}

/// Loss recovery of one TCP variant. It controls the sender's `Transmission`.
pub trait Recovery: Send + std::fmt::Debug {
    /// Processes an ACK, and appends to `out` the segments that the variant sends itself. Returns
    /// the maximum number of segments that the sender may transmit after that within its window, or
    /// `None` if it may transmit none.
    fn on_ack(
        &mut self,
        tx: &mut Transmission,
        now: Time,
        ack: Ack<'_>,
        out: &mut Vec<Segment>,
    ) -> Option<u64>;
    /// Handles a write of the application, and appends to `out` the segments that the variant sends
    /// itself. Returns the maximum number of segments that the sender may transmit after that
    /// within its window, or `None` if it may transmit none.
    fn on_write(&mut self, _tx: &mut Transmission, _now: Time, _out: &mut Vec<Segment>) -> Option<u64> {
        Some(u64::MAX)
    }
    /// Ends a recovery because a retransmission was spurious, or because the retransmission timer
    /// has expired. After the timer has expired, the sender goes back to the first unacknowledged
    /// segment, `una`.
    fn abandon(&mut self, tx: &mut Transmission);
    /// Returns true while the sender repairs a loss that duplicate ACKs indicated. Tahoe returns
    /// true also after a timeout, so the caller must first check if the last loss event was a
    /// timeout.
    fn is_repairing(&self, tx: &Transmission) -> bool;
    /// Returns the number of segments by which duplicate ACKs inflate the window; 0 for variants
    /// without inflation.
    fn inflation(&self) -> u64 {
        0
    }
}

/// Loss recovery of a variant that uses only the cumulative acknowledgement number of an ACK, and
/// no SACK blocks.
trait Cumulative {
    /// Processes an ACK of new data that acknowledges all segments below `acked`.
    fn on_new_ack(&mut self, tx: &mut Transmission, now: Time, acked: u64, out: &mut Vec<Segment>);
    /// Processes the third or a later consecutive duplicate ACK.
    fn on_dupack(&mut self, tx: &mut Transmission, now: Time, out: &mut Vec<Segment>);
}

/// Passes an ACK to `recovery`: to its method for ACKs of new data, or to its method for duplicate
/// ACKs. The first two duplicate ACKs only trigger Limited Transmit; an older ACK is ignored.
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

/// Returns the inflation of the window in segments after `dupacks` duplicate ACKs in a row, at
/// least three. The third sets the inflation to 3, and each later one adds 1 to `inflation`, the
/// value before this ACK.
fn inflated(inflation: u64, dupacks: u32) -> u64 {
    if dupacks == DUPACK_THRESHOLD { u64::from(DUPACK_THRESHOLD) } else { inflation + 1 }
}

/// Returns the maximum number of segments that the sender may transmit after an ACK. There is no
/// limit while no duplicate ACKs are counted. The limit is `in_recovery` from the third duplicate
/// ACK on, also for partial ACKs of NewReno, which do not reset the count. After the first two
/// duplicate ACKs the result is `None`, since only Limited Transmit sends segments then.
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
    /// Creates the loss recovery of the chosen variant, in its initial state. Parameters that the
    /// scenario does not set have the defaults of `era`.
    pub fn build(&self, era: Era) -> Box<dyn Recovery> {
        match self {
            Self::Tahoe(_) => Box::new(tahoe::TahoeRecovery),
            Self::Reno(params) => Box::new(reno::RenoRecovery::new(params, era)),
            Self::NewReno(params) => Box::new(newreno::NewRenoRecovery::new(params, era)),
            Self::Sack(_) => Box::new(sack::SackRecovery::default()),
        }
    }

    /// Returns true for the variant SACK, for which the receiver must report segments beyond a gap
    /// in SACK blocks.
    pub fn wants_sack(&self) -> bool {
        matches!(self, Self::Sack(_))
    }
}
