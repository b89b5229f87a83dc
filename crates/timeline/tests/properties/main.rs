#[allow(dead_code, unreachable_pub, reason = "shared with the property tests of the simulator")]
#[path = "../../../sim/tests/properties/cases.rs"]
mod cases;
#[allow(dead_code, unreachable_pub, reason = "shared with the property tests of the simulator")]
#[path = "../../../sim/tests/support/effective.rs"]
mod effective;
#[allow(dead_code, unreachable_pub, reason = "shared with the property tests of the simulator")]
#[path = "../../../sim/tests/properties/errors.rs"]
mod errors;
#[allow(dead_code, unreachable_pub, reason = "shared with the property tests of the simulator")]
#[path = "../../../sim/tests/properties/keys.rs"]
mod keys;
mod rows;

use std::collections::{HashMap, HashSet};

use nodeb_base::units::Time;
use nodeb_sim::{Control, Scenario, run, scenario};
use nodeb_timeline::{End, Error, Kind, Options, Outcome, Timeline};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};

use rows::{flags, names, numbers, texts, words};

type Checked = std::result::Result<(), TestCaseError>;

/// No random scenario reaches it.
const MOST: u64 = 1 << 24;

fn record(scenario: &Scenario, options: Options) -> Timeline {
    nodeb_timeline::run(scenario, scenario.seed, 0, &Control::default(), &options).unwrap()
}

fn everything() -> Options {
    Options { most: MOST, ..Options::default() }
}

/// Numbers without gaps, times in order, and causes exactly for lost packets.
fn check_packets(timeline: &Timeline) -> Checked {
    let [packet, sent, ended, handed] =
        ["packet", "sent_ns", "ended_ns", "handed_ns"].map(|name| numbers(timeline, "packets", name));
    let end = numbers(timeline, "packets", "end");
    let cause = numbers(timeline, "packets", "cause");
    prop_assert!(packet.iter().copied().eq(1..=packet.len() as u64));
    prop_assert!(sent.is_sorted());
    let mut now: HashMap<u64, u64> = packet.iter().copied().zip(sent.iter().copied()).collect();
    let [of, entered, begun, left] =
        ["packet", "entered_ns", "begun_ns", "left_ns"].map(|name| numbers(timeline, "hops", name));
    for i in 0..of.len() {
        let before = now.insert(of[i], left[i]).unwrap();
        prop_assert!(before <= entered[i] && entered[i] <= begun[i] && begun[i] <= left[i], "stay {i}");
    }
    for i in 0..packet.len() {
        prop_assert!(now[&packet[i]] <= ended[i], "packet {}", packet[i]);
        prop_assert!(handed[i] == 0 || handed[i] >= ended[i], "packet {} is handed over early", packet[i]);
        prop_assert_eq!(end[i] == End::Lost as u64, cause[i] != 0, "packet {}", packet[i]);
    }
    Ok(())
}

/// One event for the transmission and at most one for the end; single packets are a sample.
fn check_events(timeline: &Timeline) -> Checked {
    prop_assert!(numbers(timeline, "events", "time_ns").is_sorted());
    let kinds = numbers(timeline, "events", "kind");
    let packets = numbers(timeline, "events", "packet");
    let count = |wanted: &[Kind], packet: u64| {
        let of = |(kind, of): (&u64, &u64)| *of == packet && wanted.iter().any(|one| *one as u64 == *kind);
        kinds.iter().zip(&packets).filter(|row| of(*row)).count()
    };
    let ends = numbers(timeline, "packets", "end");
    let total =
        |wanted: &[Kind]| kinds.iter().filter(|kind| wanted.iter().any(|one| *one as u64 == **kind)).count();
    prop_assert_eq!(total(&[Kind::Sent, Kind::Resent]), ends.len());
    let over = ends.iter().filter(|end| **end != End::InFlight as u64).count();
    prop_assert_eq!(total(&[Kind::Received, Kind::Lost]), over);
    for packet in (1..=ends.len() as u64).step_by(ends.len().div_ceil(20)) {
        prop_assert_eq!(count(&[Kind::Sent, Kind::Resent], packet), 1);
        prop_assert!(count(&[Kind::Received, Kind::Lost], packet) <= 1);
    }
    Ok(())
}

