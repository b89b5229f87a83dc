//! What made a host send a packet, from headers and times alone.
//!
//! A host answers what has arrived within [`ANSWERS`]; what comes later was the work of a timer, of a pacer or of the
//! application. All that is not certain from that is a rule of this file, and stands in `docs/explain.md`.

use std::collections::{HashMap, VecDeque};

use nodeb_base::units::{Duration, Time};
use nodeb_emu::connections::{Connection, Sent};
use nodeb_emu::head::{ACK, SYN};
use nodeb_sim::world::Direction;
use nodeb_tcp::segment::Kind;

use super::{Told, segment, site};
use crate::cause::{Cause, Step};
use crate::timeline::Basis;

/// Within this time a host does by itself what an arrival asks of it; delayed ACKs take 40 ms or more.
pub(crate) const ANSWERS: Duration = Duration(20_000_000);

/// Packets of one burst follow each other within this time.
const BURST: Duration = Duration(1_000_000);

/// The least that retransmission timers take: Linux has 200 ms (RFC 6298 asks for 1 s).
const LEAST_TIMEOUT: Duration = Duration(200_000_000);

/// What becomes of the reason for which the path goes round, where it passes a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// It goes on as it was.
    Same,
    /// It is a new one.
    For(Cause),
    /// None: what was before stands for itself.
    Over,
}

/// What made a host send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Since when it could have been sent.
    pub basis: Basis,
    /// Why it was not sent then.
    pub cause: Cause,
    /// What was happening meanwhile.
    pub step: Step,
    /// Why the path goes round.
    pub round: Round,
}

/// Something that has come to a host.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    handed: Time,
    packet: u32,
}

/// One end of a connection.
#[derive(Debug, Default)]
struct Host {
    /// What comes, and has not come yet.
    arrivals: VecDeque<Arrival>,
    latest: Option<Arrival>,
    /// The last that is to be acknowledged, and the first since the last ACK.
    asking: Option<Arrival>,
    unanswered: Option<Arrival>,
    last_data: Option<u32>,
    /// The last sending of each segment, by its number.
    copies: HashMap<u64, u32>,
    last_ack: Option<u32>,
    /// One past what it has sent, what of it is acknowledged, and the window that its peer allows.
    next: u64,
    acked: u64,
    window: u64,
    shift: u8,
    /// Bytes of the largest segment that it has sent.
    largest: u32,
    /// After each of its segments that is not acknowledged: one past its end, and what was in flight then.
    flights: VecDeque<(u64, u64)>,
    /// What was in flight when the segment was sent that was acknowledged last.
    flight_before: u64,
    /// Whether what came last reports a gap.
    has_gap: bool,
}

/// The packets of a connection whose data go mostly one way, each with what made it be sent.
pub(super) fn told(connection: &Connection, main: Direction, user: u32) -> Vec<Told> {
    let mut hosts = [Host::default(), Host::default()];
    for (number, packet) in (0..).zip(&connection.packets) {
        if let Some(handed) = packet.handed {
            hosts[usize::from(packet.direction == Direction::Down)]
                .arrivals
                .push_back(Arrival { handed, packet: number });
        }
    }
    for host in &mut hosts {
        host.arrivals.make_contiguous().sort_by_key(|arrival| arrival.handed);
    }
    let packets = &connection.packets;
    let mut told = Vec::with_capacity(packets.len());
    for (number, packet) in (0..).zip(packets) {
        let host = &mut hosts[usize::from(packet.direction == Direction::Up)];
        host.take(packets, packet.at);
        let origin = host.origin(packets, packet, main);
        host.send(packet, number);
        told.push(Told { segment: segment(user, kind(packet, main), packet), origin });
    }
    told
}

/// What a packet is called, seen from the way that most of the data go.
fn kind(packet: &Sent, main: Direction) -> Kind {
    match (packet.tcp.has(SYN), packet.is_bare()) {
        // The answer to a SYN is the sender's first segment, as in the simulator.
        (true, _) if packet.tcp.has(ACK) => Kind::Data,
        (true, _) => Kind::Connect,
        (false, true) => Kind::Ack,
        (false, false) if packet.direction == main => Kind::Data,
        (false, false) => Kind::Request,
    }
}

impl Host {
    /// Takes what has been handed over by now.
    fn take(&mut self, packets: &[Sent], now: Time) {
        while let Some(arrival) = self.arrivals.front().copied().filter(|it| it.handed <= now) {
            self.arrivals.pop_front();
            self.arrive(&packets[arrival.packet as usize], arrival);
        }
    }

