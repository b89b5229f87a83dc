use std::fmt::Debug;

use nodeb_air::mac::band::{Band, Groups, MAX_GROUPS, Row, Run};
use nodeb_base::units::Duration;

/// CQI 0 means out of range, 1 to 15 select a row of a table.
pub const CQIS: u8 = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    pub mcs: u8,
    pub bits: u32,
    /// At most [`Standard::MAX_BLOCK_LAYERS`].
    pub layers: u8,
}

/// What a generation says of timing, reports and blocks; a value has the formats of phones with the same
/// modulations, in one direction. A type parameter, so that nothing in a TTI is called through a table of
/// functions.
pub trait Standard: Debug + 'static {
    const TTI: Duration;
    /// TTIs after a transmission in the downlink, at the earliest.
    const DOWN_RETRANSMISSION_AFTER: u64;
    /// TTIs from a grant to its block in the uplink.
    const UP_BLOCK_AFTER_GRANT: u64;
    /// TTIs from a request or block of the uplink to a grant that answers it.
    const UP_FEEDBACK_AFTER: u64;
    /// HARQ processes of the uplink, which is synchronous.
    const UP_PROCESSES: u8;
    /// Layers of one block.
    const MAX_BLOCK_LAYERS: u8;
    /// Octets of a buffer status report with its subheader, if one logical channel has data.
    const BUFFER_REPORT: u32;
    /// As [`Self::BUFFER_REPORT`], if several have.
    const LONG_BUFFER_REPORT: u32;
    /// Octets of a power headroom report with its subheader.
    const HEADROOM_REPORT: u32;
    /// Octets of an uplink block with a buffer status report that are not for data.
    const UP_OVERHEAD: u32;
    /// Resource blocks allowed whatever a phone's power, with less on each if necessary.
    const LEAST_BLOCKS: u16;

    /// Layers of both blocks of a TTI, 0 without a second one; `None` unless there can be as many layers.
    fn layers_of_blocks(layers: u8) -> Option<[u8; 2]>;
    /// Octets that a buffer status report of so many stands for.
    fn reported_octets(waiting: u64) -> u32;
    /// Level of a power headroom report.
    fn headroom_level(headroom_db: f64) -> u8;
    /// Of a level.
    fn least_headroom_db(level: u8) -> f64;

    fn band(&self) -> &Band;
    /// All resource elements of a TTI that can be for data are.
    fn is_regular(&self, tti: u64) -> bool;
    /// Share of each group's resource elements that is left for data.
    fn yields(&self, tti: u64) -> &Row;
    /// Smallest linear SNR at which each CQI is reported; NaN for CQI 0.
    fn thresholds(&self) -> &[f32; CQIS as usize];
    /// Highest CQI at the linear SNR, or 0.
    fn cqi(&self, snr: f32) -> u8;
    /// By CQI, per resource block on one layer, rising; NaN for CQI 0.
    fn block_bytes(&self) -> &[f32; CQIS as usize];
    /// On one layer; CQI 0 carries none.
    fn bytes(&self, cqis: &[u8; MAX_GROUPS]) -> f32;
    /// Largest block of at most `most_bits` that fails rarely at the SNRs of `cqis` times `factor`, else the most
    /// robust one if it fits.
    fn select_by_cqis(
        &self,
        tti: u64,
        groups: Groups,
        layers: u8,
        cqis: &[u8; MAX_GROUPS],
        factor: f32,
        most_bits: u32,
    ) -> Option<Format>;
    /// On one layer, as [`Self::select_by_cqis`], at the linear SNRs `snr` times `factor`.
    fn select(&self, run: Run, snr: &Row, factor: f32, most_bits: u32) -> Option<Format>;
    /// Linear.
    fn effective_snr(&self, mcs: u8, snr: &Row, groups: Groups) -> f32;
    /// Linear.
    fn effective_snr_of(&self, mcs: u8, snr: &Row, run: Run) -> f32;
    /// Block error rate; `snr` is effective and linear.
    fn bler(&self, tti: u64, groups: Groups, format: Format, snr: f32) -> f64;
    /// Block error rate on one layer; `snr` is effective and linear.
    fn bler_of(&self, run: Run, format: Format, snr: f32) -> f64;
}
