//! Transport formats of a cell: the CQIs that phones report, and the MCS and size of blocks.

use std::cell::OnceCell;
use std::sync::OnceLock;

use super::adaptation::Allocation;
use super::bandwidth::Bandwidth;
use super::block_errors::{BlockErrors, TARGET};
use super::cqi::{CQIS, Cqi, CqiTable};
use super::curves;
use super::mcs::McsTable;
use super::resources::{Downlink, uplink};
use crate::error::curves as curve;
use crate::error::effective::modulation::Modulation;
use crate::error::effective::{CURVES, EffectiveSnr, Levels};
use crate::mac::band::{Band, Groups, MAX_GROUPS, Row, Run};

/// Largest number of layers of a transport block from up to four antenna ports (TS 36.211, table 6.3.3.2-1).
pub const MAX_LAYERS: u8 = 2;

/// Number of subframes in a frame, after which resource elements for data repeat (TS 36.211, 4.1).
const SUBFRAMES: usize = 10;

/// Resource elements of the block for which phones measure CQIs: four resource blocks with three control symbols and
/// one antenna port.
const REFERENCE_ELEMENTS: u32 = 4 * 126;

/// Number of a TTI whose subframe has no synchronization signals and no PBCH.
const REGULAR: u64 = 1;

/// Transport format of a block: its MCS and size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// MCS in the table of the block's direction, downlink or uplink.
    pub mcs: u8,
    /// Size of the transport block in bits.
    pub bits: u32,
    /// Number of layers on which the block is sent, 1 or 2.
    pub layers: u8,
}

/// Resource elements that synchronization signals and PBCH take in a subframe.
#[derive(Clone, Copy, Debug)]
struct Lacking {
    /// Groups with fewer resource elements for data than in other subframes.
    groups: Groups,
    /// Number of resource elements that each group lacks.
    elements: [u32; MAX_GROUPS],
    /// Share of its resource elements that each group still has for data.
    yields: Row,
}

impl Lacking {
    const NOTHING: Self = Self { groups: Groups::NONE, elements: [0; MAX_GROUPS], yields: [1.0; MAX_GROUPS] };

    /// Counts the resource elements that the groups of a cell's downlink lack in subframe `subframe`, 0 to 9.
    fn new(bandwidth: Bandwidth, band: &Band, layout: Downlink, subframe: u8) -> Self {
        let mut lacking = Self::NOTHING;
        for block in 0..bandwidth.blocks() {
            let group = usize::from(block / band.blocks_per_group());
            lacking.elements[group] += layout.block() - layout.block_in(bandwidth, block, subframe);
        }
        for group in band.all().into_iter().filter(|group| lacking.elements[*group] > 0) {
            lacking.groups.insert(group);
            let all = band.sizes()[group] * layout.block() as f32;
            lacking.yields[group] = 1.0 - lacking.elements[group] as f32 / all;
        }
        lacking
    }
}

/// Tables of transport formats for one direction of a cell, downlink or uplink, shared by all users.
#[derive(Debug)]
pub struct Formats {
    band: Band,
    /// Number of MCSs in the table.
    mcs_count: u8,
    /// Number of resource elements for data in a resource block without synchronization signals and PBCH.
    block_elements: u32,
    /// Resource elements that groups lack in each subframe.
    lacking: [Lacking; SUBFRAMES],
    effective: EffectiveSnr,
    /// Sizes and error rates of blocks, first on one layer, then on two layers.
    errors: [BlockErrors; MAX_LAYERS as usize],
    /// Smallest linear SNR at which each CQI is reported; NaN for CQI 0.
    thresholds: [f32; CQIS as usize],
    /// Values of the effective SNR's mapping at `thresholds`, with an SNR of 0 for CQI 0.
    levels: Levels<{ CQIS as usize }>,
    /// Smallest number of bytes per resource block at each CQI, as computed by [`Self::least_bytes`]; NaN for CQI 0.
    /// Computed when it is first needed.
    block_bytes: OnceCell<[f32; CQIS as usize]>,
}

impl Formats {
    /// Creates the tables of a cell's downlink, with MCSs and CQIs up to 256QAM if `qam256` is true. Receivers need an
    /// SNR `loss_db` dB higher than the curves of block errors.
    pub fn down(bandwidth: Bandwidth, layout: Downlink, qam256: bool, loss_db: f64) -> Self {
        let (mcss, cqis) = if qam256 {
            (McsTable::Down256Qam, CqiTable::Qam256)
        } else {
            (McsTable::Down64Qam, CqiTable::Qam64)
        };
        let loss = libm::pow(10.0, loss_db / 10.0) as f32;
        let thresholds = thresholds(cqis).map(|snr| loss * snr);
        let band = bandwidth.band();
        let lacking = std::array::from_fn(|subframe| Lacking::new(bandwidth, &band, layout, subframe as u8));
        Self { lacking, ..Self::new(band, mcss, thresholds, layout.block(), loss_db) }
    }

