//! Prints block error rates of LTE's turbo code in white noise, by modulation, size and rate of a code block and SNR
//! per symbol: `lte_curves SEED ITERATIONS ERRORS BLOCKS [ORDER [K...]]`.
//!
//! A point ends with ERRORS blocks in error or BLOCKS blocks, but not before 400 blocks. A curve begins with
//! its last point of at least 99 % blocks in error and ends with its first point of at most one error in 1000
//! blocks. ORDER (bits per symbol) and K (bits per block) select one modulation and some sizes; the default
//! is all. Times go to the error output.

use std::error::Error;
use std::io::Write as _;
use std::time::Instant;

use nodeb_phy::coding::turbo::Settings;
use nodeb_phy::lte::link::{Counts, Format, Link, Stop};
use nodeb_phy::lte::modulation::Modulation;
use nodeb_phy::simd::Isa;

/// In bits, with the step between points in dB.
const SIZES: [(usize, f64); 5] = [(40, 0.25), (128, 0.25), (512, 0.2), (2048, 0.1), (6144, 0.1)];

fn rates(modulation: Modulation) -> &'static [f64] {
    match modulation {
        Modulation::Qpsk => &[0.08, 0.15, 0.25, 0.3333, 0.45, 0.6, 0.75, 0.85, 0.93],
        Modulation::Qam16 => &[0.25, 0.3333, 0.45, 0.6, 0.75, 0.85, 0.93],
        Modulation::Qam64 => &[0.3333, 0.45, 0.6, 0.75, 0.85, 0.93],
        Modulation::Qam256 => &[0.45, 0.6, 0.75, 0.85, 0.93],
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seed, iterations, errors, blocks, rest @ ..] = arguments.as_slice() else {
        return Err("lte_curves SEED ITERATIONS ERRORS BLOCKS [ORDER [K...]]".into());
    };
    let selected = rest.iter().map(|number| number.parse()).collect::<Result<Vec<usize>, _>>()?;
    let settings = Settings { iterations: iterations.parse()?, ..Settings::default() };
    let stop = Stop { errors: errors.parse()?, at_least: 400, at_most: blocks.parse()? };
    println!(
        "# lte_curves {seed} {iterations} {errors} {blocks}: {settings:?}, white noise, redundancy version 0."
    );
    println!("order,k,channel_bits,snr_db,blocks,errors");
    for (format, spacing_db) in formats(&selected) {
        let start = Instant::now();
        for (snr_db, counts) in curve(format, spacing_db, settings, seed.parse()?, stop)? {
            let Format { modulation, k, channel_bits } = format;
            let order = modulation.order();
            println!("{order},{k},{channel_bits},{snr_db:.2},{},{}", counts.blocks, counts.errors);
        }
        std::io::stdout().flush()?;
        eprintln!("{format:?}: {:.2} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn formats(selected: &[usize]) -> Vec<(Format, f64)> {
    let is_selected = |order: usize, k: usize| match selected {
        [] => true,
        [only, sizes @ ..] => *only == order && (sizes.is_empty() || sizes.contains(&k)),
    };
    let mut formats = Vec::new();
    for modulation in Modulation::ALL {
        for (k, spacing_db) in SIZES.into_iter().filter(|(k, _)| is_selected(modulation.order(), *k)) {
            let of_rate = |rate: &f64| (Format::of_rate(modulation, k, *rate), spacing_db);
            // Five symbols of 256QAM cannot carry 40 bits with any redundancy.
            let coded = |(format, _): &(Format, f64)| format.channel_bits > k;
            formats.extend(rates(modulation).iter().map(of_rate).filter(coded));
        }
    }
    formats
}

/// From Shannon's limit; SNR in dB and counts, in ascending order.
fn curve(
    format: Format,
    spacing_db: f64,
    settings: Settings,
    seed: u64,
    stop: Stop,
) -> nodeb_phy::Result<Vec<(f64, Counts)>> {
    let mut link = Link::new(format, settings, Isa::best())?;
    let mut simulate = |number: u32, stop: Stop| {
        let snr_db = f64::from(number) * spacing_db - 20.0;
        (snr_db, link.count(10f64.powf(snr_db / 10.0), seed, stop))
    };
    let limit_db = 10.0 * (format.bits_per_symbol().exp2() - 1.0).log10();
    let mut number = ((limit_db + 20.0) / spacing_db) as u32;
    // The SNR rises in steps of four points until a few blocks are decoded. From there it falls
    // point by point to the beginning of the curve.
    let glance = Stop { errors: u64::MAX, at_least: 48, at_most: 48 };
    while simulate(number, glance).1.errors > 40 {
        number += 4;
    }
    let mut points = vec![simulate(number, stop)];
    let mut before = number;
    while points[0].1.errors * 100 < points[0].1.blocks * 99 {
        before -= 1;
        points.insert(0, simulate(before, stop));
    }
    while points.last().is_some_and(|(_, last)| last.errors * 1000 > last.blocks) {
        number += 1;
        points.push(simulate(number, stop));
    }
    Ok(points)
}
