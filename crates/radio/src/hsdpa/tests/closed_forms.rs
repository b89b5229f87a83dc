use serde_json::json;

use super::*;
use nodeb_air::mac::harq::CombiningSpec;
use nodeb_air::mac::harq::link_curve::{self, SPREADING_FACTOR};

/// After `n` combined transmissions at `snr_db` each.
fn bler_after(cqi: u8, codes: f64, snr_db: f64, combining: &CombiningSpec, n: u32) -> f64 {
    let gain = SPREADING_FACTOR / codes;
    let symbol = 10f64.powf(snr_db / 10.0) * gain;
    let combined = (1..=n).fold(0.0, |sum, n| combining.add(sum, symbol, n)) / gain;
    link_curve::bler(f64::from(cqi), 10.0 * combined.log10())
}

/// Octets of packets in a block times 1 - BLER.
#[test]
fn goodput_at_a_fixed_snr_is_the_closed_form() {
    for (cqi, bits, margin_db) in [(8, 792, 0.0), (16, 3_565, -0.2), (22, 7_168, 0.3)] {
        let snr_db = link_curve::snr_db(f64::from(cqi), 0.1) + margin_db;
        let params = hsdpa(json!({ "max_transmissions": null, "combining": "none", "t1": "10 s" }));
        let params = Hsdpa { max_transmissions: None, ..params };
        let mut bench = Bench::new(&params, &[playing(&[snr_db], &[cqi])], 0);
        let ttis = 20_000;
        bench.saturate(ttis, 100, 1_500);
        let bler = link_curve::bler(f64::from(cqi), snr_db);
        let octets = f64::from((bits - 24) / 8);
        // A packet of 1500 octets takes 38 PDUs, each with a header of two octets, together 1576
        // octets.
        let expected = octets * (1.0 - bler) * 1_500.0 / 1_576.0;
        let found = bench.bytes[0] as f64 / ttis as f64;
        // The number of decoded blocks is binomial, which gives the standard deviation. Up to 100
        // packets are still in flight at the end.
        let sigma = (bler * (1.0 - bler) / ttis as f64).sqrt() / (1.0 - bler);
        let under_way = 100.0 * 1_500.0 / (expected * ttis as f64);
        assert!((found / expected - 1.0).abs() < 4.0 * sigma + under_way, "CQI {cqi}: {found} {expected}");
        let counts = bench.counts();
        let failed = counts.blocks_failed as f64 / counts.blocks as f64;
        assert!((failed - bler).abs() < 4.0 * sigma, "CQI {cqi}: BLER {failed}, {bler}");
    }
}

/// One plus the sum over n of the probability of failure after n transmissions.
#[test]
fn mean_transmissions_match_theory() {
    let (cqi, codes) = (16, 5.0);
    for combining in ["none", "chase", "incremental_redundancy"] {
        for decoding in ["independent", "one_number"] {
            if (combining, decoding) == ("none", "one_number") {
                // Skipped, as every retransmission at a fixed SNR would fail like the first one:
                // the random number and the BLER stay the same.
                continue;
            }
            // The SNR is 0.35 dB below the SNR at which the format has a BLER of 10 %, as if the UE
            // had reported a CQI that was too high.
            let snr_db = link_curve::snr_db(f64::from(cqi), 0.1) - 0.35;
            let params = hsdpa(json!({ "combining": combining, "decoding": decoding, "t1": "10 s" }));
            let params = Hsdpa { max_transmissions: None, ..params };
            let chance = |n| bler_after(cqi, codes, snr_db, &params.combining, n);
            let mut expected = 1.0;
            let mut still_failed = 1.0;
            for n in 1..60 {
                still_failed = if decoding == "one_number" { chance(n) } else { still_failed * chance(n) };
                expected += still_failed;
            }
            let mut bench = Bench::new(&params, &[playing(&[snr_db], &[cqi])], 0);
            bench.saturate(15_000, 100, 1_500);
            let counts = bench.counts();
            let found = counts.blocks as f64 / (counts.blocks - counts.blocks_failed) as f64;
            // The variance is largest if all transmissions succeed with the same probability, so
            // the tolerance is computed for this case.
            let success = 1.0 / expected;
            let tolerance = 4.0 * expected * ((1.0 - success) / (success * counts.blocks as f64)).sqrt();
            assert!(
                (found - expected).abs() < tolerance && tolerance < 0.1 * expected,
                "{combining}, {decoding}: {found} +- {tolerance}, {expected}"
            );
        }
    }
}

