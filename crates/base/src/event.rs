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

use crate::packet::PacketId;
use crate::units::{Duration, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// In an upload the roles of server and phone are exchanged.
    Server,
    WiredDown,
    WiredUp,
    Proxy,
    CoreDown,
    CoreUp,
    /// A Snoop agent at the Node B, which retransmits lost segments locally.
    Snoop,
    Bearer,
    /// A phone's uplink, which transmits its ACKs, its requests and the data of its upload.
    Uplink,
    Phone,
}

impl Site {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Down,
    Up,
}

impl Direction {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }

    pub const fn sender(self) -> Site {
        match self {
            Self::Down => Site::Server,
            Self::Up => Site::Phone,
        }
    }

    pub const fn receiver(self) -> Site {
        match self {
            Self::Down => Site::Phone,
            Self::Up => Site::Server,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub site: Site,
    /// Depending on the kind it is the number of the flow, the phone, the link or the bearer.
    pub index: u32,
}

impl Place {
    pub const fn new(site: Site, index: u32) -> Self {
        Self { site, index }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    LinkLoss,
    /// Bearers with TTIs, except those of LTE, give this cause for every packet that they do not accept.
    Overflow,
    /// A queue discipline dropped the packet to signal congestion, before the queue was full.
    EarlyDrop,
    /// The packet was lost on the radio. For example, the last transmission allowed failed, a discard
    /// timer expired, or a handover flushed the buffer that held the packet.
    RadioLoss,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Connect,
    Request,
    Data,
    Ack,
    /// A packet of a real host, whose role is not examined.
    External,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Linux: `TCP_CA_Open`.
    #[default]
    Open,
    /// A window reduction after ECN marks, without losses (RFC 3168, section 6.1.2; Linux: `TCP_CA_CWR`).
    Reduced,
    Fast,
    Timeout,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendLimit {
    #[default]
    Application,
    Handshake,
    SlowStart,
    CongestionAvoidance,
    Receiver,
    /// The application has more data, but no room in the buffer.
    SendBuffer,
    Steered,
    Recovery,
    Pacing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerKind {
    /// RFC 6298.
    Retransmission,
    /// Tail loss probe (RFC 8985, 7).
    Probe,
    /// RFC 8985, 6.3.
    Reorder,
    /// Zero-window probe.
    Persist,
    Pacing,
    Acknowledgement,
    Request,
    Feedback,
    Snoop,
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub packet: PacketId,
    pub offset: u32,
    pub bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UplinkPassage {
    /// Start of the phone's latest connection when the first block with a part of the packet was sent; 0 if the
    /// scenario has no connections of phones.
    pub connected: Time,
    /// Time of the scheduling request or buffer status report that led to the block that completed the
    /// packet. It may be before the packet's arrival. If the base station granted the block without a
    /// request, this time is a few subframes before its decision. For a block of a configured grant after the
    /// grant's first block, this time is `from`.
    pub requested: Time,
    /// Start of the first transmission of the first block with a part of the packet.
    pub first: Time,
    /// Start of the first transmission of the block that completed the packet.
    pub from: Time,
    pub blocks: u32,
    /// Whether the first block with a part of the packet used a configured grant. False if it was the first block of
    /// that grant.
    pub is_reserved: bool,
    pub is_lost: bool,
}

/// An event of the simulated network. `bearer` is the index of a bearer, `user` the index of a user on it,
/// `flow` the index of a connection; sizes are in bytes. The bearer of a scheduled uplink has the index after those of
/// the downlink; its blocks and given up blocks are those of phones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A place sends a packet that enters the network. `seq` is the packet's sequence number, or
    /// for an ACK the acknowledgement number: a segment number with `classic` TCP, a byte number
    /// with `linux`. For a packet of a real host it is the packet's tag. `again` is true for a
    /// retransmission.
    Sent {
        place: Place,
        packet: PacketId,
        flow: u32,
        purpose: Purpose,
        size: u32,
        seq: u64,
        again: bool,
    },
    Entered {
        place: Place,
        packet: PacketId,
    },
    Left {
        place: Place,
        packet: PacketId,
    },
    /// A link or channel transmits a packet, or a part of it, from `from` to `sent`. The packet
    /// arrives at `arrives` unless jitter or reordering delays it. For all parts but the last,
    /// `arrives` is `u64::MAX`. `channel` is 0 for a channel that users share, else 1 plus the
    /// user's index.
    Served {
        place: Place,
        channel: u32,
        packet: PacketId,
        from: Time,
        sent: Time,
        arrives: Time,
    },
    /// A packet has passed the scheduled uplink of a phone. The event is emitted when the packet leaves the uplink. The
    /// time of the event is earlier: the end of the last transmission of the block that completed the packet.
    Granted {
        phone: u32,
        packet: PacketId,
        passage: UplinkPassage,
    },
    /// PDCP gives a packet of a user the sequence number `number`, when RLC is about to send the packet's first part.
    /// Numbers count from 0 for each place, user and bearer, and never wrap.
    Numbered {
        place: Place,
        user: u32,
        bearer: u8,
        packet: PacketId,
        number: u64,
    },
    /// The RNC sends `units` units (PDUs or octets) of a user over the Iub; they reach the Node B at
    /// `arrives`.
    Frame {
        bearer: u32,
        user: u32,
        units: u64,
        arrives: Time,
    },
    Lost {
        place: Place,
        packet: PacketId,
        cause: Cause,
    },
    Received {
        place: Place,
        packet: PacketId,
    },

    /// The queue of a user at a bearer may have changed, and now holds `packets` packets with `bytes` bytes.
    Queue {
        bearer: u32,
        user: u32,
        packets: u32,
        bytes: u64,
    },

    /// Result of one TTI of a user: its C/I value or CQI (0 at constant rate), the units sent, and the number
    /// of blocks that failed. Units are PDUs, or octets if blocks are filled with octets.
    Tti {
        bearer: u32,
        user: u32,
        quality: u32,
        units: u32,
        failed: u32,
    },
    /// A block is transmitted. `transmission` counts the transmissions of the block from 1. The
    /// meaning of `block` depends on the bearer. With HARQ, it is the number of the user's block
    /// (on `hsdpa` since the last reset of MAC-hs). With the simple ARQ, it is the number of the
    /// block's first PDU. On a DCH with an RLC protocol, it is the number of the TTI times the
    /// number of channels, plus the index of the channel. On `wcdma`, it is the number of the slot.
    /// A DCH with an RLC protocol and `wcdma` do not retransmit whole blocks.
    Block {
        bearer: u32,
        user: u32,
        block: u64,
        units: u32,
        transmission: u32,
        failed: bool,
    },
    /// A block in its first transmission carries a part of a packet. Padding and headers belong to no packet.
    Carries {
        bearer: u32,
        user: u32,
        block: u64,
        part: Part,
    },
    GivenUp {
        bearer: u32,
        user: u32,
        block: u64,
    },
    /// A user's channel state changes to `state`, an index in `switching::State::ALL` of `nodeb-radio`.
    State {
        bearer: u32,
        user: u32,
        state: u8,
    },
    /// Data for a user waited from `from` to `until` because the receiver of its phone was off (DRX). The event is
    /// emitted when the next block for the user is sent.
    Slept {
        bearer: u32,
        user: u32,
        from: Time,
        until: Time,
    },
    /// Data for a user waited from `from` to `until` because its phone had no RRC connection. The event is
    /// emitted when the next block for the user is sent.
    Promoted {
        bearer: u32,
        user: u32,
        from: Time,
        until: Time,
    },
    Handover {
        bearer: u32,
        user: u32,
        cell: u32,
    },
    /// Bytes that the bearer could have sent to a user since the start of the run, and the user's
    /// CQI at the Node B: the SNR in dB if none is used, NaN with recorded rates.
    Available {
        bearer: u32,
        user: u32,
        bytes: f64,
        cqi: f32,
    },

    /// The congestion window or slow-start threshold of the sender that sends the flow's data over
    /// the radio changed: the server, the proxy if there is one, or the phone in an upload. Both
    /// values are in full-sized segments. A window that was set from outside replaces `cwnd`.
    Window {
        flow: u32,
        cwnd: f64,
        ssthresh: f64,
    },
    RoundTrip {
        flow: u32,
        rtt: Duration,
    },
    Recovery {
        flow: u32,
        state: Recovery,
    },
    /// A timer of the sender that sends the flow's data over the radio is armed for `at`, or
    /// disarmed if `at` is `None`. With `classic` this is the retransmission timer. With `linux` it
    /// is a timer that expires no later than the timers for retransmission, loss probes,
    /// reordering, window probes and pacing.
    Timer {
        flow: u32,
        at: Option<Time>,
    },
    SendLimit {
        place: Place,
        flow: u32,
        limit: SendLimit,
    },
    /// A timer of a flow expires at a place. The expiry is the cause of all packets that the place
    /// sends at the same time.
    TimerExpired {
        place: Place,
        flow: u32,
        timer: TimerKind,
    },
    Began {
        flow: u32,
        bytes: u64,
    },
    /// The flow's receiver (the phone, or the server in an upload) received the last byte of its
    /// oldest unfinished transfer, and all bytes before it. The packet of the preceding
    /// [`Self::Received`] completed the transfer.
    Arrived {
        flow: u32,
        bytes: u64,
    },
    /// The sender that sends the flow's data over the radio received the last ACK of a transfer.
    /// The transfer began at `begun`, and the flow's receiver received its last byte at `arrived`.
    Transfer {
        flow: u32,
        begun: Time,
        arrived: Time,
        bytes: u64,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask(u16);

impl Mask {
    pub const NONE: Self = Self(0);
    pub const PACKETS: Self = Self(1);
    pub const PLACES: Self = Self::ENTERED.or(Self::LEFT);
    pub const ENTERED: Self = Self(1 << 10);
    pub const LEFT: Self = Self(1 << 14);
    pub const QUEUE: Self = Self(1 << 1);
    pub const TTIS: Self = Self(1 << 2);
    pub const BLOCKS: Self = Self(1 << 3);
    /// A user's channel state or serving cell changes, or data waited for a phone without connection or with
    /// its receiver off.
    pub const CHANNELS: Self = Self(1 << 4);
    pub const BANDWIDTH: Self = Self(1 << 5);
    pub const WINDOW: Self = Self(1 << 6);
    pub const ROUND_TRIPS: Self = Self(1 << 7);
    /// A sender's timer or the state of its loss recovery changes.
    pub const RECOVERY: Self = Self(1 << 8);
    pub const TRANSFERS: Self = Self(1 << 9);
    /// Times of transmissions on links, channels, the Iub and scheduled uplinks.
    pub const SERVICE: Self = Self(1 << 11);
    /// Causes of transmissions: limits of senders, expired timers, and starts and arrivals of transfers.
    pub const DECISIONS: Self = Self(1 << 12);
    pub const PDCP: Self = Self(1 << 13);
    pub const ALL: Self = Self(u16::MAX);

    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub const fn when(self, wanted: bool) -> Self {
        if wanted { self } else { Self::NONE }
    }

    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Event {
    /// Returns the classes to which the event belongs. A sink keeps the event if its mask has any of them.
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
            Self::Block { .. } | Self::Carries { .. } | Self::GivenUp { .. } => Mask::BLOCKS,
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

pub type Record = (Time, Event);

/// It keeps the events in its mask in the order of emission, until a listener takes them.
#[derive(Debug, Default)]
pub struct Sink {
    mask: Mask,
    kept: Vec<Record>,
}

impl Sink {
    pub fn new(mask: Mask) -> Self {
        Self { mask, kept: Vec::new() }
    }

    #[inline]
    pub fn wants(&self, mask: Mask) -> bool {
        self.mask.has(mask)
    }

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

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    #[inline]
    pub fn kept(&self) -> &[Record] {
        &self.kept
    }

    #[inline]
    pub fn clear(&mut self) {
        self.kept.clear();
    }
}
