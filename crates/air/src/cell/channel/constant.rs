use nodeb_base::check::{Check, Checked};
use nodeb_base::params;

use super::ChannelParams;

params! {
    /// Parameters of a channel whose SNR is the same in every TTI.
    pub struct Constant {
        /// SNR in dB: on `hsdpa` that of HS-PDSCH before despreading, on `lte` that of a resource element.
        pub snr_db: f64 = 5.0,
    }
}

impl ChannelParams for Constant {}

impl Checked for Constant {
    fn check(&self, check: &mut Check) {
        check.range("snr_db", self.snr_db, -200.0..=200.0);
    }
}
