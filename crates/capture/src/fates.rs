//! What becomes of packets, to be said in comments: records wait until the lives that they tell of are over.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use nodeb_base::event::{Cause, Event, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;

/// A packet as an interface sees it.
#[derive(Debug)]
pub struct Record {
    pub at: Time,
    pub interface: u32,
    pub original_len: u32,
    pub direction: u32,
    pub data: Box<[u8]>,
    /// Which life it tells of.
    pub life: u64,
}

/// How a life has ended.
#[derive(Clone, Copy, Debug)]
enum End {
    Received,
    Lost(Site, Cause),
    UnderWay,
}

/// A block at its bearer: bearer, user, number.
type Key = (u32, u32, u64);

/// What is known of a packet.
#[derive(Debug)]
struct Fate {
    sent: Time,
    again: bool,
    /// What an interface further on sees: the packet's first bytes, and its length.
    frame: (Box<[u8]>, u32),
    blocks: Vec<Key>,
    repeats: u32,
    end: Option<(Time, End)>,
    /// Records that wait for it.
    records: u32,
}

/// Packets on their way, and the records that wait for them.
#[derive(Debug, Default)]
pub struct Fates {
    lives: u64,
    under_way: HashMap<PacketId, u64>,
    known: HashMap<u64, Fate>,
    /// The lives of which a block carries parts.
    carried: HashMap<Key, Vec<u64>>,
    waiting: VecDeque<Record>,
}

impl Fates {
    /// A packet begins its way.
    pub fn begin(&mut self, at: Time, packet: PacketId, again: bool, frame: (Box<[u8]>, u32)) {
        self.lives += 1;
        debug_assert_eq!(self.lives, packet.number(), "every packet that is sent is told of");
        self.under_way.insert(packet, self.lives);
        let (blocks, repeats, end, records) = (Vec::new(), 0, None, 0);
        self.known.insert(self.lives, Fate { sent: at, again, frame, blocks, repeats, end, records });
    }

    /// The life of a packet that is on its way.
    pub fn life(&self, packet: PacketId) -> Option<u64> {
        self.under_way.get(&packet).copied()
    }

    /// A packet's first bytes, and its length.
    pub fn frame(&self, packet: PacketId) -> Option<&(Box<[u8]>, u32)> {
        Some(&self.known.get(&self.life(packet)?)?.frame)
    }

    /// Whether a block has carried some of a packet.
    pub fn is_carried(&self, packet: PacketId) -> bool {
        self.life(packet).and_then(|life| self.known.get(&life)).is_some_and(|fate| !fate.blocks.is_empty())
    }

    /// A record is to be written when its life is over.
    pub fn wait(&mut self, record: Record) {
        if let Some(fate) = self.known.get_mut(&record.life) {
            fate.records += 1;
            self.waiting.push_back(record);
        }
    }

    /// Learns from an event of blocks, and of packets that end.
    pub fn learn(&mut self, at: Time, event: &Event) {
        match *event {
            Event::Block { bearer, user, block, transmission, .. } => {
                let key = (bearer, user, block);
                if transmission == 1 {
                    self.carried.remove(&key);
                } else if let Some(lives) = self.carried.get(&key) {
                    for life in lives {
                        self.known.entry(*life).and_modify(|fate| fate.repeats += 1);
                    }
                }
            }
            Event::Carries { bearer, user, block, part } => {
                if let Some(life) = self.life(part.packet) {
                    let key = (bearer, user, block);
                    self.carried.entry(key).or_default().push(life);
                    self.known.entry(life).and_modify(|fate| fate.blocks.push(key));
                }
            }
            Event::Received { packet, .. } => self.end(at, packet, End::Received),
            Event::Lost { place, packet, cause } => self.end(at, packet, End::Lost(place.site, cause)),
            _ => {}
        }
    }

    fn end(&mut self, at: Time, packet: PacketId, end: End) {
        let Some(life) = self.under_way.remove(&packet) else {
            return;
        };
        let Some(fate) = self.known.get_mut(&life) else {
            return;
        };
        fate.end = Some((at, end));
        for key in &fate.blocks {
            if let Some(lives) = self.carried.get_mut(key) {
                lives.retain(|other| *other != life);
                if lives.is_empty() {
                    self.carried.remove(key);
                }
            }
        }
        if fate.records == 0 {
            self.known.remove(&life);
        }
    }

    /// Nothing more will be heard of those that are still under way.
    pub fn give_up(&mut self, now: Time) {
        for fate in self.known.values_mut() {
            fate.end.get_or_insert((now, End::UnderWay));
        }
    }

    /// The next record whose life is over, with what to say of it.
    pub fn next(&mut self) -> Option<(Record, String)> {
        let life = self.waiting.front()?.life;
        let fate = self.known.get_mut(&life)?;
        let (at, end) = fate.end?;
        let record = self.waiting.pop_front()?;
        let comment = describe(fate, at, end);
        fate.records -= 1;
        if fate.records == 0 {
            self.known.remove(&life);
        }
        Some((record, comment))
    }
}

/// A life in a sentence.
fn describe(fate: &Fate, at: Time, end: End) -> String {
    let took = at.as_secs() - fate.sent.as_secs();
    let mut text = if fate.again { "retransmission; ".to_owned() } else { String::new() };
    let written = match end {
        End::Received => write!(text, "received {took:.6} s after it was sent"),
        End::Lost(site, cause) => {
            write!(text, "lost {took:.6} s after it was sent, at {}: {}", name(site), why(cause))
        }
        End::UnderWay => write!(text, "still under way when the run ended"),
    };
    written.expect("a string takes everything");
    if !fate.blocks.is_empty() {
        let (blocks, repeats) = (fate.blocks.len(), fate.repeats);
        let (s, again) = (if blocks == 1 { "" } else { "s" }, if repeats == 1 { "" } else { "s" });
        write!(text, "; {blocks} block{s}, {repeats} repetition{again}").expect("a string takes everything");
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
