use std::collections::{HashMap, HashSet};

use nodeb_air::UserRadio;
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_base::check::Check;
use nodeb_base::units::{Duration, Time};
use nodeb_radio::hsdpa::rlc::RlcModeSpec;
use nodeb_radio::{ChannelKey, RadioSpec};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::access::{Arrival, Outcome, drive};
use super::cases::{self, Radio};
use super::keys;
use super::model;

#[derive(Clone, Debug)]
struct Load {
    radio: Radio,
    users: Vec<UserRadio>,
    seed: u64,
    arrivals: Vec<Arrival>,
}

impl Load {
    fn drive(&self) -> Outcome {
        drive(&self.radio.spec, &self.users, self.seed, &self.arrivals)
    }

    fn pdus(&self, number: u64) -> u64 {
        u64::from(self.arrivals[number as usize].size).div_ceil(self.radio.pdu_bytes())
    }
}

/// Random parameters except those in `given`.
fn loads(name: &'static str, given: Value) -> impl Strategy<Value = Load> {
    cases::radio_with(name, given).prop_flat_map(|radio| {
        let ci = if radio.spec.parts().channel == Some(ChannelKey::Ci) {
            prop_oneof![Just(vec![]), cases::ci()].boxed()
        } else {
            Just(vec![]).boxed()
        };
        // All times are odd numbers of ns (1 ns plus even gaps), so no packet arrives exactly at the start of a TTI,
        // where it might or might not be sent in that TTI.
        let gap = prop_oneof![Just(0), 0..30_000_000u64, 0..400_000_000u64];
        let arrivals = vec((gap, any::<prop::sample::Index>(), 1..=1500u32), 1..40);
        let ue = cases::ue().prop_map(|ue| serde_json::from_value(ue).expect("a valid UE"));
        (vec((ci, ue), 1..=6), arrivals, any::<u64>()).prop_map(move |(tables, arrivals, seed)| {
            let user = |(id, (ci, ue))| UserRadio { id, ci, ue, ..UserRadio::default() };
            let users: Vec<_> = (0..).zip(tables).map(user).collect();
            let mut now = 1;
            let arrive = |(gap, user, size): (u64, prop::sample::Index, u32)| {
                now += gap / 2 * 2;
                Arrival { at: Time(now), user: user.index(users.len()), size }
            };
            let arrivals = arrivals.into_iter().map(arrive).collect();
            Load { radio: radio.clone(), users, seed, arrivals }
        })
    })
}

fn any_load(given: Value) -> impl Strategy<Value = Load> {
    select(RadioSpec::NAMES).prop_flat_map(move |name| loads(name, given.clone()))
}

/// On radios with a key `tti`; random parameters except those in `given`.
fn tti_loads(given: Value) -> impl Strategy<Value = Load> {
    let names: Vec<&str> = RadioSpec::NAMES.iter().copied().filter(|name| cases::has(name, "tti")).collect();
    assert!(names.len() >= 2, "the registry has fewer than two TTI bearers");
    select(names).prop_flat_map(move |name| loads(name, given.clone()))
}

fn params(radio: &Radio) -> model::Params {
    let Radio { json, spec } = radio;
    let time = |value: &Value| value.as_str().unwrap().parse::<Duration>().unwrap().0;
    model::Params {
        tti_ns: spec.parts().tti.unwrap().duration.0,
        pdu_bytes: radio.pdu_bytes(),
        channels: radio.number("channels").unwrap(),
        pdus_per_block: radio.number("pdus_per_tti").unwrap(),
        retransmission_delay_ns: time(&json["retransmission_delay"]),
        max_transmissions: radio.number("max_transmissions"),
        in_sequence: radio.in_sequence(),
    }
}

/// No block is given up and no accepted packet dropped. RLC discards no PDU either: with numbers of 5 bits
/// those retransmitted while 16 others arrive, and with a short t-Reordering those retransmitted after it.
fn unlimited() -> Value {
    json!({ "um_sn_length": "10 bit", "t_reordering": "200 ms",
             "max_transmissions": null, "max_dat": null, "discard_timer": null,
            "max_failed_slots": null, "queue": "drop_tail", "nack_error": 0.0, "t1": "100000 s",
            "handover": { "data": "forwarded", "hysteresis_db": 0.0, "time_to_trigger": "0 s" } })
}

/// As [`unlimited`], without an RLC protocol.
fn arq() -> Value {
    let mut given = unlimited();
    given["rlc"] = json!("arq");
    given
}

fn in_sequence() -> Value {
    json!({ "delivery": "in_sequence", "reordering": null })
}

/// MAC-hs gives up blocks for every possible reason, acknowledged mode never a PDU.
fn lossy_mac_hs() -> impl Strategy<Value = Load> {
    let am = keys::variant_of("RlcModeSpec", "am").prop_filter("parameters that exclude each other", |am| {
        let mut check = Check::default();
        serde_json::from_value::<RlcModeSpec>(am.clone()).expect("an RLC mode").check(&mut check);
        check.into_problems().is_empty()
    });
    (am, 1..=3u32, 0.0..0.3, 0.0..0.3).prop_flat_map(|(am, transmissions, acks, nacks)| {
        let given = json!({ "rlc": am, "max_dat": null, "discard_timer": null,
                            "max_transmissions": transmissions, "ack_error": acks, "nack_error": nacks });
        loads("hsdpa", given)
    })
}

