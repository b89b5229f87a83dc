//! What the parts of the link cost: `cargo bench -p nodeb-phy`.

#![allow(missing_docs, reason = "`criterion_group!` makes a public function")]

use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::time::Duration as Wall;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nodeb_phy::channel::Profile;
use nodeb_phy::coding::turbo::{Algorithm, Decoder, Encoder, LANES, Settings};
use nodeb_phy::link::{Link, Service, Stop, run};
use nodeb_phy::simd::Isa;
use nodeb_phy::{gaussian, rng};

fn group<'c>(c: &'c mut Criterion, name: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = c.benchmark_group(name);
    group.warm_up_time(Wall::from_millis(300)).measurement_time(Wall::from_secs(1)).sample_size(20);
    group
}

/// LLRs of random blocks at 1 dB.
fn received(k: usize) -> Vec<Vec<f32>> {
    let encoder = Encoder::new(k).expect("a valid length");
    let sigma2 = 3.0 / (2.0 * 1.26);
    (0..LANES as u64)
        .map(|block| {
            let (mut bits, mut coded) = (vec![0; k], Vec::new());
            rng::fill_bits(&mut rng::stream(1, "data", block), &mut bits);
            encoder.encode(&bits, &mut coded);
            let mut noise = vec![0.0; coded.len()];
            gaussian::fill(Isa::best(), &mut rng::stream(1, "noise", block), f32::sqrt(sigma2), &mut noise);
            coded
                .iter()
                .zip(&noise)
                .map(|(&bit, n)| 2.0 / sigma2 * (1.0 - 2.0 * f32::from(bit) + n))
                .collect()
        })
        .collect()
}

/// 16 blocks of 3840 bits, three iterations, no early stop.
fn turbo(c: &mut Criterion) {
    const K: usize = 3840;
    let mut group = group(c, "turbo: 3 iterations of 16 x 3840 bits");
    group.throughput(Throughput::Elements((LANES * K) as u64));
    let blocks = received(K);
    let blocks: Vec<&[f32]> = blocks.iter().map(Vec::as_slice).collect();
    let cases = [
        ("max-log-MAP", Algorithm::MaxLogMap, Isa::best()),
        ("max-log-MAP, baseline", Algorithm::MaxLogMap, Isa::Baseline),
        ("max-log-MAP, float", Algorithm::MaxLogMapFloat, Isa::best()),
        ("log-MAP", Algorithm::LogMap, Isa::best()),
    ];
    for (name, algorithm, isa) in cases {
        let mut decoder = Decoder::new(K, Settings { algorithm, ..Settings::default() }, isa).expect("valid");
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| decoder.decode(&blocks, |_, _| false));
        });
    }
}

fn noise(c: &mut Criterion) {
    let mut group = group(c, "noise");
    let mut out = vec![0.0; 76_800];
    group.throughput(Throughput::Elements(out.len() as u64));
    let mut stream = rng::stream(1, "noise", 0);
    group.bench_function("normal numbers", |b| {
        b.iter(|| gaussian::fill(Isa::best(), &mut stream, 1.0, &mut out));
    });
}

/// The whole chain, 16 blocks at a time on one thread; the throughput is in bits of PDUs: 384 kb/s is
/// real time.
fn chain(c: &mut Criterion) {
    let mut group = group(c, "link: 384 kb/s");
    group.sample_size(10).measurement_time(Wall::from_secs(3));
    for profile in [Profile::Static, Profile::PedestrianA, Profile::VehicularA] {
        let mut link = Link::new(Service::costamagna(384).expect("one of the three"), 6.0);
        let name = format!("{profile:?}");
        link.air.profile = profile;
        let bits = 8 * 16 * 3840;
        group.throughput(Throughput::Elements(bits));
        let stop = Stop { bits, block_errors: None };
        let simulate = || run(&link, 1, stop, NonZeroU32::MIN, &mut |_| ControlFlow::Continue(()));
        group.bench_function(name, |b| b.iter(|| simulate().expect("nobody breaks off")));
    }
}

criterion_group!(benches, turbo, noise, chain);
criterion_main!(benches);
