//! The SNR at which a share of the largest throughput on PUSCH is reached on a fading channel (TS 36.104,
//! 8.2.1).

use std::sync::Arc;

use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::profile::Profile;
use nodeb_air::cell::selective::{Response, Selective};
use nodeb_air::error::effective::modulation::Modulation;
use nodeb_air::mac::band::{Band, MAX_GROUPS, Row, Run};
use nodeb_air::mac::harq::CombiningSpec;
use nodeb_air::mac::harq::chase::Chase;
use nodeb_base::rng::{Streams, uniform};

use super::super::bandwidth::{BLOCK_HZ, Bandwidth};
use super::super::block_size;
use super::super::mcs::McsTable;
use super::super::resources::uplink;
use super::super::timing::UP_RETRANSMISSION_AFTER;
use crate::lte::formats::Formats;
use crate::ofdma::standard::{Format, Standard};

/// In periods per subframe: 5 Hz.
const DOPPLER: f64 = 0.005;

/// Independent receive antennas ("low" correlation).
const ANTENNAS: u64 = 2;

/// Table 8.2.1-1.
const MAX_TRANSMISSIONS: u32 = 4;

/// Of one HARQ process, 8 subframes apart: 400 s.
const TRANSMISSIONS: usize = 50_000;

/// Annex A: modulation, code rate, and number of resource blocks.
type Reference = (Modulation, f64, u16);

const A3_1: Reference = (Modulation::Qpsk, 1.0 / 3.0, 1);
const A3_2: Reference = (Modulation::Qpsk, 1.0 / 3.0, 6);
const A4_3: Reference = (Modulation::Qam16, 3.0 / 4.0, 6);
const A5_2: Reference = (Modulation::Qam64, 5.0 / 6.0, 6);

/// The payload divided by the channel bits is closest to the code rate.
fn block((modulation, rate, blocks): Reference) -> Format {
    let channel_bits = f64::from(uplink(blocks, false) * modulation.order());
    let of = |mcs: u8| {
        let row = McsTable::Up.row(mcs).filter(|row| row.modulation == modulation)?;
        Some(Format { mcs, bits: block_size::bits(row.size_index, blocks, 1)?, layers: 1 })
    };
    let distance = |format: &Format| (f64::from(format.bits) / channel_bits - rate).abs();
    (0..=28).filter_map(of).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
}

/// Added up over the antennas (maximum ratio combining).
fn gains(profile: Profile, run: u64) -> Vec<Row> {
    let streams = Streams::new(run, 0);
    let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
    let response = Arc::new(Response::new(&profile.delays(&[]), &Band::new(6, 1, BLOCK_HZ)));
    let antenna = |id| Selective::new(response.clone(), DOPPLER, ("user", id), &streams);
    let mut antennas: Vec<Selective> = (0..ANTENNAS).map(antenna).collect();
    let sum = |number: usize| {
        let (mut sum, mut one) = ([0.0; MAX_GROUPS], [0.0; MAX_GROUPS]);
        for antenna in &mut antennas {
            antenna.gains(&sequence, UP_RETRANSMISSION_AFTER * number as u64, &mut one);
            sum.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
        }
        sum
    };
    (0..TRANSMISSIONS).map(sum).collect()
}

/// Divided by the largest throughput; the SNR is per antenna.
fn throughput(formats: &Formats, gains: &[Row], format: Format, run: Run, snr_db: f64) -> f64 {
    let (snr, combining) = (10f64.powf(snr_db / 10.0) as f32, CombiningSpec::Chase(Chase::default()));
    let mut draws = Streams::new(1, 0).stream("user", 0, "decoding");
    let (mut before, mut number, mut decoded) = (0.0, 0, 0);
    for gains in gains {
        number += 1;
        let effective = formats.effective_snr_of(format.mcs, &gains.map(|gain| gain * snr), run);
        before = combining.add(before, f64::from(effective), number);
        let is_decoded = uniform(&mut draws) >= formats.bler_of(run, format, before as f32);
        decoded += usize::from(is_decoded);
        if is_decoded || number == MAX_TRANSMISSIONS {
            (before, number) = (0.0, 0);
        }
    }
    decoded as f64 / gains.len() as f64
}

fn required_snr_db(profile: Profile, reference: Reference, share: f64, run: u64) -> f64 {
    let formats = Formats::up(Bandwidth::Mhz1_4, McsTable::Up, 0.0);
    let (gains, format) = (gains(profile, run), block(reference));
    let run = Run { begin: 0, blocks: reference.2 };
    let (mut below, mut above) = (-20.0, 30.0);
    while above - below > 0.01 {
        let middle = f64::midpoint(below, above);
        let reached = throughput(&formats, &gains, format, run, middle) >= share;
        if reached { above = middle } else { below = middle }
    }
    above
}

/// Annex A, as far as public copies show it: A1-1 to A1-3 (QPSK, 1/3), A13-1 to A13-6 (16QAM, 1/2).
#[test]
fn payloads_of_reference_channels_follow_from_code_rates() {
    let payloads = |modulation, rate, blocks: &[u16]| -> Vec<u32> {
        blocks.iter().map(|blocks| block((modulation, rate, *blocks)).bits).collect()
    };
    assert_eq!(payloads(Modulation::Qpsk, 1.0 / 3.0, &[6, 15, 25]), [600, 1_544, 2_216]);
    let half = payloads(Modulation::Qam16, 0.5, &[6, 15, 25, 50, 75, 100]);
    assert_eq!(half, [1_736, 4_264, 7_224, 14_112, 21_384, 28_336]);
}

/// Table 8.2.1.1-1. `docs/models/lte-features.md` states the means of five runs, of which this is the first;
/// their standard deviation is 0.1 dB.
#[test]
fn distances_from_the_requirements_are_known() {
    use Profile::{ExtendedPedestrianA as Epa, ExtendedVehicularA as Eva};
    for (profile, reference, share, required, distance) in [
        (Epa, A3_2, 0.3, -4.1, -3.07),
        (Epa, A3_2, 0.7, 0.1, -2.97),
        (Epa, A4_3, 0.7, 10.6, -2.22),
        (Epa, A5_2, 0.7, 17.7, -2.26),
        (Eva, A3_1, 0.3, -2.7, -3.30),
        (Eva, A3_1, 0.7, 1.8, -3.39),
    ] {
        let found = required_snr_db(profile, reference, share, 1) - required;
        assert!((found - distance).abs() < 0.02, "{profile:?}, {reference:?}, {share}: {found:.2} dB");
    }
}
