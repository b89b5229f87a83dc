//! Without TCP.

use nodeb_air::UserRadio;
use nodeb_base::units::Time;
use nodeb_radio::RadioSpec;
use nodeb_sim::{Control, run, scenario};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::access::{Arrival, Outcome, drive};

const MS: u64 = 1_000_000;

fn one_user(radio: &Value, packets: usize, size: u32, seed: u64) -> Outcome {
    let radio: RadioSpec = RadioSpec::deserialize(radio).unwrap();
    let users = [UserRadio::default()];
    let arrivals = vec![Arrival { at: Time::ZERO, user: 0, size }; packets];
    let outcome = drive(&radio, &users, seed, &arrivals);
    assert_eq!(outcome.delivered.len(), packets);
    outcome
}

fn times_ms(outcome: &Outcome) -> Vec<u64> {
    outcome.delivered.iter().map(|(at, ..)| at.0 / MS).collect()
}

/// 384 kbit/s: one block of 12 PDUs of 40 bytes per TTI of 10 ms.
fn dch(rlc: &Value) -> Value {
    json!({ "dch": {
        "channels": 1, "pdus_per_tti": 12, "pdu_size": "40 B", "bler": 0.0, "buffer": 100_000, "rlc": rlc,
    } })
}

/// 24 PDUs take 2 TTIs; the report arrives 89 ms later, and the next TTI begins at 110 ms, in which the
/// channel could carry 132 PDUs.
#[test]
fn too_small_window_stalls() {
    let am = json!({ "am": {
        "tx_window": 24, "rx_window": 24,
        "poll": { "every_pdus": null, "window_share": null, "last_retransmission": false },
        "status": { "on_missing": false, "prohibit": null, "delay": "89 ms" },
    } });
    // A packet fills exactly 24 PDUs with 38 bytes of payload each.
    let outcome = one_user(&dch(&am), 10, 24 * 38, 1);
    assert_eq!(times_ms(&outcome), (0..10).map(|window| 20 + 110 * window).collect::<Vec<_>>());
    assert_eq!((outcome.counts.pdus, outcome.counts.ttis), (240, 20));
}

/// 12 PDUs in every TTI.
#[test]
fn large_enough_window_fills_the_channel() {
    let outcome = one_user(&dch(&json!("am")), 40, 24 * 38, 1);
    assert_eq!(times_ms(&outcome), (1..=40).map(|n| 20 * n).collect::<Vec<_>>());
}

/// Reports of 5 PDUs arrive after 20 ms: of the window of 15, 10 are acknowledged at 30 ms and 5 at 40 ms, so
/// 15 PDUs are sent per 30 ms.
#[test]
fn slotted_window_advances_with_its_reports() {
    let slotted = json!({ "slotted": { "report_delay": "20 ms" } });
    let outcome = one_user(&dch(&slotted), 20, 15 * 38, 1);
    assert_eq!(times_ms(&outcome), (0..20).map(|window| 20 + 30 * window).collect::<Vec<_>>());
    assert_eq!(outcome.counts.pdus, 300);
}

/// 576 bytes in PDUs of 40 without header; 16 with a header of 2 bytes.
#[test]
fn packets_of_the_study_take_15_pdus() {
    for (header, pdus) in [("0 B", 15), ("2 B", 16)] {
        let outcome = one_user(&dch(&json!({ "slotted": { "header": header } })), 10, 576, 1);
        assert_eq!(outcome.counts.pdus, 10 * pdus);
    }
}

/// `1 / (1 - p)` transmissions without spurious ones.
#[test]
fn each_lost_pdu_is_retransmitted_once() {
    let (packets, p) = (20_000.0, 0.1f64);
    let am = json!({ "am": { "tx_window": 2047, "rx_window": 2047,
                             "status": { "prohibit": "130 ms", "delay": "60 ms" } } });
    let radio = json!({ "dch": {
        "channels": 12, "pdus_per_tti": 1, "pdu_size": "40 B", "bler": p, "buffer": 100_000, "rlc": am } });
    let sent = one_user(&radio, packets as usize, 38, 3).counts.pdus as f64;
    let (mean, sd) = (packets / (1.0 - p), (packets * p).sqrt() / (1.0 - p));
    assert!((sent - mean).abs() < 4.0 * sd, "{sent}, expected {mean} +- {sd}");
}

