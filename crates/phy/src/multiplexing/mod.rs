//! TS 25.212, 4.2.4 to 4.2.12 only move, repeat and drop bits, so [`Map::new`] runs them once, on bit numbers
//! instead of bits.

pub mod interleave;
pub mod rate_matching;

use crate::error::{Error, Result};

/// In the longest TTI, 80 ms.
pub const CYCLE: usize = 8;

#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// Of the TTI: 1, 2, 4 or 8.
    pub frames: usize,
    pub coded: usize,
    /// 1 to 256.
    pub attribute: u32,
    /// Systematic bits must not be punctured.
    pub turbo: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Coded {
        channel: u8,
        bit: u32,
    },
    /// By radio frame size equalisation.
    Padding,
}

/// Repeats after 80 ms.
#[derive(Clone, Debug)]
pub struct Map {
    frames: [Vec<Source>; CYCLE],
    ttis: Vec<usize>,
}

impl Map {
    /// Creates the map of the coded bits of `channels` to radio frames of `capacity` bits.
    ///
    /// # Errors
    ///
    /// Returns an error if puncturing would remove all parity bits of a turbo code or more than
    /// half of another channel's bits.
    pub fn new(channels: &[Channel], capacity: usize) -> Result<Self> {
        let sizes: Vec<usize> = channels.iter().map(|c| c.coded.div_ceil(c.frames)).collect();
        let weights: Vec<_> = channels.iter().zip(&sizes).map(|(c, &size)| (c.attribute, size)).collect();
        let shares = rate_matching::shares(&weights, capacity);
        let mut ttis = Vec::new();
        for (at, ((channel, &size), &share)) in channels.iter().zip(&sizes).zip(&shares).enumerate() {
            let least = if channel.turbo { size.div_ceil(3) + 1 } else { size.div_ceil(2) };
            if share < least {
                return Err(too_small(capacity, size, share, least));
            }
            ttis.push(carried(at as u8, channel, share));
        }
        let frame = |frame: usize| {
            let multiplexed: Vec<Source> =
                ttis.iter().flat_map(|tti| &tti[frame % tti.len()]).copied().collect();
            interleave::second(&multiplexed)
        };
        Ok(Self { frames: std::array::from_fn(frame), ttis: channels.iter().map(|c| c.frames).collect() })
    }

    /// `coded` has the coded bits by channel and TTI, from frame 0 on.
    pub fn collect(&self, frame: usize, coded: &[Vec<Vec<u8>>]) -> Vec<u8> {
        let tti: Vec<&[u8]> = self.current(frame, coded).map(|at| coded[at.0][at.1].as_slice()).collect();
        let bit = |&source: &Source| match source {
            Source::Coded { channel, bit } => tti[usize::from(channel)][bit as usize],
            Source::Padding => 0,
        };
        self.frames[frame % CYCLE].iter().map(bit).collect()
    }

    pub fn distribute(&self, frame: usize, soft: &[f32], llrs: &mut [Vec<Vec<f32>>]) {
        let current: Vec<usize> = self.current(frame, llrs).map(|at| at.1).collect();
        for (&source, soft) in self.frames[frame % CYCLE].iter().zip(soft) {
            if let Source::Coded { channel, bit } = source {
                let channel = usize::from(channel);
                llrs[channel][current[channel]][bit as usize] += soft;
            }
        }
    }

    fn current<T>(&self, frame: usize, channels: &[T]) -> impl Iterator<Item = (usize, usize)> {
        debug_assert_eq!(channels.len(), self.ttis.len());
        self.ttis.iter().map(move |frames| frame / frames).enumerate()
    }
}

/// By radio frame of its TTI, after rate matching to `share` bits.
fn carried(number: u8, channel: &Channel, share: usize) -> Vec<Vec<Source>> {
    let coded = (0..channel.coded as u32).map(|bit| Source::Coded { channel: number, bit });
    let mut tti: Vec<Source> = coded.collect();
    interleave::equalise(&mut tti, channel.frames, Source::Padding);
    let frames = interleave::first(&tti, channel.frames);
    let matched = frames.iter().enumerate().map(|(at, frame)| {
        let pattern = rate_matching::pattern(at, channel.frames, frame.len(), share, channel.turbo);
        pattern.into_iter().map(|bit| frame[bit]).collect()
    });
    matched.collect()
}

fn too_small(capacity: usize, size: usize, share: usize, least: usize) -> Error {
    Error::config(
        "spreading_factor",
        format!(
            "a radio frame of {capacity} bits has {share} bits for {size} coded bits of a transport channel, \
             which needs at least {least}; use a smaller spreading factor or fewer PDUs"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 25.101, A.2.4: 384 kbit/s, 18 % punctured.
    fn measurement_channel() -> (Vec<Channel>, Map) {
        let channels = vec![
            Channel { frames: 1, coded: 3 * 3856 + 12, attribute: 256, turbo: true },
            Channel { frames: 4, coded: 360, attribute: 256, turbo: false },
        ];
        let map = Map::new(&channels, 9600).unwrap();
        (channels, map)
    }

    #[test]
    fn distribute_inverts_collect() {
        let (channels, map) = measurement_channel();
        let numbers = |n: usize, tti: u32| (0..n as u32).map(|i| (i * (i + tti) % 13 % 2) as u8).collect();
        let ttis = |c: &Channel| 8 / c.frames as u32;
        let coded: Vec<Vec<Vec<u8>>> =
            channels.iter().map(|c| (0..ttis(c)).map(|tti| numbers(c.coded, tti)).collect()).collect();
        let mut llrs: Vec<Vec<Vec<f32>>> =
            channels.iter().map(|c| (0..ttis(c)).map(|_| vec![0.0; c.coded]).collect()).collect();
        for frame in 0..8 {
            let bits = map.collect(frame, &coded);
            assert_eq!(bits.len(), 9600);
            let soft: Vec<f32> = bits.iter().map(|&bit| 1.0 - 2.0 * f32::from(bit)).collect();
            map.distribute(frame, &soft, &mut llrs);
        }
        for (coded, llrs) in coded.iter().flatten().zip(llrs.iter().flatten()) {
            assert!(coded.iter().zip(llrs).all(|(&bit, &llr)| llr * (1.0 - 2.0 * f32::from(bit)) >= 0.0));
        }
        for block in &llrs[0] {
            let lost = block.iter().filter(|&&llr| llr == 0.0).count() as f64 / block.len() as f64;
            assert!((lost - 0.177).abs() < 0.001, "{lost}");
            assert!(block.chunks(3).take(3856).all(|triple| triple[0] != 0.0), "a systematic bit is lost");
        }
    }

    #[test]
    fn too_many_bits_are_rejected() {
        let channel = Channel { frames: 1, coded: 11_580, attribute: 256, turbo: true };
        let error = Map::new(&[channel], 2400).unwrap_err().to_string();
        assert!(error.contains("2400 bits") && error.contains("smaller spreading factor"), "{error}");
    }
}
