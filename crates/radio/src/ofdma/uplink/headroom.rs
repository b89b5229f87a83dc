//! The base station computes from them how many resource blocks a phone's power allows (TS 36.321, 5.4.6,
//! 6.1.3.6).

use nodeb_base::table;
use nodeb_base::table::Table;

// Clause: TS 36.213, 5.1.1.2: power headroom
/// Negative with too little power; `wanted_dbm` is needed on each resource block.
pub fn headroom_db(largest_dbm: f64, wanted_dbm: f64, blocks: u16) -> f64 {
    largest_dbm - (wanted_dbm + 10.0 * libm::log10(f64::from(blocks)))
}

/// By a report of a level of at least `least_db` in a block on `blocks` resource blocks.
pub fn allowed_blocks(least_db: f64, blocks: u16) -> u16 {
    let most = libm::pow(10.0, least_db / 10.0) * f64::from(blocks);
    most.min(f64::from(u16::MAX)) as u16
}

/// Times are in TTIs.
#[derive(Clone, Copy, Debug)]
pub struct HeadroomRules {
    /// Between two reports without a change; `u64::MAX` for no such reports.
    pub periodic: u64,
    /// After a report in which a change triggers none.
    pub prohibit: u64,
    /// Of the path loss, beyond which a phone reports.
    pub change_db: f64,
}

// Clause: TS 36.321, 5.4.6, 6.1.3.6: power headroom reports
// Simplified: the path loss is measured without errors and filtering
#[derive(Clone, Debug)]
pub struct HeadroomReporter {
    rules: HeadroomRules,
    /// TTI and path loss in dB of the last report sent.
    last: Option<(u64, f64)>,
    pub tally: HeadroomTally,
}

impl HeadroomReporter {
    pub fn new(rules: HeadroomRules) -> Self {
        Self { rules, last: None, tally: HeadroomTally::default() }
    }

    /// `loss_db` is the path loss in this TTI.
    pub fn is_due(&self, tti: u64, loss_db: f64) -> bool {
        self.last.is_none_or(|(last, reported_db)| {
            let (passed, HeadroomRules { periodic, prohibit, change_db }) = (tti - last, self.rules);
            passed >= periodic || passed >= prohibit && (loss_db - reported_db).abs() > change_db
        })
    }

    pub fn report(&mut self, tti: u64, loss_db: f64, headroom_db: f64) {
        self.last = Some((tti, loss_db));
        self.tally.reports += 1;
        self.tally.sum_db += headroom_db;
    }
}

/// Resource blocks that the last report received allows, and the first TTI of its block.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadroomEstimate(Option<(u16, u64)>);

impl HeadroomEstimate {
    /// Has no effect if a report of a later block was received before.
    pub fn on_report(&mut self, least_db: f64, blocks: u16, begun: u64) {
        if self.0.is_none_or(|(_, last)| last < begun) {
            self.0 = Some((allowed_blocks(least_db, blocks), begun));
        }
    }

    /// `None` before a report.
    pub fn blocks(self) -> Option<u16> {
        self.0.map(|(blocks, _)| blocks)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct HeadroomTally {
    pub reports: u64,
    /// Over the reports.
    pub sum_db: f64,
    /// Transmissions for which power control sets more than the largest power.
    pub limited: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct HeadroomRow {
    user: usize,
    tally: HeadroomTally,
}

table! {
    /// One row per user on `lte` with power headroom reports in the uplink.
    pub static HEADROOM: "headroom" of HeadroomRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Power headroom reports sent.
        "reports" [""] U64 = |row| row.tally.reports;
        /// Mean power headroom at the reports, before it is rounded to a level; NaN if there were none.
        "headroom_db" ["dB"] F64 = |row| row.tally.sum_db / row.tally.reports as f64;
        /// Transmissions on more resource blocks than the power of the phone allowed, so that each resource block had
        /// less power than power control sets.
        "limited_transmissions" [""] U64 = |row| row.tally.limited;
    }
}

pub fn table(tallies: impl Iterator<Item = HeadroomTally>) -> Table {
    let row = |(user, tally): (usize, HeadroomTally)| HeadroomRow { user, tally };
    HEADROOM.table(&tallies.enumerate().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use nodeb_base::units::Duration;

    use super::*;
    use crate::lte::uplink::headroom::{HeadroomReports, least_db, level};

    fn rounded(headroom_db: f64) -> f64 {
        least_db(level(headroom_db))
    }

    // Tests the feature: power headroom (closed form)
    /// 23 dBm, with 0 dBm on each of 50 resource blocks (17 dBm), leave 6 dB: 199 blocks, less than 1 dB
    /// fewer by rounding.
    #[test]
    fn headroom_is_what_a_block_leaves_of_the_power() {
        let headroom = headroom_db(23.0, 0.0, 50);
        assert!((headroom - 6.0103).abs() < 1e-4, "{headroom}");
        assert!((headroom_db(23.0, 20.0, 4) + 3.0206).abs() < 1e-4);
        assert_eq!(allowed_blocks(rounded(headroom), 50), 199);
        // Half a dB more is rounded down to the same level.
        assert_eq!(allowed_blocks(rounded(headroom_db(23.5, 0.0, 50)), 50), 199);
        for blocks in 1..=100u16 {
            let exact = libm::pow(10.0, 2.3);
            let known = f64::from(allowed_blocks(rounded(headroom_db(23.0, 0.0, blocks)), blocks));
            assert!(known <= exact + 1e-6 && known + 1.0 > exact / libm::pow(10.0, 0.1), "{blocks}: {known}");
        }
    }

    // Tests the feature: power headroom reports (worked example)
    #[test]
    fn reports_are_periodic_or_follow_a_change() {
        let params = HeadroomReports {
            periodic: Some(Duration::from_millis(100)),
            prohibit: Duration::from_millis(20),
            path_loss_change_db: Some(3),
        };
        let mut headroom = HeadroomReporter::new(params.rules());
        assert!(headroom.is_due(7, 100.0), "the first block has a report");
        headroom.report(7, 100.0, 10.0);
        let due = |headroom: &HeadroomReporter, tti, loss_db| headroom.is_due(tti, loss_db);
        assert_eq!([106, 107].map(|tti| due(&headroom, tti, 100.0)), [false, true], "periodic");
        assert_eq!(
            [26, 27].map(|tti| due(&headroom, tti, 103.5)),
            [false, true],
            "more loss, after the prohibition"
        );
        assert_eq!([103.0, 97.0, 96.9].map(|loss_db| due(&headroom, 50, loss_db)), [false, false, true]);
        let never = HeadroomReports { periodic: None, path_loss_change_db: None, ..params };
        let mut silent = HeadroomReporter::new(never.rules());
        silent.report(0, 100.0, 10.0);
        assert!(!silent.is_due(1_000_000, 140.0));
    }
}
