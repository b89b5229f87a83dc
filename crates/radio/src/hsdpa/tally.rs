//! What is counted about a phone.

use nodeb_base::table;

/// How a phone fared in a cell. Means are NaN where there is nothing to take them of.
#[derive(Clone, Copy, Debug)]
pub struct PhoneRow {
    user: usize,
    pub(super) place_m: [f64; 2],
    pub(super) tally: Tally,
    available_bps: f64,
}

table! {
    /// One row per user on `hsdpa`: place, SNR and CQI, blocks and their errors, packets, handovers. Means are
    /// over the transmissions to the user, and NaN where there was none.
    pub static PHONES: "phones" of PhoneRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user as u64;
        /// Where it was at last, east of the Node B in the middle; NaN without a place.
        "x_m" ["m"] F64 = |row| row.place_m[0];
        /// The same, north of it.
        "y_m" ["m"] F64 = |row| row.place_m[1];
        /// Its distance then from the Node B in the middle; NaN without a place.
        "distance_m" ["m"] F64 = |row| libm::hypot(row.place_m[0], row.place_m[1]);
        /// Mean SNR on HS-PDSCH before despreading, taken as a ratio.
        "snr_db" ["dB"] F64 = |row| 10.0 * libm::log10(row.tally.per_tti(row.tally.snr));
        /// Mean CQI that the Node B had; NaN where it needs none (`shannon`, recorded rates).
        "cqi" ["1"] F64 = |row| row.tally.per_tti(row.tally.cqi);
        /// TTIs in which it was sent a block: transmissions, repetitions included.
        "ttis" [""] U64 = |row| row.tally.ttis;
        /// Blocks begun, each with a first transmission.
        "blocks" [""] U64 = |row| row.tally.blocks;
        /// First transmissions received in error.
        "first_failures" [""] U64 = |row| row.tally.first_failures;
        /// Share of the blocks whose first transmission was received in error.
        "first_bler" ["1"] F64 = |row| row.tally.per_block(row.tally.first_failures);
        /// Transmissions over blocks.
        "transmissions_per_block" ["1"] F64 = |row| row.tally.per_block(row.tally.ttis);
        /// Blocks given up, or flushed because a NACK was taken for an ACK.
        "given_up" [""] U64 = |row| row.tally.given_up;
        /// Bytes of the packets delivered.
        "bytes_delivered" ["bytes"] U64 = |row| row.tally.bytes_delivered;
        /// Packets dropped: buffer full, or lost with a block.
        "packets_dropped" [""] U64 = |row| row.tally.packets_dropped;
        /// Bit rate of packets that it could have been sent; NaN if that was not measured.
        "available_bps" ["bit/s"] F64 = |row| row.available_bps;
        /// How often its serving cell has changed.
        "handovers" [""] U64 = |row| row.tally.handovers;
    }
}

/// How a phone has fared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub(super) ttis: u64,
    pub(super) blocks: u64,
    first_failures: u64,
    given_up: u64,
    /// Sums over transmissions, of linear SNRs and of CQIs.
    pub(super) snr: f64,
    pub(super) cqi: f64,
    bytes_delivered: u64,
    packets_dropped: u64,
    pub(super) handovers: u64,
}

impl Tally {
    /// A block has been sent at this linear SNR, for the first time in any cell or again; the CQI is NaN
    /// where there are none.
    pub fn sent(&mut self, snr: f64, cqi: f32, is_new: bool, failed: bool) {
        self.ttis += 1;
        self.blocks += u64::from(is_new);
        self.first_failures += u64::from(is_new && failed);
        self.snr += snr;
        self.cqi += f64::from(cqi);
    }

    /// A block is lost for good.
    pub fn gave_up(&mut self) {
        self.given_up += 1;
    }

    /// A packet of so many bytes has arrived.
    pub fn delivered(&mut self, bytes: u32) {
        self.bytes_delivered += u64::from(bytes);
    }

    /// A packet is lost.
    pub fn dropped(&mut self) {
        self.packets_dropped += 1;
    }

    /// Another cell serves it.
    pub fn changed_cell(&mut self) {
        self.handovers += 1;
    }

    /// What it comes to for a user at a place.
    pub fn row(&self, user: usize, place: Option<[f64; 2]>, available_bps: f64) -> PhoneRow {
        PhoneRow { user, place_m: place.unwrap_or([f64::NAN; 2]), tally: *self, available_bps }
    }

    fn per_tti(&self, sum: f64) -> f64 {
        sum / self.ttis as f64
    }

    fn per_block(&self, count: u64) -> f64 {
        count as f64 / self.blocks as f64
    }
}
