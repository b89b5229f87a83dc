//! Timelines made by hand, one for each cause, with known times.

use nodeb_base::error::{Error as RunError, Result};
use nodeb_base::event::{self, Event, Part, Place, Purpose, SendLimit, Site, TimerKind};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_sim::Control;
use nodeb_sim::scenario;
use nodeb_sim::world::Listener as _;
use nodeb_tcp::segment::{Kind, Segment};

use crate::cause::Cause::{self, *};
use crate::cause::Step;
use crate::span::Span;
use crate::timeline::Timeline;
use crate::walk::Walk;

const BEARER: Place = Place::new(Site::Bearer, 0);
const DOWN: Place = Place::new(Site::WiredDown, 0);
const UPLINK: Place = Place::new(Site::Uplink, 0);

/// Returns the identity of a packet by its number.
fn id(packet: u64) -> PacketId {
    PacketId(packet << 32 | packet)
}

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// Timeline that is fed with events at times in milliseconds.
struct Fixture {
    timeline: Timeline,
    over: bool,
}

impl Fixture {
    /// Creates the timeline of user 0's first transfer over a radio.
    fn on(radio: &str) -> Self {
        Self::before(radio, 0)
    }

    /// Creates the timeline of user 0's transfer number `transfer`.
    fn before(radio: &str, transfer: u64) -> Self {
        let text = format!("{radio}\n[[users]]\ntraffic.ftp.size = '10 kB'\n");
        let scenario = scenario::from_toml(&text, "fixture", &[]).unwrap();
        let mut fixture = Self { timeline: Timeline::new(&scenario, 0, transfer), over: false };
        fixture.emit(0, &Event::Began { flow: 0, bytes: 10_000 });
        fixture
    }

    fn emit_with(&mut self, at: u64, event: &Event, segment: Option<&Segment>) {
        assert!(!self.over, "the transfer is over");
        self.over = self.timeline.on_event(ms(at), event, segment).is_break();
    }

    fn emit(&mut self, at: u64, event: &Event) -> &mut Self {
        self.emit_with(at, event, None);
        self
    }

    fn send(&mut self, at: u64, from: Site, packet: u64, segment: Segment) -> &mut Self {
        let Segment { flow, size, seq, retransmission: again, .. } = segment;
        let place = Place::new(from, 0);
        let purpose = match segment.kind {
            Kind::Connect => Purpose::Connect,
            Kind::Request => Purpose::Request,
            Kind::Data => Purpose::Data,
            Kind::Ack => Purpose::Ack,
        };
        let event = Event::Sent { place, packet: id(packet), flow, purpose, size, seq, again };
        self.emit_with(at, &event, Some(&segment));
        self
    }

    /// Sends a segment from the server.
    fn data(&mut self, at: u64, packet: u64, seq: u64) -> &mut Self {
        self.send(at, Site::Server, packet, Segment { seq, size: 1500, ..Segment::control(0, Kind::Data) })
    }

    fn retransmit(&mut self, at: u64, packet: u64, seq: u64) -> &mut Self {
        let segment = Segment { seq, size: 1500, retransmission: true, ..Segment::control(0, Kind::Data) };
        self.send(at, Site::Server, packet, segment)
    }

    /// Sends an ACK from the phone.
    fn ack(&mut self, at: u64, packet: u64, seq: u64) -> &mut Self {
        self.send(at, Site::Phone, packet, Segment { seq, ..Segment::control(0, Kind::Ack) })
    }

    /// Passes a packet over a link: it waits from the first time to the second, is transmitted until the third, and
    /// arrives at the fourth.
    fn link(&mut self, place: Place, packet: u64, [entered, from, sent, there]: [u64; 4]) -> &mut Self {
        let packet = id(packet);
        self.emit(entered, &Event::Entered { place, packet });
        let (from, sent) = (ms(from), ms(sent));
        self.emit(entered, &Event::Served { place, channel: 0, packet, from, sent, arrives: ms(there) });
        self.emit(there, &Event::Left { place, packet })
    }

