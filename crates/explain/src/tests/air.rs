//! Tests of causes in the radio network: scheduling, retransmission, reordering, channel switching,
//! Iub and handover.

use super::*;

/// On HS-DSCH (TTIs of 2 ms) a packet arrives at 3 ms and waits for the TTI at 4 ms. Another user
/// is served in that TTI and the next two.
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

/// Packet 2 arrives while packet 1 is transmitted. Packet 2 waits for the next TTI and not for
/// packet 1, since no packet can be added to a TTI that has begun.
#[test]
fn arrival_during_a_tti_waits_for_the_next_tti() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, false, 1);
    fixture.data(1, 2, 2).enter(1, 2).leave(2, 1).receive(2, Site::Phone, 1);
    fixture.block(2, 1, 1, false, 2).leave(4, 2).receive(4, Site::Phone, 2);
    assert_eq!(fixture.done(4), [(Application, 1), (Segmentation, 1), (Transmission, 2)]);
}

/// Packet 2 was waiting when the TTI of packet 1 began, so the time of that TTI is charged to the
/// connection's own data ahead of packet 2.
#[test]
fn packet_waiting_at_a_tti_waits_behind_own_data() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2).block(0, 0, 1, false, 1);
    fixture.leave(2, 1).receive(2, Site::Phone, 1);
    fixture.block(2, 1, 1, false, 2).leave(4, 2).receive(4, Site::Phone, 2);
    let steps: Vec<_> = steps(&mut fixture, 4);
    assert_eq!(steps, [(Step::OwnAhead, 2), (Step::Sends, 2)]);
}

/// Ends the transfer at `at` ms. Returns the steps of its spans, with durations in ms.
fn steps(fixture: &mut Fixture, at: u64) -> Vec<(Step, u64)> {
    fixture.emit(at, &Event::Arrived { flow: 0, bytes: 10_000 });
    fixture.spans(at).iter().map(|span| (span.step, span.duration().0 / 1_000_000)).collect()
}

/// A block fails in the TTI at 0 ms and may be retransmitted after 9.5 ms. In the TTI at 10 ms
/// another user is served, so the retransmission follows at 12 ms.
#[test]
fn others_served_before_a_harq_retransmission_are_charged_to_scheduler() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    fixture
        .emit(10, &Event::Block { bearer: 0, user: 1, block: 9, units: 1, transmission: 1, failed: false });
    fixture.block(12, 0, 2, false, 1).leave(14, 1).receive(14, Site::Phone, 1);
    assert_eq!(fixture.done(14), [(Transmission, 2), (Harq, 8), (Scheduler, 2), (Harq, 2)]);
}

/// On a DCH (TTIs of 10 ms) RLC retransmits a failed block, in the first TTI that begins at least
/// 99 ms later.
#[test]
fn rlc_retransmits_failed_blocks_on_a_dch() {
    let mut fixture = Fixture::on("[radio.dch]");
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    fixture.block(100, 0, 2, false, 1).leave(110, 1).receive(110, Site::Phone, 1);
    assert_eq!(fixture.done(110), [(Transmission, 10), (Rlc, 100)]);
}

/// RLC acknowledged mode retransmits the PDU of a failed block in another block, here block number
/// 72.
#[test]
fn rlc_retransmits_a_lost_pdu_in_another_block() {
    let mut fixture = Fixture::on("[radio.dch]\nrlc = 'am'");
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    fixture.block(60, 72, 1, false, 1).leave(70, 1).receive(70, Site::Phone, 1);
    assert_eq!(fixture.done(70), [(Transmission, 10), (Rlc, 60)]);
}

/// The packet leaves 20 ms after its block without another transmission: the reordering timer (T1) has expired.
#[test]
fn reordering_timer_releases_a_waiting_packet() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).enter(0, 1).block(0, 3, 1, false, 1).leave(22, 1).receive(22, Site::Phone, 1);
    assert_eq!(fixture.done(22), [(Transmission, 2), (Reordering, 20)]);
}

/// Packet 2 has been received and waits for the retransmission of packet 1. The path continues with
/// packet 1.
#[test]
fn waiting_for_a_retransmission_ahead_is_charged_to_harq() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2);
    fixture.block(0, 0, 1, true, 1).block(2, 1, 1, false, 2).block(10, 0, 2, false, 1);
    fixture.leave(12, 1).receive(12, Site::Phone, 1).leave(12, 2).receive(12, Site::Phone, 2);
    assert_eq!(fixture.done(12), [(Transmission, 2), (Harq, 10)]);
}

/// The last TTI retransmits the blocks of packets 1 and 3. Packet 2 waited for packet 1 ahead of
/// it, and not for packet 3.
#[test]
fn packet_does_not_wait_for_later_packets() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).data(0, 2, 2).data(1, 3, 3).enter(0, 1).enter(0, 2).enter(1, 3);
    fixture.block(0, 0, 1, true, 1).block(0, 1, 1, false, 2).block(2, 2, 1, true, 3);
    fixture.block(12, 2, 2, false, 3).block(12, 0, 2, false, 1);
    fixture.leave(14, 1).receive(14, Site::Phone, 1).leave(14, 2).receive(14, Site::Phone, 2);
    assert_eq!(fixture.done(14), [(Transmission, 2), (Harq, 12)]);
}