/// At a BLER of 0.4, both transmissions fail for 16 % of the blocks.
#[test]
fn losses_by_the_transmission_limit_match_theory() {
    let snr_db = link_curve::snr_db(5.0, 0.4);
    let params = hsdpa(json!({
        "combining": "none", "max_transmissions": 2, "segmentation": false, "t1": "20 ms",
    }));
    // A block of CQI 5 carries one PDU, and a packet is one PDU.
    let mut bench = Bench::new(&params, &[playing(&[snr_db], &[5])], 0);
    bench.saturate(20_000, 50, 40);
    let counts = bench.counts();
    let settled = (counts.packets_delivered + counts.packets_dropped) as f64;
    let lost = counts.packets_dropped as f64 / settled;
    assert!((lost - 0.16).abs() < 4.0 * (0.16 * 0.84 / settled).sqrt(), "{lost}");
}

/// An ACK received as a NACK costs one more transmission; a NACK received as an ACK costs the block: a share
/// `p e / (1 - p (1 - e))`.
#[test]
fn answer_errors_cost_what_theory_says() {
    let (p, e) = (0.3, 0.2);
    let snr_db = link_curve::snr_db(5.0, p);
    let base = json!({ "combining": "none", "segmentation": false, "t1": "40 ms" });
    let run = |key: &str| {
        let mut text = base.clone();
        text[key] = json!(e);
        let params = Hsdpa { max_transmissions: None, ..hsdpa(text) };
        let mut bench = Bench::new(&params, &[playing(&[snr_db], &[5])], 0);
        bench.saturate(20_000, 50, 40);
        let ordered = bench.arrived.windows(2).all(|pair| pair[0].2 < pair[1].2);
        assert!(ordered, "{key}: out of order");
        bench.counts()
    };
    let acks = run("ack_error");
    // A block is sent until it has been decoded and one of its ACKs is received as an ACK, which
    // gives the expected number of transmissions. Very few blocks are given up because T1 expires.
    let per_block = acks.blocks as f64 / (acks.blocks_failed as f64 / p * (1.0 - p));
    assert!((per_block - (1.0 / (1.0 - p) + e / (1.0 - e))).abs() < 0.06, "{per_block}");
    let nacks = run("nack_error");
    let settled = (nacks.packets_delivered + nacks.packets_dropped) as f64;
    let expected = p * e / (1.0 - p * (1.0 - e));
    let lost = nacks.packets_dropped as f64 / settled;
    // T1 of 40 ms may expire for blocks that fail more than three times, so less than the share of
    // blocks that fail three times or more is lost in addition.
    let late = (p * (1.0 - e)).powi(3);
    let sigma = (expected / settled).sqrt();
    assert!(lost > expected - 4.0 * sigma && lost < expected + late + 4.0 * sigma, "{lost} {expected}");
}

/// The steps at ACKs and NACKs balance at the target, within 0.004.
#[test]
fn the_outer_loop_meets_its_target() {
    for (target, speed) in [(0.1, "3 km/h"), (0.1, "50 km/h"), (0.3, "120 km/h")] {
        let params = hsdpa(json!({
            "max_transmissions": 1,
            "link_adaptation": { "cqi": { "outer_loop": { "target_bler": target } } },
        }));
        let user = ue(json!({ "category": 10, "channel": { "fading": {
            "mean_snr_db": 5.0, "speed": speed, "profile": "vehicular_a" } } }));
        let mut bench = Bench::new(&params, &[user], 0);
        bench.saturate(20_000, 100, 1_500);
        let counts = bench.counts();
        let failed = counts.blocks_failed as f64 / counts.blocks as f64;
        assert!((failed - target).abs() < 0.004, "{target} at {speed}: {failed}");
    }
}

/// Just above a CQI's threshold the BLER is a little below 10 %.
#[test]
fn ideal_reports_fail_with_10_percent() {
    let params = hsdpa(json!({ "max_transmissions": 1, "link_adaptation": { "cqi": { "delay": "0 s" } } }));
    for cqi in [6, 12, 19] {
        let snr_db = link_curve::snr_db(f64::from(cqi), 0.1) + 0.04;
        let constant = ue(json!({ "category": 10, "channel": { "constant": { "snr_db": snr_db } } }));
        let mut bench = Bench::new(&params, &[constant], u64::from(cqi as u8));
        bench.saturate(20_000, 100, 1_500);
        let counts = bench.counts();
        let expected = link_curve::bler(f64::from(cqi), snr_db);
        let failed = counts.blocks_failed as f64 / counts.blocks as f64;
        assert!(expected > 0.06 && (failed - expected).abs() < 0.009, "CQI {cqi}: {failed} {expected}");
    }
}

