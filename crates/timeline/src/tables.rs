//! Columns of names store codes, see [`names`].

use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::Time;

use crate::blocks::{BlockLog, BlockRow};
use crate::codes::{Detail, End, Kind, Outcome};
use crate::packets::{HopRow, PacketLog, PacketRow};
use crate::places::Places;

/// Row of [`EVENTS`].
#[derive(Clone, Copy, Debug)]
pub struct EventRow {
    pub at: Time,
    pub kind: Kind,
    pub place: u16,
    pub user: u32,
    /// From 1; 0 without a packet.
    pub packet: u32,
    /// See [`PacketRow::seq`]; 0 without a packet.
    pub seq: u64,
    /// Of the packet, of its part in a block, of the backlog or of the transfer.
    pub bytes: u32,
    /// From 1; 0 without a block.
    pub block: u32,
    /// From 1; 0 without a block.
    pub transmission: u32,
    pub failed: bool,
    /// Such as the role of the packet or the cause of its loss.
    pub detail: Detail,
    /// Depends on the kind.
    pub value: f64,
    /// In segments for events of kind `window`, else NaN.
    pub ssthresh: f64,
}

impl EventRow {
    /// Neither a packet nor a block, at the server.
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
    /// One row per event, ordered by time, and for simultaneous events by their emission.
    pub static EVENTS: "events" of EventRow {
        /// Time of the event since the beginning of the run.
        "time_ns" ["ns"] U64 = |row| row.at.0;
        /// Kind of event: `sent`, `resent` (a retransmitted segment), `entered` and `left` (a place), `lost`,
        /// `received`; `queue` (change of the user's backlog at the bearer), `block` (transmission), `carries` (part
        /// of a packet in a block's first transmission), `given up` (a block), `channel` (switched), `handover`;
        /// `window`, `round trip`, `recovery`, `timer` (of the sender), `transfer` (complete).
        "kind" [""] U32 = |row| row.kind as u32;
        /// Place of the event; events of a sender are at `server`, or at `phone` in an upload.
        "place" [""] U32 = |row| u32::from(row.place);
        /// Number of the user in the scenario, from 0; of an event of the radio the number of the phone.
        "user" [""] U64 = |row| u64::from(row.user);
        /// Number of the packet in the run, from 1; 0 if the event concerns none.
        "packet" [""] U32 = |row| row.packet;
        /// Sequence number of the packet, for an ACK the number acknowledged. It counts segments with
        /// `classic` TCP, and bytes with `linux`. 0 if the event concerns no packet.
        "seq" [""] U64 = |row| row.seq;
        /// Size of the packet, of its part in a block, of the user's backlog, or of the transfer.
        "bytes" ["B"] U32 = |row| row.bytes;
        /// Number of the block in the run, from 1; 0 if the event concerns none.
        "block" [""] U32 = |row| row.block;
        /// Number of the block's transmission, from 1; 0 for other events.
        "transmission" [""] U32 = |row| row.transmission;
        /// Whether the transmission of the block failed.
        "failed" [""] Bool = |row| row.failed;
        /// Role of a packet (`connect`, `request`, `data`, `ack`, `external`), cause of a loss (`link loss`, `overflow`,
        /// `early drop`, `radio loss`), or state of recovery (`open`, `reduced`, `fast`, `timeout`) or of the channel.
        "detail" [""] U32 = |row| row.detail as u32;
        /// Packets of the backlog; PDUs or octets of a block; offset in the packet of the part that a block carries;
        /// number of the new cell; congestion window in segments; round-trip time in s; expiry of the timer in s, NaN
        /// if stopped; time in s at which a transfer began. NaN for other events.
        "value" [""] F64 = |row| row.value;
        /// Slow-start threshold in segments for `window`; NaN for other events.
        "ssthresh" [""] F64 = |row| row.ssthresh;
    }
}

