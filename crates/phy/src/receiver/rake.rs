use num_complex::Complex32;

use crate::channel::SEGMENT;
use crate::simd::Isa;
use crate::spreading::dpcch::{self, PILOTS};
use crate::spreading::{CONTROL_FACTOR, Chips, FRAME_CHIPS, SLOT_CHIPS, SLOTS, Spreader};

const LANES: usize = 16;

/// From the pilots of one radio frame.
#[derive(Clone, Copy, Debug)]
pub struct Sounding {
    pub slots: [Complex32; SLOTS],
    /// Noise and interference per chip.
    pub noise: f32,
}

#[derive(Clone, Debug)]
pub struct Rake<'a> {
    spreader: &'a Spreader,
    isa: Isa,
}

impl<'a> Rake<'a> {
    pub fn new(spreader: &'a Spreader, isa: Isa) -> Self {
        Self { spreader, isa }
    }

    pub fn sound(&self, received: &Chips, delay: usize) -> Sounding {
        let gain = self.spreader.gains()[1] * CONTROL_FACTOR as f32;
        let (mut slots, mut scatter) = ([Complex32::ZERO; SLOTS], 0.0);
        for (slot, mean) in slots.iter_mut().enumerate() {
            let pilots = dpcch::pilots(slot);
            let coefficient = |at: usize| {
                // The DPCCH is on the quadrature branch, so the sum is divided by j.
                let sum = self.correlate(received, delay, slot * SLOT_CHIPS + at * CONTROL_FACTOR);
                Complex32::new(sum.im, -sum.re) * pilots[at] / gain
            };
            let estimates: [Complex32; PILOTS] = std::array::from_fn(coefficient);
            *mean = estimates.iter().sum::<Complex32>() / PILOTS as f32;
            scatter += estimates.windows(2).map(|pair| (pair[1] - pair[0]).norm_sqr()).sum::<f32>();
        }
        let variance = scatter / (2 * SLOTS * (PILOTS - 1)) as f32;
        Sounding { slots, noise: variance * gain * gain / CONTROL_FACTOR as f32 }
    }

    /// 256 chips from `chip` on, at a delay in chips.
    fn correlate(&self, received: &Chips, delay: usize, chip: usize) -> Complex32 {
        let (here, there) = (chip..chip + CONTROL_FACTOR, chip + delay..chip + delay + CONTROL_FACTOR);
        let (r_re, r_im) = (&received.re[there.clone()], &received.im[there]);
        let scrambling = self.spreader.scrambling();
        let (s_re, s_im) = (&scrambling.re[here.clone()], &scrambling.im[here]);
        self.isa.run(
            #[inline(always)]
            || {
                let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
                for at in (0..CONTROL_FACTOR).step_by(LANES) {
                    for lane in 0..LANES {
                        let i = at + lane;
                        re[lane] += r_re[i] * s_re[i] + r_im[i] * s_im[i];
                        im[lane] += r_im[i] * s_re[i] - r_re[i] * s_im[i];
                    }
                }
                Complex32::new(re.iter().sum(), im.iter().sum())
            },
        )
    }

    pub fn combine(&self, received: &Chips, delay: usize, coefficients: &[Complex32], chips: &mut [f32]) {
        let scrambling = self.spreader.scrambling();
        let [code, ..] = self.spreader.data_code().as_chunks::<SEGMENT>().0 else { return };
        let end = delay + chips.len();
        self.isa.run(
            #[inline(always)]
            || {
                let (r_re, r_im) = (segments(&received.re[delay..end]), segments(&received.im[delay..end]));
                let (s_re, s_im) = (segments(&scrambling.re), segments(&scrambling.im));
                let codes = r_re.iter().zip(r_im).zip(s_re.iter().zip(s_im));
                let out = chips.as_chunks_mut::<SEGMENT>().0;
                for ((((r_re, r_im), (s_re, s_im)), h), out) in codes.zip(coefficients).zip(out) {
                    for i in 0..SEGMENT {
                        let re = r_re[i] * h.re + r_im[i] * h.im;
                        let im = r_im[i] * h.re - r_re[i] * h.im;
                        out[i] += (re * s_re[i] + im * s_im[i]) * code[i];
                    }
                }
            },
        );
    }

    /// `4 gain sum / noise`, with the power of noise and interference per chip.
    pub fn soft_bits(&self, chips: &[f32], noise: f32, to: &mut Vec<f32>) {
        debug_assert_eq!(chips.len(), FRAME_CHIPS);
        let scale = 4.0 * self.spreader.gains()[0] / noise;
        to.clear();
        to.extend(
            chips.chunks_exact(self.spreader.factor()).map(|symbol| scale * symbol.iter().sum::<f32>()),
        );
    }
}

#[inline(always)]
fn segments(part: &[f32]) -> &[[f32; SEGMENT]] {
    part.as_chunks().0
}
