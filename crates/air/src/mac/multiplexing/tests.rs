use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, Rate, Time};
use nodeb_net::queue::drop_tail::{DropTail, Fifo};
use proptest::prelude::*;

use super::*;
use crate::pdcp::Transmit;
use crate::rlc::lte::{Framing, LteRlcSpec};

const TTI: Duration = Duration::from_millis(1);

fn at(tti: u64) -> Time {
    Time(tti * TTI.0)
}

fn channels(bearers: &[Bearer]) -> LogicalChannels {
    LogicalChannels::new(bearers.iter().map(|bearer| {
        let transmit = Transmit::new(Box::new(Fifo::new(&DropTail::default())), None);
        let rlc = bearer.rlc.clone().unwrap_or_default();
        (ChannelRules::new(bearer, TTI), rlc.build(Framing::default(), transmit))
    }))
}

fn bearer(qci: u8, kbps: u64) -> Bearer {
    Bearer { qci, prioritized_rate: (kbps > 0).then_some(Rate(kbps * 1_000)), ..Bearer::default() }
}

fn packet(id: u64, bearer: u8) -> Packet {
    Packet { bearer, ..Packet::new(id, 500) }
}

/// STATUS PDUs arrive at once.
fn report(channels: &mut LogicalChannels, now: Time) {
    let mut statuses = Vec::new();
    channels.attend(now, |status| statuses.push(status));
    for status in statuses {
        channels.on_status(status);
    }
}

/// Octets that each bearer gets in `ttis` blocks of `room` octets, if data always wait.
fn carried(bearers: &[Bearer; 2], room: u32, ttis: u64) -> [u32; 2] {
    let (mut channels, mut octets) = (channels(bearers), [0; 2]);
    for tti in 0..ttis {
        for number in 0..2 {
            channels.push(at(tti), packet(2 * tti + u64::from(number), number), tti);
        }
        let units = channels.fill(at(tti), room).units;
        channels.receive(at(tti), units, false);
        report(&mut channels, at(tti));
        for outcome in channels.outcomes() {
            if let Outcome::Delivered { packet, .. } = outcome {
                octets[usize::from(packet.bearer)] += packet.size;
            }
        }
    }
    octets
}

// Tests the feature: logical channel prioritization (closed form)
/// Without a prioritized rate the higher priority takes everything; else the lower one gets its own, up to the size of
/// a packet and of the bucket.
#[test]
fn blocks_are_shared_by_priority_and_prioritized_rate() {
    let (room, ttis) = (200, 2_000);
    assert_eq!(carried(&[bearer(9, 0), bearer(8, 0)], room, ttis)[0], 0);
    let [low, high] = carried(&[bearer(9, 400), bearer(8, 0)], room, ttis);
    assert!(low.abs_diff(50 * ttis as u32) <= 6_000 + 50 * 100, "{low}");
    assert!((low + high).abs_diff(room * ttis as u32) <= 15_000, "{high}");
    // 8 needs 1,600 kbit/s before 9 gets a share.
    let [low, high] = carried(&[bearer(9, 400), bearer(8, 1_600)], room, ttis);
    assert!(low <= 500 && high > 0, "{low}");
}

#[test]
fn deadlines_are_those_of_the_most_urgent_packet() {
    let mut channels = channels(&[bearer(9, 0), bearer(7, 0)]);
    channels.push(at(0), packet(0, 0), 0);
    assert_eq!(channels.deadline(), 300);
    channels.push(at(10), packet(1, 1), 10);
    assert_eq!(channels.deadline(), 110);
}

fn mode() -> impl Strategy<Value = LteRlcSpec> {
    prop::sample::select(LteRlcSpec::defaults())
}

proptest! {
    // Tests the feature: logical channel prioritization (property)
    /// Whatever is lost on the air: each packet has one outcome, of its own bearer, in the order of the bearer, and
    /// blocks fit.
    #[test]
    fn packets_of_all_bearers_have_one_outcome(
        qcis in (5u8..10, 5u8..10),
        modes in (mode(), mode()),
        rooms in prop::collection::vec((1u32..900, prop::bool::weighted(0.8)), 30..120),
    ) {
        let bearers = [(qcis.0, modes.0), (qcis.1, modes.1)]
            .map(|(qci, rlc)| Bearer { qci, rlc: Some(rlc), ..Bearer::default() });
        let mut channels = channels(&bearers);
        let (mut ends, mut sent) = ([Vec::new(), Vec::new()], 0);
        let mut step = |channels: &mut LogicalChannels, tti: u64, room: u32, lost: bool| {
            let block = channels.fill(at(tti), room);
            prop_assert!(block.bytes() <= room);
            let carried: u32 = channels.carried(block.units.clone()).iter().map(|part| part.bytes).sum();
            prop_assert!(carried <= block.payload);
            channels.receive(at(tti), block.units, lost);
            report(channels, at(tti));
            channels.on_time(at(tti));
            for outcome in channels.outcomes() {
                let (Outcome::Delivered { packet, .. } | Outcome::Lost { packet, .. }) = outcome;
                ends[usize::from(packet.bearer)].push((packet.id.0, matches!(outcome, Outcome::Lost { .. })));
            }
            Ok(())
        };
        for (tti, (room, arrives)) in (0..).zip(rooms) {
            for number in 0..2 {
                sent += u64::from(channels.push(at(tti), packet(2 * sent + u64::from(number), number), tti));
            }
            step(&mut channels, tti, room, !arrives)?;
        }
        for tti in 1_000..3_000 {
            step(&mut channels, tti, 700, false)?;
        }
        prop_assert_eq!(channels.backlog(), Backlog::default());
        prop_assert_eq!(ends.iter().map(Vec::len).sum::<usize>() as u64, sent);
        for (number, ends) in (0..).zip(ends) {
            let delivered: Vec<u64> = ends.iter().filter(|(_, lost)| !lost).map(|(id, _)| *id).collect();
            prop_assert!(delivered.is_sorted());
            prop_assert!(ends.iter().all(|(id, _)| id % 2 == number));
        }
    }
}
