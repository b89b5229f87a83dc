//! What the parts of the core cost: `cargo bench -p nodeb-sim`.
//!
//! The whole set takes about a minute: the times asked for are short, the machine matters more.

#![allow(missing_docs, reason = "`criterion_group!` makes a public function")]

use std::hint::black_box;
use std::time::Duration as Wall;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nodeb_sim::context::{Counts, Surroundings};
use nodeb_sim::engine::{Agenda, Stamps};
use nodeb_sim::packet::Packet;
use nodeb_sim::radio::mac::sched::SchedulerSpec;
use nodeb_sim::radio::wcdma::selection::SelectionSpec;
use nodeb_sim::radio::{Bearer, RadioSpec, UserRadio};
use nodeb_sim::rng::{ErrorGaps, Streams};
use nodeb_sim::units::Time;
use nodeb_sim::{Control, Scenario, run, scenario};

fn group<'c>(c: &'c mut Criterion, name: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = c.benchmark_group(name);
    group.warm_up_time(Wall::from_millis(300)).measurement_time(Wall::from_secs(1)).sample_size(20);
    group
}

/// The alarm that rings is set anew, as in a simulation where every component is busy.
fn agenda(c: &mut Criterion) {
    let mut group = group(c, "agenda: ring and set");
    for alarms in [8, 128, 4096] {
        let (mut agenda, mut stamps) = (Agenda::new(alarms), Stamps::default());
        for alarm in 0..alarms {
            agenda.set_time(alarm, Some(Time(alarm as u64 * 7_919 % 10_007)), &mut stamps);
        }
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::from_parameter(alarms), |b| {
            b.iter(|| {
                let ((at, _), alarm) = agenda.next().expect("all alarms are set");
                agenda.set_time(alarm, Some(Time(at.0 + 1 + at.0 * 31 % 10_007)), &mut stamps);
                alarm
            });
        });
    }
}

/// 1000 trials; the time goes into drawing the errors among them.
fn error_gaps(c: &mut Criterion) {
    let mut group = group(c, "error gaps: 1000 trials");
    group.throughput(Throughput::Elements(1_000));
    for percent in [1u32, 10] {
        let mut gaps =
            ErrorGaps::new(f64::from(percent) / 100.0, Streams::new(1, 0).stream("bench", 0, "errors"));
        group.bench_function(BenchmarkId::from_parameter(format!("{percent} %")), |b| {
            b.iter(|| {
                let (mut left, mut errors) = (1_000, 0u32);
                while let Some(at) = gaps.next_error_within(left) {
                    left -= at + 1;
                    errors += 1;
                }
                errors
            });
        });
    }
}

/// A bearer whose users are never out of packets, woken until `ttis` TTIs have gone by.
struct Backlogged {
    bearer: Box<dyn Bearer>,
    users: usize,
    around: Surroundings,
}

const PACKET: u32 = 1500;

impl Backlogged {
    fn new(radio: &str, users: &[UserRadio]) -> Self {
        let spec: RadioSpec = serde_json::from_str(radio).expect("a valid radio");
        let bearer = spec.build(users, &Streams::new(1, 0)).remove(0);
        let mut new = Self { bearer, users: users.len(), around: Surroundings::default() };
        for user in 0..new.users {
            for _ in 0..4 {
                new.offer(Time::ZERO, user);
            }
        }
        new
    }

    fn offer(&mut self, now: Time, user: usize) {
        let packet = Packet { flow_hash: user as u32, ..Packet::new(0, PACKET) };
        assert!(self.bearer.accept(&mut self.around.at(now), user, packet), "the buffer is full");
    }

    /// Runs at least `ttis` TTIs; every packet delivered is replaced by a new one.
    fn run(&mut self, ttis: u64) {
        self.run_until(|counts| counts.ttis, ttis);
    }

    /// The same with frames in the place of TTIs.
    fn run_frames(&mut self, frames: u64) {
        self.run_until(|counts| counts.blocks, frames);
    }

    fn run_until(&mut self, done: impl Fn(Counts) -> u64, more: u64) {
        let end = done(self.around.counts) + more;
        while done(self.around.counts) < end {
            let key = self.bearer.next_wake().expect("there is something to send");
            self.bearer.wake(&mut self.around.at(key.0), key);
            for (user, _) in self.around.take_arrivals() {
                self.offer(key.0, user);
            }
        }
    }
}

const TTIS: u64 = 10_000;