/// Against the counters of the results, and the table `blocks` against the events.
fn check_counts(timeline: &Timeline) -> Checked {
    let result = timeline.result.as_ref().expect("without a window the run has a result");
    let (places, ends) = (words(timeline, "hops", "place"), numbers(timeline, "hops", "end"));
    let stays = |bearer: bool, end: Option<End>| {
        let fits = |(place, found): (&String, &u64)| {
            (place == "bearer") == bearer && end.is_none_or(|end| end as u64 == *found)
        };
        places.iter().zip(&ends).filter(|row| fits(*row)).count() as u64
    };
    let sum = |read: fn(&nodeb_base::context::Counts) -> u64| {
        result.bearers.iter().map(|row| read(&row.counts)).sum::<u64>()
    };
    prop_assert_eq!(stays(true, None), sum(|counts| counts.packets_in));
    prop_assert_eq!(stays(true, Some(End::Through)), sum(|counts| counts.packets_delivered));
    let lost = |bearer: bool| {
        let kinds = numbers(timeline, "events", "kind");
        let at = words(timeline, "events", "place");
        let fits =
            |(kind, place): (&u64, &String)| *kind == Kind::Lost as u64 && (place == "bearer") == bearer;
        kinds.iter().zip(&at).filter(|row| fits(*row)).count() as u64
    };
    prop_assert_eq!(lost(true), sum(|counts| counts.packets_dropped));
    let sent: u64 = numbers(timeline, "blocks", "transmissions").iter().sum();
    let reported =
        numbers(timeline, "events", "kind").iter().filter(|kind| **kind == Kind::Block as u64).count();
    prop_assert_eq!(sent, reported as u64);
    Ok(())
}

fn check_blocks(timeline: &Timeline) -> Checked {
    let [block, transmissions, failed, outcome, first, last] =
        ["block", "transmissions", "failed", "outcome", "first_ns", "last_ns"]
            .map(|name| numbers(timeline, "blocks", name));
    prop_assert!(block.iter().copied().eq(1..=block.len() as u64));
    for i in 0..block.len() {
        prop_assert!(transmissions[i] >= 1 && failed[i] <= transmissions[i] && first[i] <= last[i]);
        if outcome[i] != Outcome::Received as u64 {
            prop_assert!(failed[i] >= 1, "block {} has not failed", block[i]);
        }
    }
    let flagged = flags(timeline, "events", "failed").iter().filter(|failed| **failed).count() as u64;
    prop_assert_eq!(failed.iter().sum::<u64>(), flagged);
    Ok(())
}

/// Those rows whose numbers are in `rows`, in every column.
fn check_selection(table: &str, whole: &Timeline, part: &Timeline, rows: &[usize]) -> Checked {
    for name in names(whole, table) {
        let (all, some) = (texts(whole, table, name), texts(part, table, name));
        let all: Vec<_> = rows.iter().map(|i| &all[*i]).collect();
        prop_assert_eq!(all, some.iter().collect::<Vec<_>>(), "{}.{}", table, name);
    }
    Ok(())
}

/// Events in the window, packets in flight with their stays, and blocks first sent in it; only numbers if the
/// whole run is longer than the recording.
fn check_window(scenario: &Scenario, whole: &Timeline, from: u64, to: u64) -> Checked {
    let options = Options { from: Time(from), to: Time(to), ..everything() };
    let times = numbers(whole, "events", "time_ns");
    let inside: Vec<usize> = (0..times.len()).filter(|i| from <= times[*i] && times[*i] < to).collect();
    let part = match nodeb_timeline::run(scenario, scenario.seed, 0, &Control::default(), &options) {
        Ok(part) => part,
        Err(Error::Nothing { .. }) => {
            prop_assert!(inside.is_empty(), "there are {} events", inside.len());
            return Ok(());
        }
        Err(other) => panic!("{other}"),
    };
    check_selection("events", whole, &part, &inside)?;
    let over = part.until.0;
    let [sent, ended] = ["sent_ns", "ended_ns"].map(|name| numbers(whole, "packets", name));
    let packets: Vec<usize> = (0..sent.len()).filter(|i| sent[*i] < to && from <= ended[*i]).collect();
    let numbered = numbers(whole, "packets", "packet");
    let kept: HashSet<u64> = packets.iter().map(|i| numbered[*i]).collect();
    let of = numbers(whole, "hops", "packet");
    let hops: Vec<usize> = (0..of.len()).filter(|i| kept.contains(&of[*i])).collect();
    let first = numbers(whole, "blocks", "first_ns");
    let blocks: Vec<usize> = (0..first.len()).filter(|i| from <= first[*i] && first[*i] < to).collect();
    // The timeline `part` follows packets only up to a time after its window. So packets and blocks
    // can be compared only if the whole run ends before that time.
    if whole.until.0 <= over {
        check_selection("packets", whole, &part, &packets)?;
        check_selection("hops", whole, &part, &hops)?;
        check_selection("blocks", whole, &part, &blocks)?;
    }
    prop_assert_eq!(numbers(&part, "packets", "packet").len(), packets.len());
    prop_assert_eq!(numbers(&part, "blocks", "block").len(), blocks.len());
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: Config::default().cases.div_ceil(4), failure_persistence: None, ..Config::default() })]

    #[test]
    fn timelines_are_consistent_and_windows_are_parts(case in cases::any_scenario(), window in (0.0..1.0f64, 0.0..1.0f64)) {
        let whole = record(&case.scenario, everything());
        let quiet = run(&case.scenario, case.scenario.seed, 0, &Control::default()).unwrap();
        prop_assert_eq!(format!("{quiet:?}"), format!("{:?}", whole.result.as_ref().unwrap()), "recording changed the run");
        check_packets(&whole)?;
        check_events(&whole)?;
        check_counts(&whole)?;
        check_blocks(&whole)?;
        let at = |share: f64| (share * whole.until.0 as f64) as u64;
        let (from, to) = (at(window.0.min(window.1)), at(window.0.max(window.1)) + 1);
        check_window(&case.scenario, &whole, from, to)?;
    }
}

