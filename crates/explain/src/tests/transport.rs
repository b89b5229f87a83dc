use super::*;

/// 10 ms of transmission and 90 ms of propagation.
#[test]
fn propagation_and_transmission_on_the_last_flight() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).link(DOWN, 1, [0, 0, 10, 100]).receive(100, Site::Phone, 1);
    assert_eq!(fixture.done(100), [(Transmission, 10), (Propagation, 90)]);
}

#[test]
fn handshake_and_request() {
    let mut fixture = Fixture::on(LINK);
    let control = |kind| Segment::control(0, kind);
    fixture.send(0, Site::Phone, 1, control(Kind::Connect)).link(UPLINK, 1, [0, 0, 1, 20]);
    fixture.receive(20, Site::Server, 1).data(20, 2, 0).limited(20, SendLimit::Handshake);
    fixture.link(DOWN, 2, [20, 20, 21, 40]).receive(40, Site::Phone, 2);
    fixture.send(40, Site::Phone, 3, control(Kind::Request)).link(UPLINK, 3, [40, 40, 42, 70]);
    fixture.receive(70, Site::Server, 3).data(70, 4, 1);
    fixture.link(DOWN, 4, [70, 70, 80, 100]).receive(100, Site::Phone, 4);
    let expected = [(Handshake, 40), (Request, 30), (Transmission, 10), (Propagation, 20)];
    assert_eq!(fixture.done(100), expected);
}

/// After the first of two segments `limit` stops the sender for a round trip of 100 ms; durations in ms.
fn round(limit: SendLimit) -> Vec<(Cause, u64)> {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, limit).link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    fixture.ack(60, 2, 1).link(UPLINK, 2, [60, 60, 61, 100]).receive(100, Site::Server, 2);
    fixture.data(100, 3, 2).link(DOWN, 3, [100, 100, 110, 160]).receive(160, Site::Phone, 3);
    fixture.done(160)
}

#[test]
fn round_trip_is_charged_to_the_limit_of_the_sender() {
    let limits = [
        (SendLimit::SlowStart, SlowStart),
        (SendLimit::CongestionAvoidance, CongestionAvoidance),
        (SendLimit::Receiver, ReceiverWindow),
        (SendLimit::SendBuffer, SendBuffer),
        (SendLimit::Steered, ProxyWindow),
        (SendLimit::Recovery, Recovery),
        (SendLimit::Application, Application),
    ];
    for (limit, cause) in limits {
        assert_eq!(round(limit), [(cause, 100), (Transmission, 10), (Propagation, 50)]);
    }
}

/// 300 ms after its transmission.
#[test]
fn timeout_counts_from_the_lost_segment() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, SendLimit::SlowStart).expire(
        300,
        Site::Server,
        TimerKind::Retransmission,
    );
    fixture.retransmit(300, 2, 1).link(DOWN, 2, [300, 300, 310, 360]).receive(360, Site::Phone, 2);
    assert_eq!(fixture.done(360), [(Timeout, 300), (Transmission, 10), (Propagation, 50)]);
}

/// After 3 s.
#[test]
fn retransmitted_syn_is_charged_to_timeout() {
    let mut fixture = Fixture::on(LINK);
    let connect = Segment::control(0, Kind::Connect);
    fixture.send(0, Site::Phone, 1, connect).expire(3_000, Site::Phone, TimerKind::Request);
    fixture.send(3_000, Site::Phone, 2, connect).link(UPLINK, 2, [3_000, 3_000, 3_001, 3_020]);
    fixture.receive(3_020, Site::Server, 2).data(3_020, 3, 0);
    fixture.link(DOWN, 3, [3_020, 3_020, 3_030, 3_050]).receive(3_050, Site::Phone, 3);
    let expected = [(Timeout, 3_000), (Handshake, 20), (Transmission, 10), (Propagation, 20)];
    assert_eq!(fixture.done(3_050), expected);
}