/// On a DCH packet 2 is received at 10 ms and held back until packet 1 is given up, at the end of
/// packet 1's second transmission.
#[test]
fn waiting_for_a_packet_given_up_is_charged_to_reordering() {
    let mut fixture = Fixture::on("[radio.dch]\nmax_transmissions = 2");
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2);
    for packet in [1, 2] {
        let (first, end) = (packet - 1, packet);
        fixture.emit(0, &Event::Segmented { bearer: 0, user: 0, packet: id(packet), first, end });
    }
    for (at, block, transmission, failed) in [(0, 0, 1, true), (0, 1, 1, false), (100, 0, 2, true)] {
        fixture.emit(at, &Event::Block { bearer: 0, user: 0, block, units: 1, transmission, failed });
    }
    fixture.emit(100, &Event::GivenUp { bearer: 0, user: 0, block: 0 });
    fixture.emit(110, &Event::Lost { place: BEARER, packet: id(1), cause: event::Cause::RadioLoss });
    fixture.leave(110, 2).receive(110, Site::Phone, 2);
    assert_eq!(fixture.done(110), [(Transmission, 10), (Reordering, 100)]);
}

/// A channel is set up for 50 ms before the packet is transmitted.
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

/// The RNC gets credits after 20 ms, and its frame crosses the Iub in 15 ms. The packet then waits
/// 1 ms for the next TTI.
#[test]
fn credits_and_the_iub() {
    let mut fixture = Fixture::on("[radio.hsdpa]\niub = {}");
    fixture.data(0, 1, 1).enter(0, 1);
    fixture.emit(20, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(35) });
    fixture.block(36, 0, 1, false, 1).leave(38, 1).receive(38, Site::Phone, 1);
    let expected = [(Credits, 20), (Propagation, 15), (Segmentation, 1), (Transmission, 2)];
    assert_eq!(fixture.done(38), expected);
}

/// Packets 1 and 2 arrive together, and there are credits for one packet. The time from 18 ms on,
/// in which the Node B waits for packet 2, is charged to credits, including the Iub delay of packet
/// 2.
#[test]
fn iub_delay_within_a_credit_round_trip_is_charged_to_credits() {
    let mut fixture = two_frames(0);
    let expected =
        [(Propagation, 15), (Segmentation, 1), (Transmission, 2), (Credits, 42), (Transmission, 2)];
    assert_eq!(fixture.done(62), expected);
}

/// Packet 2 arrives at the RNC at 10 ms. Even with credits it would have reached the Node B at 25
/// ms, 7 ms after packet 1 had left, so 7 ms are charged to propagation.
#[test]
fn iub_delay_independent_of_credits_is_propagation() {
    let mut fixture = two_frames(10);
    let expected = [(Propagation, 15), (Segmentation, 1), (Transmission, 2), (Credits, 35), (Propagation, 7)];
    assert_eq!(fixture.done(62), [&expected[..], &[(Transmission, 2)]].concat());
}

/// Packet 2 crosses the Iub as soon as it arrives, from 10 ms on. So packet 1, which is transmitted
/// at 16 ms, does not delay packet 2.
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

/// Sends two packets over the Iub. Packet 1 arrives and crosses at 0 ms; packet 2 arrives at
/// `second` ms and crosses at 45 ms.
fn two_frames(second: u64) -> Fixture {
    let mut fixture = Fixture::on("[radio.hsdpa]\niub = {}");
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1);
    fixture.emit(0, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(15) });
    fixture.enter(second, 2).block(16, 0, 1, false, 1).leave(18, 1).receive(18, Site::Phone, 1);
    fixture.emit(45, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(60) });
    fixture.block(60, 1, 1, false, 2).leave(62, 2).receive(62, Site::Phone, 2);
    fixture
}

/// The cell changes at 10 ms, and nothing is sent for 100 ms. In the 10 ms before and after this
/// interruption the user is not scheduled.
#[test]
fn handover_interruption_is_charged_to_handover() {
    let mut fixture = Fixture::on("[radio.hsdpa]\nhandover = {}\ncell.interference.hexagonal.rings = 1");
    fixture.data(0, 1, 1).enter(0, 1).emit(10, &Event::Handover { bearer: 0, user: 0, cell: 1 });
    fixture.block(120, 0, 1, false, 1).leave(122, 1).receive(122, Site::Phone, 1);
    assert_eq!(fixture.done(122), [(Scheduler, 10), (Handover, 100), (Scheduler, 10), (Transmission, 2)]);
}

#[test]
fn segmentation_of_other_flows_marks_the_bearer_as_cutting() {
    let mut fixture = Fixture::on("[radio.dch]");
    fixture.emit(0, &Event::Segmented { bearer: 0, user: 0, packet: id(7), first: 0, end: 3 });
    assert!(fixture.timeline.air.is_cut());
}
