use nodeb_base::rng::uniform;

use super::*;
use crate::lte::bandwidth::Bandwidth;
use nodeb_air::cell::profile::Profile;

type C = (f64, f64);

fn times(a: C, b: C) -> C {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// Hermitian positive definite, by Gauss-Jordan elimination in f64.
fn diagonal_of_inverse(mut rows: Vec<Vec<C>>) -> Vec<f64> {
    let n = rows.len();
    for (i, row) in rows.iter_mut().enumerate() {
        row.extend((0..n).map(|j| (f64::from(u8::from(i == j)), 0.0)));
    }
    for k in 0..n {
        let (re, im) = rows[k][k];
        let inverse = (re / (re * re + im * im), -im / (re * re + im * im));
        for value in &mut rows[k] {
            *value = times(*value, inverse);
        }
        let pivot = rows[k].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k];
            for (value, pivot) in row.iter_mut().zip(&pivot) {
                let product = times(factor, *pivot);
                *value = (value.0 - product.0, value.1 - product.1);
            }
        }
    }
    (0..n).map(|k| rows[k][n + k].0).collect()
}

fn receiver_agrees<const L: usize>(receive: usize) {
    let mut stream = Streams::new(3, 0).stream("test", L as u64, "channel");
    for snr in [0.01f32, 1.0, 100.0, 1e4] {
        let mut columns = [[Complex::ZERO; MAX_PORTS]; L];
        for path in columns.iter_mut().flatten() {
            path.re = std::array::from_fn(|_| uniform(&mut stream) as f32 - 0.5);
            path.im = std::array::from_fn(|_| uniform(&mut stream) as f32 - 0.5);
        }
        let found = mmse(&columns, receive, snr);
        for lane in 0..LANES {
            let at = |layer: usize, antenna: usize| {
                let Complex { re, im } = columns[layer][antenna];
                (f64::from(re[lane]), f64::from(im[lane]))
            };
            let element = |a: usize, b: usize| {
                let mut sum = (f64::from(u8::from(a == b)), 0.0);
                for antenna in 0..receive {
                    let (re, im) = at(a, antenna);
                    let (re, im) = times((re, -im), at(b, antenna));
                    sum = (sum.0 + f64::from(snr) * re, sum.1 + f64::from(snr) * im);
                }
                sum
            };
            let matrix = (0..L).map(|a| (0..L).map(|b| element(a, b)).collect()).collect();
            let logs = diagonal_of_inverse(matrix).into_iter().map(|value| -value.ln());
            let expected = (logs.sum::<f64>() / L as f64).exp();
            let ratio = f64::from(found[lane]) / expected;
            assert!((ratio - 1.0).abs() < 1e-3, "{L} layers, SNR {snr}: {ratio}");
        }
    }
}

#[test]
fn the_receiver_is_linear_mmse() {
    receiver_agrees::<1>(2);
    receiver_agrees::<2>(2);
    receiver_agrees::<2>(4);
    receiver_agrees::<3>(4);
    receiver_agrees::<4>(4);
}

/// Their SINRs stay finite.
#[test]
fn equal_layers_disturb_each_other() {
    let one = Complex { re: [1.0; LANES], im: [0.0; LANES] };
    for value in mmse(&[[one; MAX_PORTS]; 4], 4, 1e9) {
        assert!((1.0..1.5).contains(&value), "{value}");
    }
}

#[test]
fn columns_of_precoders_are_orthonormal() {
    for (ports, layers) in [(2, 2), (4, 2), (4, 3), (4, 4)] {
        let all = precoders(ports, layers);
        assert_eq!(all.len(), if ports == 2 { 1 } else { 4 });
        for precoder in all {
            for a in 0..layers {
                for b in 0..layers {
                    let mut sum = (0.0, 0.0);
                    for ((x, y), (u, v)) in precoder[a].iter().zip(&precoder[b]) {
                        sum = (sum.0 + x * u + y * v, sum.1 + y * u - x * v);
                    }
                    let expected = if a == b { 1.0 } else { 0.0 };
                    assert!(
                        (sum.0 - expected).abs() < 1e-6 && sum.1.abs() < 1e-6,
                        "{ports} {layers}: {sum:?}"
                    );
                }
            }
        }
    }
}

/// Ergodic capacity in bit/s/Hz over independent Rayleigh fading without knowledge of the channel at the
/// sender (Telatar, "Capacity of Multi-antenna Gaussian Channels", 1999, theorem 2); `snr` is that of each
/// layer.
fn telatar(receive: usize, layers: usize, snr: f64) -> f64 {
    let (m, extra) = (receive.min(layers), receive.abs_diff(layers));
    let a = extra as f64;
    let density = |x: f64| {
        let (mut before, mut laguerre, mut sum) = (0.0, 1.0, 0.0);
        // k! / (k + a)!
        let mut weight: f64 = (1..=extra).map(|i| 1.0 / i as f64).product();
        for k in 0..m {
            sum += weight * laguerre * laguerre;
            let k = k as f64;
            let next = ((2.0 * k + 1.0 + a - x) * laguerre - (k + a) * before) / (k + 1.0);
            (before, laguerre) = (laguerre, next);
            weight *= (k + 1.0) / (k + 1.0 + a);
        }
        sum * x.powf(a) * (-x).exp()
    };
    let step = 1e-3;
    (0..60_000).map(|i| (f64::from(i) + 0.5) * step).map(|x| (1.0 + snr * x).log2() * density(x) * step).sum()
}

