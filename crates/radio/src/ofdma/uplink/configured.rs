//! Semi-persistent scheduling (TS 36.321, 5.10.2).

use nodeb_air::mac::band::Run;
use nodeb_base::table;
use nodeb_base::table::Table;

use crate::ofdma::standard::Format;

#[derive(Clone, Copy, Debug)]
pub struct ConfiguredRules {
    /// In TTIs.
    pub interval: u64,
    /// Consecutive blocks without data that end the grant.
    pub release_after: u32,
    /// New data trigger no scheduling requests.
    pub masks_requests: bool,
}

// Clause: TS 36.321, 5.10.2: configured grants
// Simplified: the base station knows at once that a grant has ended
#[derive(Clone, Debug)]
pub struct ConfiguredGrant {
    /// Of the first block.
    pub begins: u64,
    /// TTIs from block to block.
    every: u64,
    pub run: Run,
    pub format: Format,
    /// Blocks since the last one with data.
    empty: u32,
    /// Consecutive blocks without data that end the grant.
    release_after: u32,
    /// New data trigger no scheduling requests.
    pub masks_requests: bool,
}

impl ConfiguredGrant {
    pub fn new(rules: &ConfiguredRules, begins: u64, run: Run, format: Format) -> Self {
        Self {
            begins,
            every: rules.interval,
            run,
            format,
            empty: 0,
            release_after: rules.release_after,
            masks_requests: rules.masks_requests,
        }
    }

    pub fn recurs(&self, tti: u64) -> bool {
        tti >= self.begins && (tti - self.begins).is_multiple_of(self.every)
    }

    /// True if the grant ends with this block.
    pub fn sent(&mut self, has_data: bool) -> bool {
        self.empty = if has_data { 0 } else { self.empty + 1 };
        self.empty >= self.release_after
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ConfiguredTally {
    pub activations: u64,
    /// After blocks without data.
    pub releases: u64,
    /// Ended by the base station after a block was given up.
    pub withdrawals: u64,
    pub blocks: u64,
    pub empty: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct ConfiguredRow {
    user: usize,
    tally: ConfiguredTally,
}

table! {
    /// One row per user on `lte` with configured grants in the uplink: grants and their blocks.
    pub static CONFIGURED: "configured_grants" of ConfiguredRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Number of grants configured for the phone.
        "activations" [""] U64 = |row| row.tally.activations;
        /// Number of grants that ended because the phone had no data for some periods.
        "releases" [""] U64 = |row| row.tally.releases;
        /// Number of grants that the base station ended because a block was given up.
        "withdrawals" [""] U64 = |row| row.tally.withdrawals;
        /// New blocks sent with configured grants.
        "blocks" [""] U64 = |row| row.tally.blocks;
        /// New blocks sent with configured grants that had no data.
        "empty_blocks" [""] U64 = |row| row.tally.empty;
    }
}

pub fn table(tallies: impl Iterator<Item = ConfiguredTally>) -> Table {
    let row = |(user, tally): (usize, ConfiguredTally)| ConfiguredRow { user, tally };
    CONFIGURED.table(&tallies.enumerate().map(row).collect::<Vec<_>>())
}