/// At 0 dB a block of CQI 7 fails with 5 %, one of CQI 8 with 50 %; CQI 7 has 650 bits.
#[test]
fn measured_curves_determine_cqi_and_bler() {
    let points =
        (1..=30).flat_map(|cqi| [(cqi, f64::from(cqi) - 8.0, 0.5), (cqi, f64::from(cqi) - 7.0, 0.05)]);
    let points: Vec<(u8, f64, f64)> = points.collect();
    let params = hsdpa(json!({ "max_transmissions": 1, "link_curve": {
        "cqi": points.iter().map(|point| point.0).collect::<Vec<_>>(),
        "snr_db": points.iter().map(|point| point.1).collect::<Vec<_>>(),
        "bler": points.iter().map(|point| point.2).collect::<Vec<_>>(),
    } }));
    let user = ue(json!({ "category": 10, "channel": { "constant": { "snr_db": 0.0 } } }));
    let mut bench = Bench::new(&params, &[user], 0);
    bench.saturate(20_000, 100, 1_500);
    let counts = bench.counts();
    assert_eq!(counts.pdus, counts.blocks * ((650 - 24) / 8));
    let failed = counts.blocks_failed as f64 / counts.blocks as f64;
    assert!((failed - 0.05).abs() < 4.0 * (0.05 * 0.95 / 20_000f64).sqrt(), "{failed}");
}

/// From 1 to 3 Mbit/s: blocks of 2000, then 6000 bits, of which 24 are the header; a packet takes 1500 octets
/// and 38 headers.
#[test]
fn a_step_in_recorded_rates_delivers_the_recorded_bytes() {
    let rates: Vec<_> = (0..2_000).map(|tti| if tti < 1_000 { "1 Mbps" } else { "3 Mbps" }).collect();
    let user = ue(json!({ "channel": { "trace": { "rates": rates, "at_end": "stop" } } }));
    let mut bench = Bench::new(&hsdpa(json!({})), &[user], 0);
    let delivered = |octets: u64| octets / 1_576 * 1_500;
    bench.saturate(1_000, 20, 1_500);
    assert_eq!(bench.bytes[0], delivered(999 * 247));
    let mut last = 0;
    for tti in 1_000..2_100 {
        bench.fill(Time(tti * TTI.0), 0, 20, 1_500);
        bench.run(Time((tti + 1) * TTI.0));
        last = bench.counts().blocks;
    }
    assert_eq!((bench.bytes[0], last), (delivered(1_000 * (247 + 747)), 2_000));
    assert_eq!(bench.counts().blocks_failed, 0);
}

/// Blocks chosen in good TTIs fail in bad ones; after the end the other user has all TTIs.
#[test]
fn no_block_follows_the_end_of_a_recording() {
    let snrs_db: Vec<f64> = (0..200).map(|tti| if tti % 5 == 0 { -6.0 } else { 6.0 }).collect();
    let recorded =
        || ue(json!({ "category": 10, "channel": { "trace": { "snrs_db": snrs_db, "at_end": "stop" } } }));
    let constant = ue(json!({ "category": 10, "channel": { "constant": { "snr_db": 6.0 } } }));
    for (users_per_tti, scheduler) in
        [(1, "round_robin"), (1, "max_ci"), (1, "proportional_fair"), (2, "round_robin")]
    {
        let params = hsdpa(json!({ "users_per_tti": users_per_tti, "scheduler": scheduler }));
        let mut bench = Bench::new(&params, &[recorded(), constant.clone()], 0);
        bench.saturate(600, 100, 1_500);
        let sent = bench.ttis();
        let last =
            |user: usize| sent.iter().filter(|(_, other)| *other == user).map(|(at, _)| at.0 / TTI.0).max();
        assert!(last(0).is_some_and(|tti| (190..200).contains(&tti)), "{scheduler}: {:?}", last(0));
        assert_eq!(last(1), Some(599));
        let row = bench.row(Time(600 * TTI.0));
        assert!(10.0 * (row.tally.snr / row.tally.ttis as f64).log10() > -6.0, "{row:?}");
    }
    let mut alone = Bench::new(&hsdpa(json!({})), &[recorded()], 0);
    alone.fill(Time(0), 0, 900, 1_500);
    alone.run(Time(4_000 * TTI.0));
    assert!(alone.counts().blocks_failed > 20);
    assert!(alone.ttis().iter().all(|(at, _)| at.0 < 200 * TTI.0));
    assert!(alone.bearer.next_wake().is_none(), "nothing is due without a channel");
}
