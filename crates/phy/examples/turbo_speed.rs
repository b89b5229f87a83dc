//! Measures the speed of the turbo decoder on one thread: `turbo_speed K ITERATIONS EB_N0_DB ALGORITHM
//! SECONDS [baseline]`, with ALGORITHM one of `max_log_map`, `max_log_map_float` and `log_map`. With
//! `baseline` the decoder uses only instructions that every processor has.
//!
//! All blocks are generated and decoded once first, to count wrong blocks. Then the first 16 blocks are
//! decoded again and again for SECONDS seconds, without early stop, and only this is timed. Eb/N0 refers to
//! the true rate K / (3K + 12).

use std::error::Error;
use std::time::{Duration, Instant};

use nodeb_phy::coding::turbo::{Algorithm, Decoder, Encoder, LANES, Settings, TAIL};
use nodeb_phy::simd::Isa;
use nodeb_phy::{gaussian, rng};

/// Groups of 16 blocks decoded once to count wrong blocks.
const GROUPS: u64 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [k, iterations, eb_n0_db, algorithm, seconds, rest @ ..] = arguments.as_slice() else {
        return Err("turbo_speed K ITERATIONS EB_N0_DB ALGORITHM SECONDS [baseline]".into());
    };
    let k: usize = k.parse()?;
    let algorithm: Algorithm = serde_json::from_str(&format!("\"{algorithm}\""))?;
    let scale = if algorithm == Algorithm::LogMap { 1.0 } else { Settings::default().scale };
    let settings = Settings { algorithm, iterations: iterations.parse()?, scale, ..Settings::default() };
    let isa = if rest.is_empty() { Isa::best() } else { Isa::Baseline };

    let (encoder, mut decoder) = (Encoder::new(k)?, Decoder::new(k, settings, isa)?);
    let rate = k as f64 / (3 * k + TAIL) as f64;
    let sigma2 = 1.0 / (2.0 * rate * 10f64.powf(eb_n0_db.parse::<f64>()? / 10.0));
    let blocks: Vec<_> = (0..GROUPS * LANES as u64).map(|at| block(&encoder, k, sigma2, at)).collect();
    let groups: Vec<Vec<&[f32]>> =
        blocks.chunks(LANES).map(|group| group.iter().map(|(_, llrs)| llrs.as_slice()).collect()).collect();

    let wrong: usize = groups
        .iter()
        .zip(blocks.chunks(LANES))
        .flat_map(|(group, sent)| decoder.decode(group, |_, _| false).into_iter().zip(sent))
        .filter(|(decoded, (bits, _))| decoded.bits != *bits)
        .count();
    let limit = Duration::from_secs_f64(seconds.parse()?);
    let (begin, used, mut rounds) = (Instant::now(), cpu_time(), 0);
    while begin.elapsed() < limit {
        std::hint::black_box(decoder.decode(&groups[0], |_, _| false));
        rounds += 1;
    }
    let spent = cpu_time().zip(used).map_or(begin.elapsed(), |(now, before)| now.saturating_sub(before));
    let bits = (rounds * LANES * k) as f64;
    println!("mbit_per_s={:.3} blocks={} wrong={wrong}", bits / spent.as_secs_f64() / 1e6, blocks.len());
    Ok(())
}

fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Bits and LLRs in white noise of variance `sigma2`.
fn block(encoder: &Encoder, k: usize, sigma2: f64, at: u64) -> (Vec<u8>, Vec<f32>) {
    let (mut bits, mut coded) = (vec![0; k], Vec::with_capacity(3 * k + TAIL));
    rng::fill_bits(&mut rng::stream(1, "data", at), &mut bits);
    encoder.encode(&bits, &mut coded);
    let mut llrs = vec![0.0; coded.len()];
    gaussian::fill(Isa::best(), &mut rng::stream(1, "noise", at), sigma2.sqrt() as f32, &mut llrs);
    for (llr, bit) in llrs.iter_mut().zip(coded) {
        *llr = (2.0 / sigma2) as f32 * (1.0 - 2.0 * f32::from(bit) + *llr);
    }
    (bits, llrs)
}
