use serde_json::json;

use super::*;
use nodeb_air::Backlog;
use nodeb_air::BandwidthMeter as _;
use nodeb_air::bearer::Bearer;

pub fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// A block of CQI 5 holds one PDU of 40 bytes and is sent once.
pub fn one_by_one(text: &serde_json::Value) -> Hsdpa {
    let mut all =
        json!({ "segmentation": false, "combining": "none", "max_transmissions": 1, "t1": "20 ms" });
    all.as_object_mut().unwrap().extend(text.as_object().unwrap().clone());
    hsdpa(all)
}

pub fn arrivals(bench: &Bench) -> Vec<(u64, u64)> {
    bench.arrived.iter().map(|(at, _, number)| (at.0 / 1_000_000, *number)).collect()
}

/// T1 starts at 6 ms, when block 2 arrives, and expires at 26 ms.
#[test]
fn t1_delivers_blocks_that_wait_for_a_lost_one() {
    let mut snrs = [50.0; 100];
    snrs[1] = -50.0;
    let mut bench = Bench::new(&one_by_one(&json!({})), &[playing(&snrs, &[5; 100])], 0);
    (0..4).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(150));
    assert_eq!(arrivals(&bench), [(2, 0), (26, 2), (26, 3)]);
    assert_eq!(bench.counts().packets_dropped, 1);
    assert_eq!((bench.bearer.backlog(0), bench.bearer.next_wake()), (Backlog::default(), None));
}

/// Block 1 arrives at 16 ms instead of 4 ms.
#[test]
fn a_second_transmission_fills_the_gap() {
    let mut snrs = [50.0; 100];
    snrs[1] = -50.0;
    let params = one_by_one(&json!({ "max_transmissions": 2 }));
    let mut bench = Bench::new(&params, &[playing(&snrs, &[5; 100])], 0);
    (0..4).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(150));
    assert_eq!(arrivals(&bench), [(2, 0), (16, 1), (16, 2), (16, 3)]);
}

/// Block 0 fails five times; a window of 3 allows blocks 1 and 2. T1 of 1 s does not expire.
#[test]
fn a_full_window_stalls_the_sender() {
    let mut snrs = [50.0; 200];
    for tti in [0, 6, 12, 18, 24] {
        snrs[tti] = -50.0;
    }
    let params = one_by_one(&json!({ "max_transmissions": 10, "reordering_window": 3, "t1": "1 s" }));
    let mut bench = Bench::new(&params, &[playing(&snrs, &[5; 200])], 0);
    (0..5).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(390));
    // Block 0 is decoded in TTI 30, at 62 ms. Its ACK is known in TTI 36, in which block 3 is sent.
    assert_eq!(arrivals(&bench), [(62, 0), (62, 1), (62, 2), (74, 3), (76, 4)]);
}

/// The answer is known after 8 TTIs, so six processes use six of eight.
#[test]
fn too_few_processes_leave_ttis_unused() {
    let params = one_by_one(&json!({ "retransmission_delay": "16 ms" }));
    let mut bench = Bench::new(&params, &[playing(&[50.0], &[5])], 0);
    (0..8).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(100));
    let times: Vec<u64> = arrivals(&bench).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [2, 4, 6, 8, 10, 12, 18, 20]);
}

/// Capacity for two PDUs, a round trip of 10 ms on the Iub, and credits every 10 ms.
#[test]
fn exhausted_credits_keep_packets_at_the_rnc() {
    let params = one_by_one(&json!({ "iub": { "delay": "5 ms", "period": "10 ms", "room": "80 B" } }));
    let mut bench = Bench::new(&params, &[playing(&[50.0], &[5])], 0);
    (0..4).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(200));
    // Two PDUs arrive at the Node B at 5 ms and are sent in TTIs 3 and 4. The Node B allocates
    // credits for two more PDUs at 10 ms. These PDUs arrive at 20 ms and are sent in TTIs 10 and
    // 11.
    assert_eq!(arrivals(&bench), [(8, 0), (10, 1), (22, 2), (24, 3)]);
    assert_eq!(bench.bearer.backlog(0), Backlog::default());
}

