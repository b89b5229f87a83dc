//! Trace-driven links agree with a direct implementation of mahimahi's rule.

use std::collections::VecDeque;
use std::sync::Arc;

use nodeb_base::context::TestBench;
use nodeb_base::event::{Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Size, Time};
use proptest::prelude::*;

use super::{TracedLink, Usage};
use crate::ingress::Ingress;
use crate::loss::Loss;
use crate::opportunities::{AtEnd, Opportunities, Recording, Trains};
use crate::propagation::Propagation;
use crate::queue::QueueSpec;

const MS: u64 = 1_000_000;
const SIZE: u64 = 1504;
const HEADER: u64 = 4;

/// Time in ns, and size in bytes.
type Arrival = (u64, u32);

fn link(times_ms: &[u64], at_end: AtEnd, delay: Duration, queue: &serde_json::Value) -> TracedLink {
    alternating(times_ms, None, at_end, delay, queue)
}

fn listed(times_ms: &[u64]) -> Opportunities {
    Opportunities { file: None, times_ms: Arc::new(times_ms.to_vec()) }
}

/// `trains`: times, packets of a train, and gap in ms.
fn alternating(
    times_ms: &[u64],
    trains: Option<(&[u64], u32, u64)>,
    at_end: AtEnd,
    delay: Duration,
    queue: &serde_json::Value,
) -> TracedLink {
    let (opportunities, of_trains) = (&listed(times_ms), listed(trains.map_or(&[], |(times, ..)| times)));
    let trains = trains.map(|(_, length, gap_ms)| Trains {
        opportunities: &of_trains,
        length: length.try_into().unwrap(),
        gap: Duration::from_millis(gap_ms),
    });
    let recording = Recording { opportunities, trains, at_end, size: Size(SIZE), header: Size(HEADER) };
    let queue: QueueSpec = serde_json::from_value(queue.clone()).unwrap();
    let stream = Streams::new(1, 0).stream("test", 0, "queue");
    let ingress = Ingress::new(Loss::Never, queue.build(recording.mean_rate(), stream));
    TracedLink::new("down", &recording, delay, ingress, Propagation::default())
}

fn endless() -> serde_json::Value {
    serde_json::json!({ "drop_tail": { "limit": 1_000_000 } })
}

/// Arrival time in ns and number of each packet delivered.
fn run(link: &mut TracedLink, around: &mut TestBench, end: u64) -> Vec<(u64, u64)> {
    let mut arrived = Vec::new();
    while let Some(instant) = link.next_wake().filter(|instant| instant.time().0 < end) {
        let at = instant.time();
        link.wake(&mut around.at(at), instant);
        arrived.extend(around.take_arrivals().into_iter().map(|(_, packet)| (at.0, packet.id.0)));
    }
    arrived
}

fn replay(link: &mut TracedLink, around: &mut TestBench, arrivals: &[Arrival], end: u64) -> Vec<(u64, u64)> {
    let mut arrived = Vec::new();
    for (id, &(at, size)) in (0..).zip(arrivals) {
        arrived.extend(run(link, around, at));
        link.accept(&mut around.at(Time(at)), Packet::new(id, size));
    }
    arrived.extend(run(link, around, end));
    arrived
}

/// Returns the departure time in ns and the number of each packet, and the use of opportunities.
fn rule(times_ms: &[u64], at_end: AtEnd, arrivals: &[Arrival], end: u64) -> (Vec<(u64, u64)>, Usage) {
    let (mut departures, mut usage) = (Vec::new(), Usage::default());
    let mut queue: VecDeque<(u64, u64)> = VecDeque::new();
    let (mut coming, mut origin) = ((0u64..).zip(arrivals).peekable(), 0);
    'rounds: loop {
        for ms in times_ms {
            let at = (origin + ms) * MS;
            if at >= end {
                break 'rounds;
            }
            while let Some((id, (_, size))) = coming.next_if(|(_, (arrives, _))| *arrives < at) {
                queue.push_back((id, u64::from(*size) + HEADER));
            }
            let mut room = SIZE;
            while let Some((id, left)) = queue.front_mut().filter(|_| room > 0) {
                let sent = room.min(*left);
                (room, *left) = (room - sent, *left - sent);
                if *left == 0 {
                    departures.push((at, *id));
                    queue.pop_front();
                }
            }
            let is_used = room < SIZE;
            usage.offered += 1;
            usage.used += u64::from(is_used);
            usage.wasted += u64::from(!is_used);
            usage.used_bytes += SIZE - room;
            usage.wasted_bytes += room;
            usage.offered_bytes += SIZE;
        }
        if at_end == AtEnd::Stop {
            break;
        }
        origin += times_ms.last().unwrap();
    }
    (departures, usage)
}

