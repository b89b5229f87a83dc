//! Timelines made by hand: for each cause one in which it is known how much of the time it has.

use nodeb_base::error::{Error as RunError, Result};
use nodeb_base::event::{self, Clock, Event, Hold, Part, Place, Purpose, Site};
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

/// The identity of a packet by its number.
fn id(packet: u64) -> PacketId {
    PacketId(packet << 32 | packet)
}

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// A timeline that is told of things, in milliseconds.
struct Story {
    timeline: Timeline,
    over: bool,
}

impl Story {
    /// Of user 0 on a radio.
    fn on(radio: &str) -> Self {
        Self::before(radio, 0)
    }

    /// The same, of a transfer before which there are others.
    fn before(radio: &str, transfer: u64) -> Self {
        let text = format!("{radio}\n[[users]]\ntraffic.ftp.size = '10 kB'\n");
        let scenario = scenario::from_toml(&text, "story", &[]).unwrap();
        let mut story = Self { timeline: Timeline::new(&scenario, 0, transfer), over: false };
        story.tell(0, &Event::Began { flow: 0, bytes: 10_000 });
        story
    }

    fn tell_of(&mut self, at: u64, event: &Event, segment: Option<&Segment>) {
        assert!(!self.over, "the transfer is over");
        self.over = self.timeline.on_event(ms(at), event, segment).is_break();
    }

    fn tell(&mut self, at: u64, event: &Event) -> &mut Self {
        self.tell_of(at, event, None);
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
        self.tell_of(at, &event, Some(&segment));
        self
    }

    /// The server sends a segment.
    fn data(&mut self, at: u64, packet: u64, seq: u64) -> &mut Self {
        self.send(at, Site::Server, packet, Segment { seq, size: 1500, ..Segment::control(0, Kind::Data) })
    }

    fn again(&mut self, at: u64, packet: u64, seq: u64) -> &mut Self {
        let segment = Segment { seq, size: 1500, retransmission: true, ..Segment::control(0, Kind::Data) };
        self.send(at, Site::Server, packet, segment)
    }

    /// The phone sends an ACK.
    fn ack(&mut self, at: u64, packet: u64, seq: u64) -> &mut Self {
        self.send(at, Site::Phone, packet, Segment { seq, ..Segment::control(0, Kind::Ack) })
    }

    /// A packet waits from the first time to the second, is sent until the third, and there at the fourth.
    fn link(&mut self, place: Place, packet: u64, [entered, from, sent, there]: [u64; 4]) -> &mut Self {
        let packet = id(packet);
        self.tell(entered, &Event::Entered { place, packet });
        let (from, sent) = (ms(from), ms(sent));
        self.tell(entered, &Event::Served { place, channel: 0, packet, from, sent, arrives: ms(there) });
        self.tell(there, &Event::Left { place, packet })
    }

    /// Another connection's packet is sent.
    fn other(&mut self, place: Place, from: u64, sent: u64) -> &mut Self {
        let (from, sent) = (ms(from), ms(sent));
        let packet = id(999);
        self.tell(0, &Event::Served { place, channel: 0, packet, from, sent, arrives: sent })
    }

    fn enter(&mut self, at: u64, packet: u64) -> &mut Self {
        self.tell(at, &Event::Entered { place: BEARER, packet: id(packet) })
    }

    fn leave(&mut self, at: u64, packet: u64) -> &mut Self {
        self.tell(at, &Event::Left { place: BEARER, packet: id(packet) })
    }

    fn receive(&mut self, at: u64, site: Site, packet: u64) -> &mut Self {
        let place = Place::new(site, 0);
        self.tell(at, &Event::Received { place, packet: id(packet) })
    }

    /// A block of user 0 that carries all of a packet.
    fn block(&mut self, at: u64, block: u64, transmission: u32, failed: bool, packet: u64) -> &mut Self {
        self.tell(at, &Event::Block { bearer: 0, user: 0, block, units: 1, transmission, failed });
        if transmission == 1 {
            let part = Part { packet: id(packet), offset: 0, bytes: 1500 };
            self.tell(at, &Event::Carries { bearer: 0, user: 0, block, part });
        }
        self
    }

