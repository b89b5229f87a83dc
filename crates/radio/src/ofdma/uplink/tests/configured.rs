use super::*;

fn configured(interval: u64, others: &Value) -> Value {
    let mut keys = json!({ "interval": format!("{interval} ms") });
    keys.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
    json!({ "grants": { "configured": keys } })
}

/// Of a configured grant for data in TTI 0: the next request is in TTI 10, and its block 8
/// TTIs later.
const BEGINS: u64 = 18;

// Tests the feature: configured grants (closed form)
/// No request, no answer.
#[test]
fn latency_of_a_small_packet_is_the_wait_for_its_block_and_one_tti() {
    for interval in [10, 20, 32, 40, 64, 80, 128, 160, 320, 640] {
        let uplink = configured(interval, &json!({}));
        let mut bench = Bench::new(&uplink, &json!({ "rlc": "um" }), &[at_snr(20.0)]);
        bench.accept(Time(300_000), 0, Packet::new(0, 52));
        bench.run_until(Time(30 * MS));
        assert_eq!(bench.out.pop(), Some((Time((BEGINS + 1) * MS), 0, 0, true)));
        for number in 1..40 {
            // The packets are at least one and less than eight periods apart, so that the grant never ends.
            let at = BEGINS * MS + number * (interval + 3) * MS + 300_000;
            bench.accept(Time(at), 0, Packet::new(number, 52));
            bench.run_until(Time(at + (interval + 2) * MS));
            let block = BEGINS + (at / MS + 1 - BEGINS).next_multiple_of(interval);
            assert_eq!(bench.out.pop(), Some((Time((block + 1) * MS), 0, number, true)), "{interval} ms");
        }
        assert_eq!(bench.column("requests"), [1.0]);
    }
}

/// The next packet has to be requested, and gets a new grant.
#[test]
fn a_grant_ends_after_blocks_without_data() {
    for release_after in [2, 3, 4, 8] {
        let uplink = configured(20, &json!({ "release_after": release_after }));
        let mut bench = Bench::new(&uplink, &json!({ "rlc": "um" }), &[at_snr(20.0)]);
        for (number, at) in [(0, 0), (1, 25), (2, 1_000)] {
            bench.accept(Time(at * MS + 1), 0, Packet::new(number, 52));
        }
        bench.run_until(Time(2_000 * MS));
        let arrivals: Vec<u64> = bench.out.iter().map(|out| out.0.0 / MS).collect();
        assert_eq!(arrivals, [19, 39, 1_019], "the third packet waits for its request in TTI 1010");
        // The first grant has the blocks of two packets, the second one that of the third.
        let expected =
            [("activations", 2), ("releases", 2), ("withdrawals", 0), ("empty_blocks", 2 * release_after)];
        for (column, value) in expected {
            assert_eq!(bench.configured(column), [f64::from(value)], "{column}, {release_after}");
        }
        assert_eq!(bench.configured("blocks"), [3.0 + 2.0 * f64::from(release_after)]);
        assert_eq!(bench.column("requests"), [2.0]);
        assert!(bench.uplink.next_wake().is_none(), "an idle uplink sleeps");
    }
}

#[test]
fn unmasked_requests_are_sent_beside_the_grant() {
    let uplink = configured(640, &json!({ "mask_requests": false }));
    let mut bench = Bench::new(&uplink, &json!({ "rlc": "um" }), &[at_snr(20.0)]);
    for (number, at) in [(0, 0), (1, 101), (2, 650)] {
        bench.accept(Time(at * MS + 1), 0, Packet::new(number, 52));
    }
    bench.run_until(Time(2_000 * MS));
    let arrivals: Vec<u64> = bench.out.iter().map(|out| out.0.0 / MS).collect();
    assert_eq!(arrivals, [19, 119, BEGINS + 640 + 1]);
}

#[test]
fn more_data_than_a_block_are_granted_by_its_report() {
    let uplink = configured(160, &json!({}));
    let mut bench = Bench::new(&uplink, &json!({ "rlc": "um" }), &[at_snr(20.0)]);
    bench.accept(Time(1), 0, Packet::new(0, 52));
    bench.accept(Time(100 * MS), 0, Packet::new(1, 1_500));
    bench.run_until(Time(400 * MS));
    // The block of TTI 178 has the report, and the grant for the rest is 4 TTIs later.
    let arrivals: Vec<u64> = bench.out.iter().map(|out| out.0.0 / MS).collect();
    assert_eq!(arrivals, [19, BEGINS + 160 + 8 + 1]);
    assert_eq!(bench.column("requests"), [1.0]);
}