    /// Creates the tables of a cell's uplink, with the MCSs of a table and without CQIs. The receiver needs an SNR
    /// `loss_db` dB higher than the curves of block errors.
    pub fn up(bandwidth: Bandwidth, mcss: McsTable, loss_db: f64) -> Self {
        let none = [f32::NAN; CQIS as usize];
        Self::new(bandwidth.band(), mcss, none, uplink(1, false), loss_db)
    }

    /// Creates tables with the MCSs of `mcss`, and `block_elements` resource elements for data in each resource
    /// block of all subframes.
    fn new(
        band: Band,
        mcss: McsTable,
        thresholds: [f32; CQIS as usize],
        block_elements: u32,
        loss_db: f64,
    ) -> Self {
        let modulations: Vec<Modulation> =
            (0..).map_while(|mcs| mcss.row(mcs)).map(|row| row.modulation).collect();
        let effective = EffectiveSnr::by_information(&modulations);
        let mut snrs = thresholds;
        snrs[0] = 0.0;
        Self {
            mcs_count: modulations.len() as u8,
            levels: effective.levels(snrs),
            effective,
            thresholds,
            block_bytes: OnceCell::new(),
            block_elements,
            lacking: [Lacking::NOTHING; SUBFRAMES],
            band,
            errors: std::array::from_fn(|_| BlockErrors::new(mcss, loss_db)),
        }
    }

    /// Returns the smallest number of bytes per resource block, among transport blocks on 1 group, 2 groups, ... up to
    /// all groups, each with the CQI `cqi`. They differ because the table rounds the sizes of transport blocks.
    fn least_bytes(&self, cqi: u8) -> f32 {
        let bytes = |count: usize| {
            let groups = Groups::first(count);
            let format = self.select_by_cqis(REGULAR, groups, 1, &[cqi; MAX_GROUPS], 1.0, u32::MAX);
            format.map_or(0.0, |format| format.bits as f32 / 8.0 / f32::from(self.band.blocks_in(groups)))
        };
        (1..=self.band.groups()).map(bytes).fold(f32::INFINITY, f32::min)
    }

    /// Returns the resource blocks and groups of the carrier.
    pub fn band(&self) -> &Band {
        &self.band
    }

    #[inline]
    fn lacking(&self, tti: u64) -> &Lacking {
        &self.lacking[(tti % SUBFRAMES as u64) as usize]
    }

    /// Returns true if no synchronization signals and no PBCH take resource elements in TTI `tti`.
    #[inline]
    pub fn is_regular(&self, tti: u64) -> bool {
        self.lacking(tti).groups.is_empty()
    }

    /// Returns the share of its resource elements that each group has for data in TTI `tti`, in which synchronization
    /// signals and PBCH may take some.
    #[inline]
    pub fn yields(&self, tti: u64) -> &Row {
        &self.lacking(tti).yields
    }

    /// Returns the smallest linear SNR at which each CQI is reported; NaN for CQI 0.
    pub fn thresholds(&self) -> &[f32; CQIS as usize] {
        &self.thresholds
    }

    /// Returns the CQI that a phone measures on each group at the linear SNRs `snr`: the highest CQI whose block would
    /// fail with a probability of at most [`TARGET`], or 0 if there is none.
    #[inline]
    pub fn cqis(&self, snr: &Row) -> [u8; MAX_GROUPS] {
        // All groups are compared with a threshold at once, which is vectorized.
        let mut cqis = [0u32; MAX_GROUPS];
        for threshold in &self.thresholds[1..] {
            for (cqi, snr) in cqis.iter_mut().zip(snr) {
                *cqi += u32::from(snr >= threshold);
            }
        }
        cqis.map(|cqi| cqi as u8)
    }

    /// Returns the smallest number of bytes per resource block that a transport block on one layer carries at each CQI,
    /// NaN for CQI 0.
    #[inline]
    pub fn block_bytes(&self) -> &[f32; CQIS as usize] {
        let bytes = |cqi: usize| if cqi == 0 { f32::NAN } else { self.least_bytes(cqi as u8) };
        self.block_bytes.get_or_init(|| std::array::from_fn(bytes))
    }

