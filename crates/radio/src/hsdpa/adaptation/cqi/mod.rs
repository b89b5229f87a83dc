//! CQI reports, and the transport formats they choose.
//!
//! The UE reports `floor(SNR / 1.02 + 16.62)` within 0 to 30, SNR in dB before despreading: the
//! format that fails with a probability of 10 % (Brouwer et al., ISSSTA 2004). Reports come in cycles
//! (TS 25.214, 6A.1.2) and late. An outer loop at the Node B shifts them until the acknowledged
//! share of first transmissions is the one asked for: up by a step at a NACK, down by
//! `step p / (1 - p)` at an ACK (Sampath, Kumar & Holtzman, VTC 1997, for power control).

use nodeb_base::params;
use std::sync::{Arc, OnceLock};

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::rng::{Indexed, Streams, normal_of};
use nodeb_base::units::{Duration, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::format::{self, CQIS, Format, MAX_CODES};
use super::curves::Curves;
use super::{Limits, Link, LinkAdaptationParams, Offer};
use crate::cell::channel::Channel;
use crate::cell::doppler::JakesSequence;
use crate::cell::profile::BLOCK;
use crate::numerology::Numerology;

/// SNR in dB between two CQIs, and the CQI at 0 dB.
const STEP_DB: f64 = 1.02;
const CQI_AT_0_DB: f64 = 16.62;

/// The highest CQI (TS 25.214, 6A.2).
const HIGHEST: i32 = 30;

params! {
    /// Parameters of CQI reports.
    pub struct CqiReports {
        /// From the TTI that was measured until the TTI in which the Node B uses the report; whole TTIs.
        pub delay: Duration = Duration::from_millis(6),
        /// Distance of two measurements: one TTI, or more of them.
        pub cycle: Duration = Numerology::HSDPA.tti,
        /// Standard deviation of the measured SNR in dB.
        pub error_db: f64 = 0.0,
        /// What becomes of the fraction of a CQI.
        pub rounding: Rounding,
        /// The user's own table of blocks from CQI 1 on, instead of those of the UE categories. CQIs above
        /// its last mean its last block.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub table: Vec<Row>,
        /// An outer loop; absent: reports are taken as they are.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub outer_loop: Option<OuterLoop>,
    }
}

/// A line of a CQI table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// CQI, 1 to 30.
    pub cqi: u8,
    /// Bits of the block.
    pub bits: u32,
    /// HS-PDSCH codes, 1 to 15.
    pub codes: u32,
}

/// What becomes of the fraction of a CQI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// It is dropped: the CQI whose block fails with at most 10 %.
    #[default]
    Down,
    /// The nearest CQI.
    Nearest,
}

params! {
    /// Parameters of the outer loop.
    pub struct OuterLoop {
        /// Share of first transmissions that shall fail.
        pub target_bler: Probability = Probability(0.1),
        /// Shift in dB at a NACK.
        pub step_db: f64 = 0.5,
    }
}

impl Checked for CqiReports {
    fn check(&self, check: &mut Check) {
        check.at_most("delay", self.delay, Duration::from_secs(10));
        check.require(
            self.cycle.0 > 0
                && self.cycle.0.is_multiple_of(Numerology::HSDPA.tti.0)
                && self.cycle <= Duration::from_secs(10),
            "cycle",
            || format!("a cycle of {} is none of whole TTIs; expected 2 ms, 4 ms, ... 10 s", self.cycle),
        );
        check.range("error_db", self.error_db, 0.0..=20.0);
        self.check_table(check);
        if let Some(OuterLoop { target_bler, step_db }) = &self.outer_loop {
            check.within("outer_loop", |check| {
                check.require(target_bler.0 > 0.0 && target_bler.0 <= 0.9, "target_bler", || {
                    format!("a loop cannot hold {}; expected more than 0 and at most 0.9", target_bler.0)
                });
                check.require(*step_db > 0.0 && *step_db <= 5.0, "step_db", || {
                    format!("{step_db} is out of range; expected more than 0 and at most 5")
                });
            });
        }
    }
}

impl LinkAdaptationParams for CqiReports {
    fn check_reports(&self, recorded: bool, check: &mut Check) {
        let why = "every user's CQIs are recorded, so that none is measured";
        check.idle(recorded, &keys!(self; error_db, rounding), why);
    }
}

