use nodeb_air::mac::harq::CombiningSpec;
use nodeb_radio::RadioSpec;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::scenario::Record;
use nodeb_sim::{Control, Scenario, run, scenario};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::cases;

/// As text, so that NaN equals NaN and no column is missed.
fn tables(scenario: &Scenario, nth: u64) -> String {
    format!("{:?}", run(scenario, scenario.seed, nth, &Control::default()).expect("the run is not cancelled"))
}

proptest! {
    #![proptest_config(super::config(60))]

    /// Neither on the order of replications nor on the thread.
    #[test]
    fn same_seed_same_tables(case in cases::any_scenario()) {
        let scenario = &case.scenario;
        let forward: Vec<String> = (0..3).map(|nth| tables(scenario, nth)).collect();
        let (even, odd) = std::thread::scope(|threads| {
            let even = threads.spawn(|| [2, 0].map(|nth| tables(scenario, nth)));
            let odd = threads.spawn(|| tables(scenario, 1));
            (even.join().unwrap(), odd.join().unwrap())
        });
        prop_assert!(forward[0] == even[1] && forward[1] == odd && forward[2] == even[0]);
    }

    /// Rows of flows, bearers and links.
    #[test]
    fn recording_changes_nothing(case in cases::any_scenario()) {
        let quiet = Scenario { record: nodeb_sim::scenario::Record::default(), ..case.scenario.clone() };
        let [loud, quiet] = [&case.scenario, &quiet].map(|scenario| {
            let result = run(scenario, scenario.seed, 0, &Control::default()).unwrap();
            format!("{:?}", (result.flows, result.bearers, result.links, result.end_s))
        });
        prop_assert_eq!(loud, quiet);
    }

    /// Links compute ahead if only the senders' series are recorded, but not with events of packets at each
    /// link.
    #[test]
    fn steps_ahead_of_time_change_no_series(case in cases::any_scenario()) {
        let mut senders = case.scenario.clone();
        senders.record = Record { cwnd: true, rtt: true, transfers: true, ..Record::default() };
        let [stepwise, ahead] = [&case.scenario, &senders].map(|scenario| {
            let RunResult { series, flows, bearers, links, .. } =
                run(scenario, scenario.seed, 0, &Control::default()).unwrap();
            format!("{:?}", (series.cwnd, series.rtt, series.transfers, flows, bearers, links))
        });
        prop_assert_eq!(stepwise, ahead);
    }

    /// Rates, delays and starts are a few round numbers, so that times often coincide, and queues are short.
    #[test]
    fn steps_ahead_of_time_keep_the_order_of_ties(
        users in select(&[1, 1, 2, 3, 12][..]),
        rates in prop::array::uniform4(select(&["500 kbps", "1 Mbps", "2 Mbps", "10 Mbps"][..])),
        delays in prop::array::uniform4(select(&["0 ms", "1 ms", "2 ms", "8 ms", "20 ms"][..])),
        limits in prop::array::uniform3(select(&[3, 5, 20, 1000][..])),
        (stagger, size, loss) in (0u32..3, select(&[20, 100, 300][..]), select(&[0.0, 0.02][..])),
        radio in select(&["link", "link", "dch", "hs_dsch", "fach_dch"][..]),
        (has_core, has_proxy, linux) in any::<(bool, bool, bool)>(),
        duration_ms in 50u32..4_000,
    ) {
        let [wired, core, air, up] = rates;
        let [wired_delay, core_delay, air_delay, up_delay] = delays;
        let [wired_limit, core_limit, air_limit] = limits;
        let link = |rate, delay, limit| json!({
            "rate": rate, "delay": delay, "loss": loss, "queue": { "drop_tail": { "limit": limit } },
        });
        let radio = if radio == "link" { json!({ "link": link(air, air_delay, air_limit) }) } else { json!(radio) };
        let tcp = if linux {
            json!({ "linux": { "packet_size": "1000 B" } })
        } else {
            json!({ "classic": { "packet_size": "1000 B", "delayed_ack": "0 s" } })
        };
        let user = json!({ "count": users, "stagger": format!("{stagger} ms"), "traffic": {
            "ftp": { "size": format!("{size} kB") } } });
        let mut text = json!({
            "duration": format!("{duration_ms} ms"), "wired": link(wired, wired_delay, wired_limit), "radio": radio,
            "uplink": { "rate": up, "delay": up_delay }, "tcp": tcp, "users": [user],
        });
        if has_core {
            text["core"] = link(core, core_delay, core_limit);
        }
        if has_proxy {
            text["proxy"] = json!("split");
        }
        let ahead = scenario::from_json(&text.to_string()).unwrap();
        let record = Record { segments: true, ..Record::default() };
        let stepwise = Scenario { record, ..ahead.clone() };
        let [ahead, stepwise] = [ahead, stepwise].map(|scenario| {
            let result = run(&scenario, 1, 0, &Control::default()).unwrap();
            format!("{:?}", (result.flows, result.bearers, result.links, result.end_s))
        });
        prop_assert_eq!(ahead, stepwise);
    }

    /// By way of TOML or JSON.
    #[test]
    fn files_keep_scenarios(case in cases::any_scenario()) {
        let text = scenario::to_toml(&case.scenario).unwrap();
        let again = scenario::from_toml(&text, "again.toml", &[]).unwrap();
        prop_assert_eq!(&again, &case.scenario);
        let json = serde_json::to_string(&case.scenario).unwrap();
        prop_assert_eq!(&scenario::from_json(&json).unwrap(), &case.scenario);
    }
}

