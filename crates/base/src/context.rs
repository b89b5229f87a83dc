//! What every place on a packet's way is told, and what it answers.

use std::ops::{AddAssign, Deref, DerefMut};

use crate::engine::{Key, Stamp, Stamps};
use crate::event::{Cause, Event, Mask, Place, Record, Sink};
use crate::packet::Packet;
use crate::units::Time;

/// What becomes of packets and users at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant's comment speaks of its fields")]
pub enum Output {
    /// A packet is through. `user` is a position on the place, 0 where there is only one.
    Arrived { user: usize, packet: Packet },
    /// A packet is lost.
    Lost { user: usize, packet: Packet, cause: Cause },
    /// Another cell serves a user.
    CellChanged { user: usize },
}

/// What a place counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// TTIs in which something was sent.
    pub ttis: u64,
    /// Blocks sent, retransmissions included.
    pub blocks: u64,
    /// Blocks received in error.
    pub blocks_failed: u64,
    /// PDUs sent, retransmissions included, or octets where blocks are filled with octets.
    pub pdus: u64,
    /// Packets taken.
    pub packets_in: u64,
    /// Packets that are through.
    pub packets_delivered: u64,
    /// Packets dropped: buffer full, or given up after the last transmission allowed.
    pub packets_dropped: u64,
    /// Bytes of the packets that are through.
    pub bytes_delivered: u64,
}

/// Numbers of blocks sent and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCounts {
    /// Sent, retransmissions included.
    pub sent: u64,
    /// Received in error.
    pub failed: u64,
}

impl BlockCounts {
    /// Blocks sent for each that was received without an error; 1 where there are no blocks.
    pub fn per_success(&self) -> f64 {
        if self.sent == 0 { 1.0 } else { self.sent as f64 / (self.sent - self.failed) as f64 }
    }
}

/// What all places of a run share.
#[derive(Debug)]
pub struct Common {
    /// The time.
    pub now: Time,
    /// The stamp of the event that is handled.
    stamp: Stamp,
    /// The end of the run: nothing that begins later happens.
    pub horizon: Time,
    /// The order of events.
    pub stamps: Stamps,
    /// Who listens.
    pub sink: Sink,
    /// What has become of packets and users at the place that is at work.
    pub out: Vec<Output>,
}

impl Common {
    /// Time zero of a run that ends at `horizon`.
    pub fn new(horizon: Time, sink: Sink) -> Self {
        let (now, stamp) = Key::default();
        Self { now, stamp, horizon, stamps: Stamps::default(), sink, out: Vec::new() }
    }

    /// Moves time on to the event with `key`, which is handled next.
    #[inline]
    pub fn advance(&mut self, (now, stamp): Key) {
        (self.now, self.stamp, self.stamps.now) = (now, stamp, now);
    }

    /// Returns the key of the event that is handled.
    #[inline]
    pub fn handled(&self) -> Key {
        (self.now, self.stamp)
    }

    /// Tells what happens now.
    #[inline]
    pub fn emit(&mut self, event: Event) {
        self.sink.emit(self.now, event);
    }
}

/// The surroundings of a place while it does something: what all places share, and what is its own.
///
/// Every packet that a place has been given comes back once, through [`Self::deliver`] or
/// [`Self::lose`]; both also tell the sink and count.
#[derive(Debug)]
pub struct Context<'a> {
    /// What all places share: time, the order of events, who listens.
    pub common: &'a mut Common,
    /// Which place it is.
    pub place: Place,
    /// What is counted.
    pub counts: &'a mut Counts,
    /// The blocks of each user, where there are any.
    pub of_users: &'a mut [BlockCounts],
}

impl Deref for Context<'_> {
    type Target = Common;

    #[inline]
    fn deref(&self) -> &Common {
        self.common
    }
}

impl DerefMut for Context<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Common {
        self.common
    }
}

