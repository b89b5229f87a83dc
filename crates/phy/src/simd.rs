//! A loop passed to [`Isa::run`] is compiled for the baseline and AVX2. Both give the same bits:
//! floating-point operations are neither reassociated nor fused, and the source splits a sum into lanes.

#[derive(Clone, Copy, Debug)]
pub enum Isa {
    Baseline,
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
