//! Caire & Tuninetti, "The throughput of hybrid-ARQ protocols for the Gaussian collision channel", IEEE
//! Trans. Inf. Theory 47(5), 2001: the receiver accumulates mutual information instead of SNR, `log2(1 +
//! snr_n) = n log2(1 + snr)`. Not modelled: the rate of 1/3 of the mother code, below which parity repeats
//! and the gain falls to that of Chase combining.

nodeb_base::no_parameters! {
    /// Incremental redundancy has no parameters.
    IncrementalRedundancy
}

impl IncrementalRedundancy {
    /// `(1 + snr)^n - 1`, linear, per symbol: the mutual information of `n` transmissions.
    pub fn combined_snr(&self, snr: f64, n: u32) -> f64 {
        libm::pow(1.0 + snr, f64::from(n)) - 1.0
    }

    /// `(1 + before) (1 + snr) - 1`.
    pub fn add(&self, before: f64, snr: f64) -> f64 {
        (1.0 + before) * (1.0 + snr) - 1.0
    }
}