#[test]
fn packets_span_opportunities_and_opportunities_complete_packets() {
    // Each packet takes 4 bytes in addition to its size. The opportunity at 5 ms transmits the
    // first two packets and 100 bytes of the third. The one at 7 ms transmits the other 700 bytes
    // of the third packet and all 800 bytes of the fourth.
    let arrivals = [(0, 696), (0, 700), (0, 796), (0, 796)];
    let mut link = link(&[5, 7, 10], AtEnd::Loop, Duration::ZERO, &endless());
    let mut around = TestBench::default();
    let arrived = replay(&mut link, &mut around, &arrivals, 20 * MS);
    assert_eq!(arrived, [(5 * MS, 0), (5 * MS, 1), (7 * MS, 2), (7 * MS, 3)]);
    let usage = link.usage(Time(10 * MS));
    let expected =
        Usage { offered: 2, used: 2, wasted: 0, offered_bytes: 3008, used_bytes: 3004, wasted_bytes: 4 };
    assert_eq!(usage, expected);
}

#[test]
fn packets_miss_opportunities_at_their_arrival_time() {
    let mut link = link(&[0, 5], AtEnd::Loop, Duration::ZERO, &endless());
    let mut around = TestBench::default();
    let arrivals = [(0, 1500), (5 * MS - 1, 1500), (5 * MS, 40)];
    // The first packet leaves at 5 ms. The recording repeats from 5 ms on, so its opportunity at 0
    // ms is then at 5 ms, and the second packet uses it.
    assert_eq!(replay(&mut link, &mut around, &arrivals, 11 * MS), [(5 * MS, 0), (5 * MS, 1), (10 * MS, 2)]);
}

#[test]
fn delay_is_added_and_a_recording_may_stop() {
    let mut link = link(&[1, 2], AtEnd::Stop, Duration::from_millis(30), &endless());
    let mut around = TestBench::default();
    let arrivals = [(0, 1500), (0, 1500), (0, 1500)];
    assert_eq!(replay(&mut link, &mut around, &arrivals, 1_000 * MS), [(31 * MS, 0), (32 * MS, 1)]);
    assert_eq!((link.waiting(), link.waiting_bytes(), link.next_wake()), (1, 1500, None));
}

/// Trains of three packets meet an opportunity every 10 ms, a busy link one every ms.
#[test]
fn a_train_is_slow_until_the_link_is_busy() {
    let busy: Vec<u64> = (1..=50).collect();
    let arrivals = [0, 0, 0, 0, 0, 46 * MS, 48 * MS, 70 * MS, 71 * MS].map(|at| (at, 1500));
    let sent_ms = |gap_ms| {
        let trains = Some((&[10][..], 3, gap_ms));
        let mut link = alternating(&busy, trains, AtEnd::Loop, Duration::ZERO, &endless());
        let mut around = TestBench::default();
        let arrived = replay(&mut link, &mut around, &arrivals, 200 * MS);
        let usage = link.usage(Time(200 * MS));
        assert_eq!((usage.used, usage.used + usage.wasted), (9, usage.offered), "{gap_ms} ms");
        arrived.into_iter().map(|(at, _)| at / MS).collect::<Vec<_>>()
    };
    assert_eq!(sent_ms(0), [10, 20, 30, 31, 32, 50, 60, 80, 90]);
    // The packet at 46 ms arrives 14 ms after the previous one was sent, that at 70 ms 21 ms after it.
    assert_eq!(sent_ms(20), [10, 20, 30, 31, 32, 47, 49, 80, 90]);
}

#[test]
fn unused_opportunities_take_no_events() {
    let mut link = link(&[3, 3, 8], AtEnd::Loop, Duration::ZERO, &endless());
    let mut around = TestBench::default();
    let year = 365 * 86_400 * 1_000;
    link.accept(&mut around.at(Time(year * MS)), Packet::new(0, 1500));
    assert_eq!(run(&mut link, &mut around, u64::MAX), [((year + 3) * MS, 0)]);
    assert_eq!(link.next_wake(), None);
    let usage = link.usage(Time((year + 3) * MS));
    assert_eq!((usage.used, usage.wasted), (1, year / 8 * 3));
    assert_eq!(usage.used_bytes + usage.wasted_bytes, usage.offered_bytes);
}

#[test]
fn every_queue_discipline_works_with_opportunities() {
    for name in QueueSpec::NAMES {
        let mut link = link(&[40, 120, 120], AtEnd::Loop, Duration::ZERO, &serde_json::json!(name));
        let mut around = TestBench::default();
        let arrivals: Vec<_> = (0..800).map(|i| (i / 40 * 5_000 * MS, 1500)).collect();
        let arrived = replay(&mut link, &mut around, &arrivals, u64::MAX).len() as u64;
        assert_eq!(arrived + around.counts.packets_dropped, 800, "{name}");
        assert_eq!((link.waiting(), link.waiting_bytes()), (0, 0), "{name}");
        assert!(around.counts.packets_dropped > 0 || !name.contains("codel"), "{name}");
    }
}