    fn rang(&mut self, at: u64, site: Site, clock: Clock) -> &mut Self {
        self.tell(at, &Event::Rang { place: Place::new(site, 0), flow: 0, clock })
    }

    fn held(&mut self, at: u64, hold: Hold) -> &mut Self {
        self.tell(at, &Event::Held { place: Place::new(Site::Server, 0), flow: 0, hold })
    }

    /// The transfer is there.
    fn done(&mut self, at: u64) -> Vec<(Cause, u64)> {
        self.tell(at, &Event::Arrived { flow: 0, bytes: 10_000 });
        self.path(at)
    }

    fn spans(&self, at: u64) -> Vec<Span> {
        self.watched(at, &Control::default()).unwrap()
    }

    fn watched(&self, at: u64, control: &Control) -> Result<Vec<Span>> {
        Walk::spans(&self.timeline, u32::MAX, Time::ZERO, ms(at), control)
    }

    /// Causes and milliseconds in order of time, those alike joined.
    fn path(&self, at: u64) -> Vec<(Cause, u64)> {
        let mut found: Vec<(Cause, u64)> = Vec::new();
        for span in self.spans(at) {
            let lasts = span.lasts().0 / 1_000_000;
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

/// What has come is sent at once, and is there after 10 ms of sending and 90 ms on the way.
#[test]
fn propagation_and_transmission_on_the_last_flight() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).link(DOWN, 1, [0, 0, 10, 100]).receive(100, Site::Phone, 1);
    assert_eq!(story.done(100), [(Transmission, 10), (Propagation, 90)]);
}

#[test]
fn a_walk_that_nobody_wants_any_more_finds_no_path() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).link(DOWN, 1, [0, 0, 10, 100]).receive(100, Site::Phone, 1);
    story.tell(100, &Event::Arrived { flow: 0, bytes: 10_000 });
    let control = Control::default();
    control.cancel();
    assert!(matches!(story.watched(100, &control), Err(RunError::Cancelled)));
}

/// A SYN there and back, and then the request.
#[test]
fn handshake_and_request() {
    let mut story = Story::on(LINK);
    let control = |kind| Segment::control(0, kind);
    story.send(0, Site::Phone, 1, control(Kind::Connect)).link(UPLINK, 1, [0, 0, 1, 20]);
    story.receive(20, Site::Server, 1).data(20, 2, 0).held(20, Hold::Handshake);
    story.link(DOWN, 2, [20, 20, 21, 40]).receive(40, Site::Phone, 2);
    story.send(40, Site::Phone, 3, control(Kind::Request)).link(UPLINK, 3, [40, 40, 42, 70]);
    story.receive(70, Site::Server, 3).data(70, 4, 1);
    story.link(DOWN, 4, [70, 70, 80, 100]).receive(100, Site::Phone, 4);
    let expected = [(Handshake, 40), (Request, 30), (Transmission, 10), (Propagation, 20)];
    assert_eq!(story.done(100), expected);
}

/// A round trip of 100 ms, taken for what held the sender back.
fn round(hold: Hold) -> Vec<(Cause, u64)> {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).held(0, hold).link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    story.ack(60, 2, 1).link(UPLINK, 2, [60, 60, 61, 100]).receive(100, Site::Server, 2);
    story.data(100, 3, 2).link(DOWN, 3, [100, 100, 110, 160]).receive(160, Site::Phone, 3);
    story.done(160)
}

#[test]
fn windows_cost_their_round_trips() {
    let holds = [
        (Hold::SlowStart, SlowStart),
        (Hold::CongestionAvoidance, CongestionAvoidance),
        (Hold::Receiver, ReceiverWindow),
        (Hold::Steered, ProxyWindow),
        (Hold::Recovery, Recovery),
        (Hold::Application, Application),
    ];
    for (hold, cause) in holds {
        assert_eq!(round(hold), [(cause, 100), (Transmission, 10), (Propagation, 50)]);
    }
}

/// The sender's retransmission timer rings 300 ms after the segment was sent, which was lost.
#[test]
fn a_timeout_counts_from_what_was_lost() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).held(0, Hold::SlowStart).rang(300, Site::Server, Clock::Retransmission);
    story.again(300, 2, 1).link(DOWN, 2, [300, 300, 310, 360]).receive(360, Site::Phone, 2);
    assert_eq!(story.done(360), [(Timeout, 300), (Transmission, 10), (Propagation, 50)]);
}