/// The ACK of segment 2 reveals the loss of segment 1.
#[test]
fn fast_retransmission_is_charged_a_round_trip() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).data(0, 2, 2).limited(0, SendLimit::SlowStart);
    fixture.link(DOWN, 2, [0, 0, 10, 60]).receive(60, Site::Phone, 2);
    fixture.ack(60, 3, 0).link(UPLINK, 3, [60, 60, 61, 100]).receive(100, Site::Server, 3);
    fixture.retransmit(100, 4, 1).link(DOWN, 4, [100, 100, 110, 160]).receive(160, Site::Phone, 4);
    assert_eq!(fixture.done(160), [(Recovery, 100), (Transmission, 10), (Propagation, 50)]);
}

/// By 100 ms.
#[test]
fn delayed_ack_counts_from_the_segment_it_acknowledges() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, SendLimit::SlowStart).link(DOWN, 1, [0, 0, 10, 60]).receive(
        60,
        Site::Phone,
        1,
    );
    fixture.expire(160, Site::Phone, TimerKind::Acknowledgement).ack(160, 2, 1);
    fixture.link(UPLINK, 2, [160, 160, 161, 200]).receive(200, Site::Server, 2);
    fixture.data(200, 3, 2).link(DOWN, 3, [200, 200, 210, 260]).receive(260, Site::Phone, 3);
    let expected =
        [(SlowStart, 60), (DelayedAck, 100), (SlowStart, 40), (Transmission, 10), (Propagation, 50)];
    assert_eq!(fixture.done(260), expected);
}

/// The update follows 80 ms after the last ACK.
#[test]
fn late_window_update_is_charged_to_the_receiver() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, SendLimit::Receiver).link(DOWN, 1, [0, 0, 10, 60]).receive(
        60,
        Site::Phone,
        1,
    );
    fixture.ack(60, 2, 1).expire(140, Site::Phone, TimerKind::Acknowledgement).ack(140, 3, 1);
    fixture.link(UPLINK, 3, [140, 140, 141, 180]).receive(180, Site::Server, 3);
    fixture.data(180, 4, 2).link(DOWN, 4, [180, 180, 190, 240]).receive(240, Site::Phone, 4);
    assert_eq!(fixture.done(240), [(ReceiverWindow, 180), (Transmission, 10), (Propagation, 50)]);
}

/// 40 ms apart.
#[test]
fn pacing_counts_from_the_previous_segment() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, SendLimit::Pacing).expire(40, Site::Server, TimerKind::Pacing);
    fixture.data(40, 2, 2).link(DOWN, 2, [40, 40, 50, 100]).receive(100, Site::Phone, 2);
    assert_eq!(fixture.done(100), [(Pacing, 40), (Transmission, 10), (Propagation, 50)]);
}

/// Three segments of 10 ms are sent at once.
#[test]
fn waiting_behind_own_data_is_transmission() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).data(0, 2, 2).data(0, 3, 3);
    for (packet, turn) in [(1, 0), (2, 10), (3, 20)] {
        fixture.link(DOWN, packet, [0, turn, turn + 10, turn + 60]);
        fixture.receive(turn + 60, Site::Phone, packet);
    }
    assert_eq!(fixture.done(80), [(Transmission, 30), (Propagation, 50)]);
}

/// As for data on the downlink.
#[test]
fn waiting_behind_own_acks_is_transmission() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, SendLimit::SlowStart).link(DOWN, 1, [0, 0, 10, 60]).receive(
        60,
        Site::Phone,
        1,
    );
    fixture.ack(60, 2, 1).link(UPLINK, 2, [60, 60, 90, 100]);
    fixture.ack(60, 3, 1).link(UPLINK, 3, [60, 90, 120, 130]).receive(130, Site::Server, 3);
    fixture.data(130, 4, 2).link(DOWN, 4, [130, 130, 140, 200]).receive(200, Site::Phone, 4);
    let expected =
        [(SlowStart, 60), (Transmission, 30), (SlowStart, 40), (Transmission, 10), (Propagation, 60)];
    assert_eq!(fixture.done(200), expected);
}

