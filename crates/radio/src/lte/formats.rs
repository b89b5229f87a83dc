use std::cell::OnceCell;
use std::sync::OnceLock;

use nodeb_air::error::curves as curve;
use nodeb_air::error::effective::modulation::Modulation;
use nodeb_air::error::effective::{CURVES, EffectiveSnr, Levels};
use nodeb_air::mac::band::{Band, Groups, MAX_GROUPS, Row, Run};
use nodeb_base::units::Duration;

use super::adaptation::{Allocation, layers_of_blocks};
use super::bandwidth::Bandwidth;
use super::block_errors::{BlockErrors, TARGET};
use super::cqi::{Cqi, CqiTable};
use super::curves;
use super::mcs::McsTable;
use super::reports::TTI;
use super::resources::{Downlink, uplink};
use super::rlc::SUBHEADER;
use super::timing::{DOWN_RETRANSMISSION_AFTER, PROCESSES, UP_BLOCK_AFTER_GRANT, UP_FEEDBACK_AFTER};
use super::uplink::headroom::{HEADROOM_REPORT, least_db, level};
use super::uplink::report::{LONG_REPORT, REPORT, assumed};
use crate::ofdma::cqi_of_snr::CqiOfSnr;
use crate::ofdma::standard::{CQIS, Format, Standard};

/// From up to four antenna ports (TS 36.211, table 6.3.3.2-1).
pub const MAX_LAYERS: u8 = 2;

/// Resource elements for data repeat after a frame (TS 36.211, 4.1).
const SUBFRAMES: usize = 10;

/// Block for which phones measure CQIs: four resource blocks with three control symbols and one antenna port.
const REFERENCE_ELEMENTS: u32 = 4 * 126;

/// A TTI without synchronization signals and PBCH.
const REGULAR: u64 = 1;

/// Resource elements that synchronization signals and PBCH take in a subframe.
#[derive(Clone, Copy, Debug)]
struct Lacking {
    groups: Groups,
    /// By group.
    elements: [u32; MAX_GROUPS],
    /// Share of each group's resource elements that is left for data.
    yields: Row,
}

impl Lacking {
    const NOTHING: Self = Self { groups: Groups::NONE, elements: [0; MAX_GROUPS], yields: [1.0; MAX_GROUPS] };

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

/// For downlink or uplink, shared by all users.
#[derive(Debug)]
pub struct Formats {
    band: Band,
    mcs_count: u8,
    /// Without synchronization signals and PBCH.
    block_elements: u32,
    lacking: [Lacking; SUBFRAMES],
    effective: EffectiveSnr,
    /// On one layer, then on two.
    errors: [BlockErrors; MAX_LAYERS as usize],
    /// Smallest linear SNR at which each CQI is reported; NaN for CQI 0.
    thresholds: [f32; CQIS as usize],
    cqi_of: CqiOfSnr,
    /// Values of the mapping at `thresholds`, with an SNR of 0 for CQI 0.
    levels: Levels<{ CQIS as usize }>,
    /// Of [`Self::least_bytes`]; NaN for CQI 0.
    block_bytes: OnceCell<[f32; CQIS as usize]>,
}

impl Formats {
    /// Receivers need an SNR `loss_db` dB higher than the curves.
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