/// A request that nobody hears is repeated after 3 s.
#[test]
fn a_request_is_repeated_after_its_timeout() {
    let mut story = Story::on(LINK);
    let connect = Segment::control(0, Kind::Connect);
    story.send(0, Site::Phone, 1, connect).rang(3_000, Site::Phone, Clock::Request);
    story.send(3_000, Site::Phone, 2, connect).link(UPLINK, 2, [3_000, 3_000, 3_001, 3_020]);
    story.receive(3_020, Site::Server, 2).data(3_020, 3, 0);
    story.link(DOWN, 3, [3_020, 3_020, 3_030, 3_050]).receive(3_050, Site::Phone, 3);
    let expected = [(Timeout, 3_000), (Handshake, 20), (Transmission, 10), (Propagation, 20)];
    assert_eq!(story.done(3_050), expected);
}

/// An ACK tells of a loss: the round trip that brought it is recovery's.
#[test]
fn a_fast_retransmission_costs_a_round_trip() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).data(0, 2, 2).held(0, Hold::SlowStart);
    story.link(DOWN, 2, [0, 0, 10, 60]).receive(60, Site::Phone, 2);
    story.ack(60, 3, 0).link(UPLINK, 3, [60, 60, 61, 100]).receive(100, Site::Server, 3);
    story.again(100, 4, 1).link(DOWN, 4, [100, 100, 110, 160]).receive(160, Site::Phone, 4);
    assert_eq!(story.done(160), [(Recovery, 100), (Transmission, 10), (Propagation, 50)]);
}

/// The receiver holds its ACK back for 100 ms.
#[test]
fn a_delayed_ack_counts_from_the_segment_that_it_answers() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).held(0, Hold::SlowStart).link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    story.rang(160, Site::Phone, Clock::Acknowledgement).ack(160, 2, 1);
    story.link(UPLINK, 2, [160, 160, 161, 200]).receive(200, Site::Server, 2);
    story.data(200, 3, 2).link(DOWN, 3, [200, 200, 210, 260]).receive(260, Site::Phone, 3);
    let expected =
        [(SlowStart, 60), (DelayedAck, 100), (SlowStart, 40), (Transmission, 10), (Propagation, 50)];
    assert_eq!(story.done(260), expected);
}

/// The receiver's application reads, and an ACK opens the window 80 ms after the last one.
#[test]
fn a_window_that_opens_late_is_the_receivers() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).held(0, Hold::Receiver).link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    story.ack(60, 2, 1).rang(140, Site::Phone, Clock::Acknowledgement).ack(140, 3, 1);
    story.link(UPLINK, 3, [140, 140, 141, 180]).receive(180, Site::Server, 3);
    story.data(180, 4, 2).link(DOWN, 4, [180, 180, 190, 240]).receive(240, Site::Phone, 4);
    assert_eq!(story.done(240), [(ReceiverWindow, 180), (Transmission, 10), (Propagation, 50)]);
}

/// Two segments at a distance of 40 ms that the pacer keeps.
#[test]
fn the_pacer_counts_from_the_segment_before() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).held(0, Hold::Pacing).rang(40, Site::Server, Clock::Pacing);
    story.data(40, 2, 2).link(DOWN, 2, [40, 40, 50, 100]).receive(100, Site::Phone, 2);
    assert_eq!(story.done(100), [(Pacing, 40), (Transmission, 10), (Propagation, 50)]);
}

/// Three segments at once on a link that takes 10 ms for each: the last waits for the two before it.
#[test]
fn waiting_behind_own_data_is_the_links_transmission() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).data(0, 2, 2).data(0, 3, 3);
    for (packet, turn) in [(1, 0), (2, 10), (3, 20)] {
        story.link(DOWN, packet, [0, turn, turn + 10, turn + 60]);
        story.receive(turn + 60, Site::Phone, packet);
    }
    assert_eq!(story.done(80), [(Transmission, 30), (Propagation, 50)]);
}

