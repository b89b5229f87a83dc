//! From timelines made by hand; each cause but the uplink grant and DRX has a test.

mod air;
mod end;
mod transport;

use nodeb_base::event::{self, Event, Part, Place, Purpose, SendLimit, Site, TimerKind};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_base::{Error as RunError, Result};
use nodeb_sim::Control;
use nodeb_sim::scenario;
use nodeb_sim::world::Listener as _;
use nodeb_tcp::segment::{Kind, Segment};

use crate::span::Span;
use crate::timeline::Timeline;
use crate::walk::Walk;
use nodeb_base::cause::Cause::{self, *};
use nodeb_base::cause::Step;

const BEARER: Place = Place::new(Site::Bearer, 0);
const DOWN: Place = Place::new(Site::WiredDown, 0);
const UPLINK: Place = Place::new(Site::Uplink, 0);

fn id(packet: u64) -> PacketId {
    PacketId(packet << 32 | packet)
}

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// All times are in milliseconds.
struct Fixture {
    timeline: Timeline,
    over: bool,
}

impl Fixture {
    /// `radio` is TOML.
    fn on(radio: &str) -> Self {
        Self::before(radio, 0)
    }

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

    /// 1500 bytes from the server.
    fn data(&mut self, at: u64, packet: u64, seq: u64) -> &mut Self {
        self.send(at, Site::Server, packet, Segment { seq, size: 1500, ..Segment::control(0, Kind::Data) })
    }

    fn retransmit(&mut self, at: u64, packet: u64, seq: u64) -> &mut Self {
        let segment = Segment { seq, size: 1500, retransmission: true, ..Segment::control(0, Kind::Data) };
        self.send(at, Site::Server, packet, segment)
    }

    /// From the phone.
    fn ack(&mut self, at: u64, packet: u64, seq: u64) -> &mut Self {
        self.send(at, Site::Phone, packet, Segment { seq, ..Segment::control(0, Kind::Ack) })
    }

    /// Times of entry, start and end of the transmission, and arrival.
    fn link(&mut self, place: Place, packet: u64, [entered, from, sent, there]: [u64; 4]) -> &mut Self {
        let packet = id(packet);
        self.emit(entered, &Event::Entered { place, packet });
        let (from, sent) = (ms(from), ms(sent));
        self.emit(entered, &Event::Served { place, channel: 0, packet, from, sent, arrives: ms(there) });
        self.emit(there, &Event::Left { place, packet })
    }

    /// Another connection's packet.
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

    /// Its first transmission carries the whole `packet` of 1500 bytes.
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

    /// As [`Self::path`].
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

    /// Durations in ms; adjacent spans of the same cause are joined.
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
