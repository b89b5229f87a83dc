use nodeb_phy::coding::turbo::{Algorithm, Decoder, Encoder, LANES, Schedule, Settings, TAIL};
use nodeb_phy::simd::Isa;
use nodeb_phy::{gaussian, rng};

const REFERENCE: &str = include_str!("reference/turbo_awgn.csv");

/// Block length, decoder settings, Eb/N0 and frame error rate.
#[derive(Debug)]
struct Point {
    k: usize,
    settings: Settings,
    eb_n0_db: f64,
    fer: f64,
}

fn points() -> Vec<Point> {
    let lines = REFERENCE.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| point(&line.split(',').collect::<Vec<_>>())).collect()
}

fn point(fields: &[&str]) -> Point {
    let [k, iterations, algorithm, schedule, eb_n0_db, _, fer, _] = fields else {
        panic!("eight fields: {fields:?}");
    };
    let (algorithm, scale) = match *algorithm {
        "log_map" => (Algorithm::LogMap, 1.0),
        _ => (Algorithm::MaxLogMap, 0.75),
    };
    let schedule = if *schedule == "throughout" { Schedule::Throughout } else { Schedule::NotAtTheEnd };
    Point {
        k: k.parse().unwrap(),
        settings: Settings { algorithm, iterations: iterations.parse().unwrap(), scale, schedule },
        eb_n0_db: eb_n0_db.parse().unwrap(),
        fer: fer.parse().unwrap(),
    }
}

/// Bits and LLRs in white noise of variance `sigma2`.
fn frame(encoder: &Encoder, k: usize, sigma2: f64, at: u64) -> (Vec<u8>, Vec<f32>) {
    let (mut bits, mut coded) = (vec![0; k], Vec::new());
    rng::fill_bits(&mut rng::stream(7, "data", at), &mut bits);
    encoder.encode(&bits, &mut coded);
    let mut llrs = vec![0.0; coded.len()];
    gaussian::fill(Isa::best(), &mut rng::stream(7, "noise", at), sigma2.sqrt() as f32, &mut llrs);
    for (llr, bit) in llrs.iter_mut().zip(coded) {
        *llr = (2.0 / sigma2) as f32 * (1.0 - 2.0 * f32::from(bit) + *llr);
    }
    (bits, llrs)
}

fn variance(k: usize, eb_n0_db: f64) -> f64 {
    (3 * k + TAIL) as f64 / k as f64 / 2.0 / 10f64.powf(eb_n0_db / 10.0)
}

/// In groups of 16 frames.
fn fer(point: &Point, settings: Settings, errors: usize) -> f64 {
    let (encoder, sigma2) = (Encoder::new(point.k).unwrap(), variance(point.k, point.eb_n0_db));
    let mut decoder = Decoder::new(point.k, settings, Isa::best()).unwrap();
    let (mut frames, mut failed) = (0, 0);
    while failed < errors {
        let sent: Vec<_> =
            (frames..frames + LANES as u64).map(|at| frame(&encoder, point.k, sigma2, at)).collect();
        let received: Vec<&[f32]> = sent.iter().map(|(_, llrs)| llrs.as_slice()).collect();
        let results = decoder.decode(&received, |_, _| false);
        failed += results.iter().zip(&sent).filter(|(result, (bits, _))| result.bits != *bits).count();
        frames += LANES as u64;
    }
    failed as f64 / frames as f64
}

/// Within 20 %; the reference has standard errors of up to 8 %.
fn assert_matches_reference(point: &Point, errors: usize) {
    let ours = fer(point, point.settings, errors);
    println!("{point:?}: {ours:.3e}, ratio {:.3}", ours / point.fer);
    assert!((ours / point.fer - 1.0).abs() < 0.2, "{ours:.3e} for {point:?}");
}

#[test]
fn max_log_map_matches_reference_error_rates() {
    let points = points();
    let chosen =
        points.iter().filter(|p| p.settings.algorithm == Algorithm::MaxLogMap && p.fer > 0.1 && p.k == 1024);
    for point in chosen {
        assert_matches_reference(point, 600);
    }
}

#[test]
fn log_map_matches_reference_error_rates() {
    let points = points();
    let chosen = points.iter().filter(|p| p.settings.algorithm == Algorithm::LogMap && p.fer > 0.3);
    for point in chosen.filter(|p| p.k == 1024) {
        assert_matches_reference(point, 300);
    }
}

