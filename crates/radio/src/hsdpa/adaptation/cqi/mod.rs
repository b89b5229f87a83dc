//! By default, the UE reports the CQI `floor(SNR / 1.02 + 16.62)`, limited to 0 to 30, with the SNR in dB
//! before despreading; the block of this CQI fails with a probability of at most about 10 % (Brouwer et al.,
//! ISSSTA 2004). Reports are made in cycles (TS 25.214, 6A.1.2) and arrive with a delay. An optional outer
//! loop at the Node B shifts the reported CQIs until the share of failed first transmissions meets a target
//! `p`: it lowers later CQIs by a step at a NACK, and raises them by `step p / (1 - p)` at an ACK (Sampath,
//! Kumar & Holtzman, VTC 1997, for power control).

use nodeb_base::params;
use std::sync::{Arc, OnceLock};

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::rng::{Indexed, Streams, normal_of};
use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::format::{self, CQIS, Format, MAX_CODES};
use super::curves::Curves;
use super::{Limits, Link, LinkAdaptationParams, Offer};
use nodeb_air::cell::channel::Channel;
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::profile::BLOCK;
use nodeb_air::mac::outer_loop::{Correction, FirstAnswer, OuterLoop};
use nodeb_air::numerology::Numerology;

/// Between two consecutive CQIs.
const STEP_DB: f64 = 1.02;
/// Before rounding.
const CQI_AT_0_DB: f64 = 16.62;

/// TS 25.214, 6A.2.
const HIGHEST: i32 = 30;

params! {
    /// Parameters of CQI reports, which select the transport format of a block.
    pub struct CqiReports {
        /// Time from a measurement to the TTI in which the Node B uses its report; rounded up to whole TTIs.
        pub delay: Duration = Duration::from_millis(6),
        /// Time between two measurements: one or more whole TTIs.
        pub cycle: Duration = Numerology::HSDPA.tti,
        /// Standard deviation of the error of a measured SNR, in dB.
        pub error_db: f64 = 0.0,
        /// Rounding of a measured, fractional CQI to a whole one.
        pub rounding: Rounding,
        /// User-defined table of blocks from CQI 1, instead of the tables of the UE categories.
        /// CQIs above the last row select its block.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub table: Vec<Row>,
        /// Outer loop, which shifts reported CQIs until blocks fail at a target rate. Default:
        /// none, reports are used unchanged.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub outer_loop: Option<OuterLoop>,
    }
}

/// Row of a user-defined CQI table: the block that a CQI selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// CQI, 1 to 30.
    pub cqi: u8,
    /// Size of the block in bits.
    pub bits: u32,
    /// Number of HS-PDSCH codes of the block, 1 to 15.
    pub codes: u32,
}

/// Rounding of a measured, fractional CQI to a whole one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// Rounds down, to the CQI whose block fails with a probability of at most about 10 %.
    #[default]
    Down,
    /// Rounds to the nearest whole CQI.
    Nearest,
}

impl Checked for CqiReports {
    fn check(&self, check: &mut Check) {
        check.at_most("delay", self.delay, Duration::from_secs(10));
        check.require(
            self.cycle.0 > 0
                && self.cycle.0.is_multiple_of(Numerology::HSDPA.tti.0)
                && self.cycle <= Duration::from_secs(10),
            "cycle",
            || format!("{} is not a number of whole TTIs; expected 2 ms, 4 ms, ... 10 s", self.cycle),
        );
        check.range("error_db", self.error_db, 0.0..=20.0);
        self.check_table(check);
        if let Some(outer_loop) = &self.outer_loop {
            check.within("outer_loop", |check| outer_loop.check(check));
        }
    }
}

