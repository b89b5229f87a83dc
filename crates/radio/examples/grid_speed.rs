//! Measures the parts of a TTI with 25 groups of resource blocks and 30 users on one thread:
//! `grid_speed SECONDS`.
//! Prints for each part its mean CPU time in nanoseconds:
//! - `deal`: the assignment of a TTI's groups to any number of users with full buffers.
//! - `deal_limited`: the assignment to at most 6 users with full buffers.
//! - `deal_short`: the assignment to at most 6 users, if a third of the users have data for about
//!   one group only.
//! - `sample`: the channel of a user in a TTI that needs a new sample of the fading.
//! - `between`: the channel of a user between two samples.
//! - `effective_25` and `effective_4`: the effective SNR of 25 and of 4 groups.
//! - `tti`: a whole TTI, with reports of 3 users, an assignment and the reception of 6 blocks.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::profile::Profile;
use nodeb_air::cell::selective::{Response, Selective};
use nodeb_air::error::effective::curve::Curve;
use nodeb_air::error::effective::modulation::Modulation;
use nodeb_air::error::effective::{EffectiveSnr, Mapping};
use nodeb_air::mac::allocation::{GroupAllocator, Offers, Room, Spans};
use nodeb_air::mac::band::{Band, Groups, MAX_GROUPS, Row};
use nodeb_air::mac::sched::proportional_fair::ProportionalFair;
use nodeb_air::mac::sched::{Candidate, Scheduler, SchedulerParams};
use nodeb_base::rng::Streams;
use nodeb_base::units;
use nodeb_radio::lte::bandwidth::Bandwidth;
use nodeb_radio::lte::effective::effective_snr;

const USERS: usize = 30;
/// Maximum Doppler shift at 3 km/h and 2 GHz, in periods per TTI of 1 ms.
const WALK: f64 = 0.005_56;
/// Maximum Doppler shift at which each TTI needs a new sample of the fading, in periods per TTI.
const A_SAMPLE_PER_TTI: f64 = 0.062_499;

struct Cell {
    sequence: JakesSequence,
    channels: Vec<Selective>,
    scheduler: Box<dyn Scheduler>,
    allocator: GroupAllocator,
    candidates: Vec<Candidate>,
    rates: Vec<Row>,
    spans: Vec<Spans>,
    waiting: Vec<f32>,
    grants: usize,
    effective: EffectiveSnr,
    curve: &'static Curve,
    band: Band,
}

impl Cell {
    fn new(doppler: f64) -> Self {
        let streams = Streams::new(1, 0);
        let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
        let band = Bandwidth::Mhz20.band();
        let response = Arc::new(Response::new(&Profile::ExtendedVehicularA.delays(&[]), &band));
        let channel = |id| Selective::new(response.clone(), doppler, ("user", id), &streams);
        let mut cell = Self {
            sequence,
            channels: (0..USERS as u64).map(channel).collect(),
            scheduler: ProportionalFair::default().build(USERS, units::Duration::from_millis(1)),
            allocator: GroupAllocator::default(),
            candidates: (0..USERS).map(|user| Candidate::at_rate(user, 1)).collect(),
            rates: vec![[0.0; MAX_GROUPS]; USERS],
            spans: vec![Spans::UNUSABLE; USERS],
            waiting: vec![f32::MAX; USERS],
            grants: 6,
            effective: effective_snr(Mapping::default()),
            curve: Modulation::Qam64.curve(),
            band,
        };
        (0..USERS).for_each(|user| cell.report(user, 0));
        cell
    }

    fn report(&mut self, user: usize, tti: u64) {
        let mut snr = [0.0; MAX_GROUPS];
        self.channels[user].gains(&self.sequence, tti, &mut snr);
        for (rate, snr) in self.rates[user].iter_mut().zip(snr).take(self.band.groups()) {
            *rate = 2_000.0 * (1.0 - self.curve.missing(10.0 * snr)) + 1.0;
        }
        self.spans[user] = Spans::of(&self.rates[user]);
    }

