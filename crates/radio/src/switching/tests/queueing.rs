//! Poisson arrivals at a single server.

use nodeb_base::rng::{Stream, Streams, unit};
use nodeb_base::units::{Duration, Time};
use rand_core::Rng as _;
use serde_json::{Value, json};

use super::{Driver, ms};

/// Mean time in ms and the half-width of its 95 % confidence interval from 20 batch means; packets go to the
/// users in turn, with equally likely sizes.
fn time_in_system(params: Value, users: usize, rate_per_s: f64, sizes: &[u32]) -> (f64, f64) {
    const BATCHES: usize = 20;
    const PACKETS: usize = 200_000;
    let mut cell = Driver::new(params, users);
    let mut stream: Stream = Streams::new(7, 0).stream("test", 0, "poisson");
    let mut uniform = || unit(stream.next_u64());
    let mut arrived = vec![Vec::new(); users];
    let mut now = Time::ZERO + Duration::from_secs(1);
    for i in 0..PACKETS {
        now += Duration((-libm::log(1.0 - uniform()) / rate_per_s * 1e9) as u64);
        let size = sizes[(uniform() * sizes.len() as f64) as usize];
        cell.arrive(now, i % users, size);
        arrived[i % users].push(ms(now));
    }
    cell.finish();
    let mut next = vec![0; users];
    let delays: Vec<f64> = cell
        .delivered
        .iter()
        .map(|&(at, user)| {
            next[user] += 1;
            at - arrived[user][next[user] - 1]
        })
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let batches: Vec<f64> = delays.chunks(PACKETS / BATCHES).map(mean).collect();
    let all = mean(&batches);
    let variance = batches.iter().map(|b| (b - all).powi(2)).sum::<f64>() / (BATCHES - 1) as f64;
    (all, 2.093 * (variance / BATCHES as f64).sqrt())
}

/// M/G/1, in ms, with equally likely service times.
fn pollaczek_khinchine(rate_per_s: f64, services: &[f64]) -> f64 {
    let moment = |n: i32| services.iter().map(|s| (s / 1e3).powi(n)).sum::<f64>() / services.len() as f64;
    let load = rate_per_s * moment(1);
    assert!(load < 1.0);
    (moment(1) + rate_per_s * moment(2) / (2.0 * (1.0 - load))) * 1e3
}

fn agrees((mean, half_width): (f64, f64), theory: f64) {
    assert!((mean - theory).abs() < half_width, "{mean} +- {half_width} against {theory}");
    assert!(half_width < 0.05 * theory, "too wide: {half_width} of {theory}");
}

#[test]
fn one_user_always_on_dch_is_m_g_1() {
    // Packets of 480 and 960 bytes take 10 and 20 ms on a dedicated channel.
    let params = json!({ "policy": "always_dch" });
    let found = time_in_system(params, 1, 45.0, &[480, 960]);
    agrees(found, pollaczek_khinchine(45.0, &[10.0, 20.0]));
}

#[test]
fn users_sharing_the_fach_are_an_m_d_1_queue() {
    let params = json!({ "policy": "always_fach" });
    let found = time_in_system(params, 4, 5.0, &[480]);
    agrees(found, pollaczek_khinchine(5.0, &[120.0]));
}

#[test]
fn users_get_the_rate_that_signalling_leaves() {
    // Signalling takes 24 of the FACH's 33 kbit/s, which leaves 9 kbit/s or 1125 bytes/s to users.
    let params = json!({ "fach_rate": "33 kbps", "signalling_rate": "24 kbps", "policy": "always_fach", "buffer": 100_000 });
    let mut cell = Driver::new(params, 3);
    for i in 0..9_000 {
        cell.arrive(Time::ZERO, i % 3, 320);
    }
    cell.run(Time::ZERO + Duration::from_secs(2_000));
    let bytes = cell.around.counts.bytes_delivered as f64;
    assert!((bytes - 1_125.0 * 2_000.0).abs() < 2.0 * 1_000.0, "{bytes}");
    let each: Vec<usize> = (0..3).map(|user| cell.deliveries(user).len()).collect();
    assert!(each.iter().max().unwrap() - each.iter().min().unwrap() <= 1, "{each:?}");
}
