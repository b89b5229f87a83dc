//! Paths of one user that read the fading sequence at the same instants.
//!
//! A sum of such paths with constant factors is linear between two samples, as each of the paths
//! is. The channel at a frequency therefore needs to be computed only at samples, of which there
//! are 16 per Doppler period.

use nodeb_base::rng::Indexed;

use super::{CHANGE, Complex, FRACTION_BITS, JakesSequence, LENGTH, SEGMENT, fraction_of, samples_per_tti};

/// Paths that read the sequence at different positions, all at the same fraction of the distance between two
/// samples. All paths also change to other positions of the sequence at the same time.
#[derive(Clone, Debug)]
pub struct Bundle {
    step: u64,
    start: u64,
    segment: u64,
    /// For each path, the positions in the sequence at which segment `segment` and the segment after it begin.
    begins: Box<[[u32; 2]]>,
    draws: Box<[Indexed]>,
}

impl Bundle {
    pub fn new(doppler_per_tti: f64, draws: impl IntoIterator<Item = Indexed>) -> Self {
        let draws: Box<[Indexed]> = draws.into_iter().collect();
        let first = draws.first().map_or(0.0, |draws| draws.uniform(0));
        let start = (first * SEGMENT as f64 * (1u64 << FRACTION_BITS) as f64) as u64;
        let begins = vec![[0; 2]; draws.len()].into();
        let mut bundle = Self { step: samples_per_tti(doppler_per_tti), start, segment: 0, begins, draws };
        bundle.move_to(0);
        bundle
    }

    #[inline]
    pub fn place(&self, tti: u64) -> (u64, f32) {
        let position = self.start.wrapping_add(tti.wrapping_mul(self.step));
        (position >> FRACTION_BITS, fraction_of(position))
    }

    pub fn is_slow(&self) -> bool {
        self.step < 1 << FRACTION_BITS
    }

    /// The mean power is 1 if amplitudes between samples are interpolated linearly.
    #[inline]
    pub fn read(&mut self, sequence: &JakesSequence, sample: u64, mut look: impl FnMut(usize, Complex<f32>)) {
        if sample / SEGMENT != self.segment {
            self.move_to(sample / SEGMENT);
        }
        let left = SEGMENT - sample % SEGMENT;
        let at = |place: u64| sequence.samples[place as usize % LENGTH];
        for (path, begins) in self.begins.iter().enumerate() {
            let here = at(u64::from(begins[0]) + sample % SEGMENT);
            if left > CHANGE {
                look(path, here);
            } else {
                look(path, mixed(here, at(u64::from(begins[1]) + LENGTH as u64 - left), left));
            }
        }
    }

    #[cold]
    fn move_to(&mut self, segment: u64) {
        for (begins, draws) in self.begins.iter_mut().zip(&self.draws) {
            *begins =
                [segment, segment + 1].map(|segment| (draws.uniform(segment + 1) * LENGTH as f64) as u32);
        }
        self.segment = segment;
    }
}

/// Amplitude in a transition from segment to segment, `left` samples before its end.
fn mixed(here: Complex<f32>, next: Complex<f32>, left: u64) -> Complex<f32> {
    let (weight, others) = (left as f32, (CHANGE - left) as f32);
    let scale = 1.0 / (weight * weight + others * others).sqrt();
    ((weight * here.0 + others * next.0) * scale, (weight * here.1 + others * next.1) * scale)
}