// Tests the feature: configured grants (property)
// Tests the feature: configured grants and retransmissions (property)
/// Blocks of the grants are retransmitted 8 TTIs later; the MAC asserts that no two phones send on one
/// group.
#[test]
fn configured_blocks_are_retransmitted_and_leave_no_packet() {
    for (interval, max_transmissions) in [(10, 1), (10, 4), (20, 2), (32, 4), (40, 4)] {
        let mut uplink = configured(interval, &json!({ "release_after": 2 }));
        let keys =
            json!({ "max_transmissions": max_transmissions, "queue": { "drop_tail": { "limit": 10_000 } } });
        uplink.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        let others = json!({ "bandwidth": "3 MHz", "rlc": { "am": { "max_retransmissions": null } } });
        let mut bench = Bench::new(&uplink, &others, &[fading(6.0), fading(3.0), fading(9.0), fading(6.0)]);
        for number in 0..1_000u64 {
            bench.accept(Time(number * 9 * MS), number as usize % 4, Packet::new(number, 60));
        }
        bench.run_until(Time(100_000 * MS));
        for user in 0..4 {
            let expected: Vec<u64> = (0..1_000).filter(|number| *number as usize % 4 == user).collect();
            assert_eq!(bench.delivered(user), expected, "{interval} ms");
        }
        assert!(bench.uplink.next_wake().is_none());
        let took = bench.events.iter().filter_map(|(sent, event)| match event {
            Event::Granted { passage: UplinkPassage { is_reserved: true, from, .. }, .. } => {
                Some((sent.0 - from.0) / MS)
            }
            _ => None,
        });
        let took: Vec<u64> = took.collect();
        assert!(took.len() > 20 && took.iter().all(|ms| ms % 8 == 1), "{interval} ms: {took:?}");
        let repeated = took.iter().any(|ms| *ms > 1);
        assert_eq!(repeated, max_transmissions > 1, "{interval} ms");
        let withdrawn = bench.configured("withdrawals").iter().sum::<f64>();
        assert!(max_transmissions > 1 || withdrawn > 0.0, "{interval} ms");
    }
}

/// A phone with a long queue keeps at least 30 % of what it is granted alone.
#[test]
fn configured_grants_leave_half_of_the_band() {
    let mut uplink = configured(10, &json!({}));
    uplink["first_grant"] = json!("40 B");
    uplink["queue"] = json!({ "drop_tail": { "limit": 200_000 } });
    let granted = |others: u64| {
        let channels = vec![at_snr(10.0); 1 + others as usize];
        let mut bench = Bench::new(&uplink, &json!({ "rlc": "um", "bandwidth": "5 MHz" }), &channels);
        for number in 0..2_000 {
            bench.accept(Time(0), 0, Packet::new(number, 1_500));
        }
        for number in 0..others * 30 {
            bench.accept(
                Time(number * 20 * MS / others),
                1 + (number % others) as usize,
                Packet::new(number, 40),
            );
        }
        bench.run_until(Time(2_000 * MS));
        (
            bench.column("granted_bytes")[0],
            bench.configured("activations")[1..].iter().filter(|n| **n > 0.0).count(),
        )
    };
    let (alone, among) = (granted(0), granted(60));
    assert!(among.1 > 10 && among.0 > 0.3 * alone.0, "{alone:?}, {among:?}");
}

#[test]
fn events_name_the_grant() {
    let mut bench = Bench::new(&configured(20, &json!({})), &json!({ "rlc": "um" }), &[at_snr(20.0)]);
    for (number, at) in [(0, 0), (1, 25)] {
        bench.accept(Time(at * MS + 1), 0, Packet::new(number, 52));
    }
    bench.run_until(Time(50 * MS));
    let granted = bench.events.iter().filter_map(|(_, event)| match event {
        Event::Granted { passage: UplinkPassage { requested, from, is_reserved, .. }, .. } => {
            Some((requested.0 / MS, from.0 / MS, *is_reserved))
        }
        _ => None,
    });
    assert_eq!(granted.collect::<Vec<_>>(), [(10, 18, false), (38, 38, true)]);
}
