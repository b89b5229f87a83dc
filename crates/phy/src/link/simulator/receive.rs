use num_complex::Complex32;

use super::{Air, Sent, Simulator, Workspace};
use crate::channel::{SEGMENT, propagate};
use crate::coding::TransportCoder;
use crate::coding::turbo::LANES;
use crate::gaussian;
use crate::link::TransportChannel;
use crate::link::run::Counts;
use crate::link::tally::Tally;
use crate::receiver::estimate::interpolate;
use crate::receiver::{Estimation, Rake};
use crate::rng::{self, fill_bits};

/// From the pilots of the frames received so far in a unit.
struct Soundings {
    slots: Vec<Vec<Complex32>>,
    /// Noise and interference per chip, by frame.
    noise: Vec<f32>,
}

impl Simulator {
    /// For the frames of unit `number`.
    pub(super) fn receive(
        &self,
        number: u64,
        sent: &Sent,
        workspace: &mut Workspace,
        counts: &mut Counts,
    ) -> Vec<Vec<Vec<f32>>> {
        let frames = sent.frames.len();
        let ttis = |(channel, coder): &(TransportChannel, TransportCoder)| {
            vec![vec![0.0; coder.coded()]; frames / channel.frames()]
        };
        let mut llrs: Vec<Vec<Vec<f32>>> = self.coders.iter().map(ttis).collect();
        let fingers = self.fingers.len() * self.antennas.len();
        let mut soundings = Soundings { slots: vec![Vec::new(); fingers], noise: Vec::new() };
        let mut raw_errors = 0;
        // Interpolation needs the pilots of the next frame, so each frame is combined when the next
        // one has been received.
        for at in 0..=frames {
            if at < frames {
                self.receive_frame(number * frames as u64 + at as u64, &sent.frames[at], workspace, at % 2);
                self.sound(&workspace.received[at % 2], &mut soundings);
            }
            if let Some(at) = at.checked_sub(1) {
                self.combine(at, &soundings, workspace);
                let bits = sent.frames[at].iter().zip(&workspace.soft);
                raw_errors += bits.filter(|&(&bit, &soft)| (soft < 0.0) != (bit == 1)).count() as u64;
                self.map.distribute(at, &workspace.soft, &mut llrs);
            }
        }
        counts.raw = Tally::unit((frames * self.spreader.capacity()) as u64, raw_errors);
        llrs
    }

    fn receive_frame(&self, frame: u64, data: &[u8], workspace: &mut Workspace, slot: usize) {
        let Workspace { sent, received, .. } = workspace;
        let antennas = &mut received[slot];
        self.modulate(&self.spreader, data, ("control", frame), sent);
        for (at, (channel, air)) in self.antennas.iter().zip(antennas.iter_mut()).enumerate() {
            channel.respond(self.isa, frame, &mut air.response);
            let noise = |part: &mut [f32], purpose| {
                let index = frame * self.antennas.len() as u64 + at as u64;
                gaussian::fill(self.isa, &mut rng::stream(self.seed, purpose, index), self.sigma, part);
            };
            noise(&mut air.chips.re, "noise re");
            noise(&mut air.chips.im, "noise im");
            propagate(self.isa, &air.response, 1.0, sent, &mut air.chips);
        }
        for (at, interferer) in self.interferers.iter().enumerate() {
            let name = format!("other {at}");
            let mut bits = vec![0; self.spreader.capacity()];
            fill_bits(&mut rng::stream(self.seed, &format!("other data {at}"), frame), &mut bits);
            self.modulate(&interferer.spreader, &bits, (&name, frame), sent);
            for (channel, air) in interferer.antennas.iter().zip(antennas.iter_mut()) {
                channel.respond(self.isa, frame, &mut air.other);
                propagate(self.isa, &air.other, interferer.amplitude, sent, &mut air.chips);
            }
        }
    }

