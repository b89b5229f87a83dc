//! An SNR that does not change.

use nodeb_base::check::{Check, Checked};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ChannelParams;

/// Parameters of a constant SNR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Constant {
    /// SNR on HS-PDSCH in dB, before despreading.
    pub snr_db: f64,
}

impl Default for Constant {
    fn default() -> Self {
        Self { snr_db: 5.0 }
    }
}

impl ChannelParams for Constant {}

impl Checked for Constant {
    fn check(&self, check: &mut Check) {
        check.require(self.snr_db.abs() <= 200.0, "snr_db", || {
            format!("an SNR of {} dB is absurd; expected -200 to 200", self.snr_db)
        });
    }
}
