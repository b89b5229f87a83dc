//! Users go east to the next site, 1732 m away; times and positions are computed by hand.

use nodeb_base::units::Duration;
use serde_json::{Value, json};

use super::super::node_b::user::User;
use super::*;

const STEP: Duration = Duration::from_millis(20);
/// 120 km/h in m/s.
const SPEED: f64 = 120.0 / 3.6;

pub fn changing(data: &str, more: &Value) -> Hsdpa {
    let mut all = json!({
        "handover": { "data": data },
        "cell": { "shadowing": { "sigma_db": 0.0 } },
        "iub": { "room": "40 kB" }, "t1": "10 s",
    });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    hsdpa(all)
}

pub fn going_east(metres: f64) -> Ue {
    let place = json!({
        "position_m": [metres, 0.0], "heading_deg": 0.0,
        "movement": "straight", "speed": "120 km/h", "profile": "flat",
    });
    ue(json!({ "category": 10, "channel": { "cell": place } }))
}

/// A hysteresis of 3 dB at 37.6 dB per decade.
fn place_of_the_event() -> f64 {
    let ratio = 10f64.powf(3.0 / 37.6);
    1_000.0 * 3f64.sqrt() * ratio / (1.0 + ratio)
}

/// The first comparison after the time to trigger of 320 ms, 16 comparisons.
pub fn is_in_time(at: Time, metres: f64) -> bool {
    (0.0..=0.02).contains(&(at.as_secs() - ((place_of_the_event() - metres) / SPEED + 0.32)))
}

/// Times of the user's changes of cell; no packet may disappear.
fn go(bench: &mut Bench, packets: usize, end: Time) -> Vec<Time> {
    let mut at = Time::ZERO;
    while at < end || bench.bearer.backlog(0).packets > 0 {
        if at < end {
            bench.fill(at, 0, packets, 1_000);
        }
        bench.run(at + STEP);
        let counts = bench.counts();
        let open = bench.bearer.backlog(0).packets as u64;
        assert_eq!(counts.packets_in, counts.packets_delivered + counts.packets_dropped + open);
        assert_eq!((counts.packets_in, counts.packets_delivered), (bench.sent, bench.arrived.len() as u64));
        at += STEP;
        assert!(at < end + Duration::from_secs(60), "packets remain");
    }
    bench.changes.iter().map(|(at, _)| *at).collect()
}

#[test]
fn the_cell_changes_once_at_the_right_time() {
    let mut bench = Bench::new(&changing("lost", &json!({})), &[going_east(299.7)], 0);
    let changes = go(&mut bench, 5, Time::ZERO + Duration::from_secs(40));
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(is_in_time(changes[0], 299.7), "{changes:?}");
    assert_eq!(bench.bearer.mac.phones(changes[0])[0].tally.handovers, 1);
    // No block is sent during the interruption of 100 ms after the change. Blocks are sent in the
    // second before the change and in the second after the interruption.
    let ttis = bench.ttis();
    let sent = |from: Time, to: Time| ttis.iter().filter(|(at, _)| (from..to).contains(at)).count();
    let (second, change) = (Duration::from_secs(1), changes[0]);
    let resumes = change + Duration::from_millis(100);
    let (before, after) = (sent(Time(change.0 - second.0), change), sent(resumes, resumes + second));
    assert!(before > 50 && after > 50, "{before} {after}");
    assert_eq!(sent(change, resumes), 0);
}

#[test]
fn without_handover_the_cell_in_the_middle_serves() {
    let params = hsdpa(json!({ "cell": { "shadowing": { "sigma_db": 0.0 } } }));
    let mut bench = Bench::new(&params, &[going_east(300.0)], 0);
    assert_eq!(go(&mut bench, 5, Time::ZERO + Duration::from_secs(30)), []);
    assert!(bench.bearer.mac.phones(Time::ZERO)[0].place_m[0] < 1_000.0);
}

fn numbers(bench: &Bench) -> Vec<u64> {
    bench.arrived.iter().map(|(.., number)| *number).collect()
}

/// 8 s from 800 m, with 80 packets of 1000 bytes: the border is crossed once.
fn pass_the_border(params: &Hsdpa, run: u64) -> Bench {
    let mut bench = Bench::new(params, &[going_east(800.0)], run);
    assert_eq!(go(&mut bench, 80, Time::ZERO + Duration::from_secs(8)).len(), 1);
    bench
}

#[test]
fn forwarded_data_arrives_once_and_in_order() {
    for run in 0..5 {
        let bench = pass_the_border(&changing("forwarded", &json!({})), run);
        assert_eq!(bench.counts().packets_dropped, 0);
        assert_eq!(numbers(&bench), (0..bench.sent).collect::<Vec<_>>());
    }
}

/// T1 (TS 25.321, 11.6.2) does not run during the interruption; its 13 TTIs start with TTI 50, the first with
/// service.
#[test]
fn t1_restarts_when_forwarded_blocks_can_arrive() {
    let params = changing("forwarded", &json!({ "t1": "26 ms" }));
    let radio = UserRadio { ue: going_east(800.0), ..UserRadio::default() };
    let mut user = User::new(&params, &radio, Streams::new(3, 0), &mut Vec::new());
    assert!(user.reordering.receive(2, 1, 1..2, |_| panic!("block 0 is missing")));
    assert_eq!(user.reordering.timer(), Some(15));
    user.mobility.resumes = 50;
    user.continue_blocks();
    assert_eq!(user.reordering.timer(), Some(63));
}

#[test]
fn data_of_the_old_node_b_is_lost_in_unacknowledged_mode() {
    for run in 0..5 {
        let bench = pass_the_border(&changing("lost", &json!({})), run);
        let dropped = bench.counts().packets_dropped;
        // The change loses at most the 40 kB in the Node B's queue and the blocks on the air, which
        // is less than the 80 packets in the buffer.
        assert!((1..80).contains(&dropped), "{dropped}");
        assert!(numbers(&bench).is_sorted());
    }
}

#[test]
fn acknowledged_mode_retransmits_data_of_the_old_node_b() {
    for run in 0..5 {
        let bench = pass_the_border(&changing("lost", &json!({ "rlc": "am" })), run);
        assert_eq!(bench.counts().packets_dropped, 0);
        assert_eq!(numbers(&bench), (0..bench.sent).collect::<Vec<_>>());
    }
}

#[test]
fn cells_have_independent_ttis() {
    let params = changing("lost", &json!({ "iub": null }));
    let near =
        |metres: f64| ue(json!({ "category": 10, "channel": { "cell": { "position_m": [metres, 0.0] } } }));
    let mut both = Bench::new(&params, &[near(50.0), near(1_682.0)], 0);
    both.saturate(1_000, 50, 1_000);
    let mut alone = Bench::new(&params, &[near(50.0)], 0);
    alone.saturate(1_000, 50, 1_000);
    assert_eq!(both.bytes[0], alone.bytes[0]);
    assert!(both.bytes[1] > alone.bytes[0] / 2 && alone.bytes[0] > 0);
    let ttis = both.ttis();
    let served = |user| ttis.iter().filter(|(_, whose)| *whose == user).count();
    assert!(served(0) + served(1) > 1_500, "{} {}", served(0), served(1));
}