    fn each_finger<'a>(&'a self, antennas: &'a [Air]) -> impl Iterator<Item = (usize, &'a Air)> {
        antennas.iter().flat_map(|air| self.fingers.iter().map(move |&delay| (delay, air)))
    }

    fn sound(&self, antennas: &[Air], soundings: &mut Soundings) {
        let rake = Rake::new(&self.spreader, self.isa);
        let mut noise = 0.0;
        for ((delay, air), slots) in self.each_finger(antennas).zip(&mut soundings.slots) {
            let sounding = rake.sound(&air.chips, delay);
            slots.extend(sounding.slots);
            noise += sounding.noise;
        }
        soundings.noise.push(noise / soundings.slots.len() as f32);
    }

    /// `at` is the frame's index in the unit.
    fn combine(&self, at: usize, soundings: &Soundings, workspace: &mut Workspace) {
        let Workspace { received, chips, coefficients, soft, .. } = workspace;
        let rake = Rake::new(&self.spreader, self.isa);
        chips.fill(0.0);
        for ((delay, air), slots) in self.each_finger(&received[at % 2]).zip(&soundings.slots) {
            match self.link.receiver.estimation {
                Estimation::Perfect => true_coefficients(air, delay, coefficients),
                Estimation::Pilot { slots: width } => interpolate(slots, at, width as usize, coefficients),
            }
            rake.combine(&air.chips, delay, coefficients, chips);
        }
        rake.soft_bits(chips, soundings.noise[at], soft);
    }

    pub(super) fn decode_data(
        &self,
        bits: &[Vec<u8>],
        llrs: &[Vec<f32>],
        workspace: &mut Workspace,
        counts: &mut Counts,
    ) -> Vec<bool> {
        let (_, coder) = &self.coders[0];
        let (decoded, iterations) = match &mut workspace.decoder {
            Some(_) => self.turbo(coder, llrs, workspace),
            None => (llrs.iter().map(|llrs| viterbi(coder, llrs)).collect(), 0),
        };
        let mut lost = Vec::new();
        let (mut bit_errors, mut block_errors) = (0, 0);
        for (sent, decoded) in bits.iter().zip(&decoded) {
            let block = compare(coder, sent, decoded);
            bit_errors += block.bit_errors;
            block_errors += u64::from(block.lost.contains(&true));
            counts.undetected += block.undetected;
            lost.extend(block.lost);
        }
        counts.bits = Tally::unit(bits.iter().map(|bits| bits.len() as u64).sum(), bit_errors);
        counts.pdus = Tally::unit(lost.len() as u64, lost.iter().map(|&lost| u64::from(lost)).sum());
        counts.blocks = Tally::unit(bits.len() as u64, block_errors);
        counts.iterations = iterations;
        counts.seconds = self.seconds();
        lost
    }

    /// Of a unit, side by side.
    fn turbo(
        &self,
        coder: &TransportCoder,
        llrs: &[Vec<f32>],
        workspace: &mut Workspace,
    ) -> (Vec<Vec<u8>>, u64) {
        debug_assert!(llrs.len() <= LANES);
        let decoder = workspace.decoder.as_mut().expect("a turbo code has a decoder");
        let segmentation = coder.segmentation();
        let stops = self.link.receiver.early_stop && segmentation.blocks == 1 && coder.has_crc();
        let mut code_blocks = vec![Vec::new(); llrs.len()];
        let mut iterations = 0;
        for block in 0..segmentation.blocks {
            let part = block * coder.coded_block()..(block + 1) * coder.coded_block();
            let blocks: Vec<&[f32]> = llrs.iter().map(|llrs| &llrs[part.clone()]).collect();
            let right = |bits: &[u8]| coder.transport_blocks(bits).all(|block| coder.passes(block));
            for (to, block) in
                code_blocks.iter_mut().zip(decoder.decode(&blocks, |_, bits| stops && right(bits)))
            {
                to.extend(block.bits);
                iterations += u64::from(block.iterations);
            }
        }
        (code_blocks, iterations)
    }
}

/// An error is a TTI with a PDU whose CRC failed.
pub(super) fn decode_signalling(coder: &TransportCoder, bits: &[Vec<u8>], llrs: &[Vec<f32>]) -> Tally {
    let wrong = |(sent, llrs): (&Vec<u8>, &Vec<f32>)| {
        compare(coder, sent, &viterbi(coder, llrs)).lost.contains(&true)
    };
    let errors = bits.iter().zip(llrs).filter(|&pair| wrong(pair)).count() as u64;
    Tally::unit(bits.len() as u64, errors)
}

/// Per segment of 64 chips.
fn true_coefficients(air: &Air, delay: usize, to: &mut [Complex32]) {
    let row = air.response.at(delay);
    for (segment, to) in to.iter_mut().enumerate() {
        *to = row[segment + (delay + SEGMENT / 2) / SEGMENT];
    }
}

fn viterbi(coder: &TransportCoder, llrs: &[f32]) -> Vec<u8> {
    coder.viterbi(llrs).expect("a convolutional code")
}

struct Block {
    bit_errors: u64,
    /// Always false without a CRC.
    lost: Vec<bool>,
    /// Wrong bits with a correct CRC.
    undetected: u64,
}

fn compare(coder: &TransportCoder, sent: &[u8], decoded: &[u8]) -> Block {
    let mut block = Block { bit_errors: 0, lost: Vec::new(), undetected: 0 };
    for (sent, received) in sent.chunks(coder.block_bits()).zip(coder.transport_blocks(decoded)) {
        let errors = sent.iter().zip(coder.payload(received)).filter(|(a, b)| a != b).count() as u64;
        let lost = !coder.passes(received);
        block.bit_errors += errors;
        block.undetected += u64::from(!lost && errors > 0);
        block.lost.push(lost);
    }
    block
}
