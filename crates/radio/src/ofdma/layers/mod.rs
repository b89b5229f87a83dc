//! Each antenna port fades independently to each receive antenna. The phone has a linear MMSE receiver
//! without errors of channel estimation. Each layer passes through all columns of all precoders. Its rate
//! `log2(1 + SNR)` is the mean over these columns, so that all layers have the same SNR.

mod lanes;
mod precoding;
mod receiver;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use nodeb_base::rng::Streams;

use lanes::{Complex, LANES, Reals};
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::selective::{Response, Selective};
use nodeb_air::mac::band::{Groups, MAX_GROUPS, Row};
use precoding::{Precoder, precoders};
use receiver::{Paths, diversity, mmse};

/// Of antenna ports, receive antennas and layers.
pub const MAX_PORTS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Antennas {
    /// 1, 2 or 4.
    pub ports: u8,
    /// At most `ports`; also the largest number of layers.
    pub receive: u8,
}

impl Antennas {
    pub const ONE: Self = Self { ports: 1, receive: 1 };
}

// Clause: TS 36.211, 6.3.4.2.2; TS 36.213, 7.1.3: spatial multiplexing and transmit diversity
// Simplified: an MMSE receiver without errors of channel estimation, and uncorrelated antennas
#[derive(Debug)]
pub struct Matrix {
    antennas: Antennas,
    /// From each port to each receive antenna, all antennas of port 0 first.
    channels: Box<[Selective]>,
    /// In the TTI and on the groups of `known`.
    amplitudes: Box<[[Row; 2]]>,
    /// No groups before the first read.
    known: (u64, Groups),
    all: Groups,
    /// By number of layers, from two (index 0) to the number of receive antennas.
    precoders: Vec<Vec<Precoder>>,
}

impl Matrix {
    /// The channel from port 0 to receive antenna 0 is that of a phone with one antenna.
    pub fn new(
        antennas: Antennas,
        response: &Arc<Response>,
        doppler_per_tti: f64,
        (kind, id): (&str, u64),
        streams: &Streams,
    ) -> Self {
        let Antennas { ports, receive } = antennas;
        let pairs = (0..ports).flat_map(|port| (0..receive).map(move |antenna| (port, antenna)));
        let channel = |(port, antenna): (u8, u8)| {
            let apart = format!("{kind} port {port} antenna {antenna}");
            let kind = if (port, antenna) == (0, 0) { kind } else { &apart };
            Selective::new(response.clone(), doppler_per_tti, (kind, id), streams)
        };
        let channels: Box<[Selective]> = pairs.map(channel).collect();
        Self {
            antennas,
            amplitudes: vec![[[0.0; MAX_GROUPS]; 2]; channels.len()].into(),
            channels,
            known: (0, Groups::NONE),
            all: Groups::first(response.groups()),
            precoders: (2..=receive).map(|layers| precoders(ports.into(), layers.into())).collect(),
        }
    }

    pub fn all(&self) -> Groups {
        self.all
    }

    /// `mean` is the SNR of one receive antenna if all power is in one layer; one layer is sent by transmit
    /// diversity.
    pub fn snr(
        &mut self,
        sequence: &JakesSequence,
        (tti, groups): (u64, Groups),
        layers: u8,
        mean: f32,
        row: &mut Row,
    ) {
        self.read(sequence, tti, groups);
        let (ports, receive) = (usize::from(self.antennas.ports), usize::from(self.antennas.receive));
        let mut left = groups;
        while !left.is_empty() {
            let (mut lanes, mut count) = ([0; LANES], 0);
            for (lane, group) in lanes.iter_mut().zip(left) {
                (*lane, count) = (group, count + 1);
            }
            let paths = self.paths(&lanes);
            let values = match layers {
                1 => diversity(&paths, ports, receive, mean),
                2 => self.multiplexed::<2>(&paths, mean),
                3 => self.multiplexed::<3>(&paths, mean),
                _ => self.multiplexed::<4>(&paths, mean),
            };
            for (group, value) in lanes.into_iter().zip(values).take(count) {
                row[group] = value - 1.0;
                left.remove(group);
            }
        }
    }

    fn read(&mut self, sequence: &JakesSequence, tti: u64, groups: Groups) {
        if self.known != (tti, groups) {
            self.known = (tti, groups);
            for (amplitudes, channel) in self.amplitudes.iter_mut().zip(&mut self.channels) {
                channel.channel_of(sequence, tti, groups, amplitudes);
            }
        }
    }

    fn paths(&self, lanes: &[usize; LANES]) -> Paths {
        let mut paths = [[Complex::ZERO; MAX_PORTS]; MAX_PORTS];
        let receive = usize::from(self.antennas.receive);
        for (of_port, amplitudes) in paths.iter_mut().zip(self.amplitudes.chunks(receive)) {
            for (path, rows) in of_port.iter_mut().zip(amplitudes) {
                for (lane, group) in lanes.iter().enumerate() {
                    path.re[lane] = rows[0][group % MAX_GROUPS];
                    path.im[lane] = rows[1][group % MAX_GROUPS];
                }
            }
        }
        paths
    }

    /// 1 + SNR of each of `L` layers, the geometric mean over all precoders.
    fn multiplexed<const L: usize>(&self, paths: &Paths, mean: f32) -> Reals {
        let precoders = &self.precoders[L - 2];
        let (ports, receive) = (usize::from(self.antennas.ports), usize::from(self.antennas.receive));
        let mut product = [1.0; LANES];
        for precoder in precoders {
            let mut columns = [[Complex::ZERO; MAX_PORTS]; L];
            for (column, factors) in columns.iter_mut().zip(precoder) {
                precode(&paths[..ports], factors, &mut column[..receive]);
            }
            let values = mmse(&columns, receive, mean / L as f32);
            for lane in 0..LANES {
                // There is one precoder, or there are four.
                product[lane] *= if precoders.len() == 1 { values[lane] } else { values[lane].sqrt().sqrt() };
            }
        }
        product
    }
}

/// `factors` has the layer's complex factor at each port.
#[inline]
fn precode(paths: &[[Complex; MAX_PORTS]], factors: &[(f32, f32); MAX_PORTS], sum: &mut [Complex]) {
    for (factor, of_port) in factors.iter().zip(paths) {
        for (sum, path) in sum.iter_mut().zip(of_port) {
            sum.add_scaled(*factor, path);
        }
    }
}