/// An ACK waits behind the one before it, which is the uplink's transmission as it is the downlink's with data.
#[test]
fn waiting_behind_own_acks_is_the_uplinks_transmission() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).held(0, Hold::SlowStart).link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    story.ack(60, 2, 1).link(UPLINK, 2, [60, 60, 90, 100]);
    story.ack(60, 3, 1).link(UPLINK, 3, [60, 90, 120, 130]).receive(130, Site::Server, 3);
    story.data(130, 4, 2).link(DOWN, 4, [130, 130, 140, 200]).receive(200, Site::Phone, 4);
    let expected =
        [(SlowStart, 60), (Transmission, 30), (SlowStart, 40), (Transmission, 10), (Propagation, 60)];
    assert_eq!(story.done(200), expected);
}

/// The last segment of the transfer before is being sent when this one begins.
#[test]
fn waiting_behind_what_was_sent_before_the_transfer() {
    let mut story = Story::before(LINK, 1);
    story.data(0, 1, 1).link(DOWN, 1, [0, 0, 30, 80]);
    story.tell(0, &Event::Arrived { flow: 0, bytes: 10 }).tell(0, &Event::Began { flow: 0, bytes: 10_000 });
    story.data(0, 2, 2).link(DOWN, 2, [0, 30, 40, 90]).receive(90, Site::Phone, 2);
    assert_eq!(story.done(90), [(QueueBehindOwn, 30), (Transmission, 10), (Propagation, 50)]);
}

/// A request rides on the ACK of the SYN, or comes by itself; then the server works for 200 ms.
#[test]
fn a_server_works_on_its_answer() {
    for kind in [Kind::Ack, Kind::Request] {
        let mut story = Story::on(LINK);
        story.data(0, 1, 0).held(0, Hold::Handshake).link(DOWN, 1, [0, 0, 1, 20]).receive(20, Site::Phone, 1);
        let segment = Segment { size: 340, ..Segment::control(0, kind) };
        story.send(20, Site::Phone, 2, segment).link(UPLINK, 2, [20, 20, 42, 70]).receive(
            70,
            Site::Server,
            2,
        );
        story.held(70, Hold::Application).rang(270, Site::Server, Clock::Server).data(270, 3, 1);
        story.link(DOWN, 3, [270, 270, 280, 300]).receive(300, Site::Phone, 3);
        let round = if kind == Kind::Ack { Handshake } else { Request };
        let handshake =
            if kind == Kind::Ack { vec![(Handshake, 70)] } else { vec![(Handshake, 20), (round, 50)] };
        let expected = [&handshake[..], &[(Server, 200), (Transmission, 10), (Propagation, 20)]].concat();
        assert_eq!(story.done(300), expected);
    }
}

#[test]
fn waiting_behind_other_connections() {
    let mut story = Story::on(LINK);
    story.other(DOWN, 0, 25).data(5, 1, 1).link(DOWN, 1, [5, 25, 35, 100]).receive(100, Site::Phone, 1);
    let expected = [(Application, 5), (QueueBehindOthers, 20), (Transmission, 10), (Propagation, 65)];
    assert_eq!(story.done(100), expected);
}

/// A user of HS-DSCH (TTIs of 2 ms): a packet comes at 3 ms and waits for the TTI at 4 ms; others have the next three.
#[test]
fn segmentation_and_the_scheduler() {
    let mut story = Story::on(HS_DSCH);
    story.data(3, 1, 1).enter(3, 1);
    for at in [4, 6, 8] {
        story.tell(
            at,
            &Event::Block { bearer: 0, user: 1, block: at, units: 1, transmission: 1, failed: false },
        );
    }
    story.block(10, 0, 1, false, 1).leave(12, 1).receive(12, Site::Phone, 1);
    let expected = [(Application, 3), (Segmentation, 1), (Scheduler, 6), (Transmission, 2)];
    assert_eq!(story.done(12), expected);
}

/// Packet 2 comes while packet 1 is sent: whatever that TTI carried, it waits for the next.
#[test]
fn who_comes_during_a_tti_waits_for_the_next_and_not_for_own_data() {
    let mut story = Story::on(HS_DSCH);
    story.data(0, 1, 1).enter(0, 1).block(0, 0, 1, false, 1);
    story.data(1, 2, 2).enter(1, 2).leave(2, 1).receive(2, Site::Phone, 1);
    story.block(2, 1, 1, false, 2).leave(4, 2).receive(4, Site::Phone, 2);
    assert_eq!(story.done(4), [(Application, 1), (Segmentation, 1), (Transmission, 2)]);
}

