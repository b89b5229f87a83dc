//! From headers and times alone: a packet sent within [`ANSWERS`] of an arrival answers it, and the first new
//! data after a request answer the request. Rules for timers, pacers and the application: `docs/explain.md`,
//! section "Real connections".

use std::collections::{HashMap, VecDeque};

use nodeb_base::units::{Duration, Time};
use nodeb_emu::connections::{Connection, Sent};
use nodeb_emu::head::{ACK, SYN};
use nodeb_sim::world::Direction;
use nodeb_tcp::segment::Kind;

use super::{SentSegment, segment, site};
use crate::timeline::Basis;
use nodeb_base::cause::{Cause, Step};

/// Delayed ACKs take 40 ms or more.
pub(crate) const ANSWERS: Duration = Duration(20_000_000);

/// Between successive packets of one burst.
const BURST: Duration = Duration(1_000_000);

/// As in Linux (RFC 6298 recommends 1 s).
const MIN_TIMEOUT: Duration = Duration(200_000_000);

/// To which the fixed latencies (propagation and transmission) before a packet are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// The packet continues a round trip.
    Same,
    /// A round trip ended, whose fixed latencies are charged to the cause.
    For(Cause),
    /// No round trip: fixed latencies are charged to propagation and transmission.
    Over,
}

/// Why a host sent a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// After it the host could have sent the packet at once.
    pub basis: Basis,
    /// Of the delay since `basis`.
    pub cause: Cause,
    /// Since `basis`.
    pub step: Step,
    pub round: Round,
}

/// At a host, when the emulator handed the packet over.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    handed: Time,
    packet: u32,
}

#[derive(Debug, Default)]
struct Host {
    /// Not handled yet, in the order of time.
    arrivals: VecDeque<Arrival>,
    latest: Option<Arrival>,
    /// Last one with data, SYN or FIN since the last ACK.
    asking: Option<Arrival>,
    /// First one with data, SYN or FIN since the last ACK.
    unanswered: Option<Arrival>,
    last_data: Option<u32>,
    /// Last transmission by sequence number.
    copies: HashMap<u64, u32>,
    last_ack: Option<u32>,
    /// After the last byte sent.
    next: u64,
    /// First one that the peer has not acknowledged.
    acked: u64,
    /// In bytes after scaling.
    window: u64,
    shift: u8,
    /// Payload of the largest segment sent.
    largest: u32,
    /// Of each unacknowledged segment: the sequence number after it, and the bytes in flight after it was
    /// sent.
    flights: VecDeque<(u64, u64)>,
    /// After transmission of the segment acknowledged last.
    flight_before: u64,
    /// The last arrival reported missing data, by SACK or as a duplicate ACK.
    has_gap: bool,
}

/// In `main` most data flow; `user` is the phone's user in the scenario.
pub(super) fn infer(connection: &Connection, main: Direction, user: u32) -> Vec<SentSegment> {
    let mut hosts = [Host::default(), Host::default()];
    for (number, packet) in (0..).zip(&connection.packets) {
        if let Some(handed) = packet.handed_over {
            hosts[usize::from(packet.direction == Direction::Down)]
                .arrivals
                .push_back(Arrival { handed, packet: number });
        }
    }
    for host in &mut hosts {
        host.arrivals.make_contiguous().sort_by_key(|arrival| arrival.handed);
    }
    let packets = &connection.packets;
    let mut segments = Vec::with_capacity(packets.len());
    for (number, packet) in (0..).zip(packets) {
        let host = &mut hosts[usize::from(packet.direction == Direction::Up)];
        host.take(packets, packet.at);
        let origin = host.origin(packets, packet, main);
        host.send(packet, number);
        segments.push(SentSegment { segment: segment(user, kind(packet, main), packet), origin });
    }
    segments
}

/// Data against `main` are requests.
fn kind(packet: &Sent, main: Direction) -> Kind {
    match (packet.tcp.has(SYN), packet.is_bare()) {
        // A SYN-ACK counts as the sender's first segment, as in the simulator.
        (true, _) if packet.tcp.has(ACK) => Kind::Data,
        (true, _) => Kind::Connect,
        (false, true) => Kind::Ack,
        (false, false) if packet.direction == main => Kind::Data,
        (false, false) => Kind::Request,
    }
}

impl Host {
    fn take(&mut self, packets: &[Sent], now: Time) {
        while let Some(arrival) = self.arrivals.front().copied().filter(|it| it.handed <= now) {
            self.arrivals.pop_front();
            self.arrive(&packets[arrival.packet as usize], arrival);
        }
    }