#[test]
#[ignore = "minutes: all points, 1000 frame errors each"]
fn all_points_match_reference_error_rates() {
    for point in points() {
        assert_matches_reference(&point, 1000);
    }
}

/// Within 5 %, on the same frames.
#[test]
fn integer_arithmetic_is_as_good_as_float() {
    let point = Point { k: 640, settings: Settings::default(), eb_n0_db: 1.0, fer: 0.0 };
    let integer = fer(&point, point.settings, 400);
    let float = fer(&point, Settings { algorithm: Algorithm::MaxLogMapFloat, ..point.settings }, 400);
    assert!((integer / float - 1.0).abs() < 0.05, "{integer} for {float}");
}

#[test]
fn instruction_sets_give_the_same_bits() {
    for (k, algorithm) in [
        (40, Algorithm::MaxLogMap),
        (1027, Algorithm::MaxLogMap),
        (333, Algorithm::MaxLogMapFloat),
        (333, Algorithm::LogMap),
    ] {
        let (encoder, settings) = (Encoder::new(k).unwrap(), Settings { algorithm, ..Settings::default() });
        let frames: Vec<_> = (0..LANES as u64).map(|at| frame(&encoder, k, variance(k, 0.4), at).1).collect();
        let received: Vec<&[f32]> = frames.iter().map(Vec::as_slice).collect();
        let decode = |isa| Decoder::new(k, settings, isa).unwrap().decode(&received, |_, _| false);
        assert_eq!(decode(Isa::Baseline), decode(Isa::best()), "K = {k}, {algorithm:?}");
    }
}

#[test]
fn result_of_a_block_is_independent_of_other_blocks() {
    let (k, sigma2) = (500, variance(500, 0.8));
    let encoder = Encoder::new(k).unwrap();
    let frames: Vec<_> = (0..LANES as u64).map(|at| frame(&encoder, k, sigma2, at)).collect();
    let mut decoder =
        Decoder::new(k, Settings { iterations: 6, ..Settings::default() }, Isa::best()).unwrap();
    let received: Vec<&[f32]> = frames.iter().map(|(_, llrs)| llrs.as_slice()).collect();
    let together = decoder.decode(&received, |block, bits| bits == frames[block].0);
    assert!(together.iter().any(|d| d.iterations < 3) && together.iter().any(|d| d.iterations > 3));
    for ((bits, llrs), together) in frames.iter().zip(&together) {
        assert_eq!(decoder.decode(&[llrs], |_, decoded| decoded == bits), std::slice::from_ref(together));
    }
}

/// LLRs far exceed the limits of the 16-bit arithmetic.
#[test]
fn noiseless_blocks_of_all_lengths_are_decoded() {
    for k in (40..=5114).step_by(211) {
        let encoder = Encoder::new(k).unwrap();
        for amplitude in [0.2, 1e6] {
            let (mut bits, mut coded) = (vec![0; k], Vec::new());
            rng::fill_bits(&mut rng::stream(3, "data", k as u64), &mut bits);
            encoder.encode(&bits, &mut coded);
            let llrs: Vec<f32> = coded.iter().map(|&bit| amplitude * (1.0 - 2.0 * f32::from(bit))).collect();
            let mut decoder = Decoder::new(k, Settings::default(), Isa::best()).unwrap();
            assert_eq!(decoder.decode(&[&llrs], |_, _| false)[0].bits, bits, "K = {k}, {amplitude}");
        }
    }
}

/// The received values are contradictory and as large as possible, and a scale of 1 lets the extrinsic information
/// grow.
#[test]
fn largest_values_do_not_overflow() {
    let settings = Settings { iterations: 8, scale: 1.0, ..Settings::default() };
    for trial in 0..20 {
        let k = 40 + 13 * trial as usize;
        let mut decoder = Decoder::new(k, settings, Isa::Baseline).unwrap();
        let mut blocks = vec![vec![0.0; 3 * k + TAIL]; LANES];
        for (lane, block) in blocks.iter_mut().enumerate() {
            let mut bits = vec![0; block.len()];
            rng::fill_bits(&mut rng::stream(trial, "extremes", lane as u64), &mut bits);
            let period = 1 + lane % 8;
            for (i, llr) in block.iter_mut().enumerate() {
                *llr = 1e9 * (1.0 - 2.0 * f32::from(bits[i / period]));
            }
        }
        let received: Vec<&[f32]> = blocks.iter().map(Vec::as_slice).collect();
        assert_eq!(decoder.decode(&received, |_, _| false).len(), LANES);
    }
}
