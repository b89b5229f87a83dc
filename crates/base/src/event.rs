//! The event stream of a run, in which all layers report events with their times. Some events are
//! reported later than they happen, so times may decrease.
//!
//! Layers emit an [`Event`] to a [`Sink`]; time series, captures and packet timelines are computed
//! from this stream and the TCP segments that accompany it. A sink keeps only the classes of events
//! in its [`Mask`], and callers check [`Sink::wants`] before they build a frequent event.
//!
//! # Examples
//!
//! ```
//! use nodeb_base::event::{Event, Mask, Place, Sink, Site};
//! use nodeb_base::packet::PacketId;
//! use nodeb_base::units::Time;
//!
//! let mut sink = Sink::new(Mask::PACKETS);
//! let place = Place::new(Site::Phone, 0);
//! sink.emit(Time(5), Event::Received { place, packet: PacketId(1) });
//! sink.emit(Time(5), Event::Entered { place, packet: PacketId(2) }); // not in the mask
//! assert_eq!(sink.kept(), [(Time(5), Event::Received { place, packet: PacketId(1) })]);
//! ```

use crate::blocks::Blocks;
use crate::packet::PacketId;
use crate::units::{Duration, Time};

/// Kind of a place: a node or link that packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// A server: source of segments and sink of ACKs; in an upload, sink of segments and source of
    /// ACKs.
    Server,
    /// The link from a server to the gateway (downlink).
    WiredDown,
    /// The link from the gateway to a server (uplink).
    WiredUp,
    /// The proxy at the gateway, which splits a TCP connection in two.
    Proxy,
    /// A link of the core network from the gateway to a Node B (downlink).
    CoreDown,
    /// A link of the core network from a Node B to the gateway (uplink).
    CoreUp,
    /// A Snoop agent at the Node B, which retransmits lost segments locally.
    Snoop,
    /// A radio bearer (downlink), which transmits packets to the phones.
    Bearer,
    /// A phone's uplink, which transmits its ACKs, its requests and the data of its upload.
    Uplink,
    /// A phone: sink of segments and source of ACKs; in an upload, source of segments and sink of
    /// ACKs.
    Phone,
}

impl Site {
    /// All kinds of places in the order of their declaration.
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

/// Direction of a packet, or of the data of a connection, between a server and a phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a server to a phone.
    Down,
    /// From a phone to a server.
    Up,
}

impl Direction {
    /// Returns the direction's name in tables: `down` or `up`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }

    /// Returns the site that sends in this direction.
    pub const fn sender(self) -> Site {
        match self {
            Self::Down => Site::Server,
            Self::Up => Site::Phone,
        }
    }

    /// Returns the site that receives in this direction.
    pub const fn receiver(self) -> Site {
        match self {
            Self::Down => Site::Phone,
            Self::Up => Site::Server,
        }
    }
}

/// A place that packets pass, identified by its kind and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Kind of node or link.
    pub site: Site,
    /// Index from 0 among the places of this kind. Depending on the kind it is the number of the
    /// flow, the phone, the link or the bearer.
    pub index: u32,
}

impl Place {
    /// Returns the place of kind `site` with the index `index`, counted from 0.
    pub const fn new(site: Site, index: u32) -> Self {
        Self { site, index }
    }
}

/// Reason for which a place lost a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The loss model of a link lost the packet.
    LinkLoss,
    /// A full queue or buffer had no room for the packet, or dropped it to make room. Bearers with
    /// TTIs, except those of LTE, give this cause for every packet that they do not accept.
    Overflow,
    /// A queue discipline dropped the packet to signal congestion, before the queue was full.
    EarlyDrop,
    /// The packet was lost on the radio. For example, the last transmission allowed failed, a discard
    /// timer expired, or a handover flushed the buffer that held the packet.
    RadioLoss,
}

/// Role of a packet in its TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A request that opens a connection, sent by a phone or by a proxy that splits the connection.
    Connect,
    /// A request for data on an open connection in a packet of its own, sent by a phone or a proxy.
    Request,
    /// A data segment, sent by a server, a proxy or a Snoop agent; in an upload, by a phone.
    Data,
    /// An acknowledgement, sent by a phone or a proxy; in an upload, by a server.
    Ack,
    /// A packet of a real host, whose role is not examined.
    External,
}

