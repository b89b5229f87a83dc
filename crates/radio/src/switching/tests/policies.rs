//! Times in comments are in ms.

use State::{Dch, Fach, Paging, Pch, Releasing, SettingUp};
use serde_json::json;

use super::{Driver, State, every_10_ms};

#[test]
fn always_dch_keeps_the_first_holders() {
    let mut cell = Driver::new(json!({ "policy": "always_dch" }), 2);
    cell.packets(50, 1, 2).packets(60, 0, 1).packets(5_000, 1, 1).finish();
    assert_eq!(cell.changes, [(50.0, 1, SettingUp), (300.0, 1, Dch)]);
    assert_eq!(cell.delivered, [(180.0, 0), (310.0, 1), (320.0, 1), (5_010.0, 1)]);
}

#[test]
fn threshold_serves_a_request_made_during_a_switch() {
    let mut cell = Driver::new(json!({ "policy": { "threshold": { "high": 2 } } }), 2);
    // User 0 requests a channel at its third packet; its first packet is on the FACH until 120 ms.
    // User 1 requests a channel at 100 ms, when none is free. At 240 ms its queue has fallen to the
    // threshold, so the request is withdrawn. It requests a channel again at 300 ms, while user 0
    // is being moved back.
    cell.packets(0, 0, 5).packets(100, 1, 3).packets(300, 1, 4).finish();
    assert_eq!(
        cell.changes,
        [
            (0.0, 0, SettingUp),
            (250.0, 0, Dch),
            (290.0, 0, Releasing),
            (540.0, 0, Fach),
            (540.0, 1, SettingUp),
            (790.0, 1, Dch),
            (820.0, 1, Releasing),
            (1070.0, 1, Fach),
        ]
    );
    assert_eq!(cell.deliveries(0), [120.0, 260.0, 270.0, 280.0, 290.0]);
    assert_eq!(cell.deliveries(1), [240.0, 360.0, 480.0, 600.0, 800.0, 810.0, 820.0]);
}

#[test]
fn a_high_threshold_of_0_requests_at_the_first_packet() {
    let mut cell = Driver::new(json!({ "policy": { "threshold": { "high": 0 } } }), 1);
    cell.packets(0, 0, 1).packets(300, 0, 1).finish();
    // The second packet arrives while the user is switching back to the FACH. On the FACH, the user
    // requests a channel again.
    assert_eq!(
        cell.changes,
        [
            (0.0, 0, SettingUp),
            (250.0, 0, Dch),
            (260.0, 0, Releasing),
            (510.0, 0, SettingUp),
            (760.0, 0, Dch),
            (770.0, 0, Releasing),
            (1020.0, 0, Fach),
        ]
    );
    assert_eq!(cell.deliveries(0), [260.0, 770.0]);
}

#[test]
fn a_low_threshold_of_0_keeps_the_channel() {
    for policy in ["threshold", "preemptive", "non_preemptive"] {
        let mut cell = Driver::new(json!({ "policy": { policy: { "high": 0, "low": 0 } } }), 2);
        cell.packets(0, 0, 1).packets(300, 1, 5).finish();
        assert_eq!(cell.changes, [(0.0, 0, SettingUp), (250.0, 0, Dch)], "{policy}");
        assert_eq!(cell.deliveries(1), [420.0, 540.0, 660.0, 780.0, 900.0]);
    }
}

#[test]
fn with_enough_channels_no_user_is_moved_back() {
    for policy in ["threshold", "preemptive", "non_preemptive"] {
        let params = json!({ "dch_channels": 3, "policy": { policy: { "high": 0 } } });
        let mut cell = Driver::new(params, 2);
        cell.packets(0, 0, 1).packets(1_000, 1, 1).finish();
        let kept = [(0.0, 0, SettingUp), (250.0, 0, Dch), (1_000.0, 1, SettingUp), (1_250.0, 1, Dch)];
        assert_eq!(cell.changes, kept, "{policy}");
    }
}

