use serde_json::{Value, json};

use super::timelines::{arrivals, ms, one_by_one};
use super::*;
use nodeb_air::Backlog;

/// Neither PDUs nor the window cause polls; a status report takes 30 ms.
fn am(text: &Value) -> Value {
    let mut am = json!({
        "poll": { "every_pdus": null, "window_share": null, "timer": "1 s" },
        "status": { "prohibit": null, "delay": "30 ms" },
    });
    am.as_object_mut().unwrap().extend(text.as_object().unwrap().clone());
    json!({ "am": am })
}

/// CQI 5 carries one PDU; only blocks in TTI `lost` fail.
fn losing(lost: usize) -> Ue {
    let mut snrs = [50.0; 200];
    snrs[lost] = -50.0;
    playing(&snrs, &[5; 200])
}

/// Arrival in ms and number of each packet; all wait at the start.
fn play(params: &Value, ue: Ue, packets: usize) -> Vec<(u64, u64)> {
    let mut bench = Bench::new(&one_by_one(params), &[ue], 0);
    (0..packets).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(390));
    assert_eq!((bench.bearer.backlog(0), bench.bearer.next_wake()), (Backlog::default(), None));
    assert_eq!(bench.counts().packets_dropped, 0);
    arrivals(&bench)
}

/// T1 expires at 26 ms, when the phone detects the gap; the status report reaches the RNC at 56 ms.
#[test]
fn acknowledged_mode_retransmits_what_mac_hs_loses() {
    for lossy in [json!({ "max_transmissions": 1 }), json!({ "max_transmissions": 9, "nack_error": 1.0 })] {
        let mut params = lossy;
        params["rlc"] = am(&json!({}));
        assert_eq!(play(&params, losing(1), 4), [(2, 0), (58, 1), (58, 2), (58, 3)]);
    }
}

/// Blocks have 44 octets and PDUs 42: without block 1, PDU 1 loses all but 2 octets and PDU 2 loses 4; both
/// are retransmitted in two blocks from 56 ms.
#[test]
fn a_pdu_is_intact_if_all_its_octets_are() {
    let params = json!({ "segmentation": true, "rlc": am(&json!({})) });
    assert_eq!(play(&params, losing(1), 4), [(2, 0), (58, 1), (60, 2), (60, 3)]);
}

/// The second of two PDUs polls; the report arrives 30 ms later.
#[test]
fn a_full_window_of_rlc_stalls_the_user() {
    let params = json!({ "rlc": am(&json!({ "tx_window": 2, "rx_window": 2 })) });
    let expected = [(2, 0), (4, 1), (36, 2), (38, 3), (70, 4)];
    assert_eq!(play(&params, losing(199), 5), expected);
}

/// 5 ms each way and credits for two PDUs every 10 ms: T1 delivers at 30 ms, the status report reaches the
/// RNC at 60 ms, the retransmission the Node B at 65 ms.
#[test]
fn retransmissions_cross_the_iub_again() {
    let iub = json!({ "delay": "5 ms", "period": "10 ms", "room": "84 B" });
    let params = json!({ "rlc": am(&json!({})), "iub": iub });
    assert_eq!(play(&params, losing(199), 4), [(8, 0), (10, 1), (22, 2), (24, 3)]);
    assert_eq!(play(&params, losing(3), 4), [(68, 0), (68, 1), (68, 2), (68, 3)]);
}

#[test]
fn an_unanswered_poll_is_repeated() {
    let mut slow = am(&json!({ "tx_window": 2, "rx_window": 2 }));
    slow["am"]["poll"]["timer"] = json!("20 ms");
    // PDU 1 is sent at 2 ms with a poll. As the answer is still in flight at 22 ms, PDU 1 is then
    // sent again.
    let mut bench = Bench::new(&one_by_one(&json!({ "rlc": slow })), &[losing(199)], 0);
    (0..3).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(40));
    assert_eq!(bench.counts().pdus, 4);
    assert_eq!(arrivals(&bench), [(2, 0), (4, 1), (36, 2)]);
}

#[test]
fn packets_that_wait_too_long_are_discarded() {
    let params = one_by_one(&json!({ "rlc": { "um": { "discard_timer": "9 ms" } } }));
    let mut bench = Bench::new(&params, &[playing(&[50.0], &[5])], 0);
    (0..8).for_each(|_| bench.push(Time::ZERO, 0, 40));
    bench.run(ms(100));
    // TTIs 0 to 4 start before the discard timer expires at 9 ms, so only the packets sent in these
    // TTIs arrive.
    assert_eq!(arrivals(&bench), [(2, 0), (4, 1), (6, 2), (8, 3), (10, 4)]);
    assert_eq!((bench.counts().packets_dropped, bench.bearer.backlog(0).packets), (3, 0));
    assert_eq!(bench.bearer.next_wake(), None);
}
