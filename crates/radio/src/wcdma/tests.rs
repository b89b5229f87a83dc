use nodeb_base::context::TestBench;
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Time};

use super::arq::Sharing;
use super::other_cells::{OtherCellsLoad, OtherCellsSpec, mean::MeanInterference};
use super::selection::{FixedRate, PerUser, SelectionSpec};
use super::*;
use nodeb_air::tti::TtiBearer;
use nodeb_air::{Hop, UserRadio};

/// Little noise, no interference from other cells.
fn clean() -> Wcdma {
    let mean = MeanInterference {
        factor: 0.0,
        load: OtherCellsLoad { connections: 0.0, ..OtherCellsLoad::default() },
    };
    Wcdma { eb_n0_db: 60.0, other_cells: OtherCellsSpec::Mean(mean), correctable_bits: 8, ..Wcdma::default() }
}

fn users(n: u64) -> Vec<UserRadio> {
    (0..n).map(|id| UserRadio { id, ..UserRadio::default() }).collect()
}

struct Full {
    bearer: TtiBearer<bearer::WcdmaMac>,
    around: TestBench,
    delivered: Vec<u64>,
}

impl Full {
    fn new(params: &Wcdma, n: u64) -> Self {
        let bearer = params.bearer(&users(n), &Streams::new(1, 0));
        let mut full = Self { bearer, around: TestBench::default(), delivered: vec![0; n as usize] };
        for user in 0..n as usize {
            (0..40).for_each(|_| full.offer(Time::ZERO, user));
        }
        full
    }

    fn offer(&mut self, now: Time, user: usize) {
        let packet = Packet { flow_hash: user as u32, ..Packet::new(0, 576) };
        assert!(self.bearer.accept(&mut self.around.at(now), user, packet));
    }

    /// In kbit/s, by connection.
    fn run(mut self, seconds: u64) -> Vec<f64> {
        while let Some(instant) = self.bearer.next_wake()
            && instant.time() <= Time(seconds * 1_000_000_000)
        {
            self.bearer.wake(&mut self.around.at(instant.time()), instant);
            for (user, _) in self.around.take_arrivals() {
                self.delivered[user] += 1;
                self.offer(instant.time(), user);
            }
        }
        self.delivered.iter().map(|n| *n as f64 * 576.0 * 8.0 / seconds as f64 / 1e3).collect()
    }
}

/// 576 bytes have 36 frames: 5 slots of 10 ms give the 92.16 kbit/s of the study, 4.5 if packets may share
/// slots.
#[test]
fn an_error_free_connection_reaches_the_rate_of_the_study() {
    let kbps = Full::new(&clean(), 1).run(100);
    assert!((kbps[0] - 92.16).abs() < 1e-9, "{kbps:?}");
    let shared = Wcdma { sharing: Sharing::AnyPackets, ..clean() };
    let kbps = Full::new(&shared, 1).run(90);
    assert!((kbps[0] - 102.4).abs() < 1e-9, "{kbps:?}");
}

/// All slots are filled: frames sent times their probability of success.
#[test]
fn throughput_is_equation_1() {
    for (n, rate) in [(1u32, 8), (5, 3), (12, 1)] {
        let selection = SelectionSpec::Fixed(FixedRate { frames: rate.try_into().unwrap() });
        let params = Wcdma { selection, sharing: Sharing::AnyPackets, ..Wcdma::default() };
        let failure = params.cell(&users(1), &Streams::new(1, 0)).0.failure(0, rate * n);
        let expected = rates::throughput([(rate, failure)]) * 128.0 / 0.01 / 1e3;
        let seconds = 400;
        let kbps = Full::new(&params, n.into()).run(seconds);
        let mean = kbps.iter().sum::<f64>() / f64::from(n);
        let trials = f64::from(n * rate) * 100.0 * seconds as f64;
        let sigma = expected * (failure / (1.0 - failure) / trials).sqrt();
        assert!((mean - expected).abs() < 4.0 * sigma + 1e-3 * expected, "{n}: {mean} {expected}");
    }
}

