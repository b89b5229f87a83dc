//! Tests that the plug-ins behave like nodeb's own components: names in scenarios, error messages, and properties.

use std::sync::Once;

use nodeb_air::error::ErrorSpec;
use nodeb_air::mac::sched::{Candidate, SchedulerSpec};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Rate, Time};
use nodeb_net::queue::{DropLog, QueueSpec};
use nodeb_sim::scenario::Direction;
use nodeb_sim::{Control, Scenario, run, scenario};
use proptest::prelude::*;

/// Name of each plug-in, with the text of a scenario that uses it.
const FILES: [(&str, &str); 5] = [
    ("urgent", include_str!("../scenarios/urgent.toml")),
    ("head_drop", include_str!("../scenarios/head_drop.toml")),
    ("periodic", include_str!("../scenarios/periodic.toml")),
    ("quota", include_str!("../scenarios/quota.toml")),
    ("aimd", include_str!("../scenarios/aimd.toml")),
];

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(nodeb_plugins::register);
}

fn read(text: &str) -> Result<Scenario, String> {
    register();
    scenario::from_toml(text, "s.toml", &[]).map_err(|error| error.to_string())
}

#[test]
fn every_plug_in_carries_all_traffic_of_its_scenario() {
    for (name, text) in FILES {
        let scenario = read(text).unwrap();
        let result = run(&scenario, 1, 0, &Control::default()).unwrap();
        let wanted: u64 = scenario
            .users
            .iter()
            .map(|group| {
                let traffic = group.traffic(Direction::Down).unwrap();
                u64::from(group.count.get()) * traffic.total_bytes().unwrap()
            })
            .sum();
        assert_eq!(result.flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>(), wanted, "{name}");
    }
}

#[test]
fn written_scenario_has_every_key_and_is_read_back() {
    for (name, text) in FILES {
        let scenario = read(text).unwrap();
        let toml = scenario::to_toml(&scenario).unwrap();
        assert!(toml.contains(name), "{toml}");
        assert_eq!(read(&toml).unwrap(), scenario, "{name}");
        let json = serde_json::to_string(&scenario).unwrap();
        assert_eq!(scenario::from_json(&json).unwrap(), scenario, "{name}");
    }
}

#[test]
fn registry_and_schema_contain_every_name() {
    register();
    let schema = Scenario::schema().to_string();
    for (name, _) in FILES {
        assert!(Scenario::registry().iter().any(|(_, key, _)| *key == name), "{name}");
        assert!(schema.contains(&format!("\"title\":\"{name}\"")), "{name}");
    }
    assert!(schema.contains("Share of the best rate that a user must reach to be chosen"));
}

#[test]
fn errors_are_reported_with_line_and_key() {
    const USER: &str = "\n[[users]]\ntraffic.ftp.size = \"1 kB\"\n";
    for (text, message) in [
        (
            "[radio.hsdpa]\ncodes = 5\n\n[radio.hsdpa.scheduler.urgent]\n# a share\nshere = 0.5",
            "s.toml:6: radio.hsdpa.scheduler.urgent.shere: unknown key; did you mean `share`? (allowed: share)",
        ),
        (
            "[radio.hsdpa.scheduler.urgent]\n\nshare = \"half\"",
            "s.toml:3: radio.hsdpa.scheduler.urgent.share: invalid type: string \"half\", expected a number",
        ),
        (
            "name = \"x\"\nradio.hsdpa.scheduler.urgent.share = 1.5",
            "s.toml:2: radio.hsdpa.scheduler.urgent.share: 1.5 is no share of a rate; expected 0 to 1",
        ),
        (
            "\nradio.hsdpa.scheduler = \"urgnt\"",
            "s.toml:2: radio.hsdpa.scheduler: unknown name `urgnt`; did you mean `urgent`? (allowed: round_robin, max_ci, \
             proportional_fair, normalized, earliest_deadline, tcp_aware, urgent)",
        ),
        (
            "radio.dch.errors.process.periodic = {}",
            "s.toml:1: radio.dch.errors.process.periodic: the key `every` is missing",
        ),
        (
            "tcp.linux.control = { aimd = {}, reno = {} }",
            "s.toml:1: tcp.linux.control: two variants of one congestion control; keep one of: reno, cubic, \
             cubic_rfc9438, bbr, bbr3, westwood, vegas, scalable, veno, aimd",
        ),
    ] {
        assert_eq!(read(&format!("{text}{USER}")).unwrap_err(), message);
    }
}

