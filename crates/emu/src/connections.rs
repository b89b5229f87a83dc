//! Of a recorded emulation, with the times at which the driver accepted and delivered packets.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::ops::Range;

use nodeb_base::packet::EcnField;
use nodeb_base::units::Time;
use nodeb_sim::world::Direction;

use crate::head::{self, ACK, SYN, Tcp};
use crate::log::Log;
use crate::recording::{Reader, Record};

#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub number: u64,
    pub at: Time,
    pub direction: Direction,
    pub bytes: u32,
    pub tcp: Tcp,
    /// Relative to its sender's SYN, which has 0.
    pub seq: u64,
    /// Relative to the other end's SYN; 0 without ACK flag.
    pub ack: u64,
    /// An earlier packet of the sender had its first sequence number, or a later one; false for pure ACKs.
    pub is_retransmission: bool,
    pub arrived: Option<Time>,
    pub handed_over: Option<Time>,
}

impl Sent {
    /// Relative.
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.tcp.sequence_len())
    }

    /// Relative, without SYN and FIN.
    pub fn data(&self) -> Range<u64> {
        let start = self.seq + u64::from(self.tcp.has(SYN));
        start..start + u64::from(self.tcp.payload)
    }

    pub fn is_bare(&self) -> bool {
        self.tcp.payload == 0 && !self.tcp.has(SYN)
    }
}

/// Of one end.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    first: Option<u32>,
    /// After the highest one sent; 0 before the first.
    end: u64,
}

impl Numbers {
    /// The 64-bit number closest to `end`.
    fn relative(&mut self, number: u32, is_syn: bool) -> u64 {
        let first = *self.first.get_or_insert(if is_syn { number } else { number.wrapping_sub(1) });
        let end = first.wrapping_add(self.end as u32);
        self.end.saturating_add_signed(i64::from(number.wrapping_sub(end).cast_signed()))
    }
}

#[derive(Clone, Debug)]
pub struct Connection {
    pub phone: u8,
    pub server: SocketAddr,
    pub client: SocketAddr,
    pub packets: Vec<Sent>,
    numbers: [Numbers; 2],
}

/// In-order data that one end received, and the packet that completed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// In order, without SYN and FIN.
    pub bytes: u64,
    pub last: Option<usize>,
    pub all: bool,
}

impl Connection {
    fn add(&mut self, number: u64, at: Time, direction: Direction, bytes: u32, tcp: Tcp) -> usize {
        let (own, other) = if direction == Direction::Down { (0, 1) } else { (1, 0) };
        let seq = self.numbers[own].relative(tcp.seq, tcp.has(SYN));
        let ack = if tcp.has(ACK) { self.numbers[other].relative(tcp.ack, false) } else { 0 };
        let end = &mut self.numbers[own].end;
        let is_retransmission = tcp.sequence_len() > 0 && seq < *end;
        *end = (*end).max(seq + u64::from(tcp.sequence_len()));
        let (arrived, handed_over) = (None, None);
        self.packets.push(Sent {
            number,
            at,
            direction,
            bytes,
            tcp,
            seq,
            ack,
            is_retransmission,
            arrived,
            handed_over,
        });
        self.packets.len() - 1
    }

    /// A SYN without ACK, with another initial number on the same addresses and ports.
    fn is_another(&self, direction: Direction, tcp: &Tcp) -> bool {
        let first = self.numbers[usize::from(direction == Direction::Up)].first;
        tcp.has(SYN) && !tcp.has(ACK) && first.is_some_and(|first| first != tcp.seq)
    }

    /// In order, and the packet that completed it.
    pub fn delivered(&self, direction: Direction) -> Delivered {
        let counts =
            |at: &usize| self.packets[*at].direction == direction && self.packets[*at].tcp.payload > 0;
        let with_data: Vec<usize> = (0..self.packets.len()).filter(counts).collect();
        let end = with_data.iter().map(|at| self.packets[*at].data().end).max();
        let mut order = with_data;
        order.retain(|at| self.packets[*at].arrived.is_some());
        order.sort_by_key(|at| self.packets[*at].arrived);
        let (mut next, mut last) = (1, None);
        // Data received beyond a gap: the key is the first sequence number, the value the number after the
        // last one.
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
        Delivered { bytes: next - 1, last, all: end.is_none_or(|end| end <= next) }
    }

    pub fn main(&self) -> (Direction, Delivered) {
        let (down, up) = (self.delivered(Direction::Down), self.delivered(Direction::Up));
        if up.bytes > down.bytes { (Direction::Up, up) } else { (Direction::Down, down) }
    }
}

#[derive(Debug, Default)]
pub struct Traffic {
    pub connections: Vec<Connection>,
    /// Connection, and index in [`Connection::packets`]; `None` for [`Self::others`] and [`Self::unknown`].
    pub of_packet: Vec<Option<(u32, u32)>>,
    pub others: u64,
    /// Possibly TCP, but with too few bytes recorded, a later fragment, or an invalid header.
    pub unknown: u64,
    pub marked: HashSet<u64>,
    /// In the log, which may be less than the packet.
    pub longest: u32,
    /// The log has an end record.
    pub complete: bool,
}

impl Traffic {
    /// Reads all packets of a log and sorts them by connection.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read.
    pub fn of_log(log: Log<'_>) -> io::Result<Self> {
        Self::of(&mut log.open()?)
    }

    /// Reads all packets from a reader that has not returned a record yet.
    ///
    /// # Errors
    /// Returns an error if a record of the log cannot be read.
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
                        packet.handed_over = Some(Time(at.0.saturating_add(late)));
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
