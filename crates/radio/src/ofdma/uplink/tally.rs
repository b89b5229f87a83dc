use nodeb_base::table;
use nodeb_base::units::Duration;

use super::requests::RequestTally;
use super::ue::UeTally;
use super::ue_context::ContextTally;

/// A mean is NaN if it has no samples.
#[derive(Clone, Copy, Debug)]
pub struct UplinkRow {
    pub user: usize,
    pub tti: Duration,
    pub requests: RequestTally,
    pub ue: UeTally,
    pub context: ContextTally,
}

table! {
    /// One row per user on `lte` with a scheduled uplink: requests, grants, blocks and their errors, packets.
    pub static UPLINKS: "uplinks" of UplinkRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Scheduling requests sent.
        "requests" [""] U64 = |row| row.requests.sent;
        /// Mean time from the TTI in which the phone has unreported data to its next new block; NaN if none.
        "request_wait_s" ["s"] F64 = |row| Duration(row.requests.waited * row.tti.0).as_secs() / row.requests.answered as f64;
        /// Grants of new blocks, including each new block of a configured grant.
        "grants" [""] U64 = |row| row.context.grants;
        /// Octets of the granted blocks.
        "granted_bytes" ["bytes"] U64 = |row| row.ue.granted_bytes;
        /// Octets of padding in the granted blocks.
        "padding_bytes" ["bytes"] U64 = |row| row.ue.padding_bytes;
        /// Mean effective SNR of the transmissions, averaged as a linear ratio.
        "snr_db" ["dB"] F64 = |row| 10.0 * libm::log10(row.context.snr / row.context.transmissions as f64);
        /// Transmissions, including retransmissions.
        "transmissions" [""] U64 = |row| row.context.transmissions;
        /// First transmissions received in error.
        "first_failures" [""] U64 = |row| row.context.first_failures;
        /// Share of the blocks whose first transmission was received in error.
        "first_bler" ["1"] F64 = |row| row.context.first_failures as f64 / row.ue.blocks as f64;
        /// Blocks given up after the last transmission allowed.
        "given_up" [""] U64 = |row| row.context.given_up;
        /// Bytes of the packets delivered.
        "bytes_delivered" ["bytes"] U64 = |row| row.context.bytes_delivered;
        /// Packets dropped by the queue or the discard timer, or lost with a block.
        "packets_dropped" [""] U64 = |row| row.ue.packets_dropped;
    }
}
