//! The one stream of events: what happens in every layer, as it happens.
//!
//! Layers emit, consumers listen: series, captures, records and timelines are made from this stream
//! and from nothing else. A [`Mask`] says what is kept; what nobody listens to is never made.

use crate::blocks::Blocks;
use crate::packet::PacketId;
use crate::units::{Duration, Time};

/// A kind of place that packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// A server: where segments begin and ACKs end.
    Server,
    /// The link between server and gateway, towards the phones.
    WiredDown,
    /// The same, towards the servers.
    WiredUp,
    /// The gateway's proxy.
    Proxy,
    /// A link of the core network, towards the phones.
    CoreDown,
    /// The same, towards the servers.
    CoreUp,
    /// A Snoop agent.
    Snoop,
    /// A radio bearer.
    Bearer,
    /// A phone's uplink.
    Uplink,
    /// A phone: where segments end and ACKs begin.
    Phone,
}

impl Site {
    /// All kinds, in their order.
    pub const ALL: [Self; 10] = [
        Self::Server,
        Self::WiredDown,
        Self::WiredUp,
        Self::Proxy,
        Self::CoreDown,
        Self::CoreUp,
        Self::Snoop,
        Self::Bearer,
        Self::Uplink,
        Self::Phone,
    ];
}

/// A place that packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// What it is.
    pub site: Site,
    /// Its number among those: of the flow, the link or the bearer.
    pub index: u32,
}

impl Place {
    /// Number `index` of a kind of places.
    pub const fn new(site: Site, index: u32) -> Self {
        Self { site, index }
    }
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A link's loss.
    LinkLoss,
    /// A queue or buffer had no room.
    Overflow,
    /// A queue discipline signalled congestion.
    EarlyDrop,
    /// The radio gave it up: the last transmission allowed has failed, a discard timer has run out, or
    /// a handover has flushed what held it.
    RadioLoss,
}

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The phone's request for a connection.
    Connect,
    /// The phone's request for more on an open connection.
    Request,
    /// A segment of the server.
    Data,
    /// The phone's acknowledgement.
    Ack,
    /// Whatever a real host sends: nobody has looked.
    External,
}

/// What a sender's loss recovery is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing is being repaired.
    #[default]
    Open,
    /// Nothing is lost either: marks have told of congestion, and the window is being reduced (RFC 3168, section
    /// 6.1.2; Linux: `TCP_CA_CWR`).
    Reduced,
    /// Losses are repaired that ACKs have told of (fast recovery; Tahoe's return to slow start).
    Fast,
    /// Repair after a retransmission timeout.
    Timeout,
}

/// What keeps a sender from sending more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// Nothing: everything that the application has written, and has been taken from it, is sent.
    #[default]
    Application,
    /// Its SYN has not been answered.
    Handshake,
    /// The congestion window, in slow start.
    SlowStart,
    /// The congestion window beyond the slow-start threshold.
    CongestionAvoidance,
    /// What the receiver allows.
    Receiver,
    /// A window set from outside.
    Steered,
    /// Losses that are being repaired.
    Recovery,
    /// The pacer.
    Pacing,
}

/// A timer of an end of a connection, or of a box on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// A sender's retransmission timeout.
    Retransmission,
    /// A sender's tail loss probe.
    Probe,
    /// The end of the time for which a sender waits for reordered segments.
    Reorder,
    /// A sender's probe of a closed window.
    Persist,
    /// A sender's pacer.
    Pacing,
    /// A receiver's: the ACK held back, or one that opens the window.
    Acknowledgement,
    /// A request that is repeated until it is heard.
    Request,
    /// A message that sets a proxy's window.
    Feedback,
    /// A Snoop agent's local retransmission.
    Snoop,
    /// A server that works on its answer.
    Server,
}

/// So many bytes of a packet, from an offset on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which packet.
    pub packet: PacketId,
    /// The first of the bytes.
    pub offset: u32,
    /// How many.
    pub bytes: u32,
}