/// Packet 2 was there when the TTI began in which packet 1 was sent.
#[test]
fn who_was_there_when_a_tti_began_waits_for_own_data() {
    let mut story = Story::on(HS_DSCH);
    story.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2).block(0, 0, 1, false, 1);
    story.leave(2, 1).receive(2, Site::Phone, 1);
    story.block(2, 1, 1, false, 2).leave(4, 2).receive(4, Site::Phone, 2);
    let steps: Vec<_> = story_steps(&mut story, 4);
    assert_eq!(steps, [(Step::OwnAhead, 2), (Step::Sends, 2)]);
}

/// Steps and milliseconds of a transfer that is there at a time.
fn story_steps(story: &mut Story, at: u64) -> Vec<(Step, u64)> {
    story.tell(at, &Event::Arrived { flow: 0, bytes: 10_000 });
    story.spans(at).iter().map(|span| (span.step, span.lasts().0 / 1_000_000)).collect()
}

/// A block fails in the TTI at 0 ms and may go again after 9.5 ms; at 10 ms others are served.
#[test]
fn harq_and_who_was_served_before_the_repetition() {
    let mut story = Story::on(HS_DSCH);
    story.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    story.tell(10, &Event::Block { bearer: 0, user: 1, block: 9, units: 1, transmission: 1, failed: false });
    story.block(12, 0, 2, false, 1).leave(14, 1).receive(14, Site::Phone, 1);
    assert_eq!(story.done(14), [(Transmission, 2), (Harq, 8), (Scheduler, 2), (Harq, 2)]);
}

/// The same on a DCH, where RLC repeats: TTIs of 10 ms, again after 99 ms.
#[test]
fn rlc_repeats_what_fails_on_a_dch() {
    let mut story = Story::on("[radio.dch]");
    story.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    story.block(100, 0, 2, false, 1).leave(110, 1).receive(110, Site::Phone, 1);
    assert_eq!(story.done(110), [(Transmission, 10), (Rlc, 100)]);
}

/// Acknowledged mode sends a lost PDU again in another block.
#[test]
fn rlc_sends_a_lost_pdu_in_another_block() {
    let mut story = Story::on("[radio.dch]\nrlc = 'am'");
    story.data(0, 1, 1).enter(0, 1).block(0, 0, 1, true, 1);
    story.block(60, 72, 1, false, 1).leave(70, 1).receive(70, Site::Phone, 1);
    assert_eq!(story.done(70), [(Transmission, 10), (Rlc, 60)]);
}

/// Nothing was on the air before the packet left, 20 ms after its block: T1 ran.
#[test]
fn a_timer_lets_go_what_waits_for_order() {
    let mut story = Story::on(HS_DSCH);
    story.data(0, 1, 1).enter(0, 1).block(0, 3, 1, false, 1).leave(22, 1).receive(22, Site::Phone, 1);
    assert_eq!(story.done(22), [(Transmission, 2), (Reordering, 20)]);
}

/// Packet 2 is there in time, and waits for packet 1's repetition, which the path goes on with.
#[test]
fn who_waits_for_a_repetition_waits_for_harq() {
    let mut story = Story::on(HS_DSCH);
    story.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2);
    story.block(0, 0, 1, true, 1).block(2, 1, 1, false, 2).block(10, 0, 2, false, 1);
    story.leave(12, 1).receive(12, Site::Phone, 1).leave(12, 2).receive(12, Site::Phone, 2);
    assert_eq!(story.done(12), [(Transmission, 2), (Harq, 10)]);
}

/// Of two repetitions in the last TTI it is that of the packet ahead which packet 2 waited for.
#[test]
fn who_waits_does_not_wait_for_what_is_behind() {
    let mut story = Story::on(HS_DSCH);
    story.data(0, 1, 1).data(0, 2, 2).data(1, 3, 3).enter(0, 1).enter(0, 2).enter(1, 3);
    story.block(0, 0, 1, true, 1).block(0, 1, 1, false, 2).block(2, 2, 1, true, 3);
    story.block(12, 2, 2, false, 3).block(12, 0, 2, false, 1);
    story.leave(14, 1).receive(14, Site::Phone, 1).leave(14, 2).receive(14, Site::Phone, 2);
    assert_eq!(story.done(14), [(Transmission, 2), (Harq, 12)]);
}