table! {
    /// One row per packet in flight at any time in the window, in the order of transmission.
    pub static PACKETS: "packets" of PacketRow {
        /// Number of the packet in the run, from 1, independent of the window.
        "packet" [""] U32 = |row| row.packet;
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| u64::from(row.user);
        /// Role of the packet: `connect`, `request`, `data` (a segment of the sender, including its SYN),
        /// `ack`, or `external`.
        "purpose" [""] U32 = |row| Detail::from(row.purpose) as u32;
        /// Sequence number of the packet, for an ACK the number acknowledged. It counts segments with
        /// `classic` TCP, and bytes with `linux`. For a real packet, its number in the recording.
        "seq" [""] U64 = |row| row.seq;
        /// Size of the packet including headers.
        "bytes" ["B"] U32 = |row| row.size;
        /// Whether the packet is a retransmission.
        "again" [""] Bool = |row| row.again;
        /// Place that sent the packet.
        "origin" [""] U32 = |row| u32::from(row.origin);
        /// Time at which its sender transmitted the packet, since the start of the run.
        "sent_ns" ["ns"] U64 = |row| row.sent.0;
        /// Place where the packet was received or lost, or the last place where it was recorded.
        "place" [""] U32 = |row| u32::from(row.at);
        /// Time at which the packet was received or lost, or up to which it was followed.
        "ended_ns" ["ns"] U64 = |row| row.ended.0;
        /// Outcome of the packet: `received`, `lost`, or `under way`.
        "end" [""] U32 = |row| row.end as u32;
        /// Cause of the loss; empty if the packet was not lost.
        "cause" [""] U32 = |row| row.cause as u32;
        /// Time at which the receiving application got the packet's data in order; 0 if it did not,
        /// or if the packet has no data.
        "handed_ns" ["ns"] U64 = |row| row.handed.unwrap_or_default().0;
        /// Number of parts of the packet that blocks carried.
        "blocks" [""] U32 = |row| row.blocks;
        /// Number of retransmissions of the blocks that carried the packet.
        "repeats" [""] U32 = |row| row.retransmissions;
    }
}

table! {
    /// One row per stay of a packet at a link or bearer, ordered by packet and then by time.
    pub static HOPS: "hops" of HopRow {
        /// Number of the packet in the run, from 1.
        "packet" [""] U32 = |row| row.packet;
        /// Link or bearer where the packet stayed.
        "place" [""] U32 = |row| u32::from(row.place);
        /// Time at which the packet entered the place.
        "entered_ns" ["ns"] U64 = |row| row.entered.0;
        /// Time of the first block that carries a part of the packet; equal to `entered_ns` if no block carries one, as
        /// at links.
        "begun_ns" ["ns"] U64 = |row| row.begun.0;
        /// Time at which the packet left or was lost, or up to which it was followed.
        "left_ns" ["ns"] U64 = |row| row.left.0;
        /// Outcome of the stay: `received` (passed on), `lost`, or `under way`.
        "end" [""] U32 = |row| row.end as u32;
    }
}

table! {
    /// One row per block whose first transmission is in the window, in the order of transmission.
    pub static BLOCKS: "blocks" of BlockRow {
        /// Number of the block in the run, from 1.
        "block" [""] U32 = |row| row.block;
        /// Place that carries the block: `bearer`, or `uplink` if the base station schedules it.
        "place" [""] U32 = |row| u32::from(row.place);
        /// Number of the phone in the scenario, from 0.
        "user" [""] U64 = |row| u64::from(row.user);
        /// Number that the bearer gave the block; the bearer may reuse it for a later block.
        "number" [""] U64 = |row| row.number;
        /// Time of the block's first transmission, since the start of the run.
        "first_ns" ["ns"] U64 = |row| row.first.0;
        /// Time of the block's last transmission, since the start of the run.
        "last_ns" ["ns"] U64 = |row| row.last.0;
        /// Number of transmissions of the block.
        "transmissions" [""] U32 = |row| row.transmissions;
        /// Number of failed transmissions of the block.
        "failed" [""] U32 = |row| row.failed;
        /// PDUs in the block; octets if blocks are filled with octets.
        "units" [""] U32 = |row| row.units;
        /// Bytes of packets that the block carries.
        "bytes" ["B"] U32 = |row| row.bytes;
        /// Outcome: `received`, `given up`, or `failed` (the last known transmission failed, and neither a
        /// retransmission nor the end of the block was recorded).
        "outcome" [""] U32 = |row| row.outcome as u32;
    }
}

pub fn all(events: &[EventRow], packets: &PacketLog, blocks: &BlockLog) -> Vec<Table> {
    vec![
        EVENTS.table(events),
        PACKETS.table(&packets.packets),
        HOPS.table(&packets.hops),
        BLOCKS.table(&blocks.rows),
    ]
}

/// Without rows.
pub fn empty() -> Vec<Table> {
    all(&[], &PacketLog::default(), &BlockLog::default())
}

/// Of each column that stores codes, which are indices.
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
