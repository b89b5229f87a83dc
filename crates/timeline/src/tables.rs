//! The tables: rows, columns, what they mean.
//!
//! Columns of names hold numbers; [`names`] has the names.

use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::Time;

use crate::blocks::{BlockLog, BlockRow};
use crate::codes::{Detail, End, Kind, Outcome};
use crate::lives::{HopRow, Lives, PacketRow};
use crate::places::Places;

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct EventRow {
    /// When.
    pub at: Time,
    /// What.
    pub kind: Kind,
    /// Where.
    pub place: u16,
    /// Whose.
    pub user: u32,
    /// Number of the packet.
    pub packet: u32,
    /// Its segment number.
    pub seq: u64,
    /// Bytes.
    pub bytes: u32,
    /// Number of the block.
    pub block: u32,
    /// Which transmission of it.
    pub transmission: u32,
    /// Whether that has failed.
    pub failed: bool,
    /// A word more.
    pub detail: Detail,
    /// A number more.
    pub value: f64,
    /// The slow-start threshold.
    pub ssthresh: f64,
}

impl EventRow {
    /// One about nothing yet, at the server.
    pub fn new(at: Time, kind: Kind, user: u32) -> Self {
        Self {
            at,
            kind,
            place: 0,
            user,
            packet: 0,
            seq: 0,
            bytes: 0,
            block: 0,
            transmission: 0,
            failed: false,
            detail: Detail::None,
            value: f64::NAN,
            ssthresh: f64::NAN,
        }
    }
}

table! {
    /// One row per event, in order of time; events of one time stand in the order in which they were told.
    pub static EVENTS: "events" of EventRow {
        /// When, since the beginning of the run.
        "time_ns" ["ns"] U64 = |row| row.at.0;
        /// What: `sent`, `resent` (a segment that had been sent before), `entered` and `left` (a place), `lost`,
        /// `received`; `queue` (the user's backlog at the bearer has changed), `block` (is sent), `carries` (a block
        /// sent for the first time has a part of a packet), `given up` (a block), `channel` (is switched),
        /// `handover`; `window`, `round trip`, `recovery`, `timer` (of the sender), `transfer` (is complete).
        "kind" [""] U32 = |row| row.kind as u32;
        /// Where; senders' own events are at `server`.
        "place" [""] U32 = |row| u32::from(row.place);
        /// Number of the user.
        "user" [""] U64 = |row| u64::from(row.user);
        /// Number of the packet in the run, from 1; 0 where the event is about none.
        "packet" [""] U32 = |row| row.packet;
        /// Segment number of that packet, or what it acknowledges: segments in the classic family, bytes in `linux`.
        "seq" [""] U64 = |row| row.seq;
        /// Bytes of the packet, of the part that a block carries, of the backlog, or of the transfer.
        "bytes" ["B"] U32 = |row| row.bytes;
        /// Number of the block in the run, from 1; 0 where the event is about none.
        "block" [""] U32 = |row| row.block;
        /// Which transmission of the block, from 1.
        "transmission" [""] U32 = |row| row.transmission;
        /// Whether that transmission has failed.
        "failed" [""] Bool = |row| row.failed;
        /// What a packet is for (`connect`, `request`, `data`, `ack`), why it was lost (`link loss`, `overflow`,
        /// `early drop`, `radio loss`), the state of recovery (`open`, `fast`, `timeout`) or of the channel.
        "detail" [""] U32 = |row| row.detail as u32;
        /// Packets of the backlog; PDUs or octets of a block; offset in the packet of what a block carries; number of the
        /// new cell; congestion window in segments; round trip, s; when the timer will run out, s, NaN if
        /// stopped; when the transfer was asked for, s. NaN elsewhere.
        "value" [""] F64 = |row| row.value;
        /// Slow-start threshold in segments, of `window`; NaN elsewhere.
        "ssthresh" [""] F64 = |row| row.ssthresh;
    }
}

