//! A block on its way from the Node B to a phone.

use std::ops::Range;

/// A block on its way to a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Transmission sequence number, without end; on the air modulo 64.
    pub tsn: u64,
    /// What it carries, in units.
    pub units: Range<u64>,
    /// HS-PDSCH codes.
    pub codes: u32,
    /// CQI whose link-level curve gives the BLER; absent: it cannot fail.
    pub curve: Option<u8>,
    /// How often it has been sent.
    pub transmissions: u32,
    /// Whether it had been sent in a cell that the user has left.
    pub forwarded: bool,
    /// SNR (linear, per symbol) of all transmissions together.
    pub symbol_snr: f64,
    /// Whether the UE has decoded it.
    pub decoded: bool,
    /// The block's fortune: uniform in [0, 1), where one number decides about all transmissions.
    pub fortune: f64,
}

impl Block {
    /// It is to be sent in another cell as if for the first time.
    pub fn begin_again(&mut self) {
        (self.transmissions, self.symbol_snr, self.forwarded) = (0, 0.0, true);
    }
}
