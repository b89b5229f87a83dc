use std::ops::{AddAssign, Deref, DerefMut};

use crate::engine::{Instant, Phase};
use crate::event::{Cause, Event, Mask, Place, Record, Sink, Site};
use crate::packet::{Packet, PacketId};
use crate::units::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// `user` is the user's index at the place, 0 if there is only one user.
    Arrived {
        user: usize,
        packet: Packet,
    },
    Lost {
        user: usize,
        packet: Packet,
        cause: Cause,
    },
    CellChanged {
        user: usize,
    },
    /// The user's phone listens earlier than was expected when data for it began to wait.
    Listens {
        user: usize,
    },
}

impl Output {
    pub fn user(&self) -> usize {
        match *self {
            Self::Arrived { user, .. }
            | Self::Lost { user, .. }
            | Self::CellChanged { user }
            | Self::Listens { user } => user,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// TTIs in which at least one block was sent.
    pub ttis: u64,
    /// Retransmissions included.
    pub blocks: u64,
    pub blocks_failed: u64,
    /// Octets if blocks are filled with octets.
    pub pdus: u64,
    pub packets_in: u64,
    pub packets_delivered: u64,
    /// Number of packets dropped: by a full buffer, a queue discipline or a loss model, or lost on
    /// the radio (see [`Cause::RadioLoss`]).
    pub packets_dropped: u64,
    /// Headers included.
    pub bytes_delivered: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCounts {
    pub sent: u64,
    pub failed: u64,
}

impl BlockCounts {
    /// Mean transmissions per block received without errors: 1 if none was sent, infinity if all failed.
    pub fn per_success(&self) -> f64 {
        if self.sent == 0 { 1.0 } else { self.sent as f64 / (self.sent - self.failed) as f64 }
    }
}

/// State shared by all places (links and bearers) of a simulation run.
#[derive(Debug)]
pub struct Common {
    pub now: Time,
    /// Of the event that is handled.
    pub instant: Instant,
    pub horizon: Time,
    pub sink: Sink,
    pub out: Vec<Output>,
}

impl Common {
    pub fn new(horizon: Time, sink: Sink) -> Self {
        Self { now: Time::ZERO, instant: Instant::default(), horizon, sink, out: Vec::new() }
    }

    #[inline]
    pub fn advance(&mut self, instant: Instant) {
        (self.now, self.instant) = (instant.time(), instant);
    }

    #[inline]
    pub fn emit(&mut self, event: Event) {
        self.sink.emit(self.now, event);
    }
}

/// Argument of every call to a place: the state shared by all places, and the place's own counters.
///
/// Every packet that a place accepts leaves it once, through [`Self::deliver`], [`Self::pass`] or
/// [`Self::lose`], unless the run ends before. All three emit an event and update the counters;
/// `deliver` and `lose` also append to the output. A place also calls `lose` for a packet that it
/// does not accept.
#[derive(Debug)]
pub struct Context<'a> {
    pub common: &'a mut Common,
    pub place: Place,
    pub counts: &'a mut Counts,
    /// Empty if the place does not count blocks by user.
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
    #[inline]
    pub fn wants(&self, mask: Mask) -> bool {
        self.sink.wants(mask)
    }

    /// An uplink that all users share counts as one place per user, as if each user had an uplink of its own.
    pub fn place_of(&self, user: usize) -> Place {
        let is_shared_uplink = self.place.site == Site::Uplink && !self.of_users.is_empty();
        if is_shared_uplink { Place::new(Site::Uplink, user as u32) } else { self.place }
    }

    #[inline]
    pub fn take(&mut self, user: usize, packet: &Packet) {
        self.counts.packets_in += 1;
        if self.wants(Mask::ENTERED) {
            self.emit_entered(user, packet.id);
        }
    }

    // The events `Entered` and `Left` are emitted out of line, so that a run without them only tests
    // the mask.
    #[cold]
    fn emit_entered(&mut self, user: usize, packet: PacketId) {
        let place = self.place_of(user);
        self.emit(Event::Entered { place, packet });
    }

    #[cold]
    fn emit_left(&mut self, user: usize, packet: PacketId) {
        let place = self.place_of(user);
        self.emit(Event::Left { place, packet });
    }

    #[inline]
    pub fn pass(&mut self, user: usize, packet: &Packet) {
        self.counts.packets_delivered += 1;
        self.counts.bytes_delivered += u64::from(packet.size);
        if self.wants(Mask::LEFT) {
            self.emit_left(user, packet.id);
        }
    }

    #[inline]
    pub fn deliver(&mut self, user: usize, packet: Packet) {
        self.pass(user, &packet);
        self.out.push(Output::Arrived { user, packet });
    }

    pub fn lose(&mut self, user: usize, packet: Packet, cause: Cause) {
        self.counts.packets_dropped += 1;
        let place = self.place_of(user);
        self.emit(Event::Lost { place, packet: packet.id, cause });
        self.out.push(Output::Lost { user, packet, cause });
    }

    /// Emits no events.
    #[inline]
    pub fn count_ttis(&mut self, ttis: u64, user: usize, sent: Counted) {
        self.counts.ttis += ttis;
        self.count_blocks(user, sent);
    }

    /// Counts the blocks of a user in a TTI that began at the time `at`, and emits [`Event::Tti`].
    /// Does not count the TTI itself, because several users may share it.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub blocks: BlockCounts,
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub blocks: u32,
    pub failed: u32,
    pub units: u32,
}

impl Sent {
    #[inline]
    pub fn times(self, ttis: u64) -> Counted {
        let of = |number: u32| ttis * u64::from(number);
        Counted {
            blocks: BlockCounts { sent: of(self.blocks), failed: of(self.failed) },
            units: of(self.units),
        }
    }
}

/// Tests and examples use it to call one bearer, link or other place of packets without a `World`. With
/// `default()` the run never ends, and no events are kept.
#[derive(Debug)]
pub struct TestBench {
    pub common: Common,
    pub counts: Counts,
}

impl Default for TestBench {
    fn default() -> Self {
        Self::with_mask(Mask::NONE, Time(u64::MAX))
    }
}

impl TestBench {
    pub fn with_mask(mask: Mask, horizon: Time) -> Self {
        Self { common: Common::new(horizon, Sink::new(mask)), counts: Counts::default() }
    }

    pub fn take_arrivals(&mut self) -> Vec<(usize, Packet)> {
        let arrived = |output| match output {
            Output::Arrived { user, packet } => Some((user, packet)),
            Output::Lost { .. } | Output::CellChanged { .. } | Output::Listens { .. } => None,
        };
        self.common.out.drain(..).filter_map(arrived).collect()
    }

    pub fn take_events(&mut self) -> Vec<Record> {
        let events = self.common.sink.kept().to_vec();
        self.common.sink.clear();
        events
    }

    pub fn at(&mut self, now: Time) -> Context<'_> {
        let Self { common, counts } = self;
        common.advance(Instant::new(now, Phase::Arrival));
        Context { common, place: Place::new(Site::Bearer, 0), counts, of_users: &mut [] }
    }
}
