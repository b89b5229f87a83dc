use super::*;

fn with_reports(reports: &Value) -> Value {
    json!({ "headroom": reports, "queue": { "drop_tail": { "limit": 30_000 } } })
}

/// After `ms` milliseconds.
fn upload(uplink: &Value, channel: &Value, packets: u64, ms: u64) -> Bench {
    let others = json!({ "rlc": "um", "cell": { "radius": "2 km", "shadowing": { "sigma_db": 0.0 } } });
    let mut bench = Bench::new(uplink, &others, &[json!({ "cell": channel })]);
    for number in 0..packets {
        bench.accept(Time(0), 0, Packet::new(number, 1_500));
    }
    bench.run_until(Time(ms * MS));
    bench
}

fn at(metres: u32) -> Value {
    json!({ "distance": format!("{metres} m"), "speed": "3 km/h" })
}

// Tests the feature: power headroom reports (property)
/// By less than 30 %: reports are rounded by at most 1 dB.
#[test]
fn reports_of_a_resting_phone_give_what_its_power_allows() {
    for metres in [100, 600, 1_000, 1_900] {
        let known = json!({ "queue": { "drop_tail": { "limit": 30_000 } } });
        let known = upload(&known, &at(metres), 3_000, 300);
        let reported = upload(&with_reports(&json!({})), &at(metres), 3_000, 300);
        let rate = |mut bench: Bench| bench.column("bytes_delivered")[0];
        let (known, reported) = (rate(known), rate(reported));
        assert!(reported > 0.7 * known && reported < 1.03 * known, "{metres} m: {reported}, {known}");
    }
}

/// The report in the first block lets following blocks have more.
#[test]
fn the_first_block_has_four_resource_blocks() {
    let uplink = json!({ "headroom": {}, "first_grant": "3000 B" });
    let mut bench = upload(&uplink, &at(300), 50, 0);
    let mut sizes = Vec::new();
    for ms in 0..40 {
        bench.run_until(Time(ms * MS + 1));
        sizes.push(bench.column("granted_bytes")[0]);
    }
    sizes.dedup();
    assert!(sizes[1] < 400.0, "four resource blocks carry at most 373 octets: {sizes:?}");
    assert!(sizes.last().unwrap() > &2_000.0, "{sizes:?}");
    assert_eq!(bench.headroom("reports"), [1.0]);
}

/// Reports at least halve the share of transmissions that lack power.
#[test]
fn reports_follow_a_phone_that_drives_away() {
    let limited = |reports: Value| {
        let away =
            json!({ "position_m": [100, 0], "speed": "500 km/h", "movement": "straight", "heading_deg": 0 });
        let mut bench = upload(&with_reports(&reports), &away, 25_000, 5_000);
        bench.headroom("limited_transmissions")[0] / bench.column("transmissions")[0]
    };
    let never = limited(json!({ "periodic": null, "path_loss_change_db": null }));
    let often = limited(json!({ "periodic": null, "path_loss_change_db": 1, "prohibit": "0 s" }));
    assert!(often <= 0.5 * never && never > 0.02, "{often}, {never}");
}

#[test]
fn phones_without_a_position_report_the_highest_level() {
    let mut bench = Bench::new(&with_reports(&json!({})), &json!({ "rlc": "um" }), &[at_snr(20.0)]);
    for number in 0..2_000 {
        bench.accept(Time(0), 0, Packet::new(number, 1_500));
    }
    bench.run_until(Time(200 * MS));
    assert_eq!(bench.headroom("reports"), [1.0]);
    assert_eq!(bench.headroom("limited_transmissions"), [0.0]);
    assert!(bench.column("bytes_delivered")[0] > 1e6);
}
