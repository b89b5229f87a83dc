//! Selection of the instruction set for the hot loops at run time.
//!
//! A loop passed to [`Isa::run`] is compiled for the baseline and, on x86-64, also for AVX2, and
//! the compiler vectorises each. Both give the same bits: integer operations are exact, and
//! floating-point operations are neither reassociated nor fused. If a sum is split into lanes, the
//! source splits it.

/// Instruction set for which the most time-consuming loops are compiled.
#[derive(Clone, Copy, Debug)]
pub enum Isa {
    Baseline,
    /// Instructions of x86-64 processors with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
}

impl Isa {
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = pulp::x86::V3::try_new() {
            return Self::Avx2(avx2);
        }
        Self::Baseline
    }

    #[inline]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        match self {
            Self::Baseline => work(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.vectorize(work),
        }
    }
}