/// State of the loss recovery of a TCP sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// The sender is not recovering from a loss or congestion mark (Linux: `TCP_CA_Open`).
    #[default]
    Open,
    /// A window reduction after ECN marks, without losses (RFC 3168, section 6.1.2; Linux: `TCP_CA_CWR`).
    Reduced,
    /// Recovery from losses that ACKs revealed: fast recovery, or Tahoe's return to slow start.
    Fast,
    /// Recovery after a retransmission timeout, in which the sender repairs losses.
    Timeout,
}

/// The limit that stops a sender from transmitting more at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendLimit {
    /// The application: all data that it wrote and the connection accepted has been sent.
    #[default]
    Application,
    /// The handshake: the other end has not yet answered the SYN.
    Handshake,
    /// The congestion window, while the sender is in slow start.
    SlowStart,
    /// The congestion window, while the sender is in congestion avoidance.
    CongestionAvoidance,
    /// The receiver's window: the sender has used all of the advertised window.
    Receiver,
    /// A window that was set from outside the connection, for example by a proxy.
    Steered,
    /// Loss recovery: the sender is repairing a loss, and the rules of the recovery decide when it
    /// sends.
    Recovery,
    /// Pacing: the pacer does not yet allow the next segment to leave.
    Pacing,
}

/// Kind of a timer at an end host, a proxy or a Snoop agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerKind {
    /// Retransmission timer of a sender, which expires if ACKs stay away (RFC 6298).
    Retransmission,
    /// Timer of a sender that triggers a tail loss probe (RFC 8985, section 7).
    Probe,
    /// Reordering timer of a sender: on expiry, segments that were thought to be reordered count as
    /// lost.
    Reorder,
    /// Persist timer of a sender, which triggers a probe of a zero window.
    Persist,
    /// Pacing timer of a sender, which expires when the next segment may leave.
    Pacing,
    /// Timer of a receiver for a delayed ACK or a window update.
    Acknowledgement,
    /// Timer of a phone or a proxy, on whose expiry an unanswered request is retransmitted.
    Request,
    /// Timer of a proxy, which expires when a message of the RNC arrives and sets the proxy's
    /// window.
    Feedback,
    /// Timer of a Snoop agent, on whose expiry a segment is retransmitted locally.
    Snoop,
    /// Timer of a server, which expires when the server has processed a request.
    Server,
}

/// A range of bytes of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Packet to which the bytes belong.
    pub packet: PacketId,
    /// Offset of the first byte of the range from the start of the packet.
    pub offset: u32,
    /// Number of bytes in the range.
    pub bytes: u32,
}

/// Passage of a packet over a scheduled uplink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UplinkPassage {
    /// Start of the phone's latest connection when the first block with a part of the packet was sent; 0 if the
    /// scenario has no connections of phones.
    pub connected: Time,
    /// Time of the scheduling request or buffer status report that led to the block that completed the
    /// packet. It may be before the packet's arrival. If the base station granted the block without a
    /// request, this time is a few subframes before its decision. For a block of a configured grant after the
    /// grant's first block, this time is `from`.
    pub asked: Time,
    /// Start of the first transmission of the first block with a part of the packet.
    pub first: Time,
    /// Start of the first transmission of the block that completed the packet.
    pub from: Time,
    /// Number of blocks with a part of the packet.
    pub blocks: u32,
    /// Whether the first block with a part of the packet used a configured grant. False if it was the first block of
    /// that grant.
    pub is_reserved: bool,
    /// Whether HARQ gave up a block with a part of the packet, so that RLC had to retransmit the part.
    pub is_lost: bool,
}

