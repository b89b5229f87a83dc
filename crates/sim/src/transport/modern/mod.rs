//! The modern family: TCP as in today's Linux. It counts bytes, keeps a scoreboard of what was
//! acknowledged selectively, detects loss by time (RACK-TLP), reduces proportionally (PRR), paces,
//! and leaves the size of the window to a congestion control of its own file.
//!
//! On the wire:
//! - Payload is numbered in bytes from 0; a data segment's number is that of its first byte, an
//!   ACK's that of the next byte expected.
//! - A segment without payload is the SYN, and later a probe of a closed window: it is answered at
//!   once. Its size is that of the headers with timestamps.
//! - Sizes include the options of every segment: 12 B of timestamps, 4 B and 8 B a block of SACK.
//! - SACK blocks are offsets from [`sack_base`], as a D-SACK lies below the ACK's own number.
//!
//! Left out: options that only the SYN carries (MSS, window scale), FIN, path MTU discovery, a
//! receive buffer that grows by itself, and data that the phone sends after its request.

pub mod control;
pub mod loss;
pub mod pacing;
pub mod params;
pub mod prr;
pub mod rack;
pub mod rate;
pub mod reassembly;
pub mod receiver;
pub mod rtt;
pub mod scoreboard;
pub mod sender;
pub mod timers;
pub mod wire;

#[cfg(test)]
mod tests;

pub use params::Linux;

use crate::units::Time;

/// The timestamps option (RFC 7323, 3.2), padded to words.
pub const TIMESTAMPS_BYTES: u32 = 12;

/// Duplicate ACKs, or segments acknowledged beyond a gap, that indicate a loss (RFC 5681, 3.2).
pub const DUP_THRESH: u32 = 3;

/// Bytes of a SACK option of `blocks` blocks (RFC 2018, 3), padded to words.
pub fn sack_bytes(blocks: usize) -> u32 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks as u32 }
}

/// What the blocks of an ACK numbered `ack` are counted from: half the range of an offset lies
/// below the number and half above.
pub fn sack_base(ack: u64) -> u64 {
    ack.saturating_sub(1 << 31)
}

/// The clock of RFC 7323 in microseconds. It wraps after 71 minutes and is never 0, which would
/// mean that the option is absent.
pub fn clock_us(now: Time) -> u32 {
    ((now.0 / 1_000) as u32).max(1)
}

/// Whether timestamp `a` is older than `b` (RFC 7323, 5.2: modular comparison).
pub fn is_older(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}
