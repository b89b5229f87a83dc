//! The `linux` family: TCP as in today's Linux. It counts bytes, keeps a scoreboard of selective
//! acknowledgements, detects losses by time (RACK-TLP), and reduces the window proportionally
//! (PRR). A congestion control determines the size of the window; each congestion control has a
//! module of its own. If Linux (6.x) and an RFC differ, this family follows Linux; variants that
//! follow an RFC have names of their own.
//!
//! On the wire:
//! - Numbers are TCP sequence numbers relative to the initial sequence number: the SYN has number
//!   0, and the first data byte number 1. A data segment carries the number of its first byte, and
//!   an ACK the number of the next byte expected.
//! - A segment without payload after the SYN is a window probe, which the receiver acknowledges at once.
//! - Sizes include options. By default a SYN has 20 B of options: MSS, window scale, SACK-permitted
//!   and timestamps. Later segments have 12 B of timestamps, and SACK adds 4 B plus 8 B per block.
//!
//! FIN, path MTU discovery, and data in both directions of one connection (other than requests) are
//! not modelled.

pub mod control;
mod frto;
mod info;
mod jiffies;
mod loss;
mod pacing;
mod params;
mod prr;
mod rack;
mod rate;
mod reassembly;
mod receive_window;
pub(crate) mod receiver;
mod reordering;
mod rtt;
mod scoreboard;
pub(crate) mod sender;
mod timers;
pub(crate) mod wire;

#[cfg(test)]
mod tests;

pub use info::{CaState, Info};
pub use params::Linux;
pub use receiver::Receiver;
pub use sender::Sender;

use nodeb_base::units::Time;

/// RFC 7323, 3.2, padded to words.
pub const TIMESTAMPS_BYTES: u32 = 12;

/// The SYN has number 0.
pub const FIRST_BYTE: u64 = 1;

/// RFC 5681, 3.2; RFC 6675, 2.
pub const DUP_THRESH: u32 = 3;

/// RFC 2018, 3, padded to words; 0 for no blocks.
pub fn sack_bytes(blocks: usize) -> u32 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks as u32 }
}

/// RFC 7323, 5.4: wraps after 71 minutes and is never 0, which means no timestamp.
pub fn clock_us(now: Time) -> u32 {
    ((now.0 / 1_000) as u32).max(1)
}

/// RFC 7323, 5.2: modular comparison.
pub fn is_older(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}
