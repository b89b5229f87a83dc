//! A unit of work, 16 TTIs side by side, depends only on the link, the seed and its number. Instead of the
//! neighbouring frames, the receiver sees random chips of the same power, as many as the channel is long; the
//! smoothing of pilots ends at the limits of the unit.

use num_complex::Complex32;

use super::config::Link;
use super::run::Counts;
use super::service::TransportChannel;
use crate::channel::{Channel, Geometry, Response};
use crate::coding::TransportCoder;
use crate::coding::turbo::{Decoder, LANES};
use crate::error::Result;
use crate::multiplexing::Map;
use crate::receiver::estimate::SEGMENTS;
use crate::simd::Isa;
use crate::spreading::{CHIP_RATE, Chips, FRAME_CHIPS, Spreader, scrambling};

pub(super) struct Simulator {
    link: Link,
    seed: u64,
    isa: Isa,
    coders: Vec<(TransportChannel, TransportCoder)>,
    map: Map,
    spreader: Spreader,
    span: usize,
    fingers: Vec<usize>,
    antennas: Vec<Channel>,
    interferers: Vec<Interferer>,
    /// On each part of a chip.
    sigma: f32,
}

/// `amplitude` is relative to the terminal whose errors are counted.
struct Interferer {
    spreader: Spreader,
    amplitude: f32,
    antennas: Vec<Channel>,
}

/// Reused for all units of a thread.
pub(super) struct Workspace {
    decoder: Option<Decoder>,
    sent: Chips,
    /// Even frames at index 0, odd at 1.
    received: [Vec<Air>; 2],
    chips: Vec<f32>,
    coefficients: Vec<Complex32>,
    soft: Vec<f32>,
}

/// Of one antenna during a frame.
#[derive(Clone, Default)]
struct Air {
    chips: Chips,
    response: Response,
    other: Response,
}

struct Sent {
    bits: Vec<Vec<Vec<u8>>>,
    frames: Vec<Vec<u8>>,
}

impl Simulator {
    pub(super) fn new(link: &Link, seed: u64, isa: Isa) -> Result<Self> {
        link.check()?;
        let (geometry, doppler) = (link.geometry(), link.doppler_hz());
        let antennas = link.receiver.antennas;
        let n0 = CHIP_RATE / link.service.bit_rate() / libm::pow(10.0, link.eb_n0_db / 10.0);
        let (interference, terminals) =
            link.air.other_cells.as_ref().map_or((0.0, 0), |cells| {
                (n0 * libm::pow(10.0, cells.over_noise_db / 10.0), cells.terminals)
            });
        let noise = if terminals == 0 { n0 + interference } else { n0 };
        let service = &link.service;
        let spreader = |code| Spreader::new(service.spreading_factor as usize, service.beta_c, code);
        // Scrambling codes of adjacent numbers begin with similar chips. So the numbers of the
        // interferers' codes are spread over all codes.
        let code =
            |at: u32| link.scrambling_code.wrapping_add((at + 1).wrapping_mul(0x9E_3779)) % scrambling::CODES;
        let interferer = |at: u32| Interferer {
            spreader: spreader(code(at)),
            amplitude: (interference / f64::from(terminals)).sqrt() as f32,
            antennas: channels(&geometry, doppler, seed, u64::from(1 + at), antennas),
        };
        Ok(Self {
            coders: service.coders()?,
            map: service.map()?,
            spreader: spreader(link.scrambling_code),
            span: geometry.span(),
            fingers: geometry.strongest(link.receiver.fingers as usize),
            antennas: channels(&geometry, doppler, seed, 0, antennas),
            interferers: (0..terminals).map(interferer).collect(),
            sigma: (noise / 2.0).sqrt() as f32,
            link: link.clone(),
            seed,
            isa,
        })
    }

    pub(super) fn workspace(&self) -> Workspace {
        let (_, coder) = &self.coders[0];
        let decoder = coder.is_turbo().then(|| {
            Decoder::new(coder.segmentation().k, self.link.receiver.turbo, self.isa)
                .expect("a link that was checked")
        });
        let air = Air { chips: Chips::zeros(Channel::samples(self.span)), ..Air::default() };
        Workspace {
            decoder,
            sent: Chips::zeros(FRAME_CHIPS + 2 * self.span),
            received: [vec![air.clone(); self.antennas.len()], vec![air; self.antennas.len()]],
            chips: vec![0.0; FRAME_CHIPS],
            coefficients: vec![Complex32::ZERO; SEGMENTS],
            soft: Vec::new(),
        }
    }

    fn frames(&self) -> usize {
        LANES * self.coders[0].0.frames()
    }

    pub(super) fn seconds(&self) -> f64 {
        self.frames() as f64 * FRAME_CHIPS as f64 / CHIP_RATE
    }

    pub(super) fn unit(&self, number: u64, workspace: &mut Workspace) -> (Counts, Vec<bool>) {
        let sent = self.transmit(number);
        let mut counts = Counts::default();
        let llrs = self.receive(number, &sent, workspace, &mut counts);
        let lost = self.decode_data(&sent.bits[0], &llrs[0], workspace, &mut counts);
        if let Some((_, coder)) = self.coders.get(1) {
            counts.signalling = receive::decode_signalling(coder, &sent.bits[1], &llrs[1]);
        }
        (counts, lost)
    }
}

/// Number 0 is the terminal whose errors are counted; interfering terminals are numbered from 1.
fn channels(geometry: &Geometry, doppler: f64, seed: u64, terminal: u64, antennas: u32) -> Vec<Channel> {
    let channel =
        |antenna: u32| Channel::new(geometry, doppler, seed, "fading", terminal * 2 + u64::from(antenna));
    (0..antennas).map(channel).collect()
}

mod receive;
mod transmit;