/// Scenarios may set `delay_budget` with the plug-in `urgent`, because `urgent` declares that it
/// uses deadlines.
#[test]
fn delay_budget_has_an_effect_if_the_scheduler_declares_it() {
    let text = "radio.hsdpa.scheduler = \"SCHEDULER\"\n[[users]]\ntraffic.ftp.size = \"1 kB\"\nbearer.delay_budget = \"1 s\"\n";
    assert!(read(&text.replace("SCHEDULER", "urgent")).is_ok());
    let refused = read(&text.replace("SCHEDULER", "max_ci")).unwrap_err();
    assert!(
        refused.ends_with("only the scheduler `earliest_deadline` or `urgent` uses it; leave it out"),
        "{refused}"
    );
}

proptest! {
    /// The scheduler chooses a user whose rate is good, and no other such user has an earlier
    /// deadline.
    #[test]
    fn scheduler_takes_nearest_deadline_of_good_channels(
        share in 0.0f64..1.0,
        users in prop::collection::vec((1u32..1000, 0u64..100), 1..10),
    ) {
        register();
        let spec: SchedulerSpec = serde_json::from_value(serde_json::json!({ "urgent": { "share": share } })).unwrap();
        let mut scheduler = spec.build(users.len(), Duration::from_millis(2));
        let candidate = |(user, (rate, deadline)): (usize, &(u32, u64))| Candidate { deadline: *deadline, ..Candidate::at_rate(user, *rate) };
        let candidates: Vec<_> = users.iter().enumerate().map(candidate).collect();
        let best = users.iter().map(|(rate, _)| *rate).max().unwrap();
        let good = |candidate: &&Candidate| f64::from(candidate.rate) >= share * f64::from(best);
        let chosen = candidates[scheduler.pick(0, &candidates)];
        prop_assert!(good(&&chosen));
        prop_assert!(candidates.iter().filter(good).all(|other| other.deadline >= chosen.deadline));
    }

    /// Packets leave the queue in order, each at most once, and a full queue keeps the newest packets.
    #[test]
    fn queue_keeps_newest_packets_in_order(limit in 1u32..20, pushes in prop::collection::vec(any::<bool>(), 0..200)) {
        register();
        let spec: QueueSpec = serde_json::from_value(serde_json::json!({ "head_drop": { "limit": limit } })).unwrap();
        let mut queue = spec.build(Rate(1_000_000), Streams::new(1, 0).stream("law", 0, "queue"));
        let (mut drops, mut out, mut pushed) = (DropLog::default(), Vec::new(), 0);
        for push in pushes {
            if push {
                prop_assert!(queue.push(Time::ZERO, Packet::new(pushed, 1500), &mut drops));
                pushed += 1;
            } else if let Some(packet) = queue.pop(Time::ZERO, &mut drops) {
                out.push(packet.id.0);
            }
            out.extend(drops.take_discarded().map(|(packet, _)| packet.id.0));
            prop_assert!(queue.len() <= limit as usize);
            prop_assert_eq!(out.len() + queue.len(), pushed as usize);
            prop_assert_eq!(queue.bytes(), 1500 * queue.len() as u64);
        }
        prop_assert!(out.is_sorted());
    }

    /// One step in `every` is an error, and the errors after skipped steps are the same as without
    /// skipping.
    #[test]
    fn errors_are_periodic_with_and_without_skipping(every in 2u32..50, seed in any::<u64>(), skipped in 0u64..200) {
        register();
        let spec: ErrorSpec = serde_json::from_value(serde_json::json!({ "periodic": { "every": every } })).unwrap();
        let process = || spec.build(&Streams::new(seed, 0), 3, 1);
        let (mut looked, mut leapt) = (process(), process());
        for _ in 0..skipped {
            looked.next_is_error();
        }
        leapt.skip(skipped);
        let errors: Vec<bool> = (0..every).map(|_| looked.next_is_error()).collect();
        prop_assert_eq!(&errors, &(0..every).map(|_| leapt.next_is_error()).collect::<Vec<_>>());
        prop_assert_eq!(errors.iter().filter(|error| **error).count(), 1);
        prop_assert!((spec.clean(1) - (1.0 - 1.0 / f64::from(every))).abs() < 1e-12);
    }

    /// A run gives the same flows whenever it is repeated with the same seed, with and without
    /// recorded time series.
    #[test]
    fn runs_are_repeatable_and_recording_changes_nothing(seed in any::<u32>(), which in 0..FILES.len()) {
        let scenario = read(FILES[which].1).unwrap();
        let mut recorded = scenario.clone();
        recorded.record.cwnd = true;
        recorded.record.queue = true;
        let flows = |scenario: &Scenario| format!("{:?}", run(scenario, seed.into(), 0, &Control::default()).unwrap().flows);
        prop_assert_eq!(flows(&scenario), flows(&recorded));
    }
}
