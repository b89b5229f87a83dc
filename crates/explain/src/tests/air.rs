use super::*;

/// TTIs of 2 ms: the packet arrives at 3 ms; another user is served in the TTI at 4 ms and the next two.
#[test]
fn segmentation_and_the_scheduler() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(3, 1, 1).enter(3, 1);
    for at in [4, 6, 8] {
        fixture.emit(
            at,
            &Event::Block { bearer: 0, user: 1, block: at, units: 1, transmission: 1, failed: false },
        );
    }
    fixture.block(10, 0, 1, false, 1).leave(12, 1).receive(12, Site::Phone, 1);
    let expected = [(Application, 3), (Segmentation, 1), (Scheduler, 6), (Transmission, 2)];
    assert_eq!(fixture.done(12), expected);
}

/// No packet can be added to a TTI that has begun.
#[test]
fn arrival_during_a_tti_waits_for_the_next_tti() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, false, 1);
    fixture.data(1, 2, 2).enter(1, 2).leave(2, 1).receive(2, Site::Phone, 1);
    fixture.block(2, 1, 1, false, 2).leave(4, 2).receive(4, Site::Phone, 2);
    assert_eq!(fixture.done(4), [(Application, 1), (Segmentation, 1), (Transmission, 2)]);
}

/// Packet 2 was waiting when the TTI of packet 1 began.
#[test]
fn packet_waiting_at_a_tti_waits_behind_own_data() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2).block(0, 0, 1, false, 1);
    fixture.leave(2, 1).receive(2, Site::Phone, 1);
    fixture.block(2, 1, 1, false, 2).leave(4, 2).receive(4, Site::Phone, 2);
    let steps: Vec<_> = steps(&mut fixture, 4);
    assert_eq!(steps, [(Step::OwnAhead, 2), (Step::Sends, 2)]);
}

/// Durations in ms.
fn steps(fixture: &mut Fixture, at: u64) -> Vec<(Step, u64)> {
    fixture.emit(at, &Event::Arrived { flow: 0, bytes: 10_000 });
    fixture.spans(at).iter().map(|span| (span.step, span.duration().0 / 1_000_000)).collect()
}

/// The block of 0 ms may be retransmitted after 9.5 ms; another user has the TTI at 10 ms.
#[test]
fn others_served_before_a_harq_retransmission_are_charged_to_scheduler() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    fixture
        .emit(10, &Event::Block { bearer: 0, user: 1, block: 9, units: 1, transmission: 1, failed: false });
    fixture.block(12, 0, 2, false, 1).leave(14, 1).receive(14, Site::Phone, 1);
    assert_eq!(fixture.done(14), [(Transmission, 2), (Harq, 8), (Scheduler, 2), (Harq, 2)]);
}

/// TTIs of 10 ms: the first TTI that begins at least 99 ms later.
#[test]
fn rlc_retransmits_failed_blocks_on_a_dch() {
    let mut fixture = Fixture::on("[radio.dch]");
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    fixture.block(100, 0, 2, false, 1).leave(110, 1).receive(110, Site::Phone, 1);
    assert_eq!(fixture.done(110), [(Transmission, 10), (Rlc, 100)]);
}

/// Here block number 72.
#[test]
fn rlc_retransmits_a_lost_pdu_in_another_block() {
    let mut fixture = Fixture::on("[radio.dch]\nrlc = 'am'");
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    fixture.block(60, 72, 1, false, 1).leave(70, 1).receive(70, Site::Phone, 1);
    assert_eq!(fixture.done(70), [(Transmission, 10), (Rlc, 60)]);
}

/// Without another transmission: T1 has expired.
#[test]
fn reordering_timer_releases_a_waiting_packet() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).enter(0, 1).block(0, 3, 1, false, 1).leave(22, 1).receive(22, Site::Phone, 1);
    assert_eq!(fixture.done(22), [(Transmission, 2), (Reordering, 20)]);
}

/// The path continues with packet 1.
#[test]
fn waiting_for_a_retransmission_ahead_is_charged_to_harq() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2);
    fixture.block(0, 0, 1, true, 1).block(2, 1, 1, false, 2).block(10, 0, 2, false, 1);
    fixture.leave(12, 1).receive(12, Site::Phone, 1).leave(12, 2).receive(12, Site::Phone, 2);
    assert_eq!(fixture.done(12), [(Transmission, 2), (Harq, 10)]);
}

/// The last TTI retransmits the blocks of packets 1 and 3.
#[test]
fn packet_does_not_wait_for_later_packets() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).data(0, 2, 2).data(1, 3, 3).enter(0, 1).enter(0, 2).enter(1, 3);
    fixture.block(0, 0, 1, true, 1).block(0, 1, 1, false, 2).block(2, 2, 1, true, 3);
    fixture.block(12, 2, 2, false, 3).block(12, 0, 2, false, 1);
    fixture.leave(14, 1).receive(14, Site::Phone, 1).leave(14, 2).receive(14, Site::Phone, 2);
    assert_eq!(fixture.done(14), [(Transmission, 2), (Harq, 12)]);
}