    /// Returns the number of bytes that all groups together carry on one layer at the given CQIs. CQI 0 carries none.
    pub fn bytes(&self, cqis: &[u8; MAX_GROUPS]) -> f32 {
        let (bytes, groups) = (self.block_bytes(), self.band.groups());
        let of_groups = cqis[..groups].iter().zip(self.band.sizes());
        // The number of bytes at CQI 0 is NaN.
        of_groups.map(|(cqi, size)| (bytes[usize::from(*cqi) % bytes.len()] * size).max(0.0)).sum()
    }

    /// Returns the format of the largest block in TTI `tti` that has at most `most_bits` bits and fails with
    /// a probability of at most [`TARGET`]. The block is sent on `groups` and on `layers` layers, 1 or 2. The
    /// SNRs of the channel are those of the CQIs in `cqis`, times `factor`. If there is no such block,
    /// returns the format of MCS 0. Returns `None` if the block of MCS 0 has more than `most_bits` bits, or
    /// if `groups` is empty.
    pub fn select_by_cqis(
        &self,
        tti: u64,
        groups: Groups,
        layers: u8,
        cqis: &[u8; MAX_GROUPS],
        factor: f32,
        most_bits: u32,
    ) -> Option<Format> {
        let means = self.levels.means(cqis, groups, self.band.sizes());
        let allocation = self.allocation(tti, groups, layers);
        self.search(allocation, most_bits, |_, curve| factor * self.effective.at_mean(curve, &means))
    }

    // Clause: TS 36.213, 7.1.7: selection of blocks
    /// Returns a format on the resource blocks of `run` and on one layer as [`Self::select_by_cqis`] does; the SNRs of
    /// the channel are those in `snr` (linear), times `factor`.
    pub fn select(&self, run: Run, snr: &Row, factor: f32, most_bits: u32) -> Option<Format> {
        let (groups, sizes) = self.band.groups_of(run);
        let effective = |mcs, _| factor * self.effective.of(mcs, snr, groups, &sizes);
        self.search(self.allocation_of(run), most_bits, effective)
    }

    /// Returns a format as [`Self::select_by_cqis`] does. `effective` returns the effective linear SNR for an
    /// MCS and the index of its curve in the mapping.
    #[inline]
    fn search(
        &self,
        allocation: Allocation,
        most_bits: u32,
        effective: impl Fn(u8, usize) -> f32,
    ) -> Option<Format> {
        let layers = allocation.layers;
        let errors = self.errors(layers);
        let blocks = errors.blocks(allocation);
        let mut known = [f32::NAN; CURVES];
        let mut allows = |mcs: u8| {
            let curve = self.effective.curve_of(mcs);
            let snr = &mut known[curve];
            if snr.is_nan() {
                *snr = effective(mcs, curve);
            }
            errors.allows(blocks, mcs, *snr, most_bits)
        };
        // A higher MCS needs a higher SNR, so the MCSs that are allowed come first. There are few exceptions:
        // MCSs with the same I_TBS, and MCS 6 on one resource block.
        let (mut found, mut above) = (0, self.mcs_count);
        while found + 1 < above {
            let middle = found.midpoint(above);
            if allows(middle) { found = middle } else { above = middle }
        }
        let bits = blocks.bits(found)?;
        (bits <= most_bits).then_some(Format { mcs: found, bits, layers })
    }

    /// Returns the effective linear SNR of a block with an MCS on `groups`.
    #[inline]
    pub fn effective_snr(&self, mcs: u8, snr: &Row, groups: Groups) -> f32 {
        self.effective.of(mcs, snr, groups, self.band.sizes())
    }

    /// Returns the effective linear SNR of a block with an MCS on the resource blocks of `run`.
    #[inline]
    pub fn effective_snr_of(&self, mcs: u8, snr: &Row, run: Run) -> f32 {
        let (groups, sizes) = self.band.groups_of(run);
        self.effective.of(mcs, snr, groups, &sizes)
    }

    /// Returns the probability that a block of a format fails on `groups` in TTI `tti`, at an effective linear SNR.
    #[inline]
    pub fn bler(&self, tti: u64, groups: Groups, format: Format, snr: f32) -> f64 {
        self.bler_on(self.allocation(tti, groups, format.layers), format, snr)
    }

    /// Returns the probability that a block of a format fails on the resource blocks of `run`, at an effective linear
    /// SNR.
    #[inline]
    pub fn bler_of(&self, run: Run, format: Format, snr: f32) -> f64 {
        self.bler_on(self.allocation_of(run), format, snr)
    }

    #[inline]
    fn bler_on(&self, allocation: Allocation, format: Format, snr: f32) -> f64 {
        let errors = self.errors(format.layers);
        errors.bler(errors.blocks(allocation), format.mcs, snr)
    }

