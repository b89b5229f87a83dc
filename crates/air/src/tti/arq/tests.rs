use std::collections::{HashMap, VecDeque};

use nodeb_base::context::{Counts, Output, TestBench};
use nodeb_base::event::Record;
use nodeb_base::units::{Duration, Probability};
use proptest::prelude::*;

use super::*;
use crate::Hop;
use crate::mac::harq::CombiningSpec;
use crate::mac::sched::SchedulerSpec;
use crate::rlc::Delivered;
use crate::tti::TtiBearer;

fn air(bler: f64, max_transmissions: Option<u32>, delivered: Delivered) -> Air {
    Air {
        channels: 3,
        tti: Duration::from_millis(10),
        pdu_bytes: 40,
        pdus_per_block: 2,
        bler: Probability(bler),
        retransmission_delay: Duration::from_millis(35),
        max_transmissions,
        delivered,
        buffer: 40,
        combining: CombiningSpec::default(),
    }
}

fn bearer(air: &Air, runs_ahead: bool) -> TtiBearer<ArqMac> {
    shared(air, 1, runs_ahead)
}

fn shared(air: &Air, users: u64, runs_ahead: bool) -> TtiBearer<ArqMac> {
    let users: Vec<_> = (0..users).map(|id| UserRadio { id, ..UserRadio::default() }).collect();
    let scheduler = SchedulerSpec::default().build(users.len(), air.tti);
    let mac = ArqMac::new(air.clone(), None, &users, scheduler, &Streams::new(1, 0));
    TtiBearer::new(air.tti, if runs_ahead { mac } else { mac.without_running_ahead() })
}

/// Packets with their times, counters, and events in order.
fn play(
    mut bearer: TtiBearer<ArqMac>,
    offers: &[(Time, u32)],
    end: Time,
    mask: Mask,
) -> (Vec<(Time, Output)>, Counts, Vec<Record>) {
    let mut around = TestBench::with_mask(mask, end);
    let mut out = Vec::new();
    let users = bearer.mac.users.len();
    let mut run = |bearer: &mut TtiBearer<ArqMac>, around: &mut TestBench, until: Time| {
        while let Some(instant) = bearer.next_wake().filter(|instant| instant.time() <= until) {
            bearer.wake(&mut around.at(instant.time()), instant);
            out.extend(around.common.out.drain(..).map(|output| (instant.time(), output)));
        }
    };
    for (id, &(at, size)) in (0..).zip(offers.iter().filter(|(at, _)| *at < end)) {
        run(&mut bearer, &mut around, at);
        bearer.accept(&mut around.at(at), id as usize % users, Packet::new(id, size));
    }
    run(&mut bearer, &mut around, end);
    bearer.apply_deferred(&mut around.at(end));
    let mut events = around.take_events();
    events.sort_by_key(|(at, _)| *at);
    (out, around.counts, events)
}

proptest! {
    /// For any arrivals and any end.
    #[test]
    fn simulating_ahead_changes_no_result(
        gaps in prop::collection::vec((0u64..300, 1u32..4_000), 1..60),
        bler in prop_oneof![Just(0.0), Just(0.1), Just(0.5)],
        most in prop::option::of(1u32..4),
        out_of_sequence in any::<bool>(),
        end_ms in 1u64..6_000,
    ) {
        let delivered = if out_of_sequence { Delivered::OutOfSequence } else { Delivered::InSequence };
        let air = air(bler, most, delivered);
        let mut at = 0;
        // No arrival coincides with a start of a TTI, as arrivals are 77 ns after a whole
        // millisecond.
        let offers: Vec<_> = gaps.into_iter().map(|(gap, size)| { at += gap; (Time(at * 1_000_000 + 77), size) }).collect();
        let end = Time(end_ms * 1_000_000 + 13);
        for mask in [Mask::NONE, Mask::TTIS, Mask::ALL] {
            let ahead = play(bearer(&air, true), &offers, end, mask);
            let plain = play(bearer(&air, false), &offers, end, mask);
            prop_assert_eq!(ahead.0, plain.0);
            prop_assert_eq!(ahead.1, plain.1);
            let of_radio = |events: Vec<Record>| -> Vec<_> {
                events.into_iter().filter(|(_, event)| event.class() != Mask::PACKETS).collect()
            };
            prop_assert_eq!(of_radio(ahead.2), of_radio(plain.2));
        }
    }
}

/// Time, user, first PDU, number of PDUs, whether it failed, and its packets.
type EmittedBlock = (Time, u32, u64, u32, bool, Vec<u64>);

