use nodeb_base::event::Cause;
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Rate, Time};
use nodeb_net::queue::QueueSpec;
use nodeb_net::queue::drop_tail::DropTail;
use proptest::prelude::*;

use super::{Pdcp, Receive, SnLength, Transmit};

fn transmit(queue: &QueueSpec, discard_timer: Option<Duration>) -> Transmit {
    let stream = Streams::new(1, 0).stream("test", 0, "queue");
    Transmit::new(queue.build(Rate(10_000_000), stream), discard_timer)
}

fn lost(transmit: &mut Transmit) -> Vec<(u64, Cause)> {
    transmit.take_lost().map(|(packet, cause)| (packet.id.0, cause)).collect()
}

// Tests the feature: PDCP headers (standard's table)
#[test]
fn header_has_the_size_of_its_number() {
    // The header has the D/C bit and reserved bits before the number, so it takes 2 or 3 octets.
    assert_eq!([SnLength::Bits12, SnLength::Bits18].map(SnLength::header), [2, 3]);
    assert_eq!([SnLength::Bits12, SnLength::Bits18].map(SnLength::window), [2_048, 131_072]);
}

// Tests the feature: discard of old packets (worked example)
#[test]
fn packets_that_are_not_begun_in_time_are_discarded() {
    for queue in QueueSpec::defaults() {
        let mut buffer = transmit(&queue, Some(Duration(100)));
        for number in 0..3 {
            assert!(buffer.push(Time(number * 30), Packet::new(number, 500), number));
        }
        assert_eq!(buffer.begin(Time(70)).map(|begun| (begun.packet.id.0, begun.since)), Some((0, 0)));
        assert_eq!(buffer.due(), Some(Time(130)));
        buffer.on_time(Time(130));
        assert_eq!(lost(&mut buffer), [(1, Cause::RadioLoss)]);
        assert_eq!((buffer.backlog().bytes, buffer.due()), (500, Some(Time(160))));
        assert_eq!(buffer.begin(Time(140)).map(|begun| begun.packet.id.0), Some(2));
        assert_eq!((buffer.begin(Time(140)), buffer.due(), buffer.is_empty()), (None, None, true));
    }
}

/// Two packets fit, the third is dropped; when the two have expired, two fit again.
#[test]
fn expired_packets_leave_a_drop_tail_queue() {
    let queue = DropTail { limit: 3.try_into().unwrap(), ..DropTail::default() };
    let mut buffer = transmit(&QueueSpec::DropTail(queue), Some(Duration(100)));
    let push = |buffer: &mut Transmit, at, id| buffer.push(Time(at), Packet::new(id, 500), 0);
    assert_eq!([0, 1, 2].map(|id| push(&mut buffer, 0, id)), [true, true, false]);
    buffer.on_time(Time(100));
    assert_eq!(lost(&mut buffer).len(), 2);
    assert_eq!([3, 4, 5].map(|id| push(&mut buffer, 100, id)), [true, true, false]);
    assert_eq!(buffer.backlog().packets, 2);
}

/// Dropped although the queue has room.
#[test]
fn refused_packets_have_the_cause_of_their_loss() {
    let queue = serde_json::from_value::<QueueSpec>(serde_json::json!({
        "red": { "limit": 200, "min_threshold": 1.0, "max_threshold": 2.0, "max_probability": 1.0, "weight": 1.0 }
    }));
    let mut early = transmit(&queue.unwrap(), None);
    let accepted = (0..20).filter(|id| early.push(Time(*id), Packet::new(*id, 500), 0)).count();
    assert!(accepted < 20);
    assert_eq!(early.refused(), Cause::EarlyDrop);
    let queue = DropTail { limit: 2.try_into().unwrap(), ..DropTail::default() };
    let mut full = transmit(&QueueSpec::DropTail(queue), None);
    assert!((0..20).filter(|id| full.push(Time(*id), Packet::new(*id, 500), 0)).count() < 20);
    assert_eq!(full.refused(), Cause::Overflow);
}

/// One packet per nanosecond; time in ns and number of each delivery.
fn receive(params: &Pdcp, numbers: &[u64]) -> Vec<(u64, u64)> {
    let (mut receive, mut delivered) = (Receive::new(params), Vec::new());
    for (at, number) in (0..).zip(numbers) {
        while let Some(due) = receive.due().filter(|due| due.0 < at) {
            receive.on_time(due, |packet| delivered.push((due.0, packet.id.0)));
        }
        let packet = Packet::new(*number, 100);
        receive.receive(Time(at), *number, packet, |packet| delivered.push((at, packet.id.0)));
    }
    while let Some(due) = receive.due() {
        receive.on_time(due, |packet| delivered.push((due.0, packet.id.0)));
    }
    assert_eq!(receive.next(), delivered.last().map_or(0, |last| last.1 + 1));
    delivered
}

#[test]
fn old_numbers_are_discarded() {
    let delivered = receive(&Pdcp::default(), &[0, 1, 1, 4, 2, 5]);
    assert_eq!(delivered, [(0, 0), (1, 1), (3, 4), (5, 5)]);
}

// Tests the feature: order of delivery (worked example)
/// Without packet 2, t-Reordering of 10 ns runs from 2 ns, when packet 3 arrives, to 12 ns.
#[test]
fn packets_after_a_gap_wait_for_reordering() {
    let params = Pdcp { t_reordering: Some(Duration(10)), ..Pdcp::default() };
    let delivered = receive(&params, &[1, 0, 3, 4, 4]);
    assert_eq!(delivered, [(1, 0), (1, 1), (12, 3), (12, 4)]);
}

proptest! {
    /// Refused, lost, or taken by RLC.
    #[test]
    fn every_packet_has_one_fate(
        spec in prop::sample::select(QueueSpec::defaults()),
        timer in prop::option::of(1..50_000_000u64),
        steps in prop::collection::vec((0..10_000_000u64, any::<bool>(), 40..1_500u32), 1..200),
    ) {
        let mut buffer = transmit(&spec, timer.map(Duration));
        let (mut now, mut fates, mut pushed) = (Time::ZERO, Vec::new(), 0);
        for (gap, push, size) in steps {
            now += Duration(gap);
            buffer.on_time(now);
            if push {
                if !buffer.push(now, Packet { flow_hash: size % 7, ..Packet::new(pushed, size) }, 0) {
                    fates.push(pushed);
                }
                pushed += 1;
            } else {
                fates.extend(buffer.begin(now).map(|begun| begun.packet.id.0));
            }
            fates.extend(buffer.take_lost().map(|(packet, _)| packet.id.0));
        }
        prop_assert_eq!(buffer.backlog().packets, (pushed as usize) - fates.len());
        while let Some(begun) = buffer.begin(now) {
            fates.push(begun.packet.id.0);
        }
        fates.extend(buffer.take_lost().map(|(packet, _)| packet.id.0));
        fates.sort_unstable();
        prop_assert_eq!(fates, (0..pushed).collect::<Vec<_>>());
        prop_assert_eq!((buffer.is_empty(), buffer.backlog().bytes), (true, 0));
    }
}