table! {
    /// One row per packet of which something happens in the window, in the order in which they were sent.
    pub static PACKETS: "packets" of PacketRow {
        /// Number of the packet in the run, from 1, the same whatever the window.
        "packet" [""] U32 = |row| row.packet;
        /// Number of the user.
        "user" [""] U64 = |row| u64::from(row.user);
        /// What it is for: `connect`, `request`, `data` (a segment of the server, its SYN included), `ack`.
        "purpose" [""] U32 = |row| Detail::from(row.purpose) as u32;
        /// Segment number, or what it acknowledges: segments in the classic family, bytes in `linux`.
        "seq" [""] U64 = |row| row.seq;
        /// Bytes, headers included.
        "bytes" ["B"] U32 = |row| row.size;
        /// Whether the segment had been sent before.
        "again" [""] Bool = |row| row.again;
        /// Where it began.
        "origin" [""] U32 = |row| u32::from(row.origin);
        /// When it began.
        "sent_ns" ["ns"] U64 = |row| row.sent.0;
        /// Where it was received, lost, or last heard of.
        "place" [""] U32 = |row| u32::from(row.at);
        /// When it was received or lost; when it was last heard of if it is still under way.
        "ended_ns" ["ns"] U64 = |row| row.ended.0;
        /// `received`, `lost`, or `under way`.
        "end" [""] U32 = |row| row.end as u32;
        /// Why it was lost; empty if it was not.
        "cause" [""] U32 = |row| row.cause as u32;
        /// When the phone's application was handed its data, in order; 0 if they were not, or it has none.
        "handed_ns" ["ns"] U64 = |row| row.handed.unwrap_or_default().0;
        /// Blocks that carried parts of it.
        "blocks" [""] U32 = |row| row.blocks;
        /// Transmissions of those blocks beyond the first of each.
        "repeats" [""] U32 = |row| row.repeats;
    }
}

table! {
    /// One row per stay of a packet at a link or bearer, by packets and in order of time.
    pub static HOPS: "hops" of HopRow {
        /// Number of the packet.
        "packet" [""] U32 = |row| row.packet;
        /// The link or bearer.
        "place" [""] U32 = |row| u32::from(row.place);
        /// When the packet came.
        "entered_ns" ["ns"] U64 = |row| row.entered.0;
        /// At a bearer when the first block was sent that carries some of it; elsewhere when it came.
        "begun_ns" ["ns"] U64 = |row| row.begun.0;
        /// When it left or was lost; when it was last heard of if it is still there.
        "left_ns" ["ns"] U64 = |row| row.left.0;
        /// `received` (it went on), `lost`, or `under way`.
        "end" [""] U32 = |row| row.end as u32;
    }
}

table! {
    /// One row per block that was first sent in the window, in that order.
    pub static BLOCKS: "blocks" of BlockRow {
        /// Number of the block in the run, from 1.
        "block" [""] U32 = |row| row.block;
        /// Number of the user.
        "user" [""] U64 = |row| u64::from(row.user);
        /// Number of the block at the bearer, which may use it again.
        "number" [""] U64 = |row| row.number;
        /// When it was first sent.
        "first_ns" ["ns"] U64 = |row| row.first.0;
        /// When it was last sent.
        "last_ns" ["ns"] U64 = |row| row.last.0;
        /// How often it was sent.
        "transmissions" [""] U32 = |row| row.transmissions;
        /// How often that failed.
        "failed" [""] U32 = |row| row.failed;
        /// PDUs in it, or octets where blocks are filled with octets.
        "units" [""] U32 = |row| row.units;
        /// Bytes of packets in it.
        "bytes" ["B"] U32 = |row| row.bytes;
        /// `received`, `failed` (the last transmission has, and none was seen after it) or `given up`.
        "outcome" [""] U32 = |row| row.outcome as u32;
    }
}

/// All of them.
pub fn all(events: &[EventRow], lives: &Lives, blocks: &BlockLog) -> Vec<Table> {
    vec![
        EVENTS.table(events),
        PACKETS.table(&lives.packets),
        HOPS.table(&lives.hops),
        BLOCKS.table(&blocks.rows),
    ]
}

/// All of them without a row: what there is to know about them.
pub fn empty() -> Vec<Table> {
    all(&[], &Lives::default(), &BlockLog::default())
}

/// The names that the numbers in columns stand for.
pub fn names(places: &Places) -> Vec<(&'static str, Vec<String>)> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    vec![
        ("kind", owned(Kind::NAMES)),
        ("place", places.names()),
        ("origin", places.names()),
        ("detail", owned(Detail::NAMES)),
        ("purpose", owned(Detail::NAMES)),
        ("cause", owned(Detail::NAMES)),
        ("end", owned(End::NAMES)),
        ("outcome", owned(Outcome::NAMES)),
    ]
}