/// A block on an HS-DSCH has one checksum.
#[test]
fn dch_retransmits_pdus_and_hs_dsch_blocks() {
    let errors = json!({ "process": { "bsc": { "error_rate": 0.2 } },
                         "within_block": { "count_law": [1.0, 0.0, 0.0, 0.0] } });
    let radio = |kind: &str| {
        let mut params = json!({ "channels": 1, "pdus_per_tti": 4, "pdu_size": "40 B", "tti": "10 ms",
                                 "errors": errors, "buffer": 100_000 });
        params["rlc"] = json!({ "am": { "tx_window": 1000, "rx_window": 1000,
                                        "status": { "prohibit": "130 ms", "delay": "60 ms" } } });
        if kind == "hs_dsch" {
            params["max_transmissions"] = json!(1);
        }
        json!({ kind: params })
    };
    let n = 8_000.0;
    // A fifth of the blocks fails. The DCH loses one PDU of 4 in a failed block, the HS-DSCH all 4.
    for (kind, lost) in [("dch", 0.05), ("hs_dsch", 0.2)] {
        let sent = one_user(&radio(kind), n as usize, 38, 5).counts.pdus as f64;
        let retransmitted = sent / n - 1.0;
        let expected = lost / (1.0 - lost);
        assert!(
            (retransmitted - expected).abs() < 0.12 * expected,
            "{kind}: {retransmitted}, expected {expected}"
        );
    }
}

#[test]
fn hybrid_arq_hides_failed_blocks_from_rlc() {
    let radio = json!({ "hs_dsch": {
        "channels": 3, "pdus_per_tti": 2, "bler": 0.3, "buffer": 100_000,
        "rlc": { "am": { "tx_window": 512, "rx_window": 512, "status": { "prohibit": "130 ms" } } } } });
    let outcome = one_user(&radio, 500, 300, 2);
    let counts = outcome.counts;
    let numbers: Vec<u64> = outcome.delivered.iter().map(|(_, _, number)| *number).collect();
    assert!(numbers.is_sorted());
    // A PDU has 30 bytes for data, and each packet needs a length indicator of 1 byte. All PDUs beyond these are
    // retransmissions.
    let needed = 500 * 300 / 30 + 500 / 30 + 1;
    let failed = counts.blocks_failed * 2;
    assert!(counts.blocks_failed > 500 && counts.pdus <= needed + failed + 20, "{counts:?}");
}

/// One block in fourteen fails, without hybrid ARQ; in unacknowledged mode TCP has to retransmit.
#[test]
fn acknowledged_mode_hides_lost_blocks_from_tcp() {
    let retransmitted = |rlc: &Value| {
        let text = json!({
            "duration": "200 s",
            "radio": { "hsdpa": { "max_transmissions": 1, "rlc": rlc } },
            "tcp": { "classic": { "max_window": 20, "min_rto": "1 s" } },
            "users": [{ "traffic": { "ftp": { "size": "500 kB" } },
                        "ue": { "channel": { "constant": { "snr_db": -1.65 } } } }],
        });
        let scenario = scenario::from_json(&text.to_string()).unwrap();
        let result = run(&scenario, 1, 0, &Control::default()).unwrap();
        let (flow, counts) = (&result.flows[0], &result.bearers[0].counts);
        let failed = counts.blocks_failed as f64 / counts.blocks as f64;
        assert!((0.05..0.1).contains(&failed), "{failed}");
        (flow.complete, flow.sender.retransmissions, counts.packets_dropped)
    };
    let am = json!({ "am": {
        "tx_window": 2047, "rx_window": 2047,
        "status": { "prohibit": "60 ms", "delay": "30 ms" },
    } });
    let (_, by_tcp, dropped) = retransmitted(&json!("um"));
    assert!(by_tcp > 20 && dropped > 20, "{by_tcp} {dropped}");
    assert_eq!(retransmitted(&am), (true, 0, 0));
}