/// RLC `arq` and a buffer for all packets; 0 `channels` stand for a random number with errors at `bler`,
/// otherwise errors are random.
fn roomy(bler: f64, channels: u32) -> Value {
    let mut given = json!({ "buffer": 1000, "rlc": "arq" });
    if channels == 0 {
        given["bler"] = json!(bler);
        given["errors"] = json!(null);
    } else {
        given["channels"] = json!(channels);
    }
    given
}

proptest! {
    #![proptest_config(super::config(256))]

    #[test]
    fn every_packet_is_returned_once(load in any_load(json!({}))) {
        let outcome = load.drive();
        let mut back: Vec<u64> = outcome.delivered.iter().map(|(_, _, number)| *number).collect();
        back.extend(&outcome.lost);
        let all = back.len();
        back.sort_unstable();
        back.dedup();
        prop_assert_eq!(all, back.len());
        prop_assert_eq!(all + outcome.backlog.0, load.arrivals.len());
    }
}

proptest! {
    #![proptest_config(super::config(300))]

    #[test]
    fn every_accepted_packet_is_delivered_once(load in any_load(unlimited())) {
        let outcome = load.drive();
        let mut out: Vec<u64> = outcome.delivered.iter().map(|(_, _, number)| *number).collect();
        out.sort_unstable();
        prop_assert_eq!(&out, &outcome.accepted);
        prop_assert_eq!(outcome.backlog, (0, 0));
    }

    #[test]
    fn acknowledged_mode_recovers_all_losses_of_mac_hs(load in lossy_mac_hs()) {
        let Outcome { delivered, accepted, backlog, miscounted, .. } = load.drive();
        let mut out: Vec<u64> = delivered.iter().map(|(_, _, number)| *number).collect();
        for user in 0..load.users.len() {
            prop_assert!(delivered.iter().filter(|out| out.1 == user).is_sorted_by_key(|out| out.2));
        }
        out.sort_unstable();
        prop_assert_eq!(&out, &accepted);
        prop_assert_eq!((backlog, miscounted), ((0, 0), None));
    }

    #[test]
    fn in_sequence_delivery_keeps_the_order(load in any_load(in_sequence())) {
        let mut last = HashMap::new();
        for (at, user, number) in load.drive().delivered {
            let before = last.insert(user, (at, number));
            prop_assert!(before.is_none_or(|(t, n)| t <= at && n < number), "{:?} {:?}", before, number);
        }
    }

    #[test]
    fn packets_and_bytes_add_up(load in any_load(json!({}))) {
        let Outcome { delivered, accepted, counts, backlog, .. } = load.drive();
        let offered = load.arrivals.len() as u64;
        let distinct: HashSet<u64> = delivered.iter().map(|(_, _, number)| *number).collect();
        prop_assert_eq!(distinct.len(), delivered.len());
        prop_assert!(distinct.iter().all(|number| accepted.contains(number)));
        prop_assert_eq!(counts.packets_in, accepted.len() as u64);
        prop_assert!(counts.packets_delivered <= counts.packets_in);
        prop_assert_eq!(counts.packets_delivered, delivered.len() as u64);
        prop_assert_eq!(counts.packets_delivered + counts.packets_dropped, offered);
        prop_assert_eq!(backlog, (0, 0));
        let bytes: u64 = distinct.iter().map(|number| u64::from(load.arrivals[*number as usize].size)).sum();
        prop_assert_eq!(counts.bytes_delivered, bytes);
        for (at, user, number) in delivered {
            let arrival = load.arrivals[number as usize];
            prop_assert!(at > arrival.at && user == arrival.user);
        }
    }

    #[test]
    fn backlog_matches_undelivered_packets(load in tti_loads(json!({}))) {
        prop_assert_eq!(load.drive().miscounted, None);
    }

    /// PDUs beyond those that the packets need are retransmissions of PDUs in failed blocks.
    #[test]
    fn blocks_and_pdus_add_up(load in tti_loads(arq())) {
        let Outcome { accepted, counts, records, .. } = load.drive();
        let needed: u64 = accepted.iter().map(|number| load.pdus(*number)).sum();
        let most = load.users.iter().map(|user| user.ci.len() as u64).max().unwrap_or(0);
        let most = most.max(load.radio.number("pdus_per_tti").unwrap());
        let retransmitted = counts.pdus - needed;
        prop_assert!((counts.blocks_failed..=counts.blocks_failed * most).contains(&retransmitted), "{counts:?}");
        prop_assert!((counts.blocks..=counts.blocks * most).contains(&counts.pdus));
        prop_assert!(counts.blocks_failed <= counts.blocks);
        prop_assert!(counts.blocks <= counts.ttis * load.radio.number("channels").unwrap());
        prop_assert_eq!(records.len() as u64, counts.ttis);
        prop_assert_eq!(records.iter().map(|r| u64::from(r.pdus)).sum::<u64>(), counts.pdus);
        prop_assert_eq!(records.iter().map(|r| u64::from(r.failed)).sum::<u64>(), counts.blocks_failed);
    }

    /// With random errors; it never idles while a user has data.
    #[test]
    fn one_channel_agrees_with_the_naive_model(load in tti_loads(roomy(0.0, 1))) {
        agrees_with_model(&load)?;
    }

    /// Without errors.
    #[test]
    fn many_channels_agree_with_the_naive_model(load in tti_loads(roomy(0.0, 0))) {
        agrees_with_model(&load)?;
    }

    /// TTIs differ by at most one at any time.
    #[test]
    fn round_robin_serves_backlogged_users_equally(
        tables in vec(prop_oneof![Just(vec![]), cases::ci()], 2..=6),
        channels in 1..=4u32,
        seed: u64,
    ) {
        let user = |(id, ci)| UserRadio { id, ci, ..UserRadio::default() };
        let users: Vec<_> = (0..).zip(tables).map(user).collect();
        // The backlog lasts for 40 TTIs per user: a user has 25 x 40 PDUs, and at most 4 x 6 PDUs are sent in a TTI.
        let arrivals: Vec<_> = (0..users.len() * 25)
            .map(|i| Arrival { at: Time::ZERO, user: i % users.len(), size: 1280 })
            .collect();
        let radio = json!({ "hs_dsch": { "channels": channels, "pdu_size": "32 B", "bler": 0.0 } });
        let radio: RadioSpec = serde_json::from_value(radio).unwrap();
        let mut turns = vec![0u32; users.len()];
        for record in drive(&radio, &users, seed, &arrivals).records.iter().take(40 * users.len()) {
            turns[record.user] += 1;
            let (least, most) = (turns.iter().min().unwrap(), turns.iter().max().unwrap());
            prop_assert!(most - least <= 1, "{turns:?}");
        }
        prop_assert_eq!(turns, vec![40; users.len()]);
    }

    #[test]
    fn further_users_change_nothing_on_dedicated_bearers(load in any_load(json!({}))) {
        if load.radio.spec.parts().is_shared {
            return Ok(());
        }
        let of_first = |outcome: Outcome| -> Vec<Time> {
            outcome.delivered.iter().filter(|(_, user, _)| *user == 0).map(|(at, ..)| *at).collect()
        };
        let arrivals = load.arrivals.iter().copied().filter(|arrival| arrival.user == 0).collect();
        let alone = Load { users: load.users[..1].to_vec(), arrivals, ..load.clone() };
        prop_assert_eq!(of_first(load.drive()), of_first(alone.drive()));
    }
}

