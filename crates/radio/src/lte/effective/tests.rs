use std::sync::Arc;

use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::profile::Profile;
use nodeb_air::cell::selective::{Response, Selective};
use nodeb_air::error::effective::curve::{HIGHEST, LOWEST};
use nodeb_air::mac::band::{Groups, MAX_GROUPS};
use nodeb_base::rng::Streams;
use proptest::prelude::*;

use super::super::bandwidth::Bandwidth;
use super::*;

fn db(ratio: f64) -> f64 {
    10.0 * ratio.log10()
}

/// In f64, without tables; `missing` is inverted by bisection.
fn slow(missing: impl Fn(f64) -> f64, beta: f64, snrs: &[f64], sizes: &[f64]) -> f64 {
    let total: f64 = sizes.iter().sum();
    let mean = snrs.iter().zip(sizes).map(|(snr, size)| missing(snr / beta) * size).sum::<f64>() / total;
    let (mut low, mut high) = (f64::from(LOWEST), f64::from(HIGHEST));
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if missing(middle) > mean { low = middle } else { high = middle }
    }
    beta * low
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Tests the feature: effective SNR by mutual information (closed form)
    /// Beyond a limit, where f32 cannot express the remaining uncertainty of a bit, both results need only
    /// exceed the limit.
    #[test]
    fn effective_snrs_equal_the_definition(
        snrs_db in prop::collection::vec(-8.0..24.0f64, 13),
        groups in 1..(1u32 << 13),
        mcs in 0..29u8,
    ) {
        let (band, groups) = (Bandwidth::Mhz5.band(), (0..13).filter(|group| groups >> group & 1 == 1).collect::<Groups>());
        let mut row = [f32::NAN; MAX_GROUPS];
        snrs_db.iter().zip(&mut row).for_each(|(snr_db, snr)| *snr = 10f64.powf(snr_db / 10.0) as f32);
        let used: Vec<f64> = groups.into_iter().map(|group| f64::from(row[group])).collect();
        let sizes: Vec<f64> = groups.into_iter().map(|group| f64::from(band.sizes()[group])).collect();
        let modulation = McsTable::Down64Qam.row(mcs).unwrap().modulation;
        // Above some SNR a bit has no uncertainty that f32 could express.
        let limit = if modulation == Modulation::Qpsk { 12.0 } else { 40.0 };
        let found = EFFECTIVE.with(|[by_information, exponential]| {
            [by_information, exponential].map(|one| db(f64::from(one.of(mcs, &row, groups, band.sizes()))))
        });
        let beta = f64::from(BETAS[usize::from(mcs)]);
        let expected = [
            db(slow(|snr| modulation.missing(snr), 1.0, &used, &sizes)),
            db(slow(|snr| (-snr).exp(), beta, &used, &sizes)),
        ];
        for (found, expected) in found.into_iter().zip(expected) {
            prop_assert!((found - expected).abs() < 0.05 || expected > limit && found > limit, "{found} {expected}");
        }
    }

    #[test]
    fn flat_channels_keep_their_snr(snr_db in -20.0..12.0f32, mcs in 0..29u8, groups in 1..=25usize) {
        let row = [10f32.powf(snr_db / 10.0); MAX_GROUPS];
        EFFECTIVE.with(|both| {
            for one in both {
                let found = db(f64::from(one.of(mcs, &row, Groups::first(groups), Bandwidth::Mhz20.band().sizes())));
                prop_assert!((found - f64::from(snr_db)).abs() < 0.01, "{found}, not {snr_db}");
            }
            Ok(())
        })?;
    }
}

thread_local! {
    static EFFECTIVE: [EffectiveSnr; 2] = [Mapping::Information, Mapping::Exponential].map(effective_snr);
}

// Tests the feature: exponential effective SNR (property)
/// Near the SNR at which an MCS is used, they differ by less than 0.4 dB on average, never by 2 dB.
#[test]
fn mappings_are_close_on_selective_channels() {
    let band = Bandwidth::Mhz20.band();
    let mut all = Vec::new();
    for profile in [Profile::ExtendedPedestrianA, Profile::ExtendedVehicularA, Profile::ExtendedTypicalUrban]
    {
        let streams = Streams::new(3, 0);
        let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
        let response = Arc::new(Response::new(&profile.delays(&[]), &band));
        let mut user = Selective::new(response, 0.222, ("user", 0), &streams);
        // Mean SNR in dB: about 2 dB above the SNR at which one block of ten is lost on a flat channel.
        for (mcs, mean_db) in [(4, -0.5), (9, 4.6), (14, 8.2), (20, 13.6)] {
            for tti in (0..40_000).step_by(100) {
                let mut row = [0.0; MAX_GROUPS];
                user.gains(&sequence, tti, &mut row);
                for gain in &mut row {
                    *gain *= 10f32.powf(mean_db / 10.0);
                }
                let found = EFFECTIVE.with(|both| {
                    both.each_ref().map(|one| db(f64::from(one.of(mcs, &row, band.all(), band.sizes()))))
                });
                all.push((found[0] - found[1]).abs());
            }
        }
    }
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let largest = all.iter().fold(0.0, |a: f64, b| a.max(*b));
    assert!(mean < 0.4 && largest < 2.0, "mean {mean}, largest {largest}");
}
