use nodeb_base::event::Part;
use nodeb_base::packet::{EcnField, Packet, PacketId};
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Rate, Time};
use nodeb_net::queue::QueueSpec;
use nodeb_net::queue::codel::Codel;
use proptest::prelude::*;

use super::air::{MS, PLAIN, load, transmit};
use crate::pdcp::Transmit;
use crate::rlc::lte::am::LteAm;
use crate::rlc::lte::um::LteUm;
use crate::rlc::lte::{Entity, Framing, Outcome, header};

type Fates = Vec<(u64, Option<u64>)>;

fn take_fates(rlc: &mut Entity, fates: &mut Fates) {
    fates.extend(rlc.outcomes().map(|outcome| match outcome {
        Outcome::Delivered { number, packet } => (packet.id.0, Some(number)),
        Outcome::Lost { packet, .. } => (packet.id.0, None),
    }));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    // Tests the feature: queues and ECN in front of RLC (property)
    /// Whatever the queue and the discard timer drop; no block is lost.
    #[test]
    fn dropped_packets_leave_no_gap(
        is_am in any::<bool>(),
        spec in prop::sample::select(QueueSpec::defaults()),
        timer in prop::option::of(1..80u64),
        load in load(5..400, 600, 1),
    ) {
        let stream = Streams::new(1, 0).stream("test", 0, "queue");
        let timer = timer.map(|timer| Duration(timer * MS));
        let transmit = Transmit::new(spec.build(Rate(10_000_000), stream), timer);
        let mut rlc = if is_am {
            Entity::am(&LteAm::default(), PLAIN, transmit)
        } else {
            Entity::um(&LteUm::default(), PLAIN, transmit)
        };
        let (mut fates, mut at) = (Fates::new(), 0);
        while at < 60 || rlc.backlog().packets > 0 {
            let now = Time(at as u64 * MS);
            rlc.on_time(now);
            for (number, packet) in load.packets.iter().enumerate().filter(|(_, packet)| packet.0 == at) {
                if !rlc.push(now, Packet::new(number as u64, packet.1), at as u64) {
                    fates.push((number as u64, None));
                }
            }
            let block = rlc.fill(now, load.ttis[at % load.ttis.len()].room);
            rlc.receive(now, block.units, false);
            if let Some(report) = rlc.take_report(now, 100) {
                rlc.on_report(report.number, false);
            }
            take_fates(&mut rlc, &mut fates);
            at += 1;
        }
        let numbers: Vec<u64> = fates.iter().filter_map(|fate| fate.1).collect();
        prop_assert_eq!(&numbers, &(0..numbers.len() as u64).collect::<Vec<_>>());
        let mut ids: Vec<u64> = fates.iter().map(|fate| fate.0).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..load.packets.len() as u64).collect::<Vec<_>>());
    }

    // Tests the feature: MAC headers and padding (property)
    /// Padding with room for another PDU is left only if nothing waits; all payload is packets with PDCP
    /// headers.
    #[test]
    fn padding_is_left_only_if_nothing_waits(
        is_am in any::<bool>(),
        packets in prop::collection::vec(1..4_000u32, 1..30),
        rooms in prop::collection::vec(6..9_000u32, 1..20),
        subheader in 0..4u32,
    ) {
        let framing = Framing { subheader, sdu_header: 2, ..PLAIN };
        let mut rlc = if is_am {
            Entity::am(&LteAm::default(), framing, transmit())
        } else {
            Entity::um(&LteUm::default(), framing, transmit())
        };
        for (number, bytes) in (0..).zip(&packets) {
            rlc.push(Time::ZERO, Packet::new(number, *bytes), 0);
        }
        let mut payload = 0;
        for (ms, room) in (0..).zip(rooms.iter().cycle()) {
            let now = Time(ms * MS);
            rlc.on_time(now);
            let block = rlc.fill(now, *room);
            let smallest = subheader + header::AMD + 1;
            prop_assert!(block.bytes() <= *room);
            prop_assert!(room - block.bytes() < smallest || rlc.sendable() == 0, "{room} {block:?}");
            payload += block.payload;
            rlc.receive(now, block.units, false);
            if let Some(report) = rlc.take_report(now, 100) {
                rlc.on_report(report.number, false);
            }
            if rlc.backlog().packets == 0 {
                break;
            }
        }
        prop_assert_eq!(payload, packets.iter().map(|bytes| bytes + 2).sum::<u32>());
    }
}

// Tests the feature: queues and ECN in front of RLC (worked example)
/// CoDel marks packets of a standing queue.
#[test]
fn marks_of_the_queue_arrive() {
    let stream = Streams::new(1, 0).stream("test", 0, "queue");
    let queue = QueueSpec::Codel(Codel::default()).build(Rate(10_000_000), stream);
    let mut rlc = Entity::um(&LteUm::default(), PLAIN, Transmit::new(queue, None));
    let mut marked = 0;
    for ms in 0..400 {
        let now = Time(ms * MS);
        for _ in 0..if ms == 0 { 50 } else { 1 } {
            rlc.push(now, Packet { ecn: EcnField::Ect0, ..Packet::new(ms, 100) }, 0);
        }
        let block = rlc.fill(now, 102);
        rlc.receive(now, block.units, false);
        for outcome in rlc.outcomes() {
            let Outcome::Delivered { packet, .. } = outcome else { panic!("{outcome:?}") };
            marked += usize::from(packet.ecn == EcnField::Ce);
        }
    }
    assert!(marked > 1, "{marked}");
    assert_eq!(rlc.queue_counts().marked, marked as u64);
}

/// The header has two octets: a block of 4 octets carries only it, the next of 5 the first 3 bytes of the
/// packet.
#[test]
fn header_of_pdcp_is_no_part_of_a_packet() {
    let mut rlc = Entity::um(&LteUm::default(), Framing::default(), transmit());
    rlc.push(Time::ZERO, Packet::new(7, 10), 3);
    assert_eq!((rlc.waits_since(), rlc.waiting()), (Some(3), 10 + 2 + 2 + 2));
    let parts = [4, 5, 100].map(|room| {
        let block = rlc.fill(Time::ZERO, room);
        rlc.carried(block.units)
    });
    let part = |offset, bytes| vec![Part { packet: PacketId(7), offset, bytes }];
    assert_eq!(parts, [vec![], part(0, 3), part(3, 7)]);
    assert_eq!((rlc.waits_since(), rlc.waiting()), (None, 0));
}

#[test]
fn packets_in_flight_are_limited() {
    let framing = Framing { sdus_in_flight: 2, ..PLAIN };
    let mut rlc = Entity::am(&LteAm::default(), framing, transmit());
    for number in 0..3 {
        rlc.push(Time::ZERO, Packet::new(number, 10), 0);
    }
    let block = rlc.fill(Time::ZERO, 1_000);
    assert_eq!((block.payload, rlc.sendable()), (20, 0));
    assert!(rlc.waiting() > 0);
    rlc.receive(Time(1), block.units, false);
    assert_eq!(rlc.fill(Time(1), 1_000).payload, 10);
}