    fn arrive(&mut self, packet: &Sent, arrival: Arrival) {
        if packet.tcp.sequence_len() > 0 {
            self.unanswered.get_or_insert(arrival);
            self.asking = Some(arrival);
        }
        if let (true, Some(shift)) = (packet.tcp.has(SYN), packet.tcp.shift) {
            self.shift = shift;
        }
        // The window of a SYN is not scaled (RFC 7323, 2.2).
        let shift = if packet.tcp.has(SYN) { 0 } else { self.shift };
        let window = u64::from(packet.tcp.window) << shift;
        let repeats = packet.is_bare() && packet.ack == self.acked && window == self.window;
        self.has_gap = packet.tcp.has_sack || (repeats && self.next > self.acked);
        self.window = window;
        self.acked = self.acked.max(packet.ack);
        while let Some((_, flight)) = self.flights.front().copied().filter(|(end, _)| *end <= self.acked) {
            self.flights.pop_front();
            self.flight_before = flight;
        }
        self.latest = Some(arrival);
    }

    fn send(&mut self, packet: &Sent, number: u32) {
        if packet.tcp.sequence_len() > 0 && !packet.is_bare() {
            self.next = self.next.max(packet.end());
            self.flights.push_back((packet.end(), self.next.saturating_sub(self.acked)));
            self.largest = self.largest.max(packet.tcp.payload);
            self.last_data = Some(number);
            self.copies.insert(packet.seq, number);
        }
        // A packet without the ACK flag, such as the client's SYN, acknowledges nothing. All others answer the arrivals
        // so far.
        if packet.tcp.has(ACK) {
            (self.last_ack, self.unanswered, self.asking) = (Some(number), None, None);
        }
    }

    fn origin(&self, packets: &[Sent], packet: &Sent, main: Direction) -> Origin {
        if packet.is_bare() {
            return self.of_ack(packets, packet, main);
        }
        if packet.is_retransmission {
            return self.of_retransmission(packets, packet);
        }
        self.of_data(packets, packet, main)
    }

    /// An arrival at most [`ANSWERS`] earlier, or a timer; otherwise a window update or a keep-alive.
    fn of_ack(&self, packets: &[Sent], packet: &Sent, main: Direction) -> Origin {
        let works = works(packet.direction);
        let (Some(asking), Some(first)) = (self.asking, self.unanswered) else {
            // No arrival demands this ACK, so it updates the window or is a keep-alive.
            let basis = self.last_ack.or(self.last_data).map_or(Basis::Unknown, Basis::Sent);
            return Origin { basis, cause: Cause::ReceiverWindow, step: Step::Reads, round: Round::Same };
        };
        if packet.at.since(asking.handed) > ANSWERS {
            let (cause, step) = (Cause::DelayedAck, Step::AckHeld);
            return Origin { basis: Basis::Received(first.packet), cause, step, round: Round::Same };
        }
        let asked = &packets[asking.packet as usize].tcp;
        let round = match packet.direction == main {
            _ if asked.has(SYN) => Round::For(Cause::Handshake),
            // The arrival was a request, so the round trip before this ACK is that of the request.
            true if asked.payload > 0 => Round::For(Cause::Request),
            _ => Round::Same,
        };
        Origin { basis: Basis::Received(asking.packet), cause: works, step: Step::HostWorks, round }
    }

    /// After data sent at most [`ANSWERS`] before, an arrival, or a timer.
    fn of_retransmission(&self, packets: &[Sent], packet: &Sent) -> Origin {
        let round = Round::For(Cause::Recovery);
        let copy = self.copies.get(&packet.seq).copied().or(self.last_data);
        let basis_of_copy = copy.map_or(Basis::Unknown, Basis::Sent);
        let sent = self.last_data.map(|number| (packets[number as usize].at, number));
        let came = self.latest.map(|arrival| (arrival.handed, arrival.packet));
        let after_own = sent.filter(|(at, _)| came.is_none_or(|(handed, _)| *at >= handed));
        if let Some((_, number)) = after_own.filter(|(at, _)| packet.at.since(*at) <= ANSWERS) {
            let (basis, cause) = (Basis::Sent(number), works(packet.direction));
            return Origin { basis, cause, step: Step::HostWorks, round: Round::Same };
        }
        match came {
            Some((handed, number)) if packet.at.since(handed) <= ANSWERS => {
                let (basis, cause) = (Basis::Received(number), works(packet.direction));
                Origin { basis, cause, step: Step::HostWorks, round }
            }
            Some((handed, number)) if self.has_gap && packet.at.since(handed) < MIN_TIMEOUT => {
                let basis = Basis::Received(number);
                Origin { basis, cause: Cause::Recovery, step: Step::TimerRuns, round }
            }
            _ => Origin { basis: basis_of_copy, cause: Cause::Timeout, step: Step::TimerRuns, round },
        }
    }