fn agrees_with_model(load: &Load) -> Result<(), TestCaseError> {
    let outcome = load.drive();
    prop_assert_eq!(outcome.accepted.len(), load.arrivals.len());
    // Dedicated bearers are independent of each other, so each is compared with a model of its own user.
    let groups: Vec<Vec<usize>> = if load.radio.spec.parts().is_shared {
        vec![(0..load.users.len()).collect()]
    } else {
        (0..load.users.len()).map(|user| vec![user]).collect()
    };
    for group in groups {
        let arrivals: Vec<_> =
            (0..).zip(&load.arrivals).filter(|(_, arrival)| group.contains(&arrival.user)).collect();
        let records: Vec<_> = outcome.records.iter().filter(|r| group.contains(&r.user)).copied().collect();
        let delivered: Vec<_> = outcome.delivered.iter().filter(|d| group.contains(&d.1)).copied().collect();
        let expected = model::replay(&params(&load.radio), load.users.len(), &arrivals, &records)
            .map_err(TestCaseError::fail)?;
        prop_assert_eq!(delivered, expected);
    }
    Ok(())
}

/// All use the same TTIs for the same load, if all users have the same channel and no block fails.
#[test]
fn every_scheduler_is_work_conserving() {
    let users: Vec<_> = (0..5).map(|id| UserRadio { id, ..UserRadio::default() }).collect();
    let arrivals: Vec<_> = (0..200u64)
        .map(|i| Arrival { at: Time(i * i * 20_000), user: (i * 7 % 5) as usize, size: 640 })
        .collect();
    let ttis: Vec<Vec<Time>> = SchedulerSpec::NAMES
        .iter()
        .map(|name| {
            let radio = json!({ "hs_dsch": { "scheduler": name, "bler": 0.0, "channels": 4 } });
            let outcome = drive(&serde_json::from_value(radio).unwrap(), &users, 1, &arrivals);
            assert_eq!(outcome.delivered.len(), arrivals.len(), "{name}");
            outcome.records.iter().map(|record| record.at).collect()
        })
        .collect();
    assert!(ttis.iter().all(|of_one| *of_one == ttis[0]));
}