impl Context<'_> {
    /// The key of something that is to happen `at`.
    #[inline]
    pub fn key(&mut self, at: Time) -> Key {
        self.common.stamps.key(at)
    }

    /// Whether somebody listens to some of `mask`.
    #[inline]
    pub fn wants(&self, mask: Mask) -> bool {
        self.sink.wants(mask)
    }

    /// A packet is taken.
    #[inline]
    pub fn take(&mut self, packet: &Packet) {
        self.counts.packets_in += 1;
        if self.wants(Mask::ENTERED) {
            let place = self.place;
            self.emit(Event::Entered { place, packet: packet.id });
        }
    }

    /// A packet is through, and whoever woke the place is told so.
    #[inline]
    pub fn pass(&mut self, packet: &Packet) {
        self.counts.packets_delivered += 1;
        self.counts.bytes_delivered += u64::from(packet.size);
        if self.wants(Mask::LEFT) {
            let place = self.place;
            self.emit(Event::Left { place, packet: packet.id });
        }
    }

    /// A packet of a user is through.
    #[inline]
    pub fn deliver(&mut self, user: usize, packet: Packet) {
        self.pass(&packet);
        self.out.push(Output::Arrived { user, packet });
    }

    /// A packet is lost.
    pub fn lose(&mut self, user: usize, packet: Packet, cause: Cause) {
        self.counts.packets_dropped += 1;
        let place = self.place;
        self.emit(Event::Lost { place, packet: packet.id, cause });
        self.out.push(Output::Lost { user, packet, cause });
    }

    /// So many TTIs have gone to a user, of which nobody wants to hear.
    #[inline]
    pub fn count_ttis(&mut self, ttis: u64, user: usize, sent: Counted) {
        self.counts.ttis += ttis;
        self.count_blocks(user, sent);
    }

    /// Blocks were sent to a user in a TTI that began `at`, which others may share.
    #[inline]
    pub fn blocks(&mut self, at: Time, user: usize, quality: u32, sent: Sent) {
        self.count_blocks(user, sent.times(1));
        if self.wants(Mask::TTIS) {
            let (bearer, user) = (self.place.index, user as u32);
            let Sent { units, failed, .. } = sent;
            self.sink.emit(at, Event::Tti { bearer, user, quality, units, failed });
        }
    }

    #[inline]
    fn count_blocks(&mut self, user: usize, Counted { blocks, units }: Counted) {
        self.counts.blocks += blocks.sent;
        self.counts.blocks_failed += blocks.failed;
        self.counts.pdus += units;
        if let Some(own) = self.of_users.get_mut(user) {
            own.sent += blocks.sent;
            own.failed += blocks.failed;
        }
    }
}

/// What was sent in several TTIs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Blocks.
    pub blocks: BlockCounts,
    /// Units in them.
    pub units: u64,
}

impl AddAssign for Counted {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.blocks.sent += other.blocks.sent;
        self.blocks.failed += other.blocks.failed;
        self.units += other.units;
    }
}

/// What was sent in a TTI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Blocks.
    pub blocks: u32,
    /// Those that failed.
    pub failed: u32,
    /// Units in them.
    pub units: u32,
}

impl Sent {
    /// The same in so many TTIs.
    #[inline]
    pub fn times(self, ttis: u64) -> Counted {
        let of = |number: u32| ttis * u64::from(number);
        Counted {
            blocks: BlockCounts { sent: of(self.blocks), failed: of(self.failed) },
            units: of(self.units),
        }
    }
}

/// Surroundings of a place that is looked at by itself, without a world around it: an end of time
/// that never comes, and everything else empty.
#[derive(Debug)]
pub struct Surroundings {
    /// What places share.
    pub common: Common,
    /// What was counted.
    pub counts: Counts,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self::with_mask(Mask::NONE, Time(u64::MAX))
    }
}

impl Surroundings {
    /// Somebody hears what is in `mask`, and time ends at `horizon`.
    pub fn with_mask(mask: Mask, horizon: Time) -> Self {
        Self { common: Common::new(horizon, Sink::new(mask)), counts: Counts::default() }
    }

    /// Takes the packets that have come through, each with its user; what was lost is forgotten.
    pub fn take_arrivals(&mut self) -> Vec<(usize, Packet)> {
        let arrived = |output| match output {
            Output::Arrived { user, packet } => Some((user, packet)),
            Output::Lost { .. } | Output::CellChanged { .. } => None,
        };
        self.common.out.drain(..).filter_map(arrived).collect()
    }

    /// Takes the events that were emitted.
    pub fn take_events(&mut self) -> Vec<Record> {
        let events = self.common.sink.kept().to_vec();
        self.common.sink.clear();
        events
    }

    /// The context at `now`.
    pub fn at(&mut self, now: Time) -> Context<'_> {
        let Self { common, counts } = self;
        common.advance((now, Stamp::default()));
        Context { common, place: Place::new(crate::event::Site::Bearer, 0), counts, of_users: &mut [] }
    }
}