impl CqiReports {
    fn check_table(&self, check: &mut Check) {
        for (expected, row) in (1..).zip(&self.table) {
            check.require(row.cqi == expected && expected < CQIS as u8, "table", || {
                format!("CQI {} follows CQI {}; expected 1, 2, ... up to 30", row.cqi, expected - 1)
            });
            check.require((1..=MAX_CODES).contains(&row.codes), "table", || {
                format!("CQI {} has {} codes; expected 1 to {MAX_CODES}", row.cqi, row.codes)
            });
            check.range("table", row.bits, 1..=1_000_000);
        }
        for pair in self.table.windows(2) {
            check.require(pair[0].bits < pair[1].bits, "table", || {
                let [lower, upper] = [pair[0], pair[1]];
                format!(
                    "the block of CQI {} has {} bits after {}; expected more with each CQI",
                    upper.cqi, upper.bits, lower.bits
                )
            });
        }
    }

    /// What each CQI stands for in a UE category.
    pub fn formats(&self, category: u8) -> [Option<Format>; CQIS] {
        if self.table.is_empty() {
            return format::formats(category);
        }
        std::array::from_fn(|cqi| {
            let row = self.table[..cqi.min(self.table.len())].last()?;
            Some(Format {
                bits: row.bits,
                codes: row.codes,
                modulation: format::modulation(row.cqi),
                curve: row.cqi,
            })
        })
    }

    /// Least SNRs for the CQIs up to `highest`.
    fn thresholds(&self, curves: &Curves, highest: u8) -> Thresholds {
        let Some(least) = curves.least_snrs_db(highest) else {
            return Thresholds::OfFormula(self.rounding.thresholds());
        };
        let lead = self.rounding.lead();
        Thresholds::Measured(Box::new(std::array::from_fn(|cqi| {
            let place = cqi.max(1) - 1;
            let step = least.get(place.max(1)).map_or(STEP_DB, |upper| upper - least[place.max(1) - 1]);
            least.get(place).map_or(f32::INFINITY, |snr_db| linear(snr_db - lead * step))
        })))
    }

    /// The reports of user number `id`.
    pub fn build(
        &self,
        category: u8,
        link: &Link,
        id: u64,
        streams: &Streams,
        tables: &mut Tables,
    ) -> Reporter {
        let Link { payload, curves, numerology } = *link;
        let block = |format: Option<Format>| match format {
            None => Offer { units: 0, codes: 0, curve: None },
            Some(Format { bits, codes, curve, .. }) => {
                Offer { units: payload.units_in(bits), codes, curve: Some(curve) }
            }
        };
        let formats = self.formats(category);
        let last = formats[CQIS - 1].map_or(1, |format| format.curve);
        let steps = |OuterLoop { target_bler: Probability(p), step_db }: &OuterLoop| {
            let up = step_db / STEP_DB;
            [up as f32, (up * p / (1.0 - p)) as f32]
        };
        let blocks = formats.map(block);
        Reporter {
            lowest: blocks.iter().position(|block| block.units > 0).unwrap_or(CQIS - 1),
            thresholds: self.thresholds(curves, last),
            blocks: shared(tables, &blocks),
            delay: numerology.ttis(self.delay),
            cycle: numerology.ttis(self.cycle).max(1),
            error_db: self.error_db,
            errors: streams.indexed("user", id, "cqi error"),
            first: u64::MAX / 2,
            ahead: [0; BLOCK],
            latest: None,
            steps: self.outer_loop.as_ref().map(steps),
            shift: 0.0,
        }
    }
}

/// By CQI: units that its block carries, its codes, and whose curve it follows; nothing for CQI 0.
#[derive(Debug, PartialEq)]
pub struct CqiTable {
    offers: [Offer; CQIS],
    /// Units once more, in a table that no CQI leads out of.
    units: [u32; UNITS],
    /// The most codes that a block takes.
    max_codes: u32,
}

/// CQIs, and what is left of a power of two.
const UNITS: usize = 32;

impl CqiTable {
    fn new(offers: &[Offer; CQIS]) -> Self {
        let units = std::array::from_fn(|cqi| offers.get(cqi).map_or(0, |offer| offer.units));
        let max_codes = offers.iter().map(|offer| offer.codes).max().unwrap_or(0);
        Self { offers: *offers, units, max_codes }
    }
}

/// The blocks that users have so far: what many have in common lies in one place, which a cache then holds.
pub type Tables = Vec<Arc<CqiTable>>;

fn shared(tables: &mut Tables, blocks: &[Offer; CQIS]) -> Arc<CqiTable> {
    if let Some(known) = tables.iter().find(|known| known.offers == *blocks) {
        return Arc::clone(known);
    }
    tables.push(Arc::new(CqiTable::new(blocks)));
    tables[tables.len() - 1].clone()
}