    /// Transmits a packet of another connection.
    fn other(&mut self, place: Place, from: u64, sent: u64) -> &mut Self {
        let (from, sent) = (ms(from), ms(sent));
        let packet = id(999);
        self.emit(0, &Event::Served { place, channel: 0, packet, from, sent, arrives: sent })
    }

    fn enter(&mut self, at: u64, packet: u64) -> &mut Self {
        self.emit(at, &Event::Entered { place: BEARER, packet: id(packet) })
    }

    fn leave(&mut self, at: u64, packet: u64) -> &mut Self {
        self.emit(at, &Event::Left { place: BEARER, packet: id(packet) })
    }

    fn receive(&mut self, at: u64, site: Site, packet: u64) -> &mut Self {
        let place = Place::new(site, 0);
        self.emit(at, &Event::Received { place, packet: id(packet) })
    }

    /// Sends a block of user 0 that carries a whole packet.
    fn block(&mut self, at: u64, block: u64, transmission: u32, failed: bool, packet: u64) -> &mut Self {
        self.emit(at, &Event::Block { bearer: 0, user: 0, block, units: 1, transmission, failed });
        if transmission == 1 {
            let part = Part { packet: id(packet), offset: 0, bytes: 1500 };
            self.emit(at, &Event::Carries { bearer: 0, user: 0, block, part });
        }
        self
    }

    fn expire(&mut self, at: u64, site: Site, timer: TimerKind) -> &mut Self {
        self.emit(at, &Event::TimerExpired { place: Place::new(site, 0), flow: 0, timer })
    }

    fn limited(&mut self, at: u64, limit: SendLimit) -> &mut Self {
        self.emit(at, &Event::SendLimit { place: Place::new(Site::Server, 0), flow: 0, limit })
    }

    /// Ends the transfer. Returns causes and milliseconds as [`Self::path`] does.
    fn done(&mut self, at: u64) -> Vec<(Cause, u64)> {
        self.emit(at, &Event::Arrived { flow: 0, bytes: 10_000 });
        self.path(at)
    }

    fn spans(&self, at: u64) -> Vec<Span> {
        self.spans_with(at, &Control::default()).unwrap()
    }

    fn spans_with(&self, at: u64, control: &Control) -> Result<Vec<Span>> {
        Walk::spans(&self.timeline, u32::MAX, Time::ZERO, ms(at), control)
    }

    /// Returns causes and milliseconds in the order of time; adjacent ones of the same cause are joined.
    fn path(&self, at: u64) -> Vec<(Cause, u64)> {
        let mut found: Vec<(Cause, u64)> = Vec::new();
        for span in self.spans(at) {
            let lasts = span.duration().0 / 1_000_000;
            match found.last_mut() {
                Some((cause, sum)) if *cause == span.cause => *sum += lasts,
                _ => found.push((span.cause, lasts)),
            }
        }
        assert_eq!(found.iter().map(|(_, ms)| ms).sum::<u64>(), at);
        found
    }
}

const LINK: &str = "[radio.link]";
const HS_DSCH: &str = "[radio.hs_dsch]";

/// A packet is transmitted at once, for 10 ms, and arrives after 90 ms of propagation.
#[test]
fn propagation_and_transmission_on_the_last_flight() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).link(DOWN, 1, [0, 0, 10, 100]).receive(100, Site::Phone, 1);
    assert_eq!(fixture.done(100), [(Transmission, 10), (Propagation, 90)]);
}

#[test]
fn cancelled_walk_returns_an_error() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).link(DOWN, 1, [0, 0, 10, 100]).receive(100, Site::Phone, 1);
    fixture.emit(100, &Event::Arrived { flow: 0, bytes: 10_000 });
    let control = Control::default();
    control.cancel();
    assert!(matches!(fixture.spans_with(100, &control), Err(RunError::Cancelled)));
}

/// A SYN and its answer, then the request.
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

/// Returns the causes of a round trip of 100 ms after `hold` stopped the sender.
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
        (SendLimit::Steered, ProxyWindow),
        (SendLimit::Recovery, Recovery),
        (SendLimit::Application, Application),
    ];
    for (limit, cause) in limits {
        assert_eq!(round(limit), [(cause, 100), (Transmission, 10), (Propagation, 50)]);
    }
}