/// An event of the simulated network. `bearer` is the index of a bearer, `user` the index of a user on it,
/// `flow` the index of a connection; sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "each variant's comment speaks of its fields")]
pub enum Event {
    /// A place sends a packet that enters the network. `seq` is the packet's sequence number, or
    /// for an ACK the acknowledgement number: a segment number with `classic` TCP, a byte number
    /// with `linux`. For a packet of a real host it is the packet's tag. `again` is true for a
    /// retransmission.
    Sent { place: Place, packet: PacketId, flow: u32, purpose: Purpose, size: u32, seq: u64, again: bool },
    /// A place (link, bearer or agent) accepts a packet.
    Entered { place: Place, packet: PacketId },
    /// A packet leaves a place for the next one.
    Left { place: Place, packet: PacketId },
    /// A link or channel transmits a packet, or a part of it, from `from` to `sent`. The packet
    /// arrives at `arrives` unless jitter or reordering delays it. For all parts but the last,
    /// `arrives` is `u64::MAX`. `channel` is 0 for a channel that users share, else 1 plus the
    /// user's index.
    Served { place: Place, channel: u32, packet: PacketId, from: Time, sent: Time, arrives: Time },
    /// A packet has passed the scheduled uplink of a phone. The event is emitted when the packet leaves the uplink. The
    /// time of the event is earlier: the end of the last transmission of the block that completed the packet.
    Granted { phone: u32, packet: PacketId, passage: UplinkPassage },
    /// PDCP gives a packet of a user the sequence number `number`, when RLC is about to send the packet's first part.
    /// Numbers count from 0 for each place and user, and never wrap.
    Numbered { place: Place, user: u32, packet: PacketId, number: u64 },
    /// The RNC sends `units` units (PDUs or octets) of a user over the Iub; they reach the Node B at
    /// `arrives`.
    Frame { bearer: u32, user: u32, units: u64, arrives: Time },
    /// A packet is lost at a place, which may have accepted it before.
    Lost { place: Place, packet: PacketId, cause: Cause },
    /// A packet reaches its destination, the node `place`.
    Received { place: Place, packet: PacketId },

    /// The queue of a user at a bearer may have changed, and now holds `packets` packets with `bytes` bytes.
    Queue { bearer: u32, user: u32, packets: u32, bytes: u64 },

    /// Result of one TTI of a user: its C/I value or CQI (0 at constant rate), the units sent, and the number
    /// of blocks that failed. Units are PDUs, or octets if blocks are filled with octets.
    Tti { bearer: u32, user: u32, quality: u32, units: u32, failed: u32 },
    /// A block is transmitted. `transmission` counts the transmissions of the block from 1. The
    /// meaning of `block` depends on the bearer. With HARQ, it is the number of the user's block
    /// (on `hsdpa` since the last reset of MAC-hs). With the simple ARQ, it is the number of the
    /// block's first PDU. On a DCH with an RLC protocol, it is the number of the TTI times the
    /// number of channels, plus the index of the channel. On `wcdma`, it is the number of the slot.
    /// A DCH with an RLC protocol and `wcdma` do not retransmit whole blocks.
    Block { bearer: u32, user: u32, block: u64, units: u32, transmission: u32, failed: bool },
    /// A block in its first transmission carries a part of a packet. Padding and headers belong to no packet.
    Carries { bearer: u32, user: u32, block: u64, part: Part },
    /// Describes all blocks of consecutive TTIs. The time of this event is that of the first of
    /// these TTIs. This event replaces [`Self::Block`] and [`Self::Carries`] if the bearer supports
    /// it and no listener subscribes to single blocks. [`Self::Segmented`] gives the contents of
    /// new blocks.
    Run { bearer: u32, user: u32, blocks: Blocks },
    /// A bearer segments an accepted packet into the units `first..end`, which hold no other packet.
    Segmented { bearer: u32, user: u32, packet: PacketId, first: u64, end: u64 },
    /// A block is given up, because its last transmission allowed has failed.
    GivenUp { bearer: u32, user: u32, block: u64 },
    /// A user's channel state changes to `state`, an index in `switching::State::ALL` of `nodeb-radio`.
    State { bearer: u32, user: u32, state: u8 },
    /// Data for a user waited from `from` to `until` because the receiver of its phone was off (DRX). The event is
    /// emitted when the next block for the user is sent.
    Slept { bearer: u32, user: u32, from: Time, until: Time },
    /// Data for a user waited from `from` to `until` because its phone had no RRC connection. The event is emitted when
    /// the next block for the user is sent.
    Promoted { bearer: u32, user: u32, from: Time, until: Time },
    /// Another cell, number `cell`, starts to serve a user.
    Handover { bearer: u32, user: u32, cell: u32 },
    /// Bytes that the bearer could have sent to a user since the start of the run, and the user's
    /// CQI at the Node B: the SNR in dB if none is used, NaN with recorded rates.
    Available { bearer: u32, user: u32, bytes: f64, cqi: f32 },

