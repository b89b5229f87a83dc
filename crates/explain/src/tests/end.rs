use super::*;

#[test]
fn cancelled_walk_returns_an_error() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).link(DOWN, 1, [0, 0, 10, 100]).receive(100, Site::Phone, 1);
    fixture.emit(100, &Event::Arrived { flow: 0, bytes: 10_000 });
    let control = Control::default();
    control.cancel();
    assert!(matches!(fixture.spans_with(100, &control), Err(RunError::Cancelled)));
}

/// The run ends at 90 ms; the packet would arrive at 100 ms.
#[test]
fn unfinished_transfer_is_explained_up_to_the_end() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1);
    let (place, packet) = (DOWN, id(1));
    fixture.emit(0, &Event::Entered { place, packet });
    let (from, sent, arrives) = (ms(0), ms(10), ms(100));
    fixture.emit(0, &Event::Served { place, channel: 0, packet, from, sent, arrives });
    assert_eq!(fixture.path(90), [(Transmission, 10), (Propagation, 80)]);
}

#[test]
fn transfer_without_packets_in_flight_waits_for_a_timer() {
    let mut fixture = Fixture::on(LINK);
    let cause = nodeb_base::event::Cause::LinkLoss;
    fixture.data(0, 1, 1).emit(0, &Event::Lost { place: DOWN, packet: id(1), cause });
    assert_eq!(fixture.path(500), [(Timeout, 500)]);
}

#[test]
fn transfer_with_lost_ack_waits_for_a_timer() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).emit(0, &Event::Timer { flow: 0, at: Some(ms(1_000)) });
    fixture.link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    let cause = nodeb_base::event::Cause::LinkLoss;
    fixture.ack(60, 2, 1).emit(60, &Event::Lost { place: UPLINK, packet: id(2), cause });
    assert_eq!(fixture.path(500), [(Transmission, 10), (Propagation, 50), (Timeout, 440)]);
}

#[test]
fn acknowledged_transfer_waits_for_the_application() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    fixture.ack(60, 2, 1).link(UPLINK, 2, [60, 60, 61, 100]).receive(100, Site::Server, 2);
    assert_eq!(fixture.path(500).last(), Some(&(Application, 400)));
}

/// The run ends at 15 ms in the second of three segments, which is lost, so the search starts at the third.
#[test]
fn unfinished_transfer_waits_behind_its_own_data() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).data(0, 2, 2).data(0, 3, 3);
    for packet in 1..=3 {
        fixture.emit(0, &Event::Entered { place: DOWN, packet: id(packet) });
    }
    for (packet, at) in [(1, 0), (2, 10)] {
        let (from, sent, packet) = (ms(at), ms(at + 10), id(packet));
        fixture.emit(at, &Event::Served { place: DOWN, channel: 0, packet, from, sent, arrives: sent });
    }
    fixture.emit(10, &Event::Left { place: DOWN, packet: id(1) }).receive(10, Site::Phone, 1);
    let lost = nodeb_base::event::Cause::LinkLoss;
    fixture.emit(10, &Event::Lost { place: DOWN, packet: id(2), cause: lost });
    let steps: Vec<_> =
        fixture.spans(15).iter().map(|span| (span.step, span.duration().0 / 1_000_000)).collect();
    assert_eq!(steps, [(Step::OwnAhead, 10), (Step::OwnAhead, 5)]);
}

/// The second packet of 10 ms ends beyond the interval from 2 to 17 ms; two blocks in a TTI of 2 ms count
/// once.
#[test]
fn busy_times_are_clipped_to_the_transfer() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).data(0, 2, 2).link(DOWN, 1, [0, 0, 10, 12]).enter(12, 1);
    fixture.block(12, 0, 1, false, 1).block(12, 1, 1, false, 1).block(16, 2, 1, false, 1);
    fixture.emit(12, &Event::Entered { place: DOWN, packet: id(2) });
    fixture.emit(
        12,
        &Event::Served {
            place: DOWN,
            channel: 0,
            packet: id(2),
            from: ms(10),
            sent: ms(20),
            arrives: ms(30),
        },
    );
    let busy = fixture.timeline.busy(ms(2), ms(17));
    assert_eq!(busy, [(DOWN, ms(8 + 7).since(ms(0))), (BEARER, ms(2 + 1).since(ms(0)))]);
}

/// One is lost before the transfer; packet 999 is another flow's.
#[test]
fn losses_are_counted_by_cause() {
    use event::Cause::{EarlyDrop, LinkLoss, Overflow, RadioLoss};
    let mut fixture = Fixture::before(LINK, 1);
    let lose = |fixture: &mut Fixture, at, packet, place, cause| {
        fixture.emit(at, &Event::Lost { place, packet: id(packet), cause });
    };
    fixture.data(0, 1, 1);
    lose(&mut fixture, 0, 1, DOWN, LinkLoss);
    fixture.emit(1, &Event::Recovery { flow: 0, state: event::Recovery::Reduced });
    fixture.emit(1, &Event::Arrived { flow: 0, bytes: 10 }).emit(1, &Event::Began { flow: 0, bytes: 10_000 });
    for (packet, cause) in [(2, LinkLoss), (3, Overflow), (4, EarlyDrop), (5, RadioLoss)] {
        fixture.data(1, packet, packet);
        lose(&mut fixture, 2, packet, DOWN, cause);
    }
    lose(&mut fixture, 2, 999, DOWN, LinkLoss);
    fixture.emit(3, &Event::Recovery { flow: 0, state: event::Recovery::Reduced });
    let expected = crate::Lost { links: 1, queues: 2, radio: 1, marked: 1 };
    assert_eq!(fixture.timeline.lost, expected);
}