fn bearers(c: &mut Criterion) {
    let mut group = group(c, "bearer: per TTI");
    group.throughput(Throughput::Elements(TTIS));
    let alone = [UserRadio::default()];
    for kind in ["dch", "hs_dsch"] {
        for bler in [0.01, 0.1] {
            let radio = format!(r#"{{ "{kind}": {{ "bler": {bler} }} }}"#);
            let mut bearer = Backlogged::new(&radio, &alone);
            let name = BenchmarkId::new(kind, format!("1 user, BLER {} %", bler * 100.0));
            group.bench_function(name, |b| b.iter(|| bearer.run(TTIS)));
        }
    }
    for selection in SelectionSpec::NAMES {
        let crowd: Vec<_> = (0..10).map(|id| UserRadio { id, ..UserRadio::default() }).collect();
        let radio = format!(r#"{{ "wcdma": {{ "selection": "{selection}", "other_cells": "map" }} }}"#);
        let mut bearer = Backlogged::new(&radio, &crowd);
        let name = BenchmarkId::new("wcdma", format!("10 users on a map, {selection}"));
        group.bench_function(name, |b| b.iter(|| bearer.run_frames(10 * TTIS)));
    }
    let many: Vec<_> = (0..30)
        .map(|id| UserRadio { id, ci: vec![0.02, 0.16, 0.23, 0.20, 0.37], ..UserRadio::default() })
        .collect();
    for scheduler in SchedulerSpec::NAMES {
        let radio = format!(r#"{{ "hs_dsch": {{ "bler": 0.1, "scheduler": "{scheduler}" }} }}"#);
        let mut bearer = Backlogged::new(&radio, &many);
        let name = BenchmarkId::new("hs_dsch", format!("30 users, {scheduler}"));
        group.bench_function(name, |b| b.iter(|| bearer.run(TTIS)));
    }
}

/// A cell of HSDPA whose users fade: channels, reports, HARQ, reordering.
fn cells(c: &mut Criterion) {
    let mut group = group(c, "hsdpa: per TTI");
    group.throughput(Throughput::Elements(TTIS / 10));
    for users in [30, 400] {
        let users: Vec<_> = (0..users).map(|id| UserRadio { id, ..UserRadio::default() }).collect();
        for scheduler in ["round_robin", "max_ci", "proportional_fair"] {
            let radio = format!(r#"{{ "hsdpa": {{ "scheduler": "{scheduler}" }} }}"#);
            let mut bearer = Backlogged::new(&radio, &users);
            let name = BenchmarkId::new(scheduler, format!("{} users", users.len()));
            group.bench_function(name, |b| b.iter(|| bearer.run(TTIS / 10)));
        }
    }
}

const SCENARIO: &str = include_str!("../../../examples/scheduler-comparison.toml");

fn reading(c: &mut Criterion) {
    let mut group = group(c, "scenario");
    let overrides = ["radio.hs_dsch.scheduler=round_robin".to_owned()];
    let read = |overrides: &[String]| scenario::from_toml(black_box(SCENARIO), "bench", overrides).unwrap();
    group.bench_function("read", |b| b.iter(|| read(&[])));
    group.bench_function("read with an override", |b| b.iter(|| read(&overrides)));
    let scenario = read(&[]);
    group.bench_function("write", |b| b.iter(|| scenario::to_toml(black_box(&scenario)).unwrap()));
}

/// Whole downloads, with segments sent (first transmissions and repetitions) as the throughput.
fn transfers(c: &mut Criterion) {
    let mut group = group(c, "transfer");
    group.sample_size(10).measurement_time(Wall::from_secs(2));
    let long = "[[users]]\ntraffic.ftp.size = \"16 MB\"\n";
    let crowd = "[[users]]\ncount = 30\nstagger = \"10 ms\"\ntraffic.ftp.size = \"500 kB\"\n";
    let ci = "ci = [0.02, 0.16, 0.23, 0.20, 0.37]\n";
    let cases = [
        ("16 MB over link", format!("radio = \"link\"\n{long}")),
        // The same rate: an opportunity of 1504 B each 31.33 ms.
        ("16 MB over a trace", format!("radio.trace.down.times_ms = [31, 62, 94]\n{long}")),
        ("16 MB over DCH, BLER 1 %", format!("radio.dch.bler = 0.01\n{long}")),
        ("16 MB over DCH, BLER 10 %", format!("radio.dch.bler = 0.1\n{long}")),
        ("16 MB over HS-DSCH, BLER 1 %", format!("radio.hs_dsch.bler = 0.01\n{long}")),
        ("16 MB over HS-DSCH, BLER 10 %", format!("radio.hs_dsch.bler = 0.1\n{long}")),
        ("30 users on HS-DSCH, BLER 10 %", format!("radio.hs_dsch.bler = 0.1\n{crowd}{ci}")),
    ];
    for (name, text) in cases {
        let scenario = scenario::from_toml(&text, name, &[]).unwrap();
        group.throughput(Throughput::Elements(packets(&scenario)));
        group.bench_function(name, |b| b.iter(|| packets(&scenario)));
    }
}

/// A second of 30 downloads that share 10 Mbit/s, by TCP's control: what the families cost.
fn controls(c: &mut Criterion) {
    let mut group = group(c, "30 flows at 10 Mbit/s: per second");
    group.sample_size(10).measurement_time(Wall::from_secs(2));
    for control in
        ["classic.control=newreno", "linux.control=cubic", "linux.control=bbr", "linux.control=bbr3"]
    {
        let text = "duration = \"20 s\"\nradio.link.rate = \"100 Mbps\"\n[uplink]\nrate = \"10 Mbps\"\n\
                    [wired]\nrate = \"10 Mbps\"\ndelay = \"20 ms\"\nqueue.drop_tail.limit = 100\n\
                    [[users]]\ncount = 30\nstagger = \"10 ms\"\ntraffic.ftp.size = \"1 GB\"\n";
        let scenario = scenario::from_toml(text, "bench", &[format!("tcp.{control}")]).unwrap();
        group.throughput(Throughput::Elements(20));
        let events = || run(&scenario, 1, 0, &Control::default()).map(|result| result.events);
        group.bench_function(control, |b| b.iter(events));
    }
}

fn packets(scenario: &Scenario) -> u64 {
    let result = run(scenario, 1, 0, &Control::default()).expect("nobody cancels");
    assert!(result.flows.iter().all(|flow| flow.complete));
    result.flows.iter().map(|flow| flow.sender.packets).sum()
}

criterion_group!(benches, agenda, error_gaps, bearers, cells, reading, transfers, controls);
criterion_main!(benches);