/// Something that has happened. `bearer` and `user` are numbers of a bearer and of a user on it, `flow`
/// that of a connection; sizes are bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "each variant's comment speaks of its fields")]
pub enum Event {
    /// A packet begins its way. `seq` is its segment number, or for an ACK the number it acknowledges.
    Sent { place: Place, packet: PacketId, flow: u32, purpose: Purpose, size: u32, seq: u64, again: bool },
    /// A packet comes to a place and is taken.
    Entered { place: Place, packet: PacketId },
    /// A packet leaves a place for the next one.
    Left { place: Place, packet: PacketId },
    /// A link or channel begins to send a packet at `from`: all of it is sent at `sent`, and there at `arrives`
    /// unless jitter or reordering hold it back. `channel` is 0 where all share one, else 1 and the user's number.
    Served { place: Place, channel: u32, packet: PacketId, from: Time, sent: Time, arrives: Time },
    /// The RNC sends so many units of a user over the Iub; they are at the Node B at `arrives`.
    Frame { bearer: u32, user: u32, units: u64, arrives: Time },
    /// A packet is lost at a place, whether it had been taken there or not.
    Lost { place: Place, packet: PacketId, cause: Cause },
    /// A packet has come to the end of its way.
    Received { place: Place, packet: PacketId },

    /// A user's packets and bytes at a bearer, after a change.
    Queue { bearer: u32, user: u32, packets: u32, bytes: u64 },

    /// A TTI of a bearer has gone to a user: its C/I value or CQI (0 at constant rate), units sent, and
    /// blocks that failed. Units are PDUs, or octets where blocks are filled with octets.
    Tti { bearer: u32, user: u32, quality: u32, units: u32, failed: u32 },
    /// A block is sent, for the `transmission`th time, counted from 1. With HARQ its number counts the user's
    /// blocks (on `hsdpa` from the last reset of MAC-hs on); with the simple ARQ it is its first PDU's;
    /// where nothing is sent again as a block, on a DCH with RLC and on `wcdma`, it is that of the channel or slot in
    /// which it is sent.
    Block { bearer: u32, user: u32, block: u64, units: u32, transmission: u32, failed: bool },
    /// A block that is sent for the first time carries a part of a packet; padding and headers belong to
    /// nobody.
    Carries { bearer: u32, user: u32, block: u64, part: Part },
    /// All blocks of this TTI and of those after it, told in the place of [`Self::Block`] and [`Self::Carries`] where
    /// nobody wants each by itself; what new blocks carry follows from [`Self::Segmented`].
    Run { bearer: u32, user: u32, blocks: Blocks },
    /// A packet that a bearer takes is cut into the units from number `first` up to `end`, which it does not share.
    Segmented { bearer: u32, user: u32, packet: PacketId, first: u64, end: u64 },
    /// A block is given up.
    GivenUp { bearer: u32, user: u32, block: u64 },
    /// A user's channel is switched: the state's number in the order of its list.
    State { bearer: u32, user: u32, state: u8 },
    /// Another cell serves a user.
    Handover { bearer: u32, user: u32, cell: u32 },
    /// What a user could have been sent since the beginning, and the CQI that the Node B has.
    Available { bearer: u32, user: u32, bytes: f64, cqi: f32 },

    /// A sender's congestion window and slow-start threshold, in full-sized segments, after a change.
    Window { flow: u32, cwnd: f64, ssthresh: f64 },
    /// A sender has measured a round trip.
    RoundTrip { flow: u32, rtt: Duration },
    /// A sender's loss recovery has changed its state.
    Recovery { flow: u32, state: Recovery },
    /// A sender's timer is set anew, or stopped: that of retransmission, or with `linux` the first of that
    /// and those of loss probes, reordering and pacing.
    Timer { flow: u32, at: Option<Time> },
    /// What keeps a sender from sending more, after a change.
    Held { place: Place, flow: u32, hold: Hold },
    /// A timer of a flow rings at a place; what is sent now is sent because of it.
    Rang { place: Place, flow: u32, clock: Clock },
    /// A transfer begins: so many bytes behind those of the ones before it.
    Began { flow: u32, bytes: u64 },
    /// The phone has the last byte of the oldest transfer under way, in order, with the packet received last.
    Arrived { flow: u32, bytes: u64 },
    /// A transfer is complete that was asked for at `begun`; the phone had its last byte at `arrived`.
    Transfer { flow: u32, begun: Time, arrived: Time, bytes: u64 },
}

/// Kinds of events, to choose among.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask(u16);

