pub mod fading;
pub mod profile;
pub mod pulse;

use num_complex::Complex32;

pub use fading::SEGMENT;
pub use profile::{Profile, Tap};
pub use pulse::Pulse;

use crate::rng;
use crate::simd::Isa;
use crate::spreading::{CHIP_RATE, Chips, FRAME_CHIPS};
use fading::Fading;

const LIGHT: f64 = 299_792_458.0;

pub fn doppler_hz(speed_kmh: f64, carrier_ghz: f64) -> f64 {
    speed_kmh / 3.6 * carrier_ghz * 1e9 / LIGHT
}

#[derive(Clone, Debug)]
pub struct Geometry {
    /// The powers of all paths sum to 1.
    paths: Vec<(f64, Vec<(usize, f32)>)>,
    fades: bool,
    powers: Vec<f64>,
}

impl Geometry {
    pub fn new(profile: &Profile, pulse: Pulse) -> Self {
        let taps = profile.taps();
        let linear = |tap: &Tap| libm::pow(10.0, tap.power_db / 10.0);
        let total: f64 = taps.iter().map(linear).sum();
        let place = |tap: &Tap| (linear(tap) / total, pulse.spread(tap.delay_ns * 1e-9 * CHIP_RATE));
        let paths: Vec<_> = taps.iter().map(place).collect();
        let chips = paths.iter().flat_map(|(_, seen)| seen);
        let mut powers = vec![0.0; 1 + chips.map(|&(chip, _)| chip).max().unwrap_or(0)];
        for (power, seen) in &paths {
            for &(chip, amplitude) in seen {
                powers[chip] += power * f64::from(amplitude * amplitude);
            }
        }
        Self { paths, fades: profile.fades(), powers }
    }

    pub fn span(&self) -> usize {
        self.powers.len()
    }

    /// Delays in chips with the largest mean power; fewer if the channel has fewer.
    pub fn strongest(&self, n: usize) -> Vec<usize> {
        let mut chips: Vec<usize> = (0..self.powers.len()).filter(|&chip| self.powers[chip] > 0.0).collect();
        chips.sort_by(|&a, &b| self.powers[b].total_cmp(&self.powers[a]).then(a.cmp(&b)));
        chips.truncate(n);
        chips
    }
}

#[derive(Clone, Debug)]
pub struct Channel {
    paths: Vec<(Fading, Vec<(usize, f32)>)>,
    span: usize,
}

/// During a radio frame and as many chips after it as the channel is long: a row per delay in chips, a column
/// per segment of 64 chips.
#[derive(Clone, Debug, Default)]
pub struct Response {
    rows: Vec<Vec<Complex32>>,
    path: Vec<Complex32>,
}

impl Response {
    /// One per segment of 64 chips.
    pub fn at(&self, delay: usize) -> &[Complex32] {
        &self.rows[delay]
    }
}

impl Channel {
    pub fn new(geometry: &Geometry, doppler_hz: f64, seed: u64, purpose: &str, index: u64) -> Self {
        let mut stream = rng::stream(seed, purpose, index);
        let mut path = |&(power, ref seen): &(f64, Vec<(usize, f32)>)| {
            let fading = if geometry.fades {
                Fading::rayleigh(&mut stream, power, doppler_hz)
            } else {
                Fading::constant(&mut stream, power)
            };
            (fading, seen.clone())
        };
        Self { paths: geometry.paths.iter().map(&mut path).collect(), span: geometry.span() }
    }

    /// One per chip: the frame plus `span`, the length of the channel.
    pub fn samples(span: usize) -> usize {
        FRAME_CHIPS + span
    }

    pub fn respond(&self, isa: Isa, frame: u64, response: &mut Response) {
        let segments = Self::samples(self.span).div_ceil(SEGMENT);
        response.path.resize(segments, Complex32::ZERO);
        response.rows.resize(self.span, Vec::new());
        for row in &mut response.rows {
            row.clear();
            row.resize(segments, Complex32::ZERO);
        }
        for (fading, seen) in &self.paths {
            fading.segments(isa, frame, &mut response.path);
            for &(chip, amplitude) in seen {
                for (sum, h) in response.rows[chip].iter_mut().zip(&response.path) {
                    *sum += h * amplitude;
                }
            }
        }
    }
}

/// `sent` must begin with as many chips before the frame as the channel is long.
pub fn propagate(isa: Isa, response: &Response, amplitude: f32, sent: &Chips, received: &mut Chips) {
    isa.run(
        #[inline(always)]
        || {
            let lead = response.rows.len();
            for (delay, row) in response.rows.iter().enumerate() {
                if row.iter().all(|h| *h == Complex32::ZERO) {
                    continue;
                }
                let from = lead - delay;
                let (sent_re, sent_im) = (&sent.re[from..], &sent.im[from..]);
                let received = received.re.chunks_mut(SEGMENT).zip(received.im.chunks_mut(SEGMENT));
                let sent = sent_re.chunks(SEGMENT).zip(sent_im.chunks(SEGMENT));
                for (((re, im), (sent_re, sent_im)), h) in received.zip(sent).zip(row) {
                    let h = h * amplitude;
                    for (((re, im), s_re), s_im) in re.iter_mut().zip(im).zip(sent_re).zip(sent_im) {
                        *re += h.re * s_re - h.im * s_im;
                        *im += h.re * s_im + h.im * s_re;
                    }
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_sum_to_one_and_strongest_delays_come_first() {
        let geometry = Geometry::new(&Profile::VehicularA, Pulse::ChipSpaced);
        assert!((geometry.powers.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(geometry.span(), 11);
        assert_eq!(geometry.strongest(3), [0, 1, 3]);
        assert_eq!(Geometry::new(&Profile::PedestrianA, Pulse::ChipSpaced).strongest(9), [0, 1, 2]);
    }

    #[test]
    fn chip_arrives_over_every_path() {
        let geometry = Geometry::new(&Profile::Case2, Pulse::ChipSpaced);
        let channel = Channel::new(&geometry, 5.0, 1, "fading", 0);
        let mut response = Response::default();
        channel.respond(Isa::best(), 3, &mut response);
        let mut sent = Chips::zeros(FRAME_CHIPS + 2 * geometry.span());
        sent.re[geometry.span() + 1000] = 1.0;
        let mut received = Chips::zeros(Channel::samples(geometry.span()));
        propagate(Isa::best(), &response, 2.0, &sent, &mut received);
        for at in 0..received.len() {
            let expected = match at {
                1000 | 1004 | 1077 => response.at(at - 1000)[at / SEGMENT] * 2.0,
                _ => Complex32::ZERO,
            };
            assert_eq!(Complex32::new(received.re[at], received.im[at]), expected, "{at}");
        }
    }

    #[test]
    fn doppler_frequency_at_common_speeds() {
        assert!((doppler_hz(120.0, 2.0) - 222.4).abs() < 0.1);
        assert!((doppler_hz(3.0, 2.0) - 5.56).abs() < 0.01);
    }
}
