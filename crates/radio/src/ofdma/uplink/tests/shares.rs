use nodeb_air::error::effective::modulation::Modulation;

use super::*;
use crate::lte::adaptation::Allocation;
use crate::lte::mcs::McsTable;
use crate::lte::resources::uplink;

/// With the largest run between two resource blocks of PUCCH.
const BANDWIDTHS: [(&str, u16); 6] =
    [("1.4 MHz", 4), ("3 MHz", 12), ("5 MHz", 20), ("10 MHz", 48), ("15 MHz", 72), ("20 MHz", 96)];

/// `packets` of 1,500 octets each.
fn saturated(uplink: &Value, bandwidth: &str, channels: &[Value], packets: u64) -> Bench {
    let mut uplink = uplink.clone();
    uplink["queue"] = json!({ "drop_tail": { "limit": 1_000_000 } });
    let mut bench = Bench::new(&uplink, &json!({ "rlc": "um", "bandwidth": bandwidth }), channels);
    for user in 0..channels.len() {
        for number in 0..packets {
            bench.accept(Time(0), user, Packet::new(number, 1_500));
        }
    }
    bench
}

/// Jain's index: 1 if all values are equal, `1 / n` if all but one are 0.
fn jain(values: &[f64]) -> f64 {
    let [sum, squares] = [1, 2].map(|power| values.iter().map(|value| value.powi(power)).sum::<f64>());
    sum * sum / (values.len() as f64 * squares)
}

/// With 64QAM.
fn largest_block(blocks: u16) -> u64 {
    let allocation = Allocation { blocks, layers: 1, elements: uplink(blocks, false) };
    let mcs = allocation.largest_mcs(McsTable::Up, Modulation::Qam64).unwrap();
    u64::from(allocation.bits(McsTable::Up, mcs).unwrap()) / 8
}

// Tests the feature: grants (closed form)
/// The largest run between the resource blocks of PUCCH that SC-FDMA can use.
#[test]
fn a_phone_alone_gets_the_blocks_of_the_standard() {
    for (name, blocks) in BANDWIDTHS {
        let mut bench = saturated(&json!({}), name, &[at_snr(60.0)], 600);
        bench.run_until(Time(50 * MS));
        let before = bench.column("granted_bytes")[0];
        bench.run_until(Time(90 * MS));
        let octets = bench.column("granted_bytes")[0] - before;
        assert_eq!(octets as u64, 40 * largest_block(blocks), "{name}");
    }
}

#[test]
fn control_takes_the_resource_blocks_asked_for() {
    for (bandwidth, control, data) in [
        ("5 MHz", 8, 16),
        ("3 MHz", 4, 10),
        ("10 MHz", 5, 45),
        ("20 MHz", 1, 96),
        ("20 MHz", 10, 90),
        ("1.4 MHz", 5, 1),
    ] {
        let uplink = json!({ "control_blocks": control });
        let mut bench = saturated(&uplink, bandwidth, &[at_snr(60.0)], 600);
        bench.run_until(Time(50 * MS));
        let before = bench.column("granted_bytes")[0];
        bench.run_until(Time(90 * MS));
        let octets = bench.column("granted_bytes")[0] - before;
        assert_eq!(octets as u64, 40 * largest_block(data), "{bandwidth}, {control}");
    }
}

// Tests the feature: grants (property)
#[test]
fn equal_phones_have_equal_shares() {
    let mut unfair = Vec::new();
    for (bandwidth, users_per_tti) in
        [("20 MHz", 20), ("20 MHz", 8), ("5 MHz", 8), ("1.4 MHz", 8), ("10 MHz", 5)]
    {
        for phones in 2..=60 {
            let uplink = json!({ "users_per_tti": users_per_tti });
            let mut bench = saturated(&uplink, bandwidth, &vec![at_snr(20.0); phones], 5_000 / phones as u64);
            bench.run_until(Time(100 * MS));
            let before = bench.column("granted_bytes");
            bench.run_until(Time(600 * MS));
            let octets: Vec<f64> = bench
                .column("granted_bytes")
                .iter()
                .zip(before)
                .map(|(after, before)| after - before)
                .collect();
            let index = jain(&octets);
            if index < 0.99 {
                unfair.push(format!("{bandwidth}, {phones} phones, {users_per_tti} per TTI: {index:.4}"));
            }
        }
    }
    assert!(unfair.is_empty(), "{}", unfair.join("\n"));
}

// Tests the feature: grants ahead of data (property)
/// Although they are granted blocks ahead of data.
#[test]
fn phones_without_data_cost_nothing() {
    for scheduler in SchedulerSpec::NAMES {
        for (busy, interval) in [(1, "1 ms"), (3, "2 ms"), (11, "1 ms")] {
            let delivered = |idle: usize| {
                let uplink = json!({ "scheduler": scheduler, "users_per_tti": 20,
                                     "grants": { "ahead": { "interval": interval } } });
                let mut bench = saturated(&uplink, "20 MHz", &vec![at_snr(12.0); busy + idle], 0);
                for number in 0..1_200 {
                    bench.accept(Time(0), number as usize % busy, Packet::new(number, 1_500));
                }
                bench.run_until(Time(300 * MS));
                bench.out
            };
            assert!(delivered(7) == delivered(0), "{scheduler}, {busy} phones with data");
        }
    }
}