const DOWNLOADS: &str = "[radio.hs_dsch]\nbler = 0.2\n[[users]]\ncount = 2\ntraffic.ftp.size = '100 kB'";

fn downloads() -> Scenario {
    scenario::from_toml(DOWNLOADS, "test", &[]).unwrap()
}

#[test]
fn single_user_has_the_rows_of_all_users() {
    let (all, one) =
        (record(&downloads(), everything()), record(&downloads(), Options { user: Some(1), ..everything() }));
    for table in ["events", "packets", "blocks"] {
        let users = numbers(&all, table, "user");
        let own: Vec<usize> = (0..users.len()).filter(|i| users[*i] == 1).collect();
        assert!(own.len() > 50, "{table}");
        check_selection(table, &all, &one, &own).unwrap();
    }
}

/// Without a lost packet.
#[test]
fn reduction_by_marks_is_not_recovery() {
    let text = "duration = '20 s'\n[wired]\nrate = '3 Mbps'\ndelay = '100 ms'\n\
         queue.red = { min_threshold = 3.0, max_threshold = 40.0, weight = 1.0 }\n\
         [radio.link]\nrate = '10 Mbps'\n[tcp.linux]\necn = true\ncontrol.reno = {}\n\
         [[users]]\ntraffic.ftp.size = '500 kB'";
    let timeline = record(&scenario::from_toml(text, "test", &[]).unwrap(), everything());
    let kinds = numbers(&timeline, "events", "kind");
    let details = words(&timeline, "events", "detail");
    let states = || kinds.iter().zip(&details).filter(|(kind, _)| **kind == Kind::Recovery as u64);
    assert!(states().any(|(_, state)| state == "reduced"));
    assert!(states().all(|(_, state)| state == "reduced" || state == "open"));
    let flows = &timeline.result.as_ref().unwrap().flows;
    assert_eq!((flows[0].sender.retransmissions, flows[0].recovery_s), (0, 0.0));
}

#[test]
fn too_many_events_are_counted_and_a_smaller_window_is_suggested() {
    let count = numbers(&record(&downloads(), everything()), "events", "kind").len() as u64;
    let options = Options { most: 500, ..Options::default() };
    let error = nodeb_timeline::run(&downloads(), 1, 0, &Control::default(), &options).unwrap_err();
    let Error::TooMany { count: reported, most: 500, from, until } = error else { panic!("{error}") };
    assert_eq!((reported, from), (count, Time::ZERO));
    let part = record(&downloads(), Options { to: until, ..options });
    let kept = numbers(&part, "events", "kind").len();
    assert!((250..=500).contains(&kept), "{kept}");
}

#[test]
fn invalid_options_are_rejected() {
    let message = |options: Options| {
        nodeb_timeline::run(&downloads(), 1, 0, &Control::default(), &options).unwrap_err().to_string()
    };
    let user = message(Options { user: Some(2), ..Options::default() });
    assert_eq!(user, "there is no user 2; expected 0 to 1");
    let empty = message(Options { from: Time(7), to: Time(7), ..Options::default() });
    assert!(empty.contains("is empty"), "{empty}");
    let nothing = message(Options { from: Time(u64::MAX / 2), ..Options::default() });
    assert!(nothing.contains("the last event before is at "), "{nothing}");
}
