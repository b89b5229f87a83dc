//! Incremental redundancy: each transmission carries parity that the ones before lacked.
//!
//! Caire & Tuninetti, "The throughput of hybrid-ARQ protocols for the Gaussian collision channel",
//! IEEE Trans. Inf. Theory 47(5), 2001: the receiver accumulates mutual information instead of
//! SNR, `log2(1 + snr_n) = n log2(1 + snr)`. Left out: the mother code's rate of 1/3, below which
//! parity repeats and the gain falls back to that of Chase combining.

no_parameters! {
    /// Parameters of incremental redundancy: none.
    IncrementalRedundancy
}

impl IncrementalRedundancy {
    /// SNR (linear, per symbol) that one transmission would need to tell as much as `n` of `snr`.
    pub fn combined_snr(&self, snr: f64, n: u32) -> f64 {
        libm::pow(1.0 + snr, f64::from(n)) - 1.0
    }

    /// The same of transmissions that may differ: the last has `snr`, those before tell as much as one
    /// of `before`.
    pub fn add(&self, before: f64, snr: f64) -> f64 {
        (1.0 + before) * (1.0 + snr) - 1.0
    }
}
