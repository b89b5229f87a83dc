use nodeb_base::units::Duration;
use serde_json::json;

use super::handover::{changing, going_east, is_in_time};
use super::timelines::ms;
use super::*;
use nodeb_air::BandwidthMeter as _;

/// A packet every 7 s for 30 s, to a user who changes its cell between two packets.
fn one_by_one_across_the_border(data: &str, records: bool) -> Bench {
    let params = changing(data, &json!({ "iub": { "delay": "0 ms" }, "t1": "100 s" }));
    let mut bench = Bench::new(&params, &[going_east(700.0)], 0);
    if records {
        bench.bearer.mac.record();
    }
    for second in (0..30).step_by(7) {
        let at = Time::ZERO + Duration::from_secs(second);
        bench.run(at);
        bench.push(at + Duration(1), 0, 1_000);
    }
    bench.run(Time::ZERO + Duration::from_secs(30));
    bench
}

#[test]
fn an_idle_handover_does_not_affect_later_packets() {
    for data in ["lost", "forwarded"] {
        let [mut plain, mut recording] =
            [false, true].map(|records| one_by_one_across_the_border(data, records));
        assert_eq!(plain.arrived.len(), 5, "{data}");
        assert_eq!(plain.arrived, recording.arrived, "{data}");
        let at = Time::ZERO + Duration::from_secs(30);
        let handovers = |bench: &mut Bench| bench.row(at).tally.handovers;
        assert_eq!((handovers(&mut plain), handovers(&mut recording)), (1, 1), "{data}");
        // The event has the time at which the user changed the cell, although the change was only
        // evaluated later.
        let events = plain.handovers();
        assert_eq!(events, recording.handovers(), "{data}");
        assert!(matches!(events[..], [(at, 0, 1)] if is_in_time(at, 700.0)), "{data}: {events:?}");
    }
}

#[test]
fn positions_are_current_even_if_never_evaluated() {
    let mut bench = Bench::new(&changing("lost", &json!({})), &[going_east(-700.0)], 0);
    let row = bench.row(Time::ZERO + Duration::from_secs(66));
    assert!((row.place_m[0] - 1_500.0).abs() < 0.1 && row.place_m[1].abs() < 1e-6, "{:?}", row.place_m);
    assert_eq!(row.tally.handovers, 1);
}

/// User 0 is out of range, and its packet expires at 9.5 ms; user 1 has a block in every TTI.
#[test]
fn timers_expire_between_ttis_of_other_users() {
    let params = hsdpa(json!({ "rlc": { "um": { "discard_timer": "9 ms" } }, "iub": null }));
    let mut bench = Bench::new(&params, &[playing(&[-50.0], &[0]), playing(&[50.0], &[5])], 0);
    (0..40).for_each(|_| bench.push(Time(1), 1, 40));
    bench.run(Time(500_000));
    bench.push(Time(500_000), 0, 40);
    bench.run(Time(9_499_999));
    let before = bench.counts().packets_dropped;
    bench.run(Time(9_500_001));
    assert_eq!(bench.counts().packets_dropped, before + 1);
}

#[test]
fn a_forwarded_block_is_counted_once() {
    let params = changing("forwarded", &json!({ "link_adaptation": { "cqi": { "delay": "200 ms" } } }));
    let mut found = 0;
    for run in 0..5 {
        let mut bench = Bench::new(&params, &[going_east(850.0)], run);
        bench.saturate(2_500, 40, 1_000);
        let row = bench.row(ms(5_000));
        assert_eq!(row.tally.blocks, bench.bearer.mac.node_bs.users[0].processes.begun(), "run {run}");
        found += row.tally.handovers;
    }
    assert!(found > 0);
}

/// `shannon` uses the exact SNR.
#[test]
fn cqi_is_nan_if_the_quality_is_in_decibels() {
    let params = hsdpa(json!({ "link_adaptation": "shannon" }));
    let user = ue(json!({ "channel": { "constant": { "snr_db": 7.0 } } }));
    let mut bench = Bench::new(&params, &[user], 0);
    bench.push(Time::ZERO, 0, 1_000);
    bench.run(ms(100));
    let row = bench.row(ms(100));
    let snr_db = 10.0 * libm::log10(row.tally.snr / row.tally.ttis as f64);
    assert!(row.tally.cqi.is_nan() && (snr_db - 7.0).abs() < 1e-5, "{row:?}");
    let quality = |(_, event)| matches!(event, Event::Tti { quality, .. } if quality > 0);
    assert!(!bench.around.take_events().into_iter().any(quality));
}

