//! Incremental redundancy: each transmission adds new parity.
//!
//! Caire & Tuninetti, "The throughput of hybrid-ARQ protocols for the Gaussian collision channel", IEEE
//! Trans. Inf. Theory 47(5), 2001: the receiver accumulates mutual information instead of SNR, `log2(1 +
//! snr_n) = n log2(1 + snr)`. Not modelled: the rate of 1/3 of the mother code, below which parity repeats
//! and the gain falls to that of Chase combining.

no_parameters! {
    /// Incremental redundancy has no parameters.
    IncrementalRedundancy
}

impl IncrementalRedundancy {
    /// Returns the SNR (linear, per symbol) at which one transmission has the mutual information of `n`
    /// transmissions of SNR `snr`.
    pub fn combined_snr(&self, snr: f64, n: u32) -> f64 {
        libm::pow(1.0 + snr, f64::from(n)) - 1.0
    }

    /// Returns the SNR equivalent to a transmission with SNR `snr` after earlier transmissions that
    /// were together equivalent to SNR `before`.
    pub fn add(&self, before: f64, snr: f64) -> f64 {
        (1.0 + before) * (1.0 + snr) - 1.0
    }
}