    /// Without CQIs; the receiver needs an SNR `loss_db` dB higher than the curves.
    pub fn up(bandwidth: Bandwidth, mcss: McsTable, loss_db: f64) -> Self {
        let none = [f32::NAN; CQIS as usize];
        Self::new(bandwidth.band(), mcss, none, uplink(1, false), loss_db)
    }

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
            cqi_of: CqiOfSnr::new(&thresholds),
            thresholds,
            block_bytes: OnceCell::new(),
            block_elements,
            lacking: [Lacking::NOTHING; SUBFRAMES],
            band,
            errors: std::array::from_fn(|_| BlockErrors::new(mcss, loss_db)),
        }
    }

    /// Per resource block, over 1 group, 2 groups, ...: they differ because the table rounds sizes of
    /// transport blocks.
    fn least_bytes(&self, cqi: u8) -> f32 {
        let bytes = |count: usize| {
            let groups = Groups::first(count);
            let format = self.select_by_cqis(REGULAR, groups, 1, &[cqi; MAX_GROUPS], 1.0, u32::MAX);
            format.map_or(0.0, |format| format.bits as f32 / 8.0 / f32::from(self.band.blocks_in(groups)))
        };
        (1..=self.band.groups()).map(bytes).fold(f32::INFINITY, f32::min)
    }

    #[inline]
    fn lacking(&self, tti: u64) -> &Lacking {
        &self.lacking[(tti % SUBFRAMES as u64) as usize]
    }

    /// `effective` maps an MCS and the index of its curve to the effective linear SNR.
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

    #[inline(always)] // A call costs LTE's cell 1.6 %.
    fn bler_on(&self, allocation: Allocation, format: Format, snr: f32) -> f64 {
        let errors = self.errors(format.layers);
        errors.bler(errors.blocks(allocation), format.mcs, snr)
    }

    #[inline]
    fn errors(&self, layers: u8) -> &BlockErrors {
        &self.errors[usize::from(layers > 1)]
    }

    #[inline]
    fn allocation(&self, tti: u64, groups: Groups, layers: u8) -> Allocation {
        let of_subframe = self.lacking(tti);
        let blocks = self.band.blocks_in(groups);
        let lacking = groups.intersection(of_subframe.groups).into_iter();
        let lacking: u32 = lacking.map(|group| of_subframe.elements[group]).sum();
        Allocation { blocks, layers, elements: u32::from(blocks) * self.block_elements - lacking }
    }

    /// In a subframe without synchronization signals and PBCH.
    #[inline]
    fn allocation_of(&self, run: Run) -> Allocation {
        let elements = u32::from(run.blocks) * self.block_elements;
        Allocation { blocks: run.blocks, layers: 1, elements }
    }
}

impl Standard for Formats {
    const TTI: Duration = TTI;
    const DOWN_RETRANSMISSION_AFTER: u64 = DOWN_RETRANSMISSION_AFTER;
    const UP_BLOCK_AFTER_GRANT: u64 = UP_BLOCK_AFTER_GRANT;
    const UP_FEEDBACK_AFTER: u64 = UP_FEEDBACK_AFTER;
    const UP_PROCESSES: u8 = PROCESSES;
    const MAX_BLOCK_LAYERS: u8 = MAX_LAYERS;
    const BUFFER_REPORT: u32 = REPORT;
    const LONG_BUFFER_REPORT: u32 = LONG_REPORT;
    const HEADROOM_REPORT: u32 = HEADROOM_REPORT;
    /// Report, subheader and the smallest RLC header.
    const UP_OVERHEAD: u32 = REPORT + SUBHEADER + 2;
    /// The smallest number on which blocks of all MCSs have room for data.
    const LEAST_BLOCKS: u16 = 4;

    fn layers_of_blocks(layers: u8) -> Option<[u8; 2]> {
        layers_of_blocks(layers)
    }

    fn reported_octets(waiting: u64) -> u32 {
        assumed(waiting)
    }

    fn headroom_level(headroom_db: f64) -> u8 {
        level(headroom_db)
    }

    fn least_headroom_db(level: u8) -> f64 {
        least_db(level)
    }

    fn band(&self) -> &Band {
        &self.band
    }

    /// Without synchronization signals and PBCH.
    #[inline]
    fn is_regular(&self, tti: u64) -> bool {
        self.lacking(tti).groups.is_empty()
    }

    #[inline]
    fn yields(&self, tti: u64) -> &Row {
        &self.lacking(tti).yields
    }

    fn thresholds(&self) -> &[f32; CQIS as usize] {
        &self.thresholds
    }

    /// Its block would fail with at most [`TARGET`].
    #[inline]
    fn cqi(&self, snr: f32) -> u8 {
        self.cqi_of.at(snr)
    }

    /// Of [`Self::least_bytes`].
    #[inline]
    fn block_bytes(&self) -> &[f32; CQIS as usize] {
        let bytes = |cqi: usize| if cqi == 0 { f32::NAN } else { self.least_bytes(cqi as u8) };
        self.block_bytes.get_or_init(|| std::array::from_fn(bytes))
    }