#[test]
fn waiting_behind_an_earlier_transfer_is_queueing_behind_own_data() {
    let mut fixture = Fixture::before(LINK, 1);
    fixture.data(0, 1, 1).link(DOWN, 1, [0, 0, 30, 80]);
    fixture.emit(0, &Event::Arrived { flow: 0, bytes: 10 }).emit(0, &Event::Began { flow: 0, bytes: 10_000 });
    fixture.data(0, 2, 2).link(DOWN, 2, [0, 30, 40, 90]).receive(90, Site::Phone, 2);
    assert_eq!(fixture.done(90), [(QueueBehindOwn, 30), (Transmission, 10), (Propagation, 50)]);
}

/// With the request in the ACK of the SYN, or in a packet of its own; 200 ms.
#[test]
fn server_delay_is_charged_to_the_server() {
    for kind in [Kind::Ack, Kind::Request] {
        let mut fixture = Fixture::on(LINK);
        fixture.data(0, 1, 0).limited(0, SendLimit::Handshake).link(DOWN, 1, [0, 0, 1, 20]).receive(
            20,
            Site::Phone,
            1,
        );
        let segment = Segment { size: 340, ..Segment::control(0, kind) };
        fixture.send(20, Site::Phone, 2, segment).link(UPLINK, 2, [20, 20, 42, 70]).receive(
            70,
            Site::Server,
            2,
        );
        fixture
            .limited(70, SendLimit::Application)
            .expire(270, Site::Server, TimerKind::Server)
            .data(270, 3, 1);
        fixture.link(DOWN, 3, [270, 270, 280, 300]).receive(300, Site::Phone, 3);
        let round = if kind == Kind::Ack { Handshake } else { Request };
        let handshake =
            if kind == Kind::Ack { vec![(Handshake, 70)] } else { vec![(Handshake, 20), (round, 50)] };
        let expected = [&handshake[..], &[(Server, 200), (Transmission, 10), (Propagation, 20)]].concat();
        assert_eq!(fixture.done(300), expected);
    }
}

#[test]
fn waiting_behind_other_connections() {
    let mut fixture = Fixture::on(LINK);
    fixture.other(DOWN, 0, 25).data(5, 1, 1).link(DOWN, 1, [5, 25, 35, 100]).receive(100, Site::Phone, 1);
    let expected = [(Application, 5), (QueueBehindOthers, 20), (Transmission, 10), (Propagation, 65)];
    assert_eq!(fixture.done(100), expected);
}

/// A message of the RNC releases the next segment 70 ms later.
#[test]
fn window_set_by_the_rnc_is_charged_to_the_proxy_window() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, SendLimit::Steered).expire(70, Site::Server, TimerKind::Feedback);
    fixture.data(70, 2, 2).link(DOWN, 2, [70, 70, 80, 100]).receive(100, Site::Phone, 2);
    assert_eq!(fixture.done(100), [(ProxyWindow, 70), (Transmission, 10), (Propagation, 20)]);
}

/// Passed at 20 ms, lost on the radio, retransmitted at 120 ms.
#[test]
fn snoop_retransmission_is_charged_to_recovery() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, SendLimit::SlowStart).link(DOWN, 1, [0, 0, 10, 20]).enter(20, 1);
    let cause = nodeb_base::event::Cause::LinkLoss;
    fixture.emit(20, &Event::Lost { place: BEARER, packet: id(1), cause });
    fixture.expire(120, Site::Snoop, TimerKind::Snoop);
    let segment = Segment { seq: 1, size: 1500, retransmission: true, ..Segment::control(0, Kind::Data) };
    fixture.send(120, Site::Snoop, 2, segment).link(BEARER, 2, [120, 120, 130, 130]);
    fixture.receive(130, Site::Phone, 2);
    assert_eq!(fixture.done(130), [(Recovery, 120), (Transmission, 10)]);
}