fn single_blocks(events: &[Record]) -> Vec<EmittedBlock> {
    let mut blocks: Vec<EmittedBlock> = Vec::new();
    for (at, event) in events {
        match *event {
            Event::Block { user, block, units, failed, .. } => {
                blocks.push((*at, user, block, units, failed, Vec::new()));
            }
            Event::Carries { user, block, part, .. } => {
                let last = blocks.last_mut().filter(|last| (last.1, last.2) == (user, block));
                last.expect("its block was emitted before").5.push(part.packet.0);
            }
            _ => {}
        }
    }
    blocks
}

/// A new block carries each packet whose `Segmented` event has a PDU in it.
fn blocks_of_runs(events: &[Record], tti: Duration) -> Vec<EmittedBlock> {
    let cuts: Vec<_> = events
        .iter()
        .filter_map(|(_, event)| match *event {
            Event::Segmented { user, packet, first, end, .. } => Some((user, packet.0, first, end)),
            _ => None,
        })
        .collect();
    let packets = |user: u32, first: u64, units: u32| {
        let is_in =
            |cut: &&(u32, u64, u64, u64)| cut.0 == user && cut.2 < first + u64::from(units) && first < cut.3;
        cuts.iter().filter(is_in).map(|cut| cut.1).collect()
    };
    let (mut each, mut waiting) = (Vec::new(), HashMap::<u32, VecDeque<_>>::new());
    for (at, event) in events {
        match *event {
            Event::Block { user, block, units, failed, transmission, .. } => {
                let carried = if transmission == 1 { packets(user, block, units) } else { Vec::new() };
                each.push((*at, user, block, units, failed, carried));
            }
            Event::Run { user, blocks, .. } => {
                let waiting = waiting.entry(user).or_default();
                for place in 0..blocks.count() {
                    let is_again = blocks.is_again(place);
                    let (first, units) = if is_again {
                        waiting.pop_front().expect("a block that has failed")
                    } else {
                        let first = blocks.unit(place);
                        (first, blocks.per_block.min((blocks.end() - first) as u32))
                    };
                    let failed = blocks.has_failed(place);
                    if failed {
                        waiting.push_back((first, units));
                    }
                    let carried = if is_again { Vec::new() } else { packets(user, first, units) };
                    let at = Time(at.0 + u64::from(place / blocks.per_tti) * tti.0);
                    each.push((at, user, first, units, failed, carried));
                }
            }
            _ => {}
        }
    }
    each.sort_by_key(|block| block.0);
    each
}

proptest! {
    #[test]
    fn combined_runs_equal_single_blocks(
        gaps in prop::collection::vec((0u64..300, 1u32..4_000), 1..60),
        bler in prop_oneof![Just(0.0), Just(0.01), Just(0.1), Just(0.5)],
        most in prop::option::of(1u32..4),
        // With 80 channels, a TTI has more blocks than one combined event has bits for.
        channels in prop_oneof![Just(1), Just(3), Just(64), Just(80)],
        users in 1u64..4,
        end_ms in 1u64..6_000,
    ) {
        let air = Air { channels, ..air(bler, most, Delivered::InSequence) };
        let mut at = 0;
        let offers: Vec<_> = gaps.into_iter().map(|(gap, size)| { at += gap; (Time(at * 1_000_000 + 77), size) }).collect();
        let end = Time(end_ms * 1_000_000 + 13);
        let played = |mask| play(shared(&air, users, true), &offers, end, mask);
        let (out, counts, each) = played(Mask::BLOCKS.or(Mask::TTIS));
        let ttis = |events: &[Record]| -> Vec<_> {
            events.iter().filter(|(_, event)| event.class() == Mask::TTIS).copied().collect()
        };
        for mask in [Mask::RUNS, Mask::RUNS.or(Mask::TTIS)] {
            let (out_of_runs, counts_of_runs, runs) = played(mask);
            prop_assert_eq!((&out, &counts), (&out_of_runs, &counts_of_runs));
            prop_assert_eq!(single_blocks(&each), blocks_of_runs(&runs, air.tti));
            prop_assert!(mask == Mask::RUNS || ttis(&runs) == ttis(&each));
        }
    }
}

#[test]
fn runs_have_as_many_units_as_packets_have_pdus() {
    let air = Air { channels: 6, pdus_per_block: 1, pdu_bytes: 1, ..air(0.0, None, Delivered::InSequence) };
    let offers = [(Time(77), u32::MAX), (Time(77), u32::MAX)];
    let (_, _, events) = play(bearer(&air, true), &offers, Time(16_000_000_000_000_000_000), Mask::RUNS);
    let units = |(_, event): &Record| match *event {
        Event::Run { blocks, .. } => u64::from(blocks.units),
        _ => 0,
    };
    assert_eq!(events.iter().map(units).sum::<u64>(), 2 * u64::from(u32::MAX));
}