// Tests the feature: spatial multiplexing and transmit diversity (closed form)
/// After an MMSE receiver.
#[test]
fn rates_of_layers_are_differences_of_capacities() {
    let band = Bandwidth::Mhz20.band();
    let profile = Profile::ExtendedTypicalUrban;
    let response = Arc::new(Response::new(&profile.delays(&[]), &band));
    for (ports, receive, layers) in [(2, 2, 2), (4, 2, 2), (4, 4, 2), (4, 4, 3), (4, 4, 4)] {
        for db in [0.0, 10.0, 25.0] {
            let mean = libm::pow(10.0, db / 10.0);
            let one = |run: u64| {
                let streams = Streams::new(7, run);
                let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
                let antennas = Antennas { ports, receive };
                let mut matrix = Matrix::new(antennas, &response, 0.06, ("user", 0), &streams);
                let (mut row, mut sum) = ([0.0; MAX_GROUPS], 0.0);
                for tti in 0..200 {
                    matrix.snr(&sequence, (tti * 97, band.all()), layers, mean as f32, &mut row);
                    sum += row[..band.groups()].iter().map(|snr| f64::from(1.0 + snr).log2()).sum::<f64>();
                }
                sum / 200.0 / band.groups() as f64
            };
            let runs: Vec<f64> = (0..20).map(one).collect();
            let found = runs.iter().sum::<f64>() / 20.0;
            let error = (runs.iter().map(|run| (run - found).powi(2)).sum::<f64>() / 19.0 / 20.0).sqrt();
            let (n, snr) = (usize::from(layers), mean / f64::from(layers));
            let expected = telatar(receive.into(), n, snr) - telatar(receive.into(), n - 1, snr);
            let what = format!("{ports} {receive} {layers} at {db} dB: {found} +- {error}, not {expected}");
            assert!(error < 0.02 * expected && (found - expected).abs() < 4.0 * error, "{what}");
        }
    }
}

/// Half of the power from each of two ports; with four, the geometric mean of 1 + SNR over ports 0 and 2, and
/// 1 and 3.
#[test]
fn diversity_adds_the_power_of_all_paths() {
    let mut paths = [[Complex::ZERO; MAX_PORTS]; MAX_PORTS];
    for (place, path) in paths.iter_mut().flatten().enumerate() {
        *path = Complex { re: [place as f32; LANES], im: [1.0; LANES] };
    }
    let power = |ports: &[usize], receive: usize| -> f32 {
        let places =
            ports.iter().flat_map(|port| (0..receive).map(move |antenna| (4 * port + antenna) as f32));
        places.map(|place| place * place + 1.0).sum()
    };
    let two = diversity(&paths, 2, 2, 0.5);
    assert!((two[0] - (1.0 + 0.25 * power(&[0, 1], 2))).abs() < 1e-4);
    let four = diversity(&paths, 4, 4, 0.5);
    let [even, odd] = [[0, 2], [1, 3]].map(|ports| 1.0 + 0.25 * power(&ports, 4));
    assert!((four[LANES - 1] / (even * odd).sqrt() - 1.0).abs() < 1e-6);
}

/// The SNR of a group is equal whether all groups are computed or few, and differs between TTIs.
#[test]
fn the_first_path_is_that_of_one_antenna() {
    let streams = Streams::new(1, 0);
    let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
    let response = Arc::new(Response::new(&Profile::Flat.delays(&[]), &Bandwidth::Mhz5.band()));
    let mut one = Selective::new(response.clone(), 0.005, ("user", 3), &streams);
    let antennas = Antennas { ports: 2, receive: 2 };
    let mut matrix = Matrix::new(antennas, &response, 0.005, ("user", 3), &streams);
    let mut rows = [[0.0; MAX_GROUPS]; 2];
    for tti in [5, 900, 5] {
        let all = matrix.all();
        matrix.snr(&sequence, (tti, all), 2, 10.0, &mut rows[usize::from(tti == 900)]);
        assert_eq!(matrix.amplitudes[0], one.channel(&sequence, tti));
        let mut few = Groups::only(1);
        few.insert(7);
        let mut row = [0.0; MAX_GROUPS];
        matrix.snr(&sequence, (tti, few), 2, 10.0, &mut row);
        let all = &rows[usize::from(tti == 900)];
        assert!([1, 7].iter().all(|group: &usize| row[*group].to_bits() == all[*group].to_bits()));
    }
    assert!((rows[0][0] - rows[1][0]).abs() > 1e-6);
    assert_ne!(matrix.amplitudes[0], matrix.amplitudes[1]);
}