    fn arrive(&mut self, packet: &Sent, arrival: Arrival) {
        if packet.tcp.takes() > 0 {
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
        if packet.tcp.takes() > 0 && !packet.is_bare() {
            self.next = self.next.max(packet.end());
            self.flights.push_back((packet.end(), self.next.saturating_sub(self.acked)));
            self.largest = self.largest.max(packet.tcp.payload);
            self.last_data = Some(number);
            self.copies.insert(packet.seq, number);
        }
        // Everything but a SYN acknowledges.
        if packet.tcp.has(ACK) {
            (self.last_ack, self.unanswered, self.asking) = (Some(number), None, None);
        }
    }

    fn origin(&self, packets: &[Sent], packet: &Sent, main: Direction) -> Origin {
        if packet.is_bare() {
            return self.of_ack(packets, packet, main);
        }
        if packet.again {
            return self.of_repetition(packets, packet);
        }
        self.of_data(packets, packet, main)
    }

    /// What a bare ACK was sent for: what arrived just before, or a timer that had held it back.
    fn of_ack(&self, packets: &[Sent], packet: &Sent, main: Direction) -> Origin {
        let works = works(packet.direction);
        let (Some(asking), Some(first)) = (self.asking, self.unanswered) else {
            // It tells of a window, or that its end is still there.
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
            // Data that wait behind this ACK had been asked for.
            true if asked.payload > 0 => Round::For(Cause::Request),
            _ => Round::Same,
        };
        Origin { basis: Basis::Received(asking.packet), cause: works, step: Step::HostWorks, round }
    }

    /// What made it send again: an arrival, its repetition before, or a timer.
    fn of_repetition(&self, packets: &[Sent], packet: &Sent) -> Origin {
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
            Some((handed, number)) if self.has_gap && packet.at.since(handed) < LEAST_TIMEOUT => {
                let basis = Basis::Received(number);
                Origin { basis, cause: Cause::Recovery, step: Step::TimerRuns, round }
            }
            _ => Origin { basis: basis_of_copy, cause: Cause::Timeout, step: Step::TimerRuns, round },
        }
    }

    /// What made it send something new.
    fn of_data(&self, packets: &[Sent], packet: &Sent, main: Direction) -> Origin {
        let works = works(packet.direction);
        let sent = self.last_data.map(|number| (packets[number as usize].at, number));
        let came = self.latest.filter(|it| sent.is_none_or(|(at, _)| it.handed > at));
        let is_dry = self.is_dry(packets);
        let at_once = |since: Time, within: Duration| packet.at.since(since) <= within;
        // What has data was asked for by an application, which may have waited.
        let asks = |came: &Arrival| packets[came.packet as usize].tcp.payload > 0;
        let by_host = |basis, round| Origin { basis, cause: works, step: Step::HostWorks, round };
        // What was asked for, or an ACK that let it go.
        if let Some(came) = came
            && (sent.is_none() || at_once(came.handed, ANSWERS) || asks(&came))
        {
            let round = self.round(packets, &packets[came.packet as usize], packet, main);
            return by_host(Basis::Received(came.packet), round);
        }
        match sent {
            None => by_host(Basis::Unknown, Round::Over),
            Some((at, number)) if is_dry || at_once(at, BURST) => by_host(Basis::Sent(number), Round::Same),
            Some((_, number)) => {
                let (cause, step) = (Cause::Pacing, Step::Paced);
                Origin { basis: Basis::Sent(number), cause, step, round: Round::Same }
            }
        }
    }

    /// Whether it had sent everything that its application had written: the last segment was not full.
    fn is_dry(&self, packets: &[Sent]) -> bool {
        let last = self.last_data.map(|number| packets[number as usize].tcp);
        last.is_none_or(|tcp| tcp.payload < self.largest || tcp.has(SYN))
    }

    /// Why the path goes round by what came.
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

    /// Bytes that it sends for the first time from a packet on, before anything else is handed over to it.
    fn burst(&self, packets: &[Sent], packet: &Sent) -> u64 {
        let next = self.arrivals.front().map_or(Time(u64::MAX), |arrival| arrival.handed);
        let from = packets.partition_point(|it| it.number < packet.number);
        let own = packets[from..].iter().filter(|it| it.direction == packet.direction && it.tcp.payload > 0);
        let mut before = packet.at;
        let of_burst = own.take_while(|it| {
            let since = it.at.since(std::mem::replace(&mut before, it.at));
            it.at < next && since <= BURST && !it.again
        });
        of_burst.map(|it| u64::from(it.tcp.payload)).sum()
    }

    /// What had kept it from sending more, before the ACK that came last.
    fn limit(&self, packets: &[Sent], packet: &Sent) -> Cause {
        let flight = self.next.saturating_sub(self.acked) + self.burst(packets, packet);
        if self.has_gap {
            Cause::Recovery
        } else if self.is_dry(packets) {
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

/// What a host's own time is charged to.
fn works(direction: Direction) -> Cause {
    if site(direction) == nodeb_base::event::Site::Phone { Cause::Application } else { Cause::Server }
}