/// The sender's retransmission timer expires 300 ms after the transmission of a segment that was lost.
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

/// A SYN that is lost is retransmitted after 3 s.
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

/// An ACK reveals a loss; its round trip is charged to recovery.
#[test]
fn fast_retransmission_is_charged_a_round_trip() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).data(0, 2, 2).limited(0, SendLimit::SlowStart);
    fixture.link(DOWN, 2, [0, 0, 10, 60]).receive(60, Site::Phone, 2);
    fixture.ack(60, 3, 0).link(UPLINK, 3, [60, 60, 61, 100]).receive(100, Site::Server, 3);
    fixture.retransmit(100, 4, 1).link(DOWN, 4, [100, 100, 110, 160]).receive(160, Site::Phone, 4);
    assert_eq!(fixture.done(160), [(Recovery, 100), (Transmission, 10), (Propagation, 50)]);
}

/// The receiver delays its ACK by 100 ms.
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

/// The receiver's application reads, and an ACK opens the window 80 ms after the last one.
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

/// Two segments, which the pacer sends 40 ms apart.
#[test]
fn pacing_counts_from_the_previous_segment() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, SendLimit::Pacing).expire(40, Site::Server, TimerKind::Pacing);
    fixture.data(40, 2, 2).link(DOWN, 2, [40, 40, 50, 100]).receive(100, Site::Phone, 2);
    assert_eq!(fixture.done(100), [(Pacing, 40), (Transmission, 10), (Propagation, 50)]);
}

/// Three segments at once on a link that takes 10 ms for each: the last waits for the two before it.
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

/// An ACK waits behind the previous one: transmission on the uplink, as with data on the downlink.
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

/// The last segment of the previous transfer is being transmitted when this one begins.
#[test]
fn waiting_behind_an_earlier_transfer_is_queueing_behind_own_data() {
    let mut fixture = Fixture::before(LINK, 1);
    fixture.data(0, 1, 1).link(DOWN, 1, [0, 0, 30, 80]);
    fixture.emit(0, &Event::Arrived { flow: 0, bytes: 10 }).emit(0, &Event::Began { flow: 0, bytes: 10_000 });
    fixture.data(0, 2, 2).link(DOWN, 2, [0, 30, 40, 90]).receive(90, Site::Phone, 2);
    assert_eq!(fixture.done(90), [(QueueBehindOwn, 30), (Transmission, 10), (Propagation, 50)]);
}

/// A request rides on the ACK of the SYN, or is a packet of its own; then the server works for 200 ms.
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

/// On HS-DSCH (TTIs of 2 ms) a packet arrives at 3 ms and waits for the TTI at 4 ms; others are served in the next
/// three.
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

/// Packet 2 arrives while packet 1 is transmitted; it waits for the next TTI whatever this one carries.
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

/// Ends the transfer. Returns its steps and milliseconds.
fn steps(fixture: &mut Fixture, at: u64) -> Vec<(Step, u64)> {
    fixture.emit(at, &Event::Arrived { flow: 0, bytes: 10_000 });
    fixture.spans(at).iter().map(|span| (span.step, span.duration().0 / 1_000_000)).collect()
}

/// A block fails in the TTI at 0 ms and may be retransmitted after 9.5 ms; at 10 ms others are served.
#[test]
fn others_served_before_a_harq_retransmission_are_charged_to_scheduler() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    fixture
        .emit(10, &Event::Block { bearer: 0, user: 1, block: 9, units: 1, transmission: 1, failed: false });
    fixture.block(12, 0, 2, false, 1).leave(14, 1).receive(14, Site::Phone, 1);
    assert_eq!(fixture.done(14), [(Transmission, 2), (Harq, 8), (Scheduler, 2), (Harq, 2)]);
}

/// On a DCH RLC retransmits: TTIs of 10 ms, retransmission after 99 ms.
#[test]
fn rlc_retransmits_failed_blocks_on_a_dch() {
    let mut fixture = Fixture::on("[radio.dch]");
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    fixture.block(100, 0, 2, false, 1).leave(110, 1).receive(110, Site::Phone, 1);
    assert_eq!(fixture.done(110), [(Transmission, 10), (Rlc, 100)]);
}

