use nodeb_air::channel::ci::CiProcess;
use nodeb_base::rng::Streams;
use nodeb_base::units::Rate;
use nodeb_radio::RadioSpec;
use nodeb_sim::{Control, Scenario, run, scenario};
use serde_json::{Value, json};

fn radio(json: Value) -> RadioSpec {
    serde_json::from_value(json).unwrap()
}

fn download(mut changes: Value) -> Result<Scenario, String> {
    if changes.get("users").is_none() {
        changes["users"] = json!([{ "traffic": { "ftp": { "size": "50 kB" } } }]);
    }
    scenario::from_json(&changes.to_string()).map_err(|error| error.to_string())
}

#[test]
fn highest_accepted_rate_does_not_overflow() {
    let params = json!({ "channels": 1000, "pdus_per_tti": 1000, "pdu_size": "65535 B", "tti": "1 us" });
    let rate = Rate(1_000 * 1_000 * 65_535 * 8 * 1_000_000);
    for kind in ["dch", "hs_dsch"] {
        assert_eq!(radio(json!({ kind: params })).channel_rate(None), rate);
        assert_eq!(radio(json!({ kind: params })).channel_rate(Some(1000)), rate);
    }
}

/// 2^32 + 40 bytes are rejected, not truncated to 40.
#[test]
fn pdu_size_is_not_truncated_to_32_bits() {
    for kind in ["dch", "hs_dsch"] {
        let error = download(json!({ "radio": { kind: { "pdu_size": "4294967336 B" } } })).unwrap_err();
        assert!(error.contains("pdu_size"), "{error}");
    }
}

/// Two phones connect at the same time, and the queue towards the server holds one packet.
#[test]
fn lost_syn_is_retransmitted() {
    let users = json!([{ "count": 2, "traffic": { "ftp": { "size": "1 B" } } }]);
    let wired = json!({ "rate": "64 kbps", "queue": { "drop_tail": { "limit": 1 } } });
    let scenario = download(json!({ "radio": "dch", "wired": wired, "users": users })).unwrap();
    let result = run(&scenario, 1, 0, &Control::default()).unwrap();
    assert!(result.flows.iter().all(|flow| flow.complete), "{:?}", result.flows);
}

/// Or they are rejected.
#[test]
fn frequencies_with_infinite_sum_keep_their_ratio() {
    let ci = [1e308, 1e308];
    let users = json!([{ "ci": ci, "traffic": { "ftp": { "size": "1 B" } } }]);
    if download(json!({ "users": users })).is_ok() {
        let process = CiProcess::new(&ci, Streams::new(1, 0).indexed("user", 0, "ci"));
        let low = (0..1_000).filter(|tti| process.value(*tti) == 1).count();
        assert!((400..600).contains(&low), "{low} of 1000");
    }
}