#[test]
fn a_day_asleep_equals_a_day_of_evaluations() {
    let params = changing("lost", &json!({ "cell": {}, "iub": { "delay": "0 ms" } }));
    let users = [going_east(100.0), going_east(-300.0)];
    let [mut sleeper, mut other] = [(); 2].map(|()| Bench::new(&params, &users, 0));
    let day = 24 * 3_600;
    for second in (0..day).step_by(300) {
        other.row(Time::ZERO + Duration::from_secs(second));
    }
    let end = Time::ZERO + Duration::from_secs(day);
    for bench in [&mut sleeper, &mut other] {
        bench.push(end, 0, 1_000);
        bench.run(end + Duration::from_secs(10));
        assert_eq!(bench.arrived.len(), 1);
    }
    assert_eq!(sleeper.arrived, other.arrived);
    let cells = [&sleeper, &other].map(|bench| {
        bench.bearer.mac.node_bs.users.iter().map(|user| user.mobility.serving).collect::<Vec<_>>()
    });
    assert_eq!(cells[0], cells[1]);
    let places = [sleeper, other].map(|mut bench| {
        let phones = bench.bearer.mac.phones(end + Duration::from_secs(10));
        phones.iter().map(|row| row.place_m).collect::<Vec<_>>()
    });
    assert_eq!(places[0], places[1]);
}

/// Of 1,000 s at once only the last 200 s are evaluated: within 5 % of the sum of parts of 100 s.
#[test]
fn a_long_idle_time_offers_the_sum_of_its_parts() {
    let user =
        || ue(json!({ "category": 10, "channel": { "cell": { "distance": "400 m", "speed": "3 km/h" } } }));
    let available = |every: u64| {
        let mut bench = Bench::new(&hsdpa(json!({})), &[user()], 0);
        bench.bearer.mac.measure(0);
        let ask = |second| bench.bearer.mac.available_bytes(Time::ZERO + Duration::from_secs(second), 0);
        (every..=1_000).step_by(every as usize).filter_map(ask).last().expect("it is measured")
    };
    let (whole, parts) = (available(1_000), available(100));
    assert!((whole / parts - 1.0).abs() < 0.05, "{whole} {parts}");
}

#[test]
fn a_window_that_limits_the_rate_causes_a_warning() {
    let doubts = |rlc: serde_json::Value| {
        let mut check = nodeb_base::check::Check::default();
        hsdpa(json!({ "rlc": rlc })).check_ue(&Ue::default(), Duration::from_secs(1), &mut check);
        check.into_doubts().into_iter().map(|doubt| doubt.message).collect::<Vec<_>>()
    };
    assert_eq!(doubts(json!("um")), Vec::<String>::new());
    assert_eq!(doubts(json!({ "am": { "tx_window": 2_047, "rx_window": 2_047 } })), Vec::<String>::new());
    let found = doubts(json!("am"));
    assert!(found.len() == 1 && found[0].contains("256 PDUs"), "{found:?}");
}

/// Two packets `seconds` apart, with changes of cells in between.
fn apart_by_a_pause(seconds: u64, records: bool) -> Bench {
    let params = changing("lost", &json!({ "iub": { "delay": "0 ms" } }));
    let mut bench = Bench::new(&params, &[going_east(700.0)], 0);
    if records {
        bench.bearer.mac.record();
    }
    for second in [0, seconds] {
        let at = Time::ZERO + Duration::from_secs(second);
        bench.run(at);
        bench.push(at + Duration(1), 0, 1_000);
    }
    bench.run(Time::ZERO + Duration::from_secs(seconds + 100));
    bench
}

#[test]
fn observers_do_not_change_a_long_pause() {
    let mut elsewhere = 0;
    for pause in [1_400, 1_500, 1_600] {
        let [mut plain, mut recording] = [false, true].map(|records| apart_by_a_pause(pause, records));
        assert_eq!(plain.arrived, recording.arrived);
        let end = Time::ZERO + Duration::from_secs(pause + 100);
        let counted = [&mut plain, &mut recording].map(|bench| bench.row(end).tally.handovers);
        let [events, recorded] = [plain, recording].map(|mut bench| bench.handovers());
        assert_eq!((events.len() as u64, &events, counted[0]), (counted[1], &recorded, counted[1]));
        let woken = Time::ZERO + Duration::from_secs(pause) + Duration(1);
        elsewhere += events.iter().filter(|(at, ..)| *at == woken).count();
        assert!(!events.is_empty());
    }
    assert!((1..3).contains(&elsewhere), "{elsewhere}");
}