/// Acknowledged mode retransmits a lost PDU in another block.
#[test]
fn rlc_retransmits_a_lost_pdu_in_another_block() {
    let mut fixture = Fixture::on("[radio.dch]\nrlc = 'am'");
    fixture.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    fixture.block(60, 72, 1, false, 1).leave(70, 1).receive(70, Site::Phone, 1);
    assert_eq!(fixture.done(70), [(Transmission, 10), (Rlc, 60)]);
}

/// The packet leaves 20 ms after its block without another transmission: T1 expired.
#[test]
fn reordering_timer_releases_a_waiting_packet() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).enter(0, 1).block(0, 3, 1, false, 1).leave(22, 1).receive(22, Site::Phone, 1);
    assert_eq!(fixture.done(22), [(Transmission, 2), (Reordering, 20)]);
}

/// Packet 2 has arrived and waits for the retransmission of packet 1, with which the path continues.
#[test]
fn waiting_for_a_retransmission_ahead_is_charged_to_harq() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2);
    fixture.block(0, 0, 1, true, 1).block(2, 1, 1, false, 2).block(10, 0, 2, false, 1);
    fixture.leave(12, 1).receive(12, Site::Phone, 1).leave(12, 2).receive(12, Site::Phone, 2);
    assert_eq!(fixture.done(12), [(Transmission, 2), (Harq, 10)]);
}

/// Of two retransmissions in the last TTI, packet 2 waited for that of the packet ahead.
#[test]
fn packet_does_not_wait_for_later_packets() {
    let mut fixture = Fixture::on(HS_DSCH);
    fixture.data(0, 1, 1).data(0, 2, 2).data(1, 3, 3).enter(0, 1).enter(0, 2).enter(1, 3);
    fixture.block(0, 0, 1, true, 1).block(0, 1, 1, false, 2).block(2, 2, 1, true, 3);
    fixture.block(12, 2, 2, false, 3).block(12, 0, 2, false, 1);
    fixture.leave(14, 1).receive(14, Site::Phone, 1).leave(14, 2).receive(14, Site::Phone, 2);
    assert_eq!(fixture.done(14), [(Transmission, 2), (Harq, 12)]);
}

/// On a DCH packet 2 arrives after 10 ms and waits until packet 1 is given up, at the end of its second TTI.
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

/// The RNC gets credits after 20 ms, and its frame takes 15 ms; then the next TTI is awaited for 1 ms.
#[test]
fn credits_and_the_iub() {
    let mut fixture = Fixture::on("[radio.hsdpa]\niub = {}");
    fixture.data(0, 1, 1).enter(0, 1);
    fixture.emit(20, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(35) });
    fixture.block(36, 0, 1, false, 1).leave(38, 1).receive(38, Site::Phone, 1);
    let expected = [(Credits, 20), (Propagation, 15), (Segmentation, 1), (Transmission, 2)];
    assert_eq!(fixture.done(38), expected);
}

/// Packets 1 and 2 arrive together and there are credits for one: the wait of the Node B from 18 ms on, including the
/// crossing, is the round trip of the credits.
#[test]
fn iub_delay_within_a_credit_round_trip_is_charged_to_credits() {
    let mut fixture = two_frames(0);
    let expected =
        [(Propagation, 15), (Segmentation, 1), (Transmission, 2), (Credits, 42), (Transmission, 2)];
    assert_eq!(fixture.done(62), expected);
}

/// Packet 2 arrives at 10 ms and would have reached the Node B at 25 ms in any case, 7 ms after packet 1 had left.
#[test]
fn iub_delay_independent_of_credits_is_propagation() {
    let mut fixture = two_frames(10);
    let expected = [(Propagation, 15), (Segmentation, 1), (Transmission, 2), (Credits, 35), (Propagation, 7)];
    assert_eq!(fixture.done(62), [&expected[..], &[(Transmission, 2)]].concat());
}

/// Packet 2 crosses the Iub from 10 ms on, as soon as it arrives; it does not wait for packet 1, sent at 16 ms.
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

