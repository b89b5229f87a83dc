//! `wang` (2004), section 9.5: each user has an independent C/I value in each TTI.

use nodeb_base::rng::{Indexed, Streams};

use crate::UserRadio;
use crate::mac::sched::Candidate;

/// A value depends only on the TTI's number and the random stream, so that runs with different schedulers
/// have the same channel. Not modelled: the correlation in time that real channels have at speeds below some
/// hundred km/h.
#[derive(Clone, Debug)]
pub struct CiProcess {
    /// The last one is 1.
    cumulative: Vec<f64>,
    draws: Indexed,
}

impl CiProcess {
    /// Relative frequencies of the values 1 to n; they need not sum to 1.
    pub fn new(frequencies: &[f64], draws: Indexed) -> Self {
        let total: f64 = frequencies.iter().sum();
        let cumulative = frequencies
            .iter()
            .scan(0.0, |sum, frequency| {
                *sum += frequency / total;
                Some(*sum)
            })
            .collect();
        Self { cumulative, draws }
    }

    pub fn of_user(user: &UserRadio, streams: &Streams) -> Option<Self> {
        let draws = || streams.indexed("user", user.id, "ci");
        (!user.ci.is_empty()).then(|| Self::new(&user.ci, draws()))
    }

    /// From 1 to n.
    pub fn value(&self, tti: u64) -> u32 {
        let u = self.draws.uniform(tti);
        let below = self.cumulative.iter().take_while(|&&edge| u >= edge).count();
        (below + 1).min(self.cumulative.len()) as u32
    }
}

/// In PDUs: the C/I value, or a constant for users without a C/I process.
#[derive(Clone, Debug)]
pub struct BlockSize {
    ci: Option<CiProcess>,
    constant: u32,
    /// At least the constant.
    pub most: u32,
}

impl BlockSize {
    pub fn of_user(user: &UserRadio, constant: u32, streams: &Streams) -> Self {
        let most = constant.max(user.ci.len() as u32);
        Self { ci: CiProcess::of_user(user, streams), constant, most }
    }

    #[inline]
    pub fn in_tti(&self, tti: u64) -> u32 {
        self.ci.as_ref().map_or(self.constant, |ci| ci.value(tti))
    }

    #[inline]
    pub fn candidate(&self, user: usize, tti: u64) -> Candidate {
        Candidate::at_rate(user, self.in_tti(tti))
    }

    /// The C/I value, which equals `pdus`, or 0 without a C/I process.
    pub fn quality(&self, pdus: u32) -> u32 {
        if self.ci.is_some() { pdus } else { 0 }
    }

    pub fn is_constant(&self) -> bool {
        self.ci.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::rng::Streams;

    #[test]
    fn values_have_their_frequencies() {
        // User C of `wang`, Table 18, whose frequencies sum to 0.98.
        let frequencies = [0.02, 0.16, 0.23, 0.20, 0.37];
        let process = CiProcess::new(&frequencies, Streams::new(1, 0).indexed("user", 0, "ci"));
        let n = 200_000;
        let mut counts = [0u32; 5];
        for tti in 0..n {
            counts[process.value(tti) as usize - 1] += 1;
        }
        for (count, frequency) in counts.iter().zip(frequencies) {
            let p = frequency / 0.98;
            let sigma = (n as f64 * p * (1.0 - p)).sqrt();
            assert!((f64::from(*count) - n as f64 * p).abs() < 4.0 * sigma);
        }
    }
}