fn recordings() -> impl Strategy<Value = Vec<u64>> {
    (prop::collection::vec(0u64..6, 0..20), 1u64..8).prop_map(|(mut gaps, last)| {
        gaps.push(last);
        gaps.iter()
            .scan(0, |sum, gap| {
                *sum += gap;
                Some(*sum)
            })
            .collect()
    })
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    // Arrival times are often multiples of 1 ms, because opportunities are at such times.
    let gap = prop_oneof![Just(0), (0u64..9).prop_map(|ms| ms * MS), 0u64..20_000_000];
    prop::collection::vec((gap, prop_oneof![Just(1500u32), 1u32..4_000]), 0..60).prop_map(|gaps| {
        let mut now = 0;
        gaps.into_iter()
            .map(|(gap, size)| {
                now += gap;
                (now, size)
            })
            .collect()
    })
}

proptest! {
    /// The alternation of two equal recordings, whose times are all different, is that recording.
    #[test]
    fn equal_recordings_of_trains_and_of_a_busy_link_change_nothing(
        gaps in prop::collection::vec(1u64..4, 1..12), last in 1u64..5, length in 1u32..6, gap_ms in 0u64..9,
        arrivals in prop::collection::vec((0u64..4_000_000, 20u32..4_000), 1..30),
    ) {
        let times: Vec<u64> = gaps.iter().chain([&last]).scan(0, |sum, gap| { *sum += gap; Some(*sum) }).collect();
        let arrivals: Vec<Arrival> =
            arrivals.into_iter().scan(0, |at, (gap, size)| { *at += gap; Some((*at, size)) }).collect();
        let play = |trains| {
            let mut link = alternating(&times, trains, AtEnd::Loop, Duration::ZERO, &endless());
            let arrived = replay(&mut link, &mut TestBench::default(), &arrivals, 1_000 * MS);
            (arrived, link.usage(Time(1_000 * MS)))
        };
        prop_assert_eq!(play(Some((&times[..], length, gap_ms))), play(None));
    }

    #[test]
    fn the_link_follows_the_rule(
        times in recordings(), arrivals in arrivals(), loops: bool, after in 1u64..100_000_000, delay in 0u64..3,
    ) {
        let at_end = if loops { AtEnd::Loop } else { AtEnd::Stop };
        let end = arrivals.last().map_or(0, |(at, _)| *at) + after;
        let delay = Duration::from_millis(delay * 10);
        let mut link = link(&times, at_end, delay, &endless());
        let mut around = TestBench::default();
        // The link has the same results with a listener. The start of each reported transmission is
        // at most 1 ms before its opportunity.
        around.common.sink = nodeb_base::event::Sink::new(Mask::SERVICE);
        let mut found = replay(&mut link, &mut around, &arrivals, end);
        let (expected, usage) = rule(&times, at_end, &arrivals, end);
        prop_assert_eq!(link.usage(Time(end)), usage);
        prop_assert_eq!(usage.used_bytes + usage.wasted_bytes, usage.offered_bytes);
        found.extend(run(&mut link, &mut around, end + delay.0));
        let late: Vec<_> = expected.iter().map(|(at, id)| (at + delay.0, *id)).collect();
        found.truncate(late.len());
        prop_assert_eq!(found, late);
        let mut before = Time::ZERO;
        for (_, event) in around.take_events() {
            if let Event::Served { packet, from, sent, .. } = event {
                prop_assert!(from >= before && from <= sent && from.0 + MS >= sent.0);
                prop_assert!(from.0 >= arrivals[packet.0 as usize].0);
                before = sent;
            }
        }
    }

    /// Except for opportunities at 0 ms in the first repetition, which precede the first packet.
    #[test]
    fn a_saturating_sender_uses_all_opportunities(times in recordings(), rounds in 1u64..5) {
        let end = rounds * times.last().unwrap() * MS;
        let in_round = times.len() as u64;
        let mut link = link(&times, AtEnd::Loop, Duration::ZERO, &endless());
        let mut around = TestBench::default();
        for id in 0..(rounds + 1) * in_round {
            link.accept(&mut around.at(Time::ZERO), Packet::new(id, 1500));
        }
        // Opportunities at 0 ms in the first repetition are wasted, as they precede the first packet. The
        // same number of opportunities at the end of the run is used: those at 0 ms of the next repetition.
        let at_zero = times.iter().filter(|ms| **ms == 0).count() as u64;
        let found = run(&mut link, &mut around, end + 1).len() as u64;
        prop_assert_eq!(found, rounds * in_round);
        let usage = link.usage(Time(end + 1));
        prop_assert_eq!((usage.wasted, usage.used), (at_zero, found));
        prop_assert_eq!(usage.used_bytes, found * SIZE);
    }
}