/// A download of 100 kB and 8 % errors: on the radio, or on the wired link if it supports none.
fn noisy(name: &str, seed: u64) -> Scenario {
    let noise = ["bler", "loss"].into_iter().find(|key| cases::has(name, key));
    let mut radio = noise.map_or(json!({}), |noise| json!({ noise: 0.08 }));
    if name == "trace" {
        radio["down"] = json!({ "times_ms": (1..=500).collect::<Vec<_>>() });
    }
    let text = json!({
        "seed": seed,
        "wired": { "loss": if noise.is_none() { 0.08 } else { 0.0 } },
        "radio": { name: radio },
        "users": [{ "traffic": { "ftp": { "size": "100 kB" } } }],
        "record": { "segments": true },
    });
    scenario::from_json(&text.to_string()).unwrap()
}

#[test]
fn other_runs_and_other_seeds_differ() {
    for name in RadioSpec::NAMES {
        let base = tables(&noisy(name, 1), 0);
        assert_ne!(base, tables(&noisy(name, 1), 1), "{name}");
        assert_ne!(base, tables(&noisy(name, 2), 0), "{name}");
    }
}

/// All variants meet the same errors, so that few replications suffice.
#[test]
fn soft_combining_is_not_slower_than_none() {
    let mean = |combining: &str, bler: f64| {
        let text = json!({
            "radio": { "hs_dsch": { "combining": combining, "bler": bler } },
            "users": [{ "traffic": { "ftp": { "size": "60 kB" } } }],
        });
        let scenario = scenario::from_json(&text.to_string()).unwrap();
        let time = |nth| run(&scenario, 7, nth, &Control::default()).unwrap().flows[0].transfer_s;
        (0..40).map(time).sum::<f64>() / 40.0
    };
    let none = CombiningSpec::default().key();
    for name in CombiningSpec::NAMES.iter().filter(|name| **name != none) {
        for bler in [0.1, 0.3, 0.6] {
            let (with, without) = (mean(name, bler), mean(none, bler));
            assert!(with < without, "{name} at {bler}: {with} s, none: {without} s");
        }
    }
}

#[test]
fn users_meet_independent_errors() {
    for name in RadioSpec::NAMES {
        let mut scenario = noisy(name, 1);
        if scenario.radio.parts().is_shared {
            continue;
        }
        scenario.users[0].count = 2.try_into().unwrap();
        // The wired link is so fast that the two users do not delay each other.
        scenario.wired.rate.0 = 100_000_000_000;
        let result = run(&scenario, 1, 0, &Control::default()).unwrap();
        let [first, second] = &result.flows[..] else { panic!("two users") };
        assert!((first.transfer_s - second.transfer_s).abs() > 1e-6, "{name}: {first:?} {second:?}");
    }
}
