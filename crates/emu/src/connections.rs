//! The TCP connections of a recorded flight: what each end sent, when, and when the other end had it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::ops::Range;

use nodeb_base::packet::EcnField;
use nodeb_base::units::Time;
use nodeb_sim::world::Direction;

use crate::flight::{Reader, Record};
use crate::head::{self, ACK, SYN, Tcp};
use crate::log::Log;

/// A packet of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Its number in the flight.
    pub number: u64,
    /// When it was accepted.
    pub at: Time,
    /// Its way.
    pub direction: Direction,
    /// Bytes of the IP packet.
    pub bytes: u32,
    /// Its header.
    pub tcp: Tcp,
    /// Its sequence number from the first one of its end, which is that of the SYN: 0.
    pub seq: u64,
    /// What it acknowledges, counted so.
    pub ack: u64,
    /// Whether it repeats what its end had sent before.
    pub again: bool,
    /// When it arrived in the world, if it did.
    pub arrived: Option<Time>,
    /// When it was handed over then.
    pub handed: Option<Time>,
}

impl Sent {
    /// One past the last of its numbers.
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.tcp.takes())
    }

    /// The numbers of its data.
    pub fn data(&self) -> Range<u64> {
        let start = self.seq + u64::from(self.tcp.has(SYN));
        start..start + u64::from(self.tcp.payload)
    }

    /// Whether it is there for what it acknowledges only.
    pub fn is_bare(&self) -> bool {
        self.tcp.payload == 0 && !self.tcp.has(SYN)
    }
}

/// What is known of one end's sequence numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    /// The first that it used.
    first: Option<u32>,
    /// One past the last that was sent.
    end: u64,
}

impl Numbers {
    /// A number counted from the first, near where the end is now.
    fn count(&mut self, number: u32, is_syn: bool) -> u64 {
        let first = *self.first.get_or_insert(if is_syn { number } else { number.wrapping_sub(1) });
        let known = first.wrapping_add(self.end as u32);
        self.end.saturating_add_signed(i64::from(number.wrapping_sub(known).cast_signed()))
    }
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Number of its phone among those that are real.
    pub phone: u8,
    /// The server's end of it.
    pub server: SocketAddr,
    /// The phone's.
    pub client: SocketAddr,
    /// Its packets, in the order in which they were accepted.
    pub packets: Vec<Sent>,
    numbers: [Numbers; 2],
}

/// Bytes of data that have come to an end in order, and the packet that brought the last of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Came {
    /// Bytes.
    pub bytes: u64,
    /// The packet with which the last of them were in order: its place in the list.
    pub last: Option<usize>,
    /// Whether everything that was sent has come.
    pub all: bool,
}

impl Connection {
    fn add(&mut self, number: u64, at: Time, direction: Direction, bytes: u32, tcp: Tcp) -> usize {
        let (own, other) = if direction == Direction::Down { (0, 1) } else { (1, 0) };
        let seq = self.numbers[own].count(tcp.seq, tcp.has(SYN));
        let ack = if tcp.has(ACK) { self.numbers[other].count(tcp.ack, false) } else { 0 };
        let end = &mut self.numbers[own].end;
        let again = tcp.takes() > 0 && seq < *end;
        *end = (*end).max(seq + u64::from(tcp.takes()));
        let (arrived, handed) = (None, None);
        self.packets.push(Sent { number, at, direction, bytes, tcp, seq, ack, again, arrived, handed });
        self.packets.len() - 1
    }

    /// Whether a packet opens another connection between the same ends.
    fn is_another(&self, direction: Direction, tcp: &Tcp) -> bool {
        let first = self.numbers[usize::from(direction == Direction::Up)].first;
        tcp.has(SYN) && !tcp.has(ACK) && first.is_some_and(|first| first != tcp.seq)
    }

