//! What is counted about a phone.

use crate::PhoneRow;

/// How a phone has fared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    ttis: u64,
    blocks: u64,
    first_failures: u64,
    given_up: u64,
    /// Sums over transmissions, of linear SNRs and of CQIs.
    snr: f64,
    cqi: f64,
    bytes_delivered: u64,
    packets_dropped: u64,
    handovers: u64,
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
        let ttis = self.ttis as f64;
        PhoneRow {
            user,
            place_m: place.unwrap_or([f64::NAN; 2]),
            snr_db: 10.0 * libm::log10(self.snr / ttis),
            cqi: self.cqi / ttis,
            ttis: self.ttis,
            blocks: self.blocks,
            first_failures: self.first_failures,
            given_up: self.given_up,
            bytes_delivered: self.bytes_delivered,
            packets_dropped: self.packets_dropped,
            available_bps,
            handovers: self.handovers,
        }
    }
}