#[test]
fn taking_the_last_free_channel_moves_idle_users_back() {
    let mut cell = Driver::new(json!({ "dch_channels": 2, "policy": { "threshold": { "high": 0 } } }), 2);
    cell.packets(0, 0, 1).packets(1_000, 1, 1).finish();
    // Users whose timers expire at the same time take turns by chance.
    cell.changes.sort_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).unwrap());
    assert_eq!(
        cell.changes,
        [
            (0.0, 0, SettingUp),
            (250.0, 0, Dch),
            (1_000.0, 0, Releasing),
            (1_000.0, 1, SettingUp),
            (1_250.0, 0, Fach),
            (1_250.0, 1, Dch),
        ]
    );
}

#[test]
fn preemptive_releases_for_others_at_once_else_after_the_timeout() {
    let params = json!({ "policy": { "preemptive": { "high": 0, "timeout": "500 ms" } } });
    let mut cell = Driver::new(params, 2);
    // User 0 is idle from 260 ms, busy from 500 to 510 ms, and then idle again. User 1 requests a
    // channel at 700 ms, so user 0 must release its channel at once.
    cell.packets(0, 0, 1).packets(500, 0, 1).packets(700, 1, 9).finish();
    assert_eq!(
        cell.changes,
        [
            (0.0, 0, SettingUp),
            (250.0, 0, Dch),
            (700.0, 0, Releasing),
            (950.0, 0, Fach),
            (950.0, 1, SettingUp),
            (1_200.0, 1, Dch),
            (1_760.0, 1, Releasing),
            (2_010.0, 1, Fach),
        ]
    );
    assert_eq!(cell.deliveries(0), [260.0, 510.0]);
    assert_eq!(cell.deliveries(1)[..3], [820.0, 940.0, 1_060.0]);
    assert_eq!(cell.deliveries(1)[3..], every_10_ms(1_210, 1_260));
}

#[test]
fn non_preemptive_releases_only_at_the_end_of_a_round() {
    let params = json!({ "policy": { "non_preemptive": { "high": 0, "timeout": "500 ms" } } });
    let mut cell = Driver::new(params, 2);
    // User 0 is idle from 510 ms, so its timer ends at 1010 ms. User 1 is idle from 1550 ms, so its
    // rounds end at 2050, 2550 and 3050 ms. User 0 waits for a channel again when the third round
    // ends.
    cell.packets(0, 0, 1).packets(500, 0, 1).packets(700, 1, 9).packets(3_000, 0, 6).finish();
    assert_eq!(
        cell.changes,
        [
            (0.0, 0, SettingUp),
            (250.0, 0, Dch),
            (1_010.0, 0, Releasing),
            (1_260.0, 0, Fach),
            (1_260.0, 1, SettingUp),
            (1_510.0, 1, Dch),
            (3_050.0, 1, Releasing),
            (3_300.0, 0, SettingUp),
            (3_300.0, 1, Fach),
            (3_550.0, 0, Dch),
        ]
    );
    assert_eq!(cell.deliveries(1)[..5], [820.0, 940.0, 1_060.0, 1_180.0, 1_300.0]);
    assert_eq!(cell.deliveries(1)[5..], every_10_ms(1_520, 1_550));
    assert_eq!(cell.deliveries(0)[2..], [3_120.0, 3_240.0, 3_360.0, 3_560.0, 3_570.0, 3_580.0]);
}

#[test]
fn no_switch_when_request_lapses_before_timeout() {
    let params = json!({ "policy": { "non_preemptive": { "high": 0, "timeout": "500 ms" } } });
    let mut cell = Driver::new(params, 2);
    cell.packets(0, 0, 1).packets(300, 1, 1).finish();
    assert_eq!(cell.changes, [(0.0, 0, SettingUp), (250.0, 0, Dch)]);
    assert_eq!(cell.deliveries(1), [420.0]);
}

#[test]
fn packets_below_the_low_threshold_restart_the_timer() {
    let params = json!({ "policy": { "preemptive": { "high": 1, "low": 2, "timeout": "500 ms" } } });
    let mut cell = Driver::new(params, 1);
    // The user has fewer than two packets when it reaches the dedicated channel at 250 ms, as its
    // first packet was sent over the FACH. The packet that arrives at 600 ms restarts the timer.
    cell.packets(0, 0, 2).packets(600, 0, 1).finish();
    let timeline = [(0.0, 0, SettingUp), (250.0, 0, Dch), (1_100.0, 0, Releasing), (1_350.0, 0, Fach)];
    assert_eq!(cell.changes, timeline);
    assert_eq!(cell.deliveries(0), [120.0, 260.0, 610.0]);
}

