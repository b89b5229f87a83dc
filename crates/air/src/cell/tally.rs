use nodeb_base::context::Context;
use nodeb_base::event::Cause;
use nodeb_base::packet::Packet;
use nodeb_base::table;

/// A mean is NaN if it has no samples.
#[derive(Clone, Copy, Debug)]
pub struct PhoneRow {
    user: usize,
    pub place_m: [f64; 2],
    pub tally: Tally,
    available_bps: f64,
}

table! {
    /// One row per user on `hsdpa` or `lte`: position, SNR and CQI, blocks and their errors, packets, handovers. A
    /// mean is NaN if the user was sent no block.
    pub static PHONES: "phones" of PhoneRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// East coordinate of the phone's last position, from the Node B in the middle; NaN without a position.
        "x_m" ["m"] F64 = |row| row.place_m[0];
        /// North coordinate of the phone's last position, from the Node B in the middle; NaN without a position.
        "y_m" ["m"] F64 = |row| row.place_m[1];
        /// Distance of the phone's last position from the Node B in the middle; NaN without a position.
        "distance_m" ["m"] F64 = |row| libm::hypot(row.place_m[0], row.place_m[1]);
        /// Mean SNR of the transmissions, averaged as a linear ratio: on `hsdpa` that of HS-PDSCH before
        /// despreading, on `lte` the effective SNR.
        "snr_db" ["dB"] F64 = |row| 10.0 * libm::log10(row.tally.per_tti(row.tally.snr));
        /// Mean of the CQIs by which the Node B selected the blocks; NaN if no CQI is used (`shannon`, recorded
        /// rates).
        "cqi" ["1"] F64 = |row| row.tally.per_tti(row.tally.cqi);
        /// Mean number of layers in the TTIs in which the user was sent a block.
        "layers" ["1"] F64 = |row| 1.0 + row.tally.per_tti(row.tally.more_layers as f64);
        /// TTIs in which the user was sent one block or two, including retransmissions.
        "ttis" [""] U64 = |row| row.tally.ttis;
        /// Blocks sent, each counted at its first transmission.
        "blocks" [""] U64 = |row| row.tally.blocks;
        /// First transmissions received in error.
        "first_failures" [""] U64 = |row| row.tally.first_failures;
        /// Share of the blocks whose first transmission was received in error.
        "first_bler" ["1"] F64 = |row| row.tally.per_block(row.tally.first_failures);
        /// Mean number of transmissions per block.
        "transmissions_per_block" ["1"] F64 = |row| row.tally.per_block(row.tally.ttis + row.tally.beside);
        /// Blocks given up, or flushed because a NACK was received as an ACK.
        "given_up" [""] U64 = |row| row.tally.given_up;
        /// Bytes of the packets delivered.
        "bytes_delivered" ["bytes"] U64 = |row| row.tally.bytes_delivered;
        /// Packets dropped because the buffer was full, lost with a block, or discarded by a timer.
        "packets_dropped" [""] U64 = |row| row.tally.packets_dropped;
        /// Bit rate of packets that the user could have been sent; NaN if not measured.
        "available_bps" ["bit/s"] F64 = |row| row.available_bps;
        /// Number of changes of the serving cell.
        "handovers" [""] U64 = |row| row.tally.handovers;
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub ttis: u64,
    /// Beyond the first one, summed over TTIs.
    more_layers: u64,
    /// Blocks sent in the same TTI as another block to the phone.
    beside: u64,
    pub blocks: u64,
    first_failures: u64,
    given_up: u64,
    /// Sum of linear SNRs over TTIs, second blocks not included.
    pub snr: f64,
    pub cqi: f64,
    bytes_delivered: u64,
    packets_dropped: u64,
    pub handovers: u64,
}

impl Tally {
    /// `cqi` is NaN without CQIs; `is_new` is false if the block was sent in another cell before.
    #[inline]
    pub fn sent(&mut self, snr: f64, cqi: f32, is_new: bool, failed: bool) {
        self.ttis += 1;
        self.blocks += u64::from(is_new);
        self.first_failures += u64::from(is_new && failed);
        self.snr += snr;
        self.cqi += f64::from(cqi);
    }

    /// Need not be called for one layer.
    #[inline]
    pub fn sent_on(&mut self, layers: u8) {
        self.more_layers += u64::from(layers - 1);
    }

    pub fn sent_beside(&mut self, is_new: bool, failed: bool) {
        self.beside += 1;
        self.blocks += u64::from(is_new);
        self.first_failures += u64::from(is_new && failed);
    }

    pub fn gave_up(&mut self) {
        self.given_up += 1;
    }

    pub fn deliver(&mut self, ctx: &mut Context, user: usize, packet: Packet) {
        self.bytes_delivered += u64::from(packet.size);
        ctx.deliver(user, packet);
    }

    pub fn lose(&mut self, ctx: &mut Context, user: usize, packet: Packet, cause: Cause) {
        self.dropped();
        ctx.lose(user, packet, cause);
    }

    /// Not accepted or lost, without reporting it.
    pub fn dropped(&mut self) {
        self.packets_dropped += 1;
    }

    pub fn changed_cell(&mut self) {
        self.handovers += 1;
    }

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