    /// Returns the sizes and error rates of blocks on `layers` layers, 1 or 2.
    #[inline]
    fn errors(&self, layers: u8) -> &BlockErrors {
        &self.errors[usize::from(layers > 1)]
    }

    /// Returns the resource blocks and elements of `groups` in TTI `tti`, for a block on `layers` layers.
    #[inline]
    fn allocation(&self, tti: u64, groups: Groups, layers: u8) -> Allocation {
        let of_subframe = self.lacking(tti);
        let blocks = self.band.blocks_in(groups);
        let lacking = groups.intersection(of_subframe.groups).into_iter();
        let lacking: u32 = lacking.map(|group| of_subframe.elements[group]).sum();
        Allocation { blocks, layers, elements: u32::from(blocks) * self.block_elements - lacking }
    }

    /// Returns the resource blocks and elements of `run`, in a subframe without synchronization signals and PBCH.
    #[inline]
    fn allocation_of(&self, run: Run) -> Allocation {
        let elements = u32::from(run.blocks) * self.block_elements;
        Allocation { blocks: run.blocks, layers: 1, elements }
    }
}

/// Returns the smallest linear SNR at which each CQI is reported, NaN for CQI 0. At this SNR, the block with the CQI's
/// modulation and code rate on [`REFERENCE_ELEMENTS`] fails with probability [`TARGET`].
fn thresholds(table: CqiTable) -> [f32; CQIS as usize] {
    static KNOWN: [OnceLock<[f32; CQIS as usize]>; 2] = [const { OnceLock::new() }; 2];
    let threshold = |row: Cqi| {
        let bits = row.efficiency() * f64::from(REFERENCE_ELEMENTS);
        let format = curve::Format {
            modulation: row.modulation,
            code_blocks: 1,
            code_block_bits: bits,
            code_rate: row.code_rate(),
        };
        curves::turbo().snr(&format, TARGET).unwrap_or(f32::INFINITY)
    };
    let thresholds = || std::array::from_fn(|cqi| table.row(cqi as u8).map_or(f32::NAN, threshold));
    *KNOWN[table as usize].get_or_init(thresholds)
}

#[cfg(test)]
mod tests {
    use super::super::resources::Ports;
    use super::*;

    /// Returns linear SNRs from -6 to 25 dB.
    fn snrs() -> impl Iterator<Item = f32> {
        (0..310u16).map(|step| 10f32.powf((f32::from(step) * 0.1 - 6.0) / 10.0))
    }

    // Tests the feature: selection of blocks (closed form)
    /// A block that is selected by reports fails with a probability of at most 10.2 %, in all subframes,
    /// unless it has MCS 0.
    #[test]
    fn blocks_selected_by_reports_fail_rarely() {
        let layout = Downlink { ports: Ports::One, control: 3 };
        for bandwidth in [Bandwidth::Mhz1_4, Bandwidth::Mhz10] {
            let formats = Formats::down(bandwidth, layout, false, 0.0);
            for (tti, snr) in (0..10).flat_map(|tti| snrs().map(move |snr| (tti, snr))) {
                let groups = formats.band().all();
                let cqis = formats.cqis(&[snr; MAX_GROUPS]);
                let format = formats.select_by_cqis(tti, groups, 1, &cqis, 1.0, u32::MAX).unwrap();
                let bler = formats.bler(tti, groups, format, snr);
                assert!(bler <= 0.102 || format.mcs == 0, "{tti}, SNR {snr}: {format:?}, {bler}");
            }
        }
    }

    // Tests the feature: selection of blocks (closed form)
    /// A block that is selected by the SNR fails with a probability of at most 10.2 %, unless it has MCS 0.
    /// The next larger block of its modulation fails with a probability of at least 9.8 %.
    #[test]
    fn blocks_selected_by_the_snr_are_the_largest_ones() {
        let formats = Formats::up(Bandwidth::Mhz10, McsTable::Up, 0.0);
        let run = Run { begin: 1, blocks: 48 };
        let modulation = |mcs| McsTable::Up.row(mcs).map(|row| row.modulation);
        for snr in snrs() {
            let format = formats.select(run, &[snr; MAX_GROUPS], 1.0, u32::MAX).unwrap();
            let larger = Format { mcs: format.mcs + 1, ..format };
            let [bler, above] = [format, larger].map(|format| formats.bler_of(run, format, snr));
            assert!(bler <= 0.102 || format.mcs == 0, "SNR {snr}: {format:?}, {bler}");
            let is_comparable = modulation(larger.mcs) == modulation(format.mcs);
            assert!(above >= 0.098 || !is_comparable, "SNR {snr}: {larger:?}, {above}");
        }
    }
}