/// On a DCH packet 2 is there after 10 ms and waits until packet 1 is given up, at the end of its second TTI.
#[test]
fn who_waits_for_what_is_given_up_waits_for_order() {
    let mut story = Story::on("[radio.dch]\nmax_transmissions = 2");
    story.data(0, 1, 1).data(0, 2, 2).enter(0, 1).enter(0, 2);
    for packet in [1, 2] {
        let (first, end) = (packet - 1, packet);
        story.tell(0, &Event::Segmented { bearer: 0, user: 0, packet: id(packet), first, end });
    }
    for (at, block, transmission, failed) in [(0, 0, 1, true), (0, 1, 1, false), (100, 0, 2, true)] {
        story.tell(at, &Event::Block { bearer: 0, user: 0, block, units: 1, transmission, failed });
    }
    story.tell(100, &Event::GivenUp { bearer: 0, user: 0, block: 0 });
    story.tell(110, &Event::Lost { place: BEARER, packet: id(1), cause: event::Cause::RadioLoss });
    story.leave(110, 2).receive(110, Site::Phone, 2);
    assert_eq!(story.done(110), [(Transmission, 10), (Reordering, 100)]);
}

/// A channel is set up for 50 ms before the packet goes on the air.
#[test]
fn channels_are_set_up() {
    let mut story = Story::on("[radio.fach_dch]");
    story.data(0, 1, 1).enter(0, 1);
    for (at, state) in [(0, 3), (50, 4)] {
        story.tell(at, &Event::State { bearer: 0, user: 0, state });
    }
    let (packet, from, sent) = (id(1), ms(50), ms(60));
    story.tell(50, &Event::Served { place: BEARER, channel: 1, packet, from, sent, arrives: sent });
    story.leave(60, 1).receive(60, Site::Phone, 1);
    assert_eq!(story.done(60), [(ChannelSwitching, 50), (Transmission, 10)]);
}

/// The RNC gets credits after 20 ms, and its frame takes 15 ms; then a TTI is awaited for 1 ms.
#[test]
fn credits_and_the_iub() {
    let mut story = Story::on("[radio.hsdpa]\niub = {}");
    story.data(0, 1, 1).enter(0, 1);
    story.tell(20, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(35) });
    story.block(36, 0, 1, false, 1).leave(38, 1).receive(38, Site::Phone, 1);
    let expected = [(Credits, 20), (Propagation, 15), (Segmentation, 1), (Transmission, 2)];
    assert_eq!(story.done(38), expected);
}

/// Packets 1 and 2 come at once and there are credits for one: what the Node B waits for from 18 ms on, the crossing
/// included, is the round trip of the credits.
#[test]
fn a_crossing_within_a_credit_round_trip_is_a_part_of_it() {
    let mut story = two_frames(0);
    let expected =
        [(Propagation, 15), (Segmentation, 1), (Transmission, 2), (Credits, 42), (Transmission, 2)];
    assert_eq!(story.done(62), expected);
}

/// Packet 2 comes at 10 ms and would have been at the Node B at 25 ms in any case, 7 ms after packet 1 had left.
#[test]
fn a_crossing_that_credits_would_not_have_spared_is_propagation() {
    let mut story = two_frames(10);
    let expected = [(Propagation, 15), (Segmentation, 1), (Transmission, 2), (Credits, 35), (Propagation, 7)];
    assert_eq!(story.done(62), [&expected[..], &[(Transmission, 2)]].concat());
}

/// Packet 2 crosses the Iub from 10 ms on, as soon as it has come: it did not wait for packet 1, sent at 16 ms.
#[test]
fn who_crosses_the_iub_meanwhile_does_not_wait_for_own_data() {
    let mut story = Story::on("[radio.hsdpa]\niub = {}");
    story.data(0, 1, 1).enter(0, 1);
    story.tell(0, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(15) });
    story.data(10, 2, 2).enter(10, 2);
    story.tell(10, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(25) });
    story.block(16, 0, 1, false, 1).leave(18, 1).receive(18, Site::Phone, 1);
    story.block(26, 1, 1, false, 2).leave(28, 2).receive(28, Site::Phone, 2);
    let expected = [(Application, 10), (Propagation, 15), (Segmentation, 1), (Transmission, 2)];
    assert_eq!(story.done(28), expected);
}