    fn deal(&mut self, tti: u64) -> usize {
        let Self { allocator, scheduler, candidates, rates, spans, waiting, band, grants, .. } = self;
        let (sizes, yields) = (band.sizes(), &[1.0; MAX_GROUPS]);
        let offers = Offers { x: rates, spans, rates, sizes, yields, waiting };
        let room = Room { groups: band.all(), grants: *grants };
        let parts = allocator.allocate(tti, scheduler.as_mut(), candidates, offers, room);
        for part in parts {
            scheduler.served(tti, part.user, 1_000 * part.groups.len() as u32);
        }
        parts.len()
    }

    fn receive(&mut self, user: usize, tti: u64, groups: Groups) -> f32 {
        let mut snr = [0.0; MAX_GROUPS];
        self.channels[user].gains(&self.sequence, tti, &mut snr);
        self.effective.of(20, &snr, groups, self.band.sizes())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds: f64 = std::env::args().nth(1).ok_or("grid_speed SECONDS")?.parse()?;
    let limit = Duration::from_secs_f64(seconds);
    let (mut walk, mut drive) = (Cell::new(WALK), Cell::new(A_SAMPLE_PER_TTI));
    let mut unlimited = Cell::new(WALK);
    unlimited.grants = USERS;
    let mut short = Cell::new(WALK);
    short.waiting.iter_mut().step_by(3).for_each(|waiting| *waiting = 500.0);
    let (all, four) = (Groups::first(25), Groups::first(4));
    let row: Row = std::array::from_fn(|group| 1.0 + group as f32);
    let figures = [
        ("deal", measure(limit, |tti| unlimited.deal(tti) as f32)),
        ("deal_limited", measure(limit, |tti| walk.deal(tti) as f32)),
        ("deal_short", measure(limit, |tti| short.deal(tti) as f32)),
        ("sample", measure(limit, |tti| gains(&mut drive, 0, tti))),
        ("between", measure(limit, |tti| gains(&mut walk, 0, tti / 4_096))),
        ("effective_25", measure(limit, |_| walk.effective.of(20, black_box(&row), all, walk.band.sizes()))),
        ("effective_4", measure(limit, |_| walk.effective.of(20, black_box(&row), four, walk.band.sizes()))),
        ("tti", measure(limit, |tti| whole(&mut short, tti))),
    ];
    let printed: Vec<String> = figures.iter().map(|(name, ns)| format!("{name}_ns={ns:.1}")).collect();
    println!("{}", printed.join(" "));
    Ok(())
}

fn gains(cell: &mut Cell, user: usize, tti: u64) -> f32 {
    let mut row = [0.0; MAX_GROUPS];
    cell.channels[user].gains(&cell.sequence, tti, &mut row);
    black_box(&row)[0]
}

/// Simulates a TTI: 3 reports, the assignment of groups, and the reception of 6 blocks.
fn whole(cell: &mut Cell, tti: u64) -> f32 {
    (0..3).for_each(|i| cell.report((3 * tti as usize + i) % USERS, tti));
    cell.deal(tti);
    (0..6).map(|i| cell.receive((5 * tti as usize + i) % USERS, tti, Groups::first(4))).sum()
}

/// Mean CPU time in ns, or mean duration if the system does not report CPU times.
fn measure(limit: Duration, mut call: impl FnMut(u64) -> f32) -> f64 {
    let (begin, used, mut calls) = (Instant::now(), cpu_time(), 0);
    while begin.elapsed() < limit {
        for _ in 0..1_000 {
            black_box(call(calls));
            calls += 1;
        }
    }
    let spent = cpu_time().zip(used).map_or(begin.elapsed(), |(now, before)| now.saturating_sub(before));
    spent.as_secs_f64() * 1e9 / calls as f64
}

fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