#[test]
fn preemptive_without_timeout_equals_threshold() {
    let run = |policy| {
        let mut cell = Driver::new(json!({ "policy": policy }), 3);
        for i in 0..200 {
            let user = (i * i + i / 7) % 3;
            cell.packets(i as u64 * 53, user, 1 + i % 4);
        }
        cell.finish();
        (cell.changes.clone(), cell.delivered.clone())
    };
    let original = run(json!({ "threshold": { "high": 3 } }));
    assert!(original.0.len() > 20, "{:?}", original.0);
    assert_eq!(original, run(json!({ "preemptive": { "high": 3, "timeout": "0 s" } })));
}

#[test]
fn traffic_volume_uses_a_trigger_and_two_inactivity_timers() {
    let policy = json!({ "traffic_volume": {
        "volume": "1000 B", "time_to_trigger": "200 ms", "dch_inactivity": "2 s", "fach_inactivity": "3 s",
    } });
    let mut cell = Driver::new(json!({ "policy": policy }), 1);
    // The first 960 bytes do not exceed the volume and are sent on the FACH, which is idle from 240
    // ms. The phone is paged at 4000 ms. From 4600 ms it is on the FACH, where 2400 bytes exceed
    // the volume.
    cell.packets(0, 0, 2).packets(4_000, 0, 5).finish();
    assert_eq!(
        cell.changes,
        [
            (3_240.0, 0, Pch),
            (4_000.0, 0, Paging),
            (4_600.0, 0, Fach),
            (4_800.0, 0, SettingUp),
            (5_050.0, 0, Dch),
            (7_080.0, 0, Releasing),
            (7_330.0, 0, Fach),
            (10_330.0, 0, Pch),
        ]
    );
    assert_eq!(cell.deliveries(0), [120.0, 240.0, 4_720.0, 4_840.0, 5_060.0, 5_070.0, 5_080.0]);
}

#[test]
fn no_switch_when_volume_falls_before_the_trigger() {
    let policy = json!({ "traffic_volume": { "volume": "1000 B", "time_to_trigger": "121 ms" } });
    let mut cell = Driver::new(json!({ "policy": policy }), 1);
    cell.packets(0, 0, 3).finish();
    assert_eq!(cell.changes, [(12_360.0, 0, Pch)]);
}

#[test]
fn longest_queue_precedes_the_first_request_and_releases_after_the_timeout() {
    let policy = json!({ "longest_queue": { "high": 2, "timeout": "500 ms" } });
    let mut cell = Driver::new(json!({ "policy": policy }), 3);
    // User 0 is idle from 270 ms. Users 1 and 2 request a channel at 300 and 310 ms. When the
    // channel is free, at 1020 ms, user 1 has 5 packets left. User 2 has more packets and therefore
    // gets the channel, although it requested one later.
    cell.packets(0, 0, 3).packets(300, 1, 8).packets(310, 2, 9).finish();
    assert_eq!(
        cell.changes,
        [
            (0.0, 0, SettingUp),
            (250.0, 0, Dch),
            (770.0, 0, Releasing),
            (1_020.0, 0, Fach),
            (1_020.0, 2, SettingUp),
            (1_270.0, 2, Dch),
        ]
    );
    assert_eq!(cell.deliveries(0), [120.0, 260.0, 270.0]);
    // The FACH serves users 1 and 2 in turn from 300 ms, and user 1 alone from 1020 ms.
    assert_eq!(cell.deliveries(1)[..4], [420.0, 660.0, 900.0, 1_140.0]);
}

#[test]
fn longest_queue_does_not_wait_for_the_end_of_a_round() {
    let changes = |policy: &str| {
        let mut cell = Driver::new(json!({ "policy": { policy: { "high": 0, "timeout": "500 ms" } } }), 2);
        cell.packets(0, 0, 1).packets(900, 1, 9).finish();
        cell.changes[2]
    };
    // User 0 is idle from 260 ms. User 1 requests a channel at 900 ms, when the first round of 500
    // ms is over and the second round ends at 1260 ms.
    assert_eq!(changes("non_preemptive"), (1_260.0, 0, Releasing));
    assert_eq!(changes("longest_queue"), (900.0, 0, Releasing));
}