/// Two packets over the Iub, of which the second comes at a time and is sent there at 45 ms.
fn two_frames(second: u64) -> Story {
    let mut story = Story::on("[radio.hsdpa]\niub = {}");
    story.data(0, 1, 1).data(0, 2, 2).enter(0, 1);
    story.tell(0, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(15) });
    story.enter(second, 2).block(16, 0, 1, false, 1).leave(18, 1).receive(18, Site::Phone, 1);
    story.tell(45, &Event::Frame { bearer: 0, user: 0, units: 1, arrives: ms(60) });
    story.block(60, 1, 1, false, 2).leave(62, 2).receive(62, Site::Phone, 2);
    story
}

/// The cell changes at 10 ms, and nothing is sent for 100 ms; before and after the channel was bad.
#[test]
fn a_handover_interrupts() {
    let mut story = Story::on("[radio.hsdpa]\nhandover = {}\ncell.interference.hexagonal.rings = 1");
    story.data(0, 1, 1).enter(0, 1).tell(10, &Event::Handover { bearer: 0, user: 0, cell: 1 });
    story.block(120, 0, 1, false, 1).leave(122, 1).receive(122, Site::Phone, 1);
    assert_eq!(story.done(122), [(Scheduler, 10), (Handover, 100), (Scheduler, 10), (Transmission, 2)]);
}

/// A message of the RNC lets a proxy send what it held, 70 ms after it had last sent something.
#[test]
fn a_window_set_from_outside_is_the_proxys() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).held(0, Hold::Steered).rang(70, Site::Server, Clock::Feedback);
    story.data(70, 2, 2).link(DOWN, 2, [70, 70, 80, 100]).receive(100, Site::Phone, 2);
    assert_eq!(story.done(100), [(ProxyWindow, 70), (Transmission, 10), (Propagation, 20)]);
}

/// A Snoop agent repeats a segment that had passed it at 20 ms, at 120 ms by its timer.
#[test]
fn snoop_repairs() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).held(0, Hold::SlowStart).link(DOWN, 1, [0, 0, 10, 20]).enter(20, 1);
    let cause = nodeb_base::event::Cause::LinkLoss;
    story.tell(20, &Event::Lost { place: BEARER, packet: id(1), cause });
    story.rang(120, Site::Snoop, Clock::Snoop);
    let segment = Segment { seq: 1, size: 1500, retransmission: true, ..Segment::control(0, Kind::Data) };
    story.send(120, Site::Snoop, 2, segment).link(BEARER, 2, [120, 120, 130, 130]);
    story.receive(130, Site::Phone, 2);
    assert_eq!(story.done(130), [(Recovery, 120), (Transmission, 10)]);
}

/// The run ends at 90 ms while the packet is on its way.
#[test]
fn a_transfer_that_does_not_end_is_explained_so_far() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1);
    let (place, packet) = (DOWN, id(1));
    story.tell(0, &Event::Entered { place, packet });
    let (from, sent, arrives) = (ms(0), ms(10), ms(100));
    story.tell(0, &Event::Served { place, channel: 0, packet, from, sent, arrives });
    assert_eq!(story.path(90), [(Transmission, 10), (Propagation, 80)]);
}

/// Everything is lost, and the run ends before the timer rings.
#[test]
fn a_transfer_that_hangs_waits_for_a_timer() {
    let mut story = Story::on(LINK);
    let cause = nodeb_base::event::Cause::LinkLoss;
    story.data(0, 1, 1).tell(0, &Event::Lost { place: DOWN, packet: id(1), cause });
    assert_eq!(story.path(500), [(Timeout, 500)]);
}

/// The ACK is lost, and the run ends before the timer rings that the sender has set.
#[test]
fn a_transfer_whose_ack_is_lost_waits_for_a_timer() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).tell(0, &Event::Timer { flow: 0, at: Some(ms(1_000)) });
    story.link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    let cause = nodeb_base::event::Cause::LinkLoss;
    story.ack(60, 2, 1).tell(60, &Event::Lost { place: UPLINK, packet: id(2), cause });
    assert_eq!(story.path(500), [(Transmission, 10), (Propagation, 50), (Timeout, 440)]);
}

