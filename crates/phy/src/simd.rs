//! Which instructions the hot loops are compiled for, chosen at run time.
//!
//! A loop that is handed to [`Isa::run`] is compiled twice, for the baseline and for AVX2, and the
//! compiler vectorises each. Both give the same bits: integer operations are exact, and floating
//! point is neither reassociated nor contracted to fused operations; where a sum is cut into lanes,
//! the lanes stand in the source.

/// An instruction set.
#[derive(Clone, Copy, Debug)]
pub enum Isa {
    /// What every processor of the target has.
    Baseline,
    /// AVX2 on x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
}

impl Isa {
    /// The best that this processor has.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = pulp::x86::V3::try_new() {
            return Self::Avx2(avx2);
        }
        Self::Baseline
    }

    /// Runs `work`, which should be inlined, compiled for this instruction set.
    #[inline]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        match self {
            Self::Baseline => work(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.vectorize(work),
        }
    }
}
