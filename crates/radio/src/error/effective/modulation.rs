//! Modulations of data symbols in LTE and NR, QPSK to 256QAM.

/// Modulation of data symbols (TS 36.211, 7.1; 256QAM in LTE since Release 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Modulation {
    /// Two bits per symbol.
    Qpsk,
    /// Four bits per symbol.
    Qam16,
    /// Six bits per symbol.
    Qam64,
    /// Eight bits per symbol.
    Qam256,
}

impl Modulation {
    /// Returns the modulation order Q_m of TS 36.213, 7.1.7.1: the number of bits per symbol.
    pub const fn order(self) -> u32 {
        match self {
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Qam256 => 8,
        }
    }
}