/// Everything is acknowledged, no timer runs, and the sender has nothing to send.
#[test]
fn a_transfer_that_nothing_is_written_for_waits_for_the_application() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).link(DOWN, 1, [0, 0, 10, 60]).receive(60, Site::Phone, 1);
    story.ack(60, 2, 1).link(UPLINK, 2, [60, 60, 61, 100]).receive(100, Site::Server, 2);
    assert_eq!(story.path(500).last(), Some(&(Application, 400)));
}

/// The run ends at 15 ms, when the second of three segments is being sent.
#[test]
fn a_transfer_that_does_not_end_waits_behind_its_own_data() {
    let mut story = Story::on(LINK);
    story.data(0, 1, 1).data(0, 2, 2).data(0, 3, 3);
    for packet in 1..=3 {
        story.tell(0, &Event::Entered { place: DOWN, packet: id(packet) });
    }
    for (packet, at) in [(1, 0), (2, 10)] {
        let (from, sent, packet) = (ms(at), ms(at + 10), id(packet));
        story.tell(at, &Event::Served { place: DOWN, channel: 0, packet, from, sent, arrives: sent });
    }
    story.tell(10, &Event::Left { place: DOWN, packet: id(1) }).receive(10, Site::Phone, 1);
    let lost = nodeb_base::event::Cause::LinkLoss;
    story.tell(10, &Event::Lost { place: DOWN, packet: id(2), cause: lost });
    let steps: Vec<_> = story.spans(15).iter().map(|span| (span.step, span.lasts().0 / 1_000_000)).collect();
    assert_eq!(steps, [(Step::OwnAhead, 10), (Step::OwnAhead, 5)]);
}

/// On the wire two packets take 10 ms each, of which the second goes on beyond the end; on the air two blocks share a TTI.
#[test]
fn places_are_busy_while_they_send() {
    let mut story = Story::on(HS_DSCH);
    story.data(0, 1, 1).data(0, 2, 2).link(DOWN, 1, [0, 0, 10, 12]).enter(12, 1);
    story.block(12, 0, 1, false, 1).block(12, 1, 1, false, 1).block(16, 2, 1, false, 1);
    story.tell(12, &Event::Entered { place: DOWN, packet: id(2) });
    story.tell(
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
    let busy = story.timeline.busy(ms(2), ms(17));
    assert_eq!(busy, [(DOWN, ms(8 + 7).since(ms(0))), (BEARER, ms(2 + 1).since(ms(0)))]);
}

/// One packet is lost before the transfer begins, and one for each reason while it lasts; another flow's is not counted.
#[test]
fn what_is_lost_is_counted_by_what_lost_it() {
    use event::Cause::{EarlyDrop, LinkLoss, Overflow, RadioLoss};
    let mut story = Story::before(LINK, 1);
    let lose = |story: &mut Story, at, packet, place, cause| {
        story.tell(at, &Event::Lost { place, packet: id(packet), cause });
    };
    story.data(0, 1, 1);
    lose(&mut story, 0, 1, DOWN, LinkLoss);
    story.tell(1, &Event::Recovery { flow: 0, state: event::Recovery::Reduced });
    story.tell(1, &Event::Arrived { flow: 0, bytes: 10 }).tell(1, &Event::Began { flow: 0, bytes: 10_000 });
    for (packet, cause) in [(2, LinkLoss), (3, Overflow), (4, EarlyDrop), (5, RadioLoss)] {
        story.data(1, packet, packet);
        lose(&mut story, 2, packet, DOWN, cause);
    }
    lose(&mut story, 2, 999, DOWN, LinkLoss);
    story.tell(3, &Event::Recovery { flow: 0, state: event::Recovery::Reduced });
    let expected = crate::Lost { links: 1, queues: 2, radio: 1, marked: 1 };
    assert_eq!(story.timeline.lost, expected);
}

#[test]
fn a_bearer_that_cuts_what_others_send_cuts_packets() {
    let mut story = Story::on("[radio.dch]");
    story.tell(0, &Event::Segmented { bearer: 0, user: 0, packet: id(7), first: 0, end: 3 });
    assert!(story.timeline.air.is_cut());
}