impl Mask {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Packets: sent, received, lost.
    pub const PACKETS: Self = Self(1);
    /// The places that packets pass.
    pub const PLACES: Self = Self::ENTERED.or(Self::LEFT);
    /// The places that packets come to.
    pub const ENTERED: Self = Self(1 << 10);
    /// The places that packets leave.
    pub const LEFT: Self = Self(1 << 14);
    /// Queues at bearers.
    pub const QUEUE: Self = Self(1 << 1);
    /// What TTIs went to.
    pub const TTIS: Self = Self(1 << 2);
    /// Blocks and what they carry.
    pub const BLOCKS: Self = Self(1 << 3);
    /// States of channels, handovers.
    pub const CHANNELS: Self = Self(1 << 4);
    /// Bandwidth that users could have.
    pub const BANDWIDTH: Self = Self(1 << 5);
    /// Congestion windows.
    pub const WINDOW: Self = Self(1 << 6);
    /// Round trips.
    pub const ROUND_TRIPS: Self = Self(1 << 7);
    /// Timers and states of loss recovery.
    pub const RECOVERY: Self = Self(1 << 8);
    /// Transfers.
    pub const TRANSFERS: Self = Self(1 << 9);
    /// When links and channels begin to send packets.
    pub const SERVICE: Self = Self(1 << 11);
    /// Why packets are sent when they are: what held senders back, timers that rang, transfers that begin and
    /// arrive.
    pub const DECISIONS: Self = Self(1 << 12);
    /// The same as [`Self::BLOCKS`], the blocks of TTIs in a row together where the bearer can, and nobody wants each by
    /// itself.
    pub const RUNS: Self = Self(1 << 13);
    /// Blocks, in whatever form.
    pub const ANY_BLOCKS: Self = Self::BLOCKS.or(Self::RUNS);
    /// Everything.
    pub const ALL: Self = Self(u16::MAX);

    /// What is in one of them.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This one where `wanted`, else nothing.
    #[must_use]
    pub const fn when(self, wanted: bool) -> Self {
        if wanted { self } else { Self::NONE }
    }

    /// Whether some of `other` is in it.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Event {
    /// Which kind it is of.
    #[inline]
    pub const fn class(&self) -> Mask {
        match self {
            Self::Sent { .. } | Self::Lost { .. } | Self::Received { .. } => Mask::PACKETS,
            Self::Entered { .. } => Mask::ENTERED,
            Self::Left { .. } => Mask::LEFT,
            Self::Served { .. } | Self::Frame { .. } => Mask::SERVICE,
            Self::Held { .. } | Self::Rang { .. } | Self::Began { .. } | Self::Arrived { .. } => {
                Mask::DECISIONS
            }
            Self::Queue { .. } => Mask::QUEUE,
            Self::Tti { .. } => Mask::TTIS,
            Self::Block { .. } | Self::Carries { .. } | Self::GivenUp { .. } => Mask::ANY_BLOCKS,
            Self::Run { .. } | Self::Segmented { .. } => Mask::RUNS,
            Self::State { .. } | Self::Handover { .. } => Mask::CHANNELS,
            Self::Available { .. } => Mask::BANDWIDTH,
            Self::Window { .. } => Mask::WINDOW,
            Self::RoundTrip { .. } => Mask::ROUND_TRIPS,
            Self::Recovery { .. } | Self::Timer { .. } => Mask::RECOVERY,
            Self::Transfer { .. } => Mask::TRANSFERS,
        }
    }
}

/// An event and when it happened.
pub type Record = (Time, Event);

/// Where events go: kept in the order in which they are told until a consumer takes them.
#[derive(Debug, Default)]
pub struct Sink {
    mask: Mask,
    kept: Vec<Record>,
}

impl Sink {
    /// A sink that keeps what is in `mask`.
    pub fn new(mask: Mask) -> Self {
        Self { mask, kept: Vec::new() }
    }

    /// Whether somebody listens to some of `mask`.
    #[inline]
    pub fn wants(&self, mask: Mask) -> bool {
        self.mask.has(mask)
    }

    /// Whether nobody listens to anything.
    #[inline]
    pub fn is_deaf(&self) -> bool {
        self.mask == Mask::NONE
    }

    /// Tells what has happened.
    #[inline]
    pub fn emit(&mut self, at: Time, event: Event) {
        if self.wants(event.class()) {
            self.keep(at, event);
        }
    }

    #[cold]
    fn keep(&mut self, at: Time, event: Event) {
        self.kept.push((at, event));
    }

    /// Whether something is kept.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns everything kept.
    #[inline]
    pub fn kept(&self) -> &[Record] {
        &self.kept
    }

    /// Forgets everything kept.
    #[inline]
    pub fn clear(&mut self) {
        self.kept.clear();
    }
}
