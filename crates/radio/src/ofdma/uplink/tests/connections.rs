use super::*;
use crate::lte::rrc::Rrc;

// Tests the feature: set-up of connections (property)
/// Random access and set-up, then a request and 9 TTIs as on a connected phone.
#[test]
fn latency_of_a_packet_is_that_of_promotion_request_and_block() {
    for (prach_config, core_ms) in [(3, 23), (6, 0), (15, 100)] {
        let rrc = json!({ "inactivity": "1 s", "prach_config": prach_config, "core_delay": format!("{core_ms} ms") });
        let access = serde_json::from_value::<Rrc>(rrc.clone()).unwrap().rules().access;
        let mut bench = Bench::new(&json!({}), &json!({ "rlc": "um", "rrc": rrc }), &[at_snr(20.0)]);
        for number in 0..20 {
            let at = number * 2_511 * MS + 300_000;
            bench.accept(Time(at), 0, Packet::new(number, 52));
            bench.run_until(Time(at + 2_000 * MS));
            let connected = access.connected(at / MS + 1);
            let request = connected.next_multiple_of(10);
            assert_eq!(bench.out.pop(), Some((Time((request + 9) * MS), 0, number, true)));
            let given = bench.events.iter().rev().find_map(|(_, event)| match event {
                Event::Granted { passage, .. } => Some(passage.connected.0 / MS),
                _ => None,
            });
            assert_eq!(given, Some(connected));
        }
        assert_eq!(bench.column("requests"), [20.0]);
    }
}

#[test]
fn connected_phones_send_at_once() {
    let others = json!({ "rlc": "um", "rrc": { "inactivity": "1 s" } });
    let mut bench = Bench::new(&json!({}), &others, &[at_snr(20.0)]);
    for number in 0..20 {
        bench.accept(Time(number * 711 * MS + 300_000), 0, Packet::new(number, 52));
    }
    bench.run_until(Time(20_000 * MS));
    let late = bench.out.iter().filter(|out| out.0.0 > out.2 * 711 * MS + 20 * MS);
    assert_eq!(late.map(|out| out.2).collect::<Vec<_>>(), [0]);
}

/// With grants ahead of data and configured grants too.
#[test]
fn idle_phones_lose_nothing() {
    for grants in
        [json!("on_request"), json!({ "ahead": {} }), json!({ "configured": { "interval": "160 ms" } })]
    {
        let others = json!({ "rrc": { "inactivity": "50 ms" }, "bandwidth": "3 MHz" });
        let mut bench = Bench::new(&json!({ "grants": grants }), &others, &[fading(8.0), fading(12.0)]);
        for number in 0..400u64 {
            bench.accept(Time(number * 97 * MS), number as usize % 2, Packet::new(number, 400));
        }
        bench.run_until(Time(60_000 * MS));
        for user in 0..2 {
            let expected: Vec<u64> = (0..400).filter(|number| *number as usize % 2 == user).collect();
            assert_eq!(bench.delivered(user), expected, "{grants}");
        }
    }
}