impl LinkAdaptationParams for CqiReports {
    fn check_reports(&self, recorded: bool, check: &mut Check) {
        let why = "every user's CQIs are recorded, so none is measured";
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

    /// Of the table, or else of the standard's one for the category.
    #[must_use]
    pub fn with_blocks_doubled(&self, category: u8) -> Self {
        let standard = || {
            let growing = |(cqi, format): (u8, &Option<Format>)| {
                let Format { bits, codes, .. } = format.filter(|format| format.curve == cqi)?;
                Some(Row { cqi, bits, codes })
            };
            (0..).zip(&format::formats(category)).filter_map(growing).collect()
        };
        let rows: Vec<Row> = if self.table.is_empty() { standard() } else { self.table.clone() };
        let table = rows.into_iter().map(|row| Row { bits: 2 * row.bits, ..row }).collect();
        Self { table, ..self.clone() }
    }

    /// By CQI.
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

    /// Smallest linear SNR of each CQI; with measured curves, CQIs above `highest` are never reported.
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

    /// Users with equal blocks share a table in `tables`.
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
        let correction = |outer_loop: &OuterLoop| outer_loop.correction(STEP_DB, |cqis| cqis as f32);
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
            correction: self.outer_loop.as_ref().map(correction),
        }
    }
}

#[derive(Debug, PartialEq)]
pub struct CqiTable {
    offers: [Offer; CQIS],
    /// Payload units of each CQI's block; at a length of a power of two an index needs no check.
    units: [u32; UNITS],
    max_units: u64,
    max_codes: u32,
}

/// CQIs 0 to 30, padded to a power of two.
const UNITS: usize = 32;

impl CqiTable {
    fn new(offers: &[Offer; CQIS]) -> Self {
        let units = std::array::from_fn(|cqi| offers.get(cqi).map_or(0, |offer| offer.units));
        let max_codes = offers.iter().map(|offer| offer.codes).max().unwrap_or(0);
        let max_units = offers.iter().map(|offer| u64::from(offer.units)).max().unwrap_or(0);
        Self { offers: *offers, units, max_units, max_codes }
    }
}

/// Users with equal blocks share one table, which stays in the CPU cache.
pub type Tables = Vec<Arc<CqiTable>>;

fn shared(tables: &mut Tables, blocks: &[Offer; CQIS]) -> Arc<CqiTable> {
    if let Some(table) = tables.iter().find(|table| table.offers == *blocks) {
        return Arc::clone(table);
    }
    tables.push(Arc::new(CqiTable::new(blocks)));
    tables[tables.len() - 1].clone()
}

fn linear(db: f64) -> f32 {
    libm::pow(10.0, db / 10.0) as f32
}

impl Rounding {
    /// Fraction of a CQI that rounding may add: 0.5 to the nearest CQI, 0 down.
    fn lead(self) -> f64 {
        if self == Self::Nearest { 0.5 } else { 0.0 }
    }