#[test]
fn a_slow_category_skips_ttis() {
    let user = Ue { category: 1, ..playing(&[50.0], &[5]) };
    let mut bench = Bench::new(&one_by_one(&json!({})), &[user], 0);
    (0..3).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(100));
    assert_eq!(arrivals(&bench), [(2, 0), (8, 1), (14, 2)]);
}

/// Five codes each of 15; with a third of the power CQI 30 becomes CQI 25, the same block in category 6.
#[test]
fn codes_are_shared_in_one_tti() {
    let users = vec![Ue { category: 6, ..playing(&[50.0], &[30]) }; 3];
    let params = hsdpa(json!({ "users_per_tti": 3 }));
    let mut bench = Bench::new(&params, &users, 0);
    bench.saturate(1_000, 50, 1_500);
    let expected = 893.0 * 1_500.0 / 1_576.0 * 1_000.0;
    for bytes in &bench.bytes {
        assert!((*bytes as f64 / expected - 1.0).abs() < 0.01, "{:?}", bench.bytes);
    }
    assert_eq!(bench.counts().ttis * 3, bench.counts().blocks);
    // Ten codes are enough for two of the three users, who are served in the TTI.
    let mut two = Bench::new(&hsdpa(json!({ "users_per_tti": 3, "codes": 10 })), &users, 0);
    two.saturate(300, 50, 1_500);
    assert_eq!(two.counts().ttis * 2, two.counts().blocks);
}

/// At this SNR blocks fail.
#[test]
fn power_is_shared_with_recorded_snrs_too() {
    let run = |channel: serde_json::Value| {
        let params = hsdpa(json!({ "users_per_tti": 2 }));
        let users = vec![ue(json!({ "category": 6, "channel": channel })); 2];
        let mut bench = Bench::new(&params, &users, 0);
        bench.saturate(1_000, 50, 1_500);
        (bench.bytes.clone(), bench.counts().blocks, bench.counts().blocks_failed)
    };
    let constant = run(json!({ "constant": { "snr_db": 7.54 } }));
    let recorded = run(json!({ "trace": { "snrs_db": [7.54], "at_end": "loop" } }));
    assert_eq!(recorded, constant);
    assert!(constant.2 > 20, "{} of {} blocks fail", constant.2, constant.1);
}

/// The phone near the Node B takes all codes, and so all the power.
#[test]
fn power_is_shared_among_users_who_get_codes() {
    let constant = |db: f64| ue(json!({ "category": 10, "channel": { "constant": { "snr_db": db } } }));
    let users = [constant(20.0), constant(0.0)];
    let bytes = |most: u32| {
        let params = hsdpa(json!({ "users_per_tti": most, "scheduler": "max_ci" }));
        let mut bench = Bench::new(&params, &users, 0);
        bench.bearer.mac.measure(0);
        bench.saturate(500, 50, 1_500);
        (bench.bytes.clone(), bench.bearer.mac.available_bytes(Time(500 * TTI.0), 0))
    };
    assert_eq!(bytes(2), bytes(1));
}

#[test]
fn deadlines_count_from_arrival() {
    let users = [(0, 300), (1, 50)].map(|(id, budget_ms)| {
        let delay_budget = Some(Duration::from_millis(budget_ms));
        let bearers = vec![Bearer { delay_budget, ..Bearer::default() }];
        UserRadio { id, ue: playing(&[50.0], &[5]), bearers, ..UserRadio::default() }
    });
    let params = one_by_one(&json!({ "scheduler": "earliest_deadline" }));
    let mut bench = Bench::of(&params, &users, 0);
    bench.push(Time(1), 0, 80);
    bench.push(Time(2), 1, 80);
    bench.run(ms(100));
    let order: Vec<usize> = bench.arrived.iter().map(|(_, user, _)| *user).collect();
    assert_eq!(order, [1, 0]);
}

#[test]
fn users_out_of_range_are_not_served() {
    let params = one_by_one(&json!({}));
    let mut cqis = [5; 50];
    cqis[10..].fill(0);
    let mut bench = Bench::new(&params, &[playing(&[50.0; 50], &cqis)], 0);
    (0..60).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(100));
    // The Node B uses a report three TTIs after the measurement, so CQI 0 of TTI 10 has an effect
    // from TTI 13.
    assert_eq!(bench.counts().ttis, 13);
}
