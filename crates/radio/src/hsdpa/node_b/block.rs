//! A block in flight from the Node B to a phone.

use std::ops::Range;

/// A block in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Transmission sequence number, which never wraps; on the air it is modulo 64.
    pub tsn: u64,
    /// Units that the block carries.
    pub units: Range<u64>,
    /// HS-PDSCH codes.
    pub codes: u32,
    /// CQI whose link-level curve gives the BLER; `None` if the block cannot fail.
    pub curve: Option<u8>,
    /// Number of transmissions so far.
    pub transmissions: u32,
    /// Whether the block was sent in a cell that the user has left.
    pub forwarded: bool,
    /// Combined SNR of all transmissions (linear, per symbol).
    pub symbol_snr: f64,
    /// Whether the UE has decoded it.
    pub decoded: bool,
    /// Random number uniform in [0, 1), which decides on all transmissions if decoding uses one number.
    pub draw: f64,
}

impl Block {
    /// Resets the block for transmission in another cell, as if it were new.
    pub fn restart(&mut self) {
        (self.transmissions, self.symbol_snr, self.forwarded) = (0, 0.0, true);
    }
}