    /// The congestion window or slow-start threshold of the sender that sends the flow's data over
    /// the radio changed: the server, the proxy if there is one, or the phone in an upload. Both
    /// values are in full-sized segments. A window that was set from outside replaces `cwnd`.
    Window { flow: u32, cwnd: f64, ssthresh: f64 },
    /// The sender that sends the flow's data over the radio measured the round-trip time `rtt`.
    RoundTrip { flow: u32, rtt: Duration },
    /// The loss recovery of the sender that sends the flow's data over the radio changed its state
    /// to `state`.
    Recovery { flow: u32, state: Recovery },
    /// A timer of the sender that sends the flow's data over the radio is armed for `at`, or
    /// disarmed if `at` is `None`. With `classic` this is the retransmission timer. With `linux` it
    /// is a timer that expires no later than the timers for retransmission, loss probes,
    /// reordering, window probes and pacing.
    Timer { flow: u32, at: Option<Time> },
    /// The limit that stops a sender from transmitting changed to `limit`.
    SendLimit { place: Place, flow: u32, limit: SendLimit },
    /// A timer of a flow expires at a place. The expiry is the cause of all packets that the place
    /// sends at the same time.
    TimerExpired { place: Place, flow: u32, timer: TimerKind },
    /// A transfer of `bytes` bytes starts; its bytes follow those of all earlier transfers of the
    /// flow.
    Began { flow: u32, bytes: u64 },
    /// The flow's receiver (the phone, or the server in an upload) received the last byte of its
    /// oldest unfinished transfer, and all bytes before it. The packet of the preceding
    /// [`Self::Received`] completed the transfer.
    Arrived { flow: u32, bytes: u64 },
    /// The sender that sends the flow's data over the radio received the last ACK of a transfer.
    /// The transfer began at `begun`, and the flow's receiver received its last byte at `arrived`.
    Transfer { flow: u32, begun: Time, arrived: Time, bytes: u64 },
}

/// A set of classes of events, to which a listener subscribes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask(u16);

impl Mask {
    /// Mask without any class: the listener receives no events.
    pub const NONE: Self = Self(0);
    /// Class of events in which a packet is sent, received or lost.
    pub const PACKETS: Self = Self(1);
    /// Classes of events in which a packet enters or leaves a place.
    pub const PLACES: Self = Self::ENTERED.or(Self::LEFT);
    /// Class of events in which a packet enters a place.
    pub const ENTERED: Self = Self(1 << 10);
    /// Class of events in which a packet leaves a place.
    pub const LEFT: Self = Self(1 << 14);
    /// Class of events that give queue lengths at bearers.
    pub const QUEUE: Self = Self(1 << 1);
    /// Class of events that give the result of a user's TTI.
    pub const TTIS: Self = Self(1 << 2);
    /// Class of events that describe single blocks and their contents.
    pub const BLOCKS: Self = Self(1 << 3);
    /// Class of events in which a user's channel state or serving cell changes, or data waited because a phone's
    /// receiver was off or the phone was not connected.
    pub const CHANNELS: Self = Self(1 << 4);
    /// Class of events that give the bandwidth available to a user.
    pub const BANDWIDTH: Self = Self(1 << 5);
    /// Class of events in which a congestion window or slow-start threshold changes.
    pub const WINDOW: Self = Self(1 << 6);
    /// Class of events in which a sender measures a round-trip time.
    pub const ROUND_TRIPS: Self = Self(1 << 7);
    /// Class of events in which a sender's timer or the state of its loss recovery changes.
    pub const RECOVERY: Self = Self(1 << 8);
    /// Class of events that report complete transfers.
    pub const TRANSFERS: Self = Self(1 << 9);
    /// Class of events about the times of transmissions on links, channels, the Iub and scheduled uplinks.
    pub const SERVICE: Self = Self(1 << 11);
    /// Class of events about the causes of transmissions: limits of senders, expired timers, and
    /// starts and arrivals of transfers.
    pub const DECISIONS: Self = Self(1 << 12);
    /// Class of events that describe blocks like [`Self::BLOCKS`], but combined over consecutive
    /// TTIs. Blocks are combined if the bearer supports it and no listener subscribes to single
    /// blocks.
    pub const RUNS: Self = Self(1 << 13);
    /// Class of events in which PDCP numbers a packet.
    pub const PDCP: Self = Self(1 << 15);
    /// Classes of events that describe blocks, whether single or combined over TTIs.
    pub const ANY_BLOCKS: Self = Self::BLOCKS.or(Self::RUNS);
    /// Mask with all classes: the listener receives every event.
    pub const ALL: Self = Self(u16::MAX);