    /// Smallest linear SNR of each CQI; element 31 is NaN, which no SNR reaches.
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

/// Smallest linear SNR at which each CQI is reported.
#[derive(Debug)]
enum Thresholds {
    /// 1.02 dB apart.
    OfFormula(&'static [f32; CQIS + 1]),
    /// Infinite for CQIs that are never reported.
    Measured(Box<[f32; CQIS]>),
}

/// The bits of a float, read as an integer, are nearly proportional to its logarithm, so a guess from them is
/// at most one CQI off. It is corrected without a branch, which the CPU could not predict.
#[inline]
fn cqi_of_formula(thresholds: &[f32; CQIS + 1], snr: f32) -> u8 {
    let log2 = snr.to_bits() as f32 * (1.0 / (1 << 23) as f32) - 127.0;
    let guess = log2 * (3.010_3 / STEP_DB as f32) + CQI_AT_0_DB as f32;
    let guess = (guess as i32).clamp(1, HIGHEST) as usize;
    let (above, below) = (snr >= thresholds[guess + 1], snr < thresholds[guess]);
    (guess + usize::from(above) - usize::from(below)) as u8
}

#[derive(Debug)]
pub struct Reporter {
    thresholds: Thresholds,
    blocks: Arc<CqiTable>,
    /// Lowest CQI with at least one payload unit, or 30.
    lowest: usize,
    /// TTIs from a measurement to the use of its report at the Node B.
    delay: u64,
    cycle: u64,
    error_db: f64,
    errors: Indexed,
    /// TTI of the first element of `ahead`; `u64::MAX / 2` if none was computed ahead.
    first: u64,
    ahead: [u8; BLOCK],
    /// TTI and CQI of the last measurement not computed ahead.
    latest: Option<(u64, u8)>,
    /// In CQIs.
    correction: Option<Correction<f32>>,
}

impl Reporter {
    /// Before the outer loop: the last measurement at least `delay` TTIs earlier, else that of TTI 0.
    #[inline]
    pub fn report(&mut self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> u8 {
        let at = tti.saturating_sub(self.delay);
        let within = at.wrapping_sub(self.first) as usize;
        if within < BLOCK { self.ahead[within] } else { self.look(channel, sequence, at) }
    }

    /// CQIs that [`Self::report`] computed ahead, and the TTI in which the first of them is used.
    #[inline]
    pub fn peek(&self, tti: u64) -> Option<(&[u8; BLOCK], u64)> {
        let within = tti.checked_sub(self.delay)?.wrapping_sub(self.first);
        (within < BLOCK as u64).then_some((&self.ahead, self.first + self.delay))
    }

    /// Upper bound from TTI `tti`, and the first TTI in which it is not valid; `None` if it is not cheap.
    pub fn peak(&self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> Option<(u8, u64)> {
        if !self.works_ahead() || self.learns() {
            return None;
        }
        let (snr, until) = channel.peak(sequence, tti.checked_sub(self.delay)?)?;
        Some((self.cqi_of(snr), until + self.delay))
    }

    /// A report depends only on the channel in its TTI: the cycle is one TTI, without measurement errors.
    fn works_ahead(&self) -> bool {
        self.cycle == 1 && self.error_db <= 0.0
    }

    pub fn learns(&self) -> bool {
        self.correction.is_some()
    }

    /// Also stores the CQIs after `at`, if the channel can be evaluated ahead.
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
        // For cycles of one TTI the division is avoided, as it would take most of the time of this
        // function.
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

    fn cqi_of(&self, snr: f32) -> u8 {
        match &self.thresholds {
            Thresholds::OfFormula(thresholds) => cqi_of_formula(thresholds, snr),
            Thresholds::Measured(least) => least[1..].partition_point(|least| snr >= *least) as u8,
        }
    }

    /// The CQI is first shifted by the outer loop and reduced for shared power, then reduced to the largest
    /// CQI whose block fits the free codes, and finally to the smallest whose block still holds all units.
    #[inline]
    pub fn offer(&self, cqi: f32, limits: Limits) -> Option<Offer> {
        if cqi < 1.0 {
            return None;
        }
        let mut cqi = if self.correction.is_none() && limits.sharers <= 1 {
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

    pub fn units<const N: usize>(&self, cqis: &[u8; N], limits: Limits) -> [u32; N] {
        if self.correction.is_some() || limits.sharers > 1 || self.blocks.max_codes > limits.codes {
            return cqis.map(|cqi| self.offer(f32::from(cqi), limits).map_or(0, |offer| offer.units));
        }
        // Enough codes are free for every block, so only the number of units to be sent limits the
        // block: the smallest block that holds all of them is sufficient.
        let fails = |units: &u32| u64::from(*units) < limits.units;
        let most = self.blocks.units[CQIS - 1];
        let enough = if fails(&most) { CQIS } else { self.blocks.units[1..CQIS].partition_point(fails) + 1 };
        cqis.map(|cqi| self.blocks.units[usize::from(cqi).min(enough) % UNITS])
    }

    #[inline]
    pub fn max_units(&self) -> u64 {
        self.blocks.max_units
    }

    /// Shifted by the outer loop and reduced for power shared among `sharers`, rounded down last; at most 30,
    /// and not below the lower of the reported CQI and the lowest that carries units.
    fn deduct(&self, cqi: f32, sharers: u32) -> usize {
        let sharing = match sharers {
            0 | 1 => 0.0,
            n => 10.0 * libm::log10f(n as f32) / STEP_DB as f32,
        };
        let shift = self.correction.map_or(0.0, |correction| correction.value);
        // Deductions never lower a CQI whose block carries units to a CQI whose block carries none.
        let least = self.lowest.min(cqi as usize);
        ((cqi + shift - sharing).max(0.0) as usize).clamp(least, CQIS - 1)
    }

    pub fn on_answer(&mut self, answer: FirstAnswer) {
        if let Some(correction) = &mut self.correction {
            correction.on_answer(answer);
        }
    }
}

#[cfg(test)]
mod tests;