    /// An arrival, the application or the pacer.
    fn of_data(&self, packets: &[Sent], packet: &Sent, main: Direction) -> Origin {
        let works = works(packet.direction);
        let sent = self.last_data.map(|number| (packets[number as usize].at, number));
        let came = self.latest.filter(|it| sent.is_none_or(|(at, _)| it.handed > at));
        let is_application_limited = self.is_application_limited(packets);
        let at_once = |since: Time, within: Duration| packet.at.since(since) <= within;
        // An arrival with data is a request. The application may take longer than `ANSWERS` to
        // answer it.
        let is_request = |came: &Arrival| packets[came.packet as usize].tcp.payload > 0;
        let by_host = |basis, round| Origin { basis, cause: works, step: Step::HostWorks, round };
        // The arrival requested the data, or was an ACK that allowed the host to send them.
        if let Some(came) = came
            && (sent.is_none() || at_once(came.handed, ANSWERS) || is_request(&came))
        {
            let round = self.round(packets, &packets[came.packet as usize], packet, main);
            return by_host(Basis::Received(came.packet), round);
        }
        match sent {
            None => by_host(Basis::Unknown, Round::Over),
            Some((at, number)) if is_application_limited || at_once(at, BURST) => {
                by_host(Basis::Sent(number), Round::Same)
            }
            Some((_, number)) => {
                let (cause, step) = (Cause::Pacing, Step::Paced);
                Origin { basis: Basis::Sent(number), cause, step, round: Round::Same }
            }
        }
    }

    /// No data sent yet, or the last segment was a SYN or not full.
    fn is_application_limited(&self, packets: &[Sent]) -> bool {
        let last = self.last_data.map(|number| packets[number as usize].tcp);
        last.is_none_or(|tcp| tcp.payload < self.largest || tcp.has(SYN))
    }

    /// The arrival `came` made the host send `packet`.
    fn round(&self, packets: &[Sent], came: &Sent, packet: &Sent, main: Direction) -> Round {
        let has_sent_data = self.next > 1;
        if came.tcp.has(SYN) || (came.is_bare() && !has_sent_data) {
            return Round::For(Cause::Handshake);
        }
        if came.tcp.payload > 0 {
            return if packet.direction == main { Round::For(Cause::Request) } else { Round::Over };
        }
        Round::For(self.limit(packets, packet))
    }

    /// New bytes until the next arrival, the next retransmission, or a pause of more than [`BURST`].
    fn burst(&self, packets: &[Sent], packet: &Sent) -> u64 {
        let next = self.arrivals.front().map_or(Time(u64::MAX), |arrival| arrival.handed);
        let from = packets.partition_point(|it| it.number < packet.number);
        let own = packets[from..].iter().filter(|it| it.direction == packet.direction && it.tcp.payload > 0);
        let mut before = packet.at;
        let of_burst = own.take_while(|it| {
            let since = it.at.since(std::mem::replace(&mut before, it.at));
            it.at < next && since <= BURST && !it.is_retransmission
        });
        of_burst.map(|it| u64::from(it.tcp.payload)).sum()
    }

    /// Slow start if the bytes in flight grew by more than a quarter in the last round trip.
    fn limit(&self, packets: &[Sent], packet: &Sent) -> Cause {
        let flight = self.next.saturating_sub(self.acked) + self.burst(packets, packet);
        if self.has_gap {
            Cause::Recovery
        } else if self.is_application_limited(packets) {
            Cause::Application
        } else if self.window > 0 && flight + u64::from(self.largest) > self.window {
            Cause::ReceiverWindow
        } else if 4 * flight > 5 * self.flight_before {
            Cause::SlowStart
        } else {
            Cause::CongestionAvoidance
        }
    }
}

/// [`Cause::Application`] for the phone and [`Cause::Server`] for the server.
fn works(direction: Direction) -> Cause {
    if site(direction) == nodeb_base::event::Site::Phone { Cause::Application } else { Cause::Server }
}
