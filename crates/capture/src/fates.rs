//! Fates of packets: a packet is received, lost or still in flight when the run ends. A capture with
//! comments holds each packet back until its fate is known, and then writes it with a comment on its
//! fate.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use nodeb_base::event::{Cause, Event, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;

/// Held back until the packet's fate is known.
#[derive(Debug)]
pub struct Record {
    pub at: Time,
    pub interface: u32,
    pub original_len: u32,
    pub direction: u32,
    pub data: Box<[u8]>,
    /// In the run, from 1.
    pub number: u64,
}

/// Lost with the kind of node or link and the cause.
#[derive(Clone, Copy, Debug)]
enum End {
    Received,
    Lost(Site, Cause),
    InFlight,
}

type Key = (u32, u32, u64);

/// Until its captured records have been written.
#[derive(Debug)]
struct Fate {
    sent: Time,
    is_retransmission: bool,
    /// As its sender transmitted them, and the packet's length.
    frame: (Box<[u8]>, u32),
    blocks: Vec<Key>,
    retransmissions: u32,
    end: Option<(Time, End)>,
    records: u32,
}

/// With records held back until received or lost.
#[derive(Debug, Default)]
pub struct Fates {
    sent: u64,
    in_flight: HashMap<PacketId, u64>,
    by_number: HashMap<u64, Fate>,
    carried: HashMap<Key, Vec<u64>>,
    waiting: VecDeque<Record>,
}

impl Fates {
    /// `frame` has the packet's first bytes and its length in bytes.
    pub fn begin(&mut self, at: Time, packet: PacketId, is_retransmission: bool, frame: (Box<[u8]>, u32)) {
        self.sent += 1;
        debug_assert_eq!(self.sent, packet.number(), "every packet sent is recorded");
        self.in_flight.insert(packet, self.sent);
        let (blocks, retransmissions, end, records) = (Vec::new(), 0, None, 0);
        self.by_number.insert(
            self.sent,
            Fate { sent: at, is_retransmission, frame, blocks, retransmissions, end, records },
        );
    }

    pub fn number(&self, packet: PacketId) -> Option<u64> {
        self.in_flight.get(&packet).copied()
    }

    pub fn frame(&self, packet: PacketId) -> Option<&(Box<[u8]>, u32)> {
        Some(&self.by_number.get(&self.number(packet)?)?.frame)
    }

    pub fn is_carried(&self, packet: PacketId) -> bool {
        self.number(packet)
            .and_then(|number| self.by_number.get(&number))
            .is_some_and(|fate| !fate.blocks.is_empty())
    }

    /// Drops the record if no packet with its number is tracked.
    pub fn wait(&mut self, record: Record) {
        if let Some(fate) = self.by_number.get_mut(&record.number) {
            fate.records += 1;
            self.waiting.push_back(record);
        }
    }

    pub fn on_event(&mut self, at: Time, event: &Event) {
        match *event {
            Event::Block { bearer, user, block, transmission, .. } => {
                let key = (bearer, user, block);
                if transmission == 1 {
                    self.carried.remove(&key);
                } else if let Some(numbers) = self.carried.get(&key) {
                    for number in numbers {
                        self.by_number.entry(*number).and_modify(|fate| fate.retransmissions += 1);
                    }
                }
            }
            Event::Carries { bearer, user, block, part } => {
                if let Some(number) = self.number(part.packet) {
                    let key = (bearer, user, block);
                    self.carried.entry(key).or_default().push(number);
                    self.by_number.entry(number).and_modify(|fate| fate.blocks.push(key));
                }
            }
            Event::Received { packet, .. } => self.end(at, packet, End::Received),
            Event::Lost { place, packet, cause } => self.end(at, packet, End::Lost(place.site, cause)),
            _ => {}
        }
    }

    fn end(&mut self, at: Time, packet: PacketId, end: End) {
        let Some(number) = self.in_flight.remove(&packet) else {
            return;
        };
        let Some(fate) = self.by_number.get_mut(&number) else {
            return;
        };
        fate.end = Some((at, end));
        for key in &fate.blocks {
            if let Some(numbers) = self.carried.get_mut(key) {
                numbers.retain(|other| *other != number);
                if numbers.is_empty() {
                    self.carried.remove(key);
                }
            }
        }
        if fate.records == 0 {
            self.by_number.remove(&number);
        }
    }

    pub fn give_up(&mut self, now: Time) {
        for fate in self.by_number.values_mut() {
            fate.end.get_or_insert((now, End::InFlight));
        }
    }

    pub fn next(&mut self) -> Option<(Record, String)> {
        let number = self.waiting.front()?.number;
        let fate = self.by_number.get_mut(&number)?;
        let (at, end) = fate.end?;
        let record = self.waiting.pop_front()?;
        let comment = describe(fate, at, end);
        fate.records -= 1;
        if fate.records == 0 {
            self.by_number.remove(&number);
        }
        Some((record, comment))
    }
}

/// A retransmission, the outcome, the delay in seconds, and how many radio blocks carried it, how often
/// retransmitted.
fn describe(fate: &Fate, at: Time, end: End) -> String {
    let took = at.as_secs() - fate.sent.as_secs();
    let mut text = if fate.is_retransmission { "retransmission; ".to_owned() } else { String::new() };
    let written = match end {
        End::Received => write!(text, "received {took:.6} s after it was sent"),
        End::Lost(site, cause) => {
            write!(text, "lost {took:.6} s after it was sent, at {}: {}", name(site), why(cause))
        }
        End::InFlight => write!(text, "still under way when the run ended"),
    };
    written.expect("a string takes everything");
    if !fate.blocks.is_empty() {
        let (blocks, retransmissions) = (fate.blocks.len(), fate.retransmissions);
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        write!(
            text,
            "; {blocks} block{}, retransmitted {retransmissions} time{}",
            plural(blocks),
            plural(retransmissions as usize)
        )
        .expect("a string takes everything");
    }
    text
}

fn name(site: Site) -> &'static str {
    match site {
        Site::Server => "the server",
        Site::WiredDown | Site::WiredUp => "the wired link",
        Site::Proxy => "the proxy",
        Site::CoreDown | Site::CoreUp => "the core network",
        Site::Snoop => "the Snoop agent",
        Site::Bearer => "the bearer",
        Site::Uplink => "the uplink",
        Site::Phone => "the phone",
    }
}

fn why(cause: Cause) -> &'static str {
    match cause {
        Cause::LinkLoss => "link loss",
        Cause::Overflow => "no room in the queue",
        Cause::EarlyDrop => "dropped by the queue discipline",
        Cause::RadioLoss => "given up by the radio",
    }
}