/// Sends two packets over the Iub, of which the second arrives at `second` and is sent at 45 ms.
fn two_frames(second: u64) -> Fixture {
    let mut fixture = Fixture::on("[radio.hsdpa]\niub = {}");
    fixture.data(0, 1, 1).data(0, 2, 2).enter(0, 1);
    fixture.emit(0, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(15) });
    fixture.enter(second, 2).block(16, 0, 1, false, 1).leave(18, 1).receive(18, Site::Phone, 1);
    fixture.emit(45, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(60) });
    fixture.block(60, 1, 1, false, 2).leave(62, 2).receive(62, Site::Phone, 2);
    fixture
}

/// The cell changes at 10 ms, and nothing is sent for 100 ms; before and after the channel is bad.
#[test]
fn handover_interruption_is_charged_to_handover() {
    let mut fixture = Fixture::on("[radio.hsdpa]\nhandover = {}\ncell.interference.hexagonal.rings = 1");
    fixture.data(0, 1, 1).enter(0, 1).emit(10, &Event::Handover { bearer: 0, user: 0, cell: 1 });
    fixture.block(120, 0, 1, false, 1).leave(122, 1).receive(122, Site::Phone, 1);
    assert_eq!(fixture.done(122), [(Scheduler, 10), (Handover, 100), (Scheduler, 10), (Transmission, 2)]);
}

/// A message of the RNC lets a proxy send data that it held, 70 ms after its last transmission.
#[test]
fn window_set_by_the_rnc_is_charged_to_the_proxy_window() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).limited(0, SendLimit::Steered).expire(70, Site::Server, TimerKind::Feedback);
    fixture.data(70, 2, 2).link(DOWN, 2, [70, 70, 80, 100]).receive(100, Site::Phone, 2);
    assert_eq!(fixture.done(100), [(ProxyWindow, 70), (Transmission, 10), (Propagation, 20)]);
}

/// A Snoop agent retransmits a segment that had passed it at 20 ms, at 120 ms by its timer.
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

/// The run ends at 90 ms while the packet is in flight.
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

/// All data are lost, and the run ends before the timer expires.
#[test]
fn transfer_without_packets_in_flight_waits_for_a_timer() {
    let mut fixture = Fixture::on(LINK);
    let cause = nodeb_base::event::Cause::LinkLoss;
    fixture.data(0, 1, 1).emit(0, &Event::Lost { place: DOWN, packet: id(1), cause });
    assert_eq!(fixture.path(500), [(Timeout, 500)]);
}

/// The ACK is lost, and the run ends before the sender's timer expires.
#[test]
fn transfer_with_lost_ack_waits_for_a_timer() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).emit(0, &Event::Timer { flow: 0, at: Some(ms(1_000)) });
    fixture.link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    let cause = nodeb_base::event::Cause::LinkLoss;
    fixture.ack(60, 2, 1).emit(60, &Event::Lost { place: UPLINK, packet: id(2), cause });
    assert_eq!(fixture.path(500), [(Transmission, 10), (Propagation, 50), (Timeout, 440)]);
}

/// All data are acknowledged, no timer runs, and the sender has nothing to send.
#[test]
fn acknowledged_transfer_waits_for_the_application() {
    let mut fixture = Fixture::on(LINK);
    fixture.data(0, 1, 1).link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    fixture.ack(60, 2, 1).link(UPLINK, 2, [60, 60, 61, 100]).receive(100, Site::Server, 2);
    assert_eq!(fixture.path(500).last(), Some(&(Application, 400)));
}

/// The run ends at 15 ms, while the second of three segments is being transmitted.
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

/// On the wired link two packets take 10 ms each, of which the second ends after the end of the transfer; on the air
/// two blocks share a TTI.
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

/// One packet is lost before the transfer begins, and one for each cause during it; another flow's is not counted.
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

#[test]
fn segmentation_of_other_flows_marks_the_bearer_as_cutting() {
    let mut fixture = Fixture::on("[radio.dch]");
    fixture.emit(0, &Event::Segmented { bearer: 0, user: 0, packet: id(7), first: 0, end: 3 });
    assert!(fixture.timeline.air.is_cut());
}