/// Packet 2 is held back from 10 ms until packet 1's second transmission ends.
#[test]
fn waiting_for_a_packet_given_up_is_charged_to_reordering() {
    let mut fixture = Fixture::on("[radio.dch]\nmax_transmissions = 2");
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2);
    fixture.block(0, 0, 1, true, 1).block(0, 1, 1, false, 2).block(100, 0, 2, true, 1);
    fixture.emit(100, &Event::GivenUp { bearer: 0, user: 0, block: 0 });
    fixture.emit(110, &Event::Lost { place: BEARER, packet: id(1), cause: event::Cause::RadioLoss });
    fixture.leave(110, 2).receive(110, Site::Phone, 2);
    assert_eq!(fixture.done(110), [(Transmission, 10), (Reordering, 100)]);
}

#[test]
fn channel_setup_is_charged_to_switching() {
    let mut fixture = Fixture::on("[radio.fach_dch]");
    fixture.data(0, 1, 1).enter(0, 1);
    for (at, state) in [(0, 3), (50, 4)] {
        fixture.emit(at, &Event::State { bearer: 0, user: 0, state });
    }
    let (packet, from, sent) = (id(1), ms(50), ms(60));
    fixture.emit(50, &Event::Served { place: BEARER, channel: 1, packet, from, sent, arrives: sent });
    fixture.leave(60, 1).receive(60, Site::Phone, 1);
    assert_eq!(fixture.done(60), [(ChannelSwitching, 50), (Transmission, 10)]);
}

/// Credits after 20 ms, the Iub takes 15 ms, and the next TTI follows 1 ms later.
#[test]
fn credits_and_the_iub() {
    let mut fixture = Fixture::on("[radio.hsdpa]\niub = {}");
    fixture.data(0, 1, 1).enter(0, 1);
    fixture.emit(20, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(35) });
    fixture.block(36, 0, 1, false, 1).leave(38, 1).receive(38, Site::Phone, 1);
    let expected = [(Credits, 20), (Propagation, 15), (Segmentation, 1), (Transmission, 2)];
    assert_eq!(fixture.done(38), expected);
}

/// There are credits for one of two packets; the Node B waits for packet 2 from 18 ms on.
#[test]
fn iub_delay_within_a_credit_round_trip_is_charged_to_credits() {
    let mut fixture = two_frames(0);
    let expected =
        [(Propagation, 15), (Segmentation, 1), (Transmission, 2), (Credits, 42), (Transmission, 2)];
    assert_eq!(fixture.done(62), expected);
}

/// Even with credits packet 2 would have arrived at 25 ms, 7 ms after packet 1 had left.
#[test]
fn iub_delay_independent_of_credits_is_propagation() {
    let mut fixture = two_frames(10);
    let expected = [(Propagation, 15), (Segmentation, 1), (Transmission, 2), (Credits, 35), (Propagation, 7)];
    assert_eq!(fixture.done(62), [&expected[..], &[(Transmission, 2)]].concat());
}

/// Packet 2 crosses from 10 ms on, packet 1 is transmitted at 16 ms.
#[test]
fn packet_crossing_the_iub_does_not_wait_behind_own_data() {
    let mut fixture = Fixture::on("[radio.hsdpa]\niub = {}");
    fixture.data(0, 1, 1).enter(0, 1);
    fixture.emit(0, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(15) });
    fixture.data(10, 2, 2).enter(10, 2);
    fixture.emit(10, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(25) });
    fixture.block(16, 0, 1, false, 1).leave(18, 1).receive(18, Site::Phone, 1);
    fixture.block(26, 1, 1, false, 2).leave(28, 2).receive(28, Site::Phone, 2);
    let expected = [(Application, 10), (Propagation, 15), (Segmentation, 1), (Transmission, 2)];
    assert_eq!(fixture.done(28), expected);
}

/// Packet 1 crosses at 0 ms; packet 2 arrives at `second` ms and crosses at 45 ms.
fn two_frames(second: u64) -> Fixture {
    let mut fixture = Fixture::on("[radio.hsdpa]\niub = {}");
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1);
    fixture.emit(0, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(15) });
    fixture.enter(second, 2).block(16, 0, 1, false, 1).leave(18, 1).receive(18, Site::Phone, 1);
    fixture.emit(45, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(60) });
    fixture.block(60, 1, 1, false, 2).leave(62, 2).receive(62, Site::Phone, 2);
    fixture
}

/// The cell changes at 10 ms, for 100 ms; 10 ms before and after the user is not scheduled.
#[test]
fn handover_interruption_is_charged_to_handover() {
    let mut fixture = Fixture::on("[radio.hsdpa]\nhandover = {}\ncell.interference.hexagonal.rings = 1");
    fixture.data(0, 1, 1).enter(0, 1).emit(10, &Event::Handover { bearer: 0, user: 0, cell: 1 });
    fixture.block(120, 0, 1, false, 1).leave(122, 1).receive(122, Site::Phone, 1);
    assert_eq!(fixture.done(122), [(Scheduler, 10), (Handover, 100), (Scheduler, 10), (Transmission, 2)]);
}
