//! Prints frame error rates of the turbo code in white noise: `turbo_fer K ITERATIONS ALGORITHM SCALE SCHEDULE
//! EB_N0_DB ERRORS [FRAMES]`, with ALGORITHM one of `max_log_map`, `max_log_map_float` and `log_map`, and SCHEDULE
//! `not_at_the_end` or `throughout`.
//!
//! The simulation ends with ERRORS frames in error or after FRAMES frames (default: no limit), rounded up to
//! groups of 16 frames. Eb/N0 refers to the true rate K / (3K + 12).

use std::error::Error;

use nodeb_phy::coding::turbo::{Algorithm, Decoder, Encoder, LANES, Schedule, Settings, TAIL};
use nodeb_phy::simd::Isa;
use nodeb_phy::{gaussian, rng};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [k, iterations, algorithm, scale, schedule, eb_n0_db, errors, rest @ ..] = arguments.as_slice()
    else {
        return Err("turbo_fer K ITERATIONS ALGORITHM SCALE SCHEDULE EB_N0_DB ERRORS [FRAMES]".into());
    };
    let k: usize = k.parse()?;
    let algorithm: Algorithm = serde_json::from_str(&format!("\"{algorithm}\""))?;
    let schedule: Schedule = serde_json::from_str(&format!("\"{schedule}\""))?;
    let settings = Settings { algorithm, iterations: iterations.parse()?, scale: scale.parse()?, schedule };
    let (wanted, limit) = (errors.parse()?, rest.first().map_or(Ok(u64::MAX), |n| n.parse())?);

    let isa = Isa::best();
    let (encoder, mut decoder) = (Encoder::new(k)?, Decoder::new(k, settings, isa)?);
    let rate = k as f64 / (3 * k + TAIL) as f64;
    let sigma2 = 1.0 / (2.0 * rate * 10f64.powf(eb_n0_db.parse::<f64>()? / 10.0));
    let (mut frames, mut frame_errors, mut bit_errors) = (0u64, 0u64, 0u64);
    while frame_errors < wanted && frames < limit {
        let blocks: Vec<_> =
            (frames..frames + LANES as u64).map(|at| block(&encoder, k, sigma2, at)).collect();
        let received: Vec<&[f32]> = blocks.iter().map(|(_, llrs)| llrs.as_slice()).collect();
        let results = decoder.decode(&received, |_, _| false);
        for (result, (sent, _)) in results.iter().zip(&blocks) {
            let errors = result.bits.iter().zip(sent).filter(|(a, b)| a != b).count() as u64;
            frame_errors += u64::from(errors > 0);
            bit_errors += errors;
        }
        frames += LANES as u64;
    }
    let fer = frame_errors as f64 / frames as f64;
    println!(
        "K {k} iterations {iterations} Eb/N0 {eb_n0_db} dB: {frames} frames, {frame_errors} frame errors, \
         FER {fer:.4e}, BER {:.4e}",
        bit_errors as f64 / (frames * k as u64) as f64
    );
    Ok(())
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
