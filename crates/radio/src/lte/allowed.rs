//! Keys that take the values of TS 36.331.

use nodeb_air::allowed::*;
use nodeb_base::check::{Check, Checked, Problem};
use serde_json::{Value, json};

use super::Lte;

#[test]
fn values_ascend() {
    for allowed in ALL {
        assert!(allowed.values.is_sorted_by(|lower, upper| lower < upper), "{}", allowed.name);
    }
}

/// A key of `radio.lte`, the values that it takes, and the keys that it needs beside it.
struct Key(&'static str, Allowed, Value);

fn keys() -> Vec<Key> {
    let cycles =
        || json!({ "drx": { "on_duration": "1 ms", "short_cycle": "2 ms", "long_cycle": "2560 ms" } });
    let scheduled = || json!({ "uplink": { "scheduled": {} } });
    let with_headroom = || json!({ "uplink": { "scheduled": { "headroom": {} } } });
    let configured = || json!({ "uplink": { "scheduled": { "grants": { "configured": {} } } } });
    let connections = || json!({ "uplink": { "scheduled": {} }, "rrc": {} });
    let [um, am] = ["um", "am"].map(|mode| json!({ "rlc": { mode: {} } }));
    vec![
        Key("drx.on_duration", ON_DURATION, json!({ "drx": { "long_cycle": "2560 ms" } })),
        Key("drx.inactivity", DRX_INACTIVITY, cycles()),
        Key("drx.retransmission", DRX_RETRANSMISSION, cycles()),
        Key("drx.long_cycle", LONG_DRX_CYCLE, json!({ "drx": { "on_duration": "1 ms" } })),
        Key("drx.short_cycle", SHORT_DRX_CYCLE, cycles()),
        Key("drx.short_cycles", SHORT_CYCLE_TIMER, cycles()),
        Key("uplink.scheduled.max_transmissions", MAX_HARQ_TX, scheduled()),
        Key("uplink.scheduled.request_again", RETX_BSR, scheduled()),
        Key("uplink.scheduled.path_loss_share", ALPHA, scheduled()),
        Key("uplink.scheduled.headroom.periodic", PERIODIC_PHR, with_headroom()),
        Key("uplink.scheduled.headroom.prohibit", PROHIBIT_PHR, with_headroom()),
        Key("uplink.scheduled.headroom.path_loss_change_db", PHR_CHANGE, with_headroom()),
        Key("uplink.scheduled.grants.configured.interval", SPS_INTERVAL_UP, configured()),
        Key("uplink.scheduled.grants.configured.release_after", IMPLICIT_RELEASE_AFTER, configured()),
        Key("rrc.paging_cycle", PAGING_CYCLE, connections()),
        Key("rlc.um.t_reordering", T_REORDERING, um),
        Key("rlc.am.t_reordering", T_REORDERING, am.clone()),
        Key("rlc.am.status_prohibit", T_STATUS_PROHIBIT, am.clone()),
        Key("rlc.am.poll_retransmit", T_POLL_RETRANSMIT, am.clone()),
        Key("rlc.am.poll_pdu", POLL_PDU, am.clone()),
        Key("rlc.am.poll_byte", POLL_BYTE, am.clone()),
        Key("rlc.am.max_retransmissions", MAX_RETX_THRESHOLD, am),
        Key("discard_timer", DISCARD_TIMER, json!({})),
    ]
}

impl Key {
    fn value(&self, value: f64) -> Value {
        match self.1.unit {
            _ if value >= f64::from(INFINITY) => Value::Null,
            Unit::Number | Unit::Decibels => json!(value as u32),
            Unit::Tenths => json!(value / 10.0),
            _ => json!(self.1.shown_as(value)),
        }
    }

    fn messages(&self, value: f64) -> Vec<String> {
        let Self(key, _, beside) = self;
        let mut radio = beside.clone();
        let place = key.split('.').fold(&mut radio, |table, key| &mut table[key]);
        *place = self.value(value);
        let mut check = Check::default();
        serde_json::from_value::<Lte>(radio).unwrap().check(&mut check);
        let of_key = |problem: Problem| (problem.path.join(".") == *key).then_some(problem.message);
        check.into_problems().into_iter().filter_map(of_key).collect()
    }
}

// Tests the feature: values of timers and limits (standard's table)
/// A value between two of the list is none, and the message names both.
#[test]
fn keys_have_the_values_of_their_lists() {
    for key in keys() {
        let (name, allowed) = (key.0, key.1);
        for value in allowed.values {
            assert_eq!(key.messages(f64::from(*value)), [""; 0], "{name}");
        }
        let takes_fractions = !matches!(allowed.unit, Unit::Number | Unit::Decibels);
        for pair in allowed.values.windows(2) {
            let [below, above] = [pair[0], pair[1]];
            let between = if above == INFINITY { below + 1 } else { below.midpoint(above) };
            let between = if between > below { f64::from(between) } else { f64::from(below) + 0.5 };
            if between.fract() > 0.0 && !takes_fractions {
                continue;
            }
            let messages = key.messages(between);
            let nearest = [below, above].map(|near| allowed.shown(near)).join(" or ");
            let names_both = messages.iter().any(|message| message.contains(&nearest));
            assert!(names_both, "{name}: {messages:?}");
        }
    }
}

#[test]
fn every_list_has_a_key() {
    let keys = keys();
    for allowed in ALL {
        assert!(keys.iter().any(|key| key.1 == *allowed), "{}", allowed.name);
    }
}
