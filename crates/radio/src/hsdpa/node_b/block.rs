//! Block in flight from the Node B to a phone.

use std::ops::Range;

/// Block that the Node B has sent and whose HARQ process has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Transmission sequence number, which never wraps; on the air it is modulo 64.
    pub tsn: u64,
    /// Range of the payload units, PDUs or octets, that the block carries.
    pub units: Range<u64>,
    /// Number of HS-PDSCH codes that the block takes.
    pub codes: u32,
    /// CQI whose BLER curve decides whether the block is decoded; `None` if the block cannot fail.
    pub curve: Option<u8>,
    /// Number of transmissions so far in the serving cell.
    pub transmissions: u32,
    /// Whether the block was first sent in a cell that the user has left, and continues in the new
    /// cell.
    pub forwarded: bool,
    /// SNR after combining all transmissions so far in the serving cell (linear, per symbol).
    pub symbol_snr: f64,
    /// Whether the UE has decoded the block.
    pub decoded: bool,
    /// Random number uniform in [0, 1) that decides the first transmission in each cell. If
    /// decoding uses one random number per block, this number decides all transmissions.
    pub draw: f64,
}

impl Block {
    /// Prepares the block for a first transmission in another cell: transmissions in the old cell
    /// are not combined with later ones.
    pub fn restart(&mut self) {
        (self.transmissions, self.symbol_snr, self.forwarded) = (0, 0.0, true);
    }
}
