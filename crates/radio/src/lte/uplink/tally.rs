use nodeb_base::table;
use nodeb_base::units::Duration;

/// A mean is NaN if it has no samples.
#[derive(Clone, Copy, Debug)]
pub struct UplinkRow {
    pub user: usize,
    pub tally: UplinkTally,
}

table! {
    /// One row per user on `lte` with a scheduled uplink: requests, grants, blocks and their errors, packets.
    pub static UPLINKS: "uplinks" of UplinkRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Scheduling requests sent.
        "requests" [""] U64 = |row| row.tally.requests;
        /// Mean time from the subframe in which the phone has unreported data to its next new block; NaN if none.
        "request_wait_s" ["s"] F64 = |row| row.tally.waited.as_secs() / row.tally.answered as f64;
        /// Grants of new blocks, including each new block of a configured grant.
        "grants" [""] U64 = |row| row.tally.grants;
        /// Octets of the granted blocks.
        "granted_bytes" ["bytes"] U64 = |row| row.tally.granted_bytes;
        /// Octets of padding in the granted blocks.
        "padding_bytes" ["bytes"] U64 = |row| row.tally.padding_bytes;
        /// Mean effective SNR of the transmissions, averaged as a linear ratio.
        "snr_db" ["dB"] F64 = |row| 10.0 * libm::log10(row.tally.snr / row.tally.transmissions as f64);
        /// Transmissions, including retransmissions.
        "transmissions" [""] U64 = |row| row.tally.transmissions;
        /// First transmissions received in error.
        "first_failures" [""] U64 = |row| row.tally.first_failures;
        /// Share of the blocks whose first transmission was received in error.
        "first_bler" ["1"] F64 = |row| row.tally.first_failures as f64 / row.tally.blocks as f64;
        /// Blocks given up after the last transmission allowed.
        "given_up" [""] U64 = |row| row.tally.given_up;
        /// Bytes of the packets delivered.
        "bytes_delivered" ["bytes"] U64 = |row| row.tally.bytes_delivered;
        /// Packets dropped by the queue or the discard timer, or lost with a block.
        "packets_dropped" [""] U64 = |row| row.tally.packets_dropped;
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct UplinkTally {
    pub requests: u64,
    /// Waits of unreported data for a new block that ended.
    pub answered: u64,
    /// Of unreported data, for the next new block.
    pub waited: Duration,
    pub grants: u64,
    pub granted_bytes: u64,
    pub padding_bytes: u64,
    /// Sum of linear effective SNRs of all transmissions.
    pub snr: f64,
    pub transmissions: u64,
    /// Counted at the first transmission.
    pub blocks: u64,
    pub first_failures: u64,
    pub given_up: u64,
    pub bytes_delivered: u64,
    pub packets_dropped: u64,
}