    /// What came of the data sent one way.
    pub fn came(&self, direction: Direction) -> Came {
        let counts =
            |at: &usize| self.packets[*at].direction == direction && self.packets[*at].tcp.payload > 0;
        let with_data: Vec<usize> = (0..self.packets.len()).filter(counts).collect();
        let end = with_data.iter().map(|at| self.packets[*at].data().end).max();
        let mut order = with_data;
        order.retain(|at| self.packets[*at].arrived.is_some());
        order.sort_by_key(|at| self.packets[*at].arrived);
        let (mut next, mut last) = (1, None);
        // What has come beyond a gap: where it begins, and one past its end.
        let mut beyond: BTreeMap<u64, u64> = BTreeMap::new();
        for at in order {
            let Range { start, end } = self.packets[at].data();
            if end <= next {
                continue;
            }
            if start > next {
                let known = beyond.entry(start).or_default();
                *known = (*known).max(end);
                continue;
            }
            next = end;
            while let Some(first) = beyond.first_entry().filter(|first| *first.key() <= next) {
                next = next.max(first.remove());
            }
            last = Some(at);
        }
        Came { bytes: next - 1, last, all: end.is_none_or(|end| end <= next) }
    }

    /// The way that most of the data went, and what came of them.
    pub fn main(&self) -> (Direction, Came) {
        let (down, up) = (self.came(Direction::Down), self.came(Direction::Up));
        if up.bytes > down.bytes { (Direction::Up, up) } else { (Direction::Down, down) }
    }
}

/// What a flight carried.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Its TCP connections, in the order in which they began.
    pub connections: Vec<Connection>,
    /// The connection of each packet, by its number; `None` for others.
    pub of_packet: Vec<Option<(u32, u32)>>,
    /// Packets of other protocols.
    pub others: u64,
    /// Packets of which too little was kept to know what they are.
    pub unknown: u64,
    /// Numbers of the packets that arrived marked: congestion was experienced.
    pub marked: HashSet<u64>,
    /// Bytes kept of the packet of which most was kept.
    pub longest: u32,
    /// Whether the log has its end.
    pub complete: bool,
}

impl Traffic {
    /// That of a log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn of_log(log: Log<'_>) -> io::Result<Self> {
        Self::of(&mut log.open()?)
    }

    /// That of a log of which nothing has been read but its header.
    ///
    /// # Errors
    /// As [`Self::of_log`].
    pub fn of<R: Read>(reader: &mut Reader<R>) -> io::Result<Self> {
        let (mut found, mut known) = (Self::default(), HashMap::new());
        while let Some(record) = reader.next_record()? {
            match record {
                Record::Accepted { at, direction, phone, packet, kept } => {
                    let place = found.accept(&mut known, at, (direction, phone), packet.bytes, &kept);
                    found.of_packet.push(place);
                    found.longest = found.longest.max(kept.len() as u32);
                }
                Record::Arrived { number, at, late, ecn } => {
                    if ecn == EcnField::Ce {
                        found.marked.insert(number);
                    }
                    if let Some(packet) = found.packet_mut(number) {
                        packet.arrived = Some(at);
                        packet.handed = Some(Time(at.0.saturating_add(late)));
                    }
                }
                Record::Lost { .. } => {}
                Record::End { .. } => found.complete = true,
            }
        }
        Ok(found)
    }

    fn packet_mut(&mut self, number: u64) -> Option<&mut Sent> {
        let (connection, place) = (*self.of_packet.get(usize::try_from(number).ok()?)?)?;
        self.connections.get_mut(connection as usize)?.packets.get_mut(place as usize)
    }

    fn accept(
        &mut self,
        known: &mut HashMap<(u8, SocketAddr, SocketAddr), usize>,
        at: Time,
        (direction, phone): (Direction, u8),
        bytes: u32,
        kept: &[u8],
    ) -> Option<(u32, u32)> {
        let head = head::read(kept);
        let Some((head, tcp)) = head.and_then(|head| Some((head, head.tcp?))) else {
            let is_other = head.is_some_and(|head| head.protocol != 6);
            *(if is_other { &mut self.others } else { &mut self.unknown }) += 1;
            return None;
        };
        let (server, client) =
            if direction == Direction::Down { (head.from, head.to) } else { (head.to, head.from) };
        let same = known.get(&(phone, server, client)).copied();
        let same = same.filter(|number| !self.connections[*number].is_another(direction, &tcp));
        let connection = same.unwrap_or_else(|| {
            let (packets, numbers) = (Vec::new(), [Numbers::default(); 2]);
            self.connections.push(Connection { phone, server, client, packets, numbers });
            known.insert((phone, server, client), self.connections.len() - 1);
            self.connections.len() - 1
        });
        let number = self.of_packet.len() as u64;
        let place = self.connections[connection].add(number, at, direction, bytes, tcp);
        Some((connection as u32, place as u32))
    }
}
