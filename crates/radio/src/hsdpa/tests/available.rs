use serde_json::json;

use super::*;
use nodeb_air::BandwidthMeter as _;
use nodeb_air::mac::harq::link_curve;

const ROUND_ROBIN: &str = "round_robin";

fn measuring(params: &Hsdpa, ues: &[Ue]) -> Bench {
    let mut bench = Bench::new(params, ues, 0);
    bench.bearer.mac.measure(0);
    bench
}

fn available(bench: &mut Bench, ttis: u64) -> f64 {
    bench.bearer.mac.available_bytes(Time(ttis * TTI.0), 0).expect("user 0 is measured")
}

fn constant(snr_db: f64) -> Ue {
    ue(json!({ "category": 10, "channel": { "constant": { "snr_db": snr_db } } }))
}

/// Of CQI 15: (3319 - 24) / 8 octets, of which 40 out of 42 belong to packets.
const BLOCK_BYTES: f64 = 411.0 * 40.0 / 42.0;

fn within(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() <= share, "{found}, expected {expected}");
}

#[test]
fn unmeasured_user_has_no_available_bytes() {
    let mut bench = measuring(&hsdpa(json!({})), &[constant(0.0), constant(0.0)]);
    assert_eq!(bench.bearer.mac.available_bytes(Time(TTI.0), 1), None);
}

/// Payload of a block times TTIs times the probability of decoding.
#[test]
fn an_idle_cell_offers_every_tti() {
    let snr_db = link_curve::snr_db(15.0, 0.08);
    let decoded = 1.0 - link_curve::bler(15.0, snr_db);
    let mut bench = measuring(&hsdpa(json!({})), &[playing(&[snr_db], &[15])]);
    within(available(&mut bench, 1_000), 1_000.0 * BLOCK_BYTES * decoded, 0.002);
    // A second query after the whole time returns twice as many bytes as a query after half of the
    // time.
    let twice = available(&mut bench, 1_000);
    let mut other = measuring(&hsdpa(json!({})), &[playing(&[snr_db], &[15])]);
    within(available(&mut other, 500) * 2.0, twice, 1e-9);
}

/// Independent decoding without combining: each retransmission succeeds as often as a first transmission.
#[test]
fn a_user_alone_gets_the_available_bandwidth() {
    let snr_db = link_curve::snr_db(15.0, 0.1);
    let params = hsdpa(json!({ "combining": "none", "max_transmissions": 50, "t1": "1 s" }));
    let mut bench = measuring(&params, &[playing(&[snr_db], &[15])]);
    let ttis = 20_000;
    bench.saturate(ttis, 60, 1_500);
    let found = available(&mut bench, ttis);
    within(found, bench.bytes[0] as f64, 0.01);
}

#[test]
fn equal_users_have_equal_available_shares() {
    let n = 4;
    let users = vec![playing(&[50.0], &[15]); n];
    let params = hsdpa(json!({ "scheduler": ROUND_ROBIN }));
    let mut bench = measuring(&params, &users);
    bench.saturate(4_000, 20, 1_500);
    let found = available(&mut bench, 4_000);
    within(found, bench.bytes[0] as f64, 0.01);
    within(found, 4_000.0 * BLOCK_BYTES / n as f64, 0.01);
    // A user who is idle while the others always have packets could have had an equal share of the
    // TTIs.
    let mut idle = measuring(&params, &users);
    idle.saturate_some(1..n, 4_000, 20, 1_500);
    within(available(&mut idle, 4_000), 4_000.0 * BLOCK_BYTES / n as f64, 0.01);
}

#[test]
fn the_best_channel_could_have_all_ttis_under_max_ci() {
    let params = hsdpa(json!({ "scheduler": "max_ci" }));
    let mut bench = measuring(&params, &[playing(&[50.0], &[15]), playing(&[50.0], &[12])]);
    bench.saturate_some(1..2, 2_000, 20, 1_500);
    within(available(&mut bench, 2_000), 2_000.0 * BLOCK_BYTES, 0.01);
    // The user with the worse channel could not be served in any TTI, as the better user takes all
    // of them.
    let mut worse = measuring(&params, &[playing(&[50.0], &[12]), playing(&[50.0], &[15])]);
    worse.saturate_some(1..2, 2_000, 20, 1_500);
    assert!(available(&mut worse, 2_000) < 0.01 * 2_000.0 * BLOCK_BYTES);
}

#[test]
fn measuring_changes_nothing() {
    let user = |kmh: u32| {
        ue(json!({ "channel": { "fading": { "profile": "vehicular_a", "speed": format!("{kmh} km/h") } } }))
    };
    let users = [user(3), user(50), user(120)];
    for scheduler in ["round_robin", "max_ci", "proportional_fair", "normalized", "tcp_aware"] {
        let params = hsdpa(json!({ "scheduler": scheduler, "users_per_tti": 1 }));
        let run = |measured: bool| {
            let mut bench = Bench::new(&params, &users, 7);
            if measured {
                (0..3).for_each(|user| bench.bearer.mac.measure(user));
            }
            bench.saturate(2_000, 10, 1_500);
            bench.arrived
        };
        assert_eq!(run(true), run(false), "{scheduler}");
    }
}

#[test]
fn processes_and_category_limit_the_bandwidth() {
    let few = hsdpa(json!({ "processes": 3, "retransmission_delay": "12 ms" }));
    let mut bench = measuring(&few, &[playing(&[50.0], &[15])]);
    within(available(&mut bench, 6_000), 3_000.0 * BLOCK_BYTES, 0.01);
    let slow = Ue { category: 1, ..playing(&[50.0], &[15]) };
    let mut bench = measuring(&hsdpa(json!({})), &[slow]);
    within(available(&mut bench, 6_000), 2_000.0 * BLOCK_BYTES, 0.01);
}