    fn bytes(&self, cqis: &[u8; MAX_GROUPS]) -> f32 {
        let (bytes, groups) = (self.block_bytes(), self.band.groups());
        let of_groups = cqis[..groups].iter().zip(self.band.sizes());
        // The number of bytes at CQI 0 is NaN.
        of_groups.map(|(cqi, size)| (bytes[usize::from(*cqi) % bytes.len()] * size).max(0.0)).sum()
    }

    /// Fails with at most [`TARGET`], unless of MCS 0.
    fn select_by_cqis(
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
    fn select(&self, run: Run, snr: &Row, factor: f32, most_bits: u32) -> Option<Format> {
        let (groups, sizes) = self.band.groups_of(run);
        let effective = |mcs, _| factor * self.effective.of(mcs, snr, groups, &sizes);
        self.search(self.allocation_of(run), most_bits, effective)
    }

    #[inline]
    fn effective_snr(&self, mcs: u8, snr: &Row, groups: Groups) -> f32 {
        self.effective.of(mcs, snr, groups, self.band.sizes())
    }

    #[inline]
    fn effective_snr_of(&self, mcs: u8, snr: &Row, run: Run) -> f32 {
        let (groups, sizes) = self.band.groups_of(run);
        self.effective.of(mcs, snr, groups, &sizes)
    }

    #[inline]
    fn bler(&self, tti: u64, groups: Groups, format: Format, snr: f32) -> f64 {
        self.bler_on(self.allocation(tti, groups, format.layers), format, snr)
    }

    #[inline]
    fn bler_of(&self, run: Run, format: Format, snr: f32) -> f64 {
        self.bler_on(self.allocation_of(run), format, snr)
    }
}

/// At which the CQI's modulation and code rate on [`REFERENCE_ELEMENTS`] fail with [`TARGET`]; NaN for CQI 0.
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
    use super::super::block_size;
    use super::super::resources::Ports;
    use super::*;

    /// -6 to 25 dB.
    fn snrs() -> impl Iterator<Item = f32> {
        (0..310u16).map(|step| 10f32.powf((f32::from(step) * 0.1 - 6.0) / 10.0))
    }

    #[test]
    fn higher_cqis_carry_more_bytes() {
        let layout = Downlink { ports: Ports::One, control: 3 };
        for (bandwidth, qam256) in Bandwidth::ALL.into_iter().flat_map(|it| [(it, false), (it, true)]) {
            let formats = Formats::down(bandwidth, layout, qam256, 0.0);
            assert!(formats.block_bytes()[1..].is_sorted(), "{bandwidth:?}: {:?}", formats.block_bytes());
        }
    }

    // Tests the feature: selection of blocks (closed form)
    /// At most 10.2 %, unless of MCS 0.
    #[test]
    fn blocks_selected_by_reports_fail_rarely() {
        let layout = Downlink { ports: Ports::One, control: 3 };
        for bandwidth in [Bandwidth::Mhz1_4, Bandwidth::Mhz10] {
            let formats = Formats::down(bandwidth, layout, false, 0.0);
            for (tti, snr) in (0..10).flat_map(|tti| snrs().map(move |snr| (tti, snr))) {
                let groups = formats.band().all();
                let cqis = [formats.cqi(snr); MAX_GROUPS];
                let format = formats.select_by_cqis(tti, groups, 1, &cqis, 1.0, u32::MAX).unwrap();
                let bler = formats.bler(tti, groups, format, snr);
                assert!(bler <= 0.102 || format.mcs == 0, "{tti}, SNR {snr}: {format:?}, {bler}");
            }
        }
    }

    // Tests the feature: selection of blocks (closed form)
    /// At most 10.2 %, unless of MCS 0; the next larger block of its modulation at least 9.8 %.
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

    // Tests the feature: power of PUSCH (standard's table)
    #[test]
    fn blocks_of_all_mcss_have_room_for_data_on_the_least_resource_blocks() {
        let octets =
            |mcs, blocks| block_size::bits(McsTable::Up.row(mcs)?.size_index, blocks, 1).map(|bits| bits / 8);
        assert!((0..=28).all(|mcs| octets(mcs, Formats::LEAST_BLOCKS) > Some(Formats::UP_OVERHEAD)));
        assert_eq!(octets(0, Formats::LEAST_BLOCKS - 1), Some(Formats::UP_OVERHEAD), "no room");
    }
}