/// The largest shift of an outer loop, in CQIs.
const LARGEST_SHIFT: f32 = 6.0;

fn linear(db: f64) -> f32 {
    libm::pow(10.0, db / 10.0) as f32
}

impl Rounding {
    /// Share of a CQI by which a report runs ahead.
    fn lead(self) -> f64 {
        if self == Self::Nearest { 0.5 } else { 0.0 }
    }

    /// Least linear SNR for each CQI; that for 0 is not looked at, and none reaches the one after the last. All users look it up at the same place,
    /// which a cache then holds.
    fn thresholds(self) -> &'static [f32; CQIS + 1] {
        static DOWN: OnceLock<[f32; CQIS + 1]> = OnceLock::new();
        static NEAREST: OnceLock<[f32; CQIS + 1]> = OnceLock::new();
        let table = if self == Self::Nearest { &NEAREST } else { &DOWN };
        let least = |cqi| match cqi {
            CQIS => f32::NAN,
            _ => linear(STEP_DB * (cqi as f64 - self.lead() - CQI_AT_0_DB)),
        };
        table.get_or_init(|| std::array::from_fn(least))
    }
}

/// Least linear SNR for each CQI.
#[derive(Debug)]
enum Thresholds {
    /// A CQI every 1.02 dB.
    OfFormula(&'static [f32; CQIS + 1]),
    /// By measured curves; infinite for CQIs that have none.
    Measured(Box<[f32; CQIS]>),
}

/// The CQI of a linear SNR where there is one every 1.02 dB.
///
/// The bits of a float are nearly its logarithm: at most a CQI off, which is put right without a branch,
/// because no processor would foresee it.
#[inline]
fn cqi_of_formula(thresholds: &[f32; CQIS + 1], snr: f32) -> u8 {
    let log2 = snr.to_bits() as f32 * (1.0 / (1 << 23) as f32) - 127.0;
    let guess = log2 * (3.010_3 / STEP_DB as f32) + CQI_AT_0_DB as f32;
    let guess = (guess as i32).clamp(1, HIGHEST) as usize;
    let (above, below) = (snr >= thresholds[guess + 1], snr < thresholds[guess]);
    (guess + usize::from(above) - usize::from(below)) as u8
}

/// The reports of one user, and what the Node B makes of them.
#[derive(Debug)]
pub struct Reporter {
    thresholds: Thresholds,
    blocks: Arc<CqiTable>,
    /// The lowest CQI whose format carries anything.
    lowest: usize,
    /// In TTIs.
    delay: u64,
    cycle: u64,
    error_db: f64,
    errors: Indexed,
    /// Reports worked out ahead: the first TTI, far away before there are any, and so many CQIs.
    first: u64,
    ahead: [u8; BLOCK],
    /// The latest measurement otherwise: its TTI and its CQI.
    latest: Option<(u64, u8)>,
    /// Shifts in CQIs at a NACK and at an ACK.
    steps: Option<[f32; 2]>,
    shift: f32,
}

impl Reporter {
    /// The CQI that the Node B has in TTI number `tti`.
    #[inline]
    pub fn report(&mut self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> u8 {
        let at = tti.saturating_sub(self.delay);
        let within = at.wrapping_sub(self.first) as usize;
        if within < BLOCK { self.ahead[within] } else { self.look(channel, sequence, at) }
    }

    /// The CQIs of TTI number `tti` and those around it, as worked out ahead by [`Self::report`].
    #[inline]
    pub fn peek(&self, tti: u64) -> Option<(&[u8; BLOCK], u64)> {
        let within = tti.checked_sub(self.delay)?.wrapping_sub(self.first);
        (within < BLOCK as u64).then_some((&self.ahead, self.first + self.delay))
    }

    /// Returns a CQI that is exceeded in no TTI from number `tti` to the one that comes with it, if that is known
    /// without looking at every report.
    pub fn peak(&self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> Option<(u8, u64)> {
        if !self.works_ahead() || self.learns() {
            return None;
        }
        let (snr, until) = channel.peak(sequence, tti.checked_sub(self.delay)?)?;
        Some((self.cqi_of(snr), until + self.delay))
    }

    /// Whether reports follow from the channel alone, TTI by TTI.
    fn works_ahead(&self) -> bool {
        self.cycle == 1 && self.error_db <= 0.0
    }

    /// Whether there is an outer loop.
    pub fn learns(&self) -> bool {
        self.steps.is_some()
    }

    /// Works reports out ahead, if nothing can come between.
    fn look(&mut self, channel: &mut Channel, sequence: &JakesSequence, at: u64) -> u8 {
        if self.works_ahead()
            && let Some(snrs) = channel.ahead(sequence, at)
        {
            if let Thresholds::OfFormula(thresholds) = &self.thresholds {
                for (cqi, snr) in self.ahead.iter_mut().zip(&snrs) {
                    *cqi = cqi_of_formula(thresholds, *snr);
                }
            } else {
                self.ahead = snrs.map(|snr| self.cqi_of(snr));
            }
            self.first = at;
            return self.ahead[0];
        }
        match self.latest {
            Some((measured, cqi)) if measured <= at && at - measured < self.cycle => cqi,
            _ => self.measure(channel, sequence, at),
        }
    }

    fn measure(&mut self, channel: &mut Channel, sequence: &JakesSequence, at: u64) -> u8 {
        // A division takes longer than all else here.
        let measured = if self.cycle == 1 { at } else { at / self.cycle * self.cycle };
        let cqi = channel.recorded_cqi(measured).unwrap_or_else(|| {
            let mut snr = channel.snr(sequence, measured);
            if self.error_db > 0.0 {
                let error_db = self.error_db * normal_of(&self.errors, measured);
                snr *= libm::pow(10.0, error_db / 10.0) as f32;
            }
            self.cqi_of(snr)
        });
        self.latest = Some((measured, cqi));
        cqi
    }

    /// The CQI of a linear SNR.
    fn cqi_of(&self, snr: f32) -> u8 {
        match &self.thresholds {
            Thresholds::OfFormula(thresholds) => cqi_of_formula(thresholds, snr),
            Thresholds::Measured(least) => least[1..].partition_point(|least| snr >= *least) as u8,
        }
    }

    /// The block for a report: the format of the CQI, less what the outer loop and sharing the power
    /// take, or the smallest one that holds what there is to send.
    #[inline]
    pub fn offer(&self, cqi: f32, limits: Limits) -> Option<Offer> {
        if cqi < 1.0 {
            return None;
        }
        let mut cqi = if self.steps.is_none() && limits.sharers <= 1 {
            (cqi as i32).min(HIGHEST) as usize
        } else {
            self.deduct(cqi, limits.sharers)
        };
        while cqi > 1 && self.blocks.offers[cqi].codes > limits.codes {
            cqi -= 1;
        }
        while cqi > 1 && u64::from(self.blocks.units[cqi - 1]) >= limits.units {
            cqi -= 1;
        }
        let block = self.blocks.offers[cqi];
        (block.units > 0 && block.codes <= limits.codes).then_some(block)
    }

    /// Units of the blocks for these reports, 0 for none.
    pub fn units<const N: usize>(&self, cqis: &[u8; N], limits: Limits) -> [u32; N] {
        if self.steps.is_some() || limits.sharers > 1 || self.blocks.max_codes > limits.codes {
            return cqis.map(|cqi| self.offer(f32::from(cqi), limits).map_or(0, |offer| offer.units));
        }
        // The smallest block that holds what there is to send, and no code is in the way.
        let fails = |units: &u32| u64::from(*units) < limits.units;
        let most = self.blocks.units[CQIS - 1];
        let enough = if fails(&most) { CQIS } else { self.blocks.units[1..CQIS].partition_point(fails) + 1 };
        cqis.map(|cqi| self.blocks.units[usize::from(cqi).min(enough) % UNITS])
    }

    /// The CQI less what the outer loop and sharing the power take.
    fn deduct(&self, cqi: f32, sharers: u32) -> usize {
        let sharing = match sharers {
            0 | 1 => 0.0,
            n => 10.0 * libm::log10f(n as f32) / STEP_DB as f32,
        };
        // Deductions never take a user out of range that had been in it.
        let least = self.lowest.min(cqi as usize);
        ((cqi - self.shift - sharing).max(0.0) as usize).clamp(least, CQIS - 1)
    }

    /// A first transmission was acknowledged or not.
    pub fn on_answer(&mut self, acknowledged: bool) {
        if let Some([up, down]) = self.steps {
            let shift = if acknowledged { self.shift - down } else { self.shift + up };
            self.shift = shift.clamp(-LARGEST_SHIFT, LARGEST_SHIFT);
        }
    }
}

#[cfg(test)]
mod tests;