    /// Returns the union of this mask and `other`.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns this mask if `wanted` is true, else [`Self::NONE`].
    #[must_use]
    pub const fn when(self, wanted: bool) -> Self {
        if wanted { self } else { Self::NONE }
    }

    /// Returns true if this mask and `other` have a class in common.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Event {
    /// Returns the classes to which the event belongs. A sink keeps the event if its mask has any
    /// of them.
    #[inline]
    pub const fn class(&self) -> Mask {
        match self {
            Self::Sent { .. } | Self::Lost { .. } | Self::Received { .. } => Mask::PACKETS,
            Self::Entered { .. } => Mask::ENTERED,
            Self::Left { .. } => Mask::LEFT,
            Self::Served { .. } | Self::Granted { .. } | Self::Frame { .. } => Mask::SERVICE,
            Self::Numbered { .. } => Mask::PDCP,
            Self::SendLimit { .. }
            | Self::TimerExpired { .. }
            | Self::Began { .. }
            | Self::Arrived { .. } => Mask::DECISIONS,
            Self::Queue { .. } => Mask::QUEUE,
            Self::Tti { .. } => Mask::TTIS,
            Self::Block { .. } | Self::Carries { .. } | Self::GivenUp { .. } => Mask::ANY_BLOCKS,
            Self::Run { .. } | Self::Segmented { .. } => Mask::RUNS,
            Self::State { .. } | Self::Slept { .. } | Self::Promoted { .. } | Self::Handover { .. } => {
                Mask::CHANNELS
            }
            Self::Available { .. } => Mask::BANDWIDTH,
            Self::Window { .. } => Mask::WINDOW,
            Self::RoundTrip { .. } => Mask::ROUND_TRIPS,
            Self::Recovery { .. } | Self::Timer { .. } => Mask::RECOVERY,
            Self::Transfer { .. } => Mask::TRANSFERS,
        }
    }
}

/// An event with the time at which it happened.
pub type Record = (Time, Event);

/// Collector of events. It keeps the events in its mask in the order of emission, until a listener
/// takes them.
#[derive(Debug, Default)]
pub struct Sink {
    mask: Mask,
    kept: Vec<Record>,
}

impl Sink {
    /// Creates a sink that keeps the events of the classes in `mask`, and discards all others.
    pub fn new(mask: Mask) -> Self {
        Self { mask, kept: Vec::new() }
    }

    /// Returns true if a listener subscribes to at least one class of events in `mask`.
    #[inline]
    pub fn wants(&self, mask: Mask) -> bool {
        self.mask.has(mask)
    }

    /// Returns true if no listener subscribes to any event, so that the sink keeps nothing.
    #[inline]
    pub fn is_deaf(&self) -> bool {
        self.mask == Mask::NONE
    }

    /// Keeps an event that happens at the time `at` if a listener subscribes to its class.
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

    /// Returns true if the sink keeps no event that a listener has yet to take.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the kept events in the order in which they were emitted.
    #[inline]
    pub fn kept(&self) -> &[Record] {
        &self.kept
    }

    /// Discards all kept events, for example after a listener has read them.
    #[inline]
    pub fn clear(&mut self) {
        self.kept.clear();
    }
}