/// With `frame_errors = false`.
#[test]
fn without_frame_errors_rates_still_follow_the_channel() {
    let noisy = |frame_errors, frames: u32| {
        let selection = SelectionSpec::Fixed(FixedRate { frames: frames.try_into().unwrap() });
        Wcdma { eb_n0_db: 5.0, selection, frame_errors, ..Wcdma::default() }
    };
    let all = Full::new(&noisy(false, 4), 3).run(90);
    // At 4 frames per slot, a packet of 36 frames takes 9 slots.
    assert!(all.iter().all(|kbps| (kbps - 51.2).abs() < 1e-9), "{all:?}");
    assert!(Full::new(&noisy(true, 4), 3).run(90).iter().all(|kbps| *kbps < 40.0));
    let chosen = |frame_errors, eb_n0_db| {
        Full::new(&Wcdma { eb_n0_db, frame_errors, ..Wcdma::default() }, 6).run(100)[0]
    };
    assert!(chosen(false, 20.0) > chosen(true, 20.0));
    assert!(chosen(false, 8.0) < 0.8 * chosen(false, 20.0), "rates are still those of a bad channel");
}

#[test]
fn the_rate_follows_the_number_of_active_connections() {
    let params = Wcdma { connection_timeout: Some(Duration::ZERO), ..Wcdma::default() };
    let kbps = |n| Full::new(&params, n).run(50)[0];
    let (one, ten) = (kbps(1), kbps(10));
    assert!(ten < one / 4.0, "{one} {ten}");
    // Nine other connections receive one packet each, and are inactive afterwards.
    let mut mixed = Full::new(&params, 1);
    let mut ten_users = params.bearer(&users(10), &Streams::new(1, 0));
    std::mem::swap(&mut mixed.bearer, &mut ten_users);
    mixed.delivered = vec![0; 10];
    (0..40).for_each(|_| mixed.offer(Time::ZERO, 0));
    for user in 1..10 {
        let packet = Packet { flow_hash: user, ..Packet::new(0, 576) };
        assert!(mixed.bearer.accept(&mut mixed.around.at(Time::ZERO), user as usize, packet));
    }
    let mut end = Time::ZERO;
    while mixed.bearer.backlog(0).packets > 0 {
        let instant = mixed.bearer.next_wake().unwrap();
        mixed.bearer.wake(&mut mixed.around.at(instant.time()), instant);
        end = instant.time();
    }
    // This is the time in seconds that the 40 packets of 4.608 kbit take if no other connection is
    // active. The other connections delay them at first.
    let alone = 40.0 * 4.608 / one;
    assert!(end.as_secs() > alone * 1.05 && end.as_secs() < alone * 2.0, "{} {alone}", end.as_secs());
}

/// With equal conditions; the sum exceeds the power only if all rates are the lowest.
#[test]
fn individual_rates_are_no_worse_and_respect_the_power() {
    let params = Wcdma::default();
    for n in [1u64, 3, 8, 20] {
        let active: Vec<usize> = (0..n as usize).collect();
        let (mut cell, _) = params.cell(&users(n), &Streams::new(1, 0));
        let mut of = |selection: SelectionSpec| {
            let mut rates = Vec::new();
            selection.select(&mut cell, &active, &mut rates);
            let own: u32 = rates.iter().sum();
            let failure = cell.failure(0, own);
            (rates::throughput(rates.iter().map(|rate| (*rate, failure))), own)
        };
        let (common, _) = of(SelectionSpec::default());
        let power = |power: u32| SelectionSpec::PerUser(PerUser { power: power.try_into().unwrap() });
        let (own, _) = of(power(1_000));
        assert!(own >= common - 1e-9, "{n}: {own} {common}");
        let (_, spent) = of(power(10));
        assert!(spent <= 10.max(n as u32), "{n}: {spent}");
    }
}

/// Equation 3: other cells without connections are equivalent to a factor of 0.
#[test]
fn load_and_factor_matter_only_as_a_product() {
    let failure = |factor, connections| {
        let load = OtherCellsLoad { connections, mean_rate: Some(4.0), ..OtherCellsLoad::default() };
        let other_cells = OtherCellsSpec::Mean(MeanInterference { factor, load });
        let params = Wcdma { other_cells, ..Wcdma::default() };
        params.cell(&users(1), &Streams::new(1, 0)).0.failure(0, 8)
    };
    assert!((failure(0.5, 4.0) - failure(0.25, 8.0)).abs() < 1e-12);
    assert!((failure(0.0, 4.0) - failure(0.5, 0.0)).abs() < 1e-12);
    assert!(failure(0.5, 4.0) > failure(0.5, 0.0));
}
