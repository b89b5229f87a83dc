//! Measures the look-up of LTE's block error rates: `block_error_speed`. Prints the mean time to create the
//! table of one MCS on 50 resource blocks, in microseconds, the mean time of a look-up in such a table, in
//! nanoseconds, and the mean of the block error rates that the look-ups return. The SNRs are -10 to 20 dB, in
//! a scattered order.

use std::time::Instant;

use nodeb_air::error::curves::BlockErrorRate;
use nodeb_radio::lte::adaptation::Allocation;
use nodeb_radio::lte::curves::{block_error_rate, turbo};
use nodeb_radio::lte::mcs::McsTable;

const ROUNDS: usize = 5000;

fn main() {
    let curves = turbo();
    let allocation = Allocation { blocks: 50, layers: 1, elements: 50 * 138 };
    let start = Instant::now();
    let table = |mcs| block_error_rate(curves, allocation, McsTable::Down64Qam, mcs);
    let tables: Vec<BlockErrorRate> = (0..29).filter_map(table).collect();
    println!("{:.1} us per table", start.elapsed().as_secs_f64() * 1e6 / tables.len() as f64);

    let snr = |i: u16| 10f32.powf(f32::from(i * 37 % 4096) / 1365.0 - 1.0);
    let snrs: Vec<f32> = (0..1771).map(snr).collect();
    let (start, mut sum) = (Instant::now(), 0.0);
    for round in 0..ROUNDS {
        let rates = tables.iter().cycle().skip(round % tables.len());
        sum += snrs.iter().zip(rates).map(|(snr, rate)| rate.at(*snr)).sum::<f32>();
    }
    let look_ups = (ROUNDS * snrs.len()) as f64;
    println!(
        "{:.2} ns per look-up, mean {:.4}",
        start.elapsed().as_secs_f64() * 1e9 / look_ups,
        f64::from(sum) / look_ups
    );
}
