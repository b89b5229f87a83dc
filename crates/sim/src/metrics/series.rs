//! Time series, kept in columns.

use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};
use nodeb_tcp::Window;

use super::{RunResult, joined};
use crate::scenario::Record;

/// What happened to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentEvent {
    /// The server sent it, or the proxy where there is one.
    Send,
    /// Its ACK reached whoever sent it; the number is the highest segment in order.
    Ack,
    /// Snoop sent it again at the Node B.
    Resend,
    /// It was lost or dropped on the way.
    Drop,
    /// It reached the phone.
    Deliver,
}

impl SegmentEvent {
    /// All of them, in order.
    const ALL: [Self; 5] = [Self::Send, Self::Ack, Self::Resend, Self::Drop, Self::Deliver];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Ack => "ack",
            Self::Resend => "resend",
            Self::Drop => "drop",
            Self::Deliver => "deliver",
        }
    }
}

/// A segment's row.
#[derive(Clone, Copy, Debug)]
pub struct SegmentRow {
    /// Number of the user.
    pub user: u64,
    /// When.
    pub at: Time,
    /// What.
    pub event: SegmentEvent,
    /// Segment number.
    pub seq: u64,
    /// Whether it had been sent before.
    pub retransmission: bool,
}

table! {
    /// One row per event of a TCP segment, in order of time.
    pub static SEGMENTS: "segments" of SegmentRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user;
        /// When.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// `send`, `drop`, `deliver` (to the phone), `ack` (its ACK has reached the sender), `resend` (by Snoop).
        "event" [""] Name = (|row| row.event as u32, |code| SegmentEvent::ALL[code as usize].name().into());
        /// Number of the segment; of an ACK the highest in order.
        "seq" [""] U64 = |row| row.seq;
        /// Whether it had been sent before.
        "retransmission" [""] Bool = |row| row.retransmission;
    }
}

/// A row of the congestion window.
#[derive(Clone, Copy, Debug)]
pub struct CwndRow {
    /// Number of the user.
    pub user: u64,
    /// When.
    pub at: Time,
    /// The window.
    pub window: Window,
}

table! {
    /// One row per change of a congestion window, of the sender whose segments the phone receives.
    pub static CWND: "cwnd" of CwndRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user;
        /// When.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// Congestion window in full-sized segments.
        "cwnd_packets" ["packets"] F64 = |row| row.window.cwnd;
        /// Slow-start threshold in full-sized segments.
        "ssthresh_packets" ["packets"] F64 = |row| row.window.ssthresh;
    }
}

/// A round trip that TCP measured.
#[derive(Clone, Copy, Debug)]
pub struct RttRow {
    /// Number of the user.
    pub user: u64,
    /// When the measurement ended.
    pub at: Time,
    /// The round trip.
    pub rtt: Duration,
}

table! {
    /// One row per round trip that TCP measured.
    pub static RTT: "rtt" of RttRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user;
        /// When the measurement ended.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// The round trip.
        "rtt_s" ["s"] F64 = |row| row.rtt.as_secs();
    }
}

/// A user's backlog at the Node B.
#[derive(Clone, Copy, Debug)]
pub struct QueueRow {
    /// Number of the user.
    pub user: u64,
    /// When it changed.
    pub at: Time,
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

table! {
    /// One row per change of what waits for a user at the Node B, or is on its way from there.
    pub static QUEUE: "queue" of QueueRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user;
        /// When.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// Packets.
        "packets" ["packets"] U64 = |row| row.packets;
        /// Bytes.
        "bytes" ["bytes"] U64 = |row| row.bytes;
    }
}

/// A transfer that has been completed.
#[derive(Clone, Copy, Debug)]
pub struct TransferRow {
    /// Number of the user.
    pub user: u64,
    /// When it was asked for.
    pub begun: Time,
    /// When the phone had its last byte.
    pub arrived: Time,
    /// When the sender had its last ACK.
    pub end: Time,
    /// Its size.
    pub bytes: u64,
}

/// What a bearer did for one user in one TTI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtiRecord {
    /// Beginning of the TTI.
    pub at: Time,
    /// Number of the user.
    pub user: usize,
    /// The user's C/I value, or CQI; 0 at constant rate.
    pub ci: u32,
    /// PDUs sent, or octets where blocks are filled with octets.
    pub pdus: u32,
    /// Blocks received in error.
    pub failed: u32,
}

/// What a user could have been sent by a time, and its channel then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandwidthRecord {
    /// When.
    pub at: Time,
    /// Number of the user.
    pub user: usize,
    /// Bytes of packets that it could have been sent since the beginning.
    pub available_bytes: f64,
    /// CQI that the Node B has, or SNR in dB where it knows that.
    pub cqi: f32,
}

table! {
    /// One row per transfer completed.
    pub static TRANSFERS: "transfers" of TransferRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user;
        /// When it was asked for.
        "begin_s" ["s"] F64 = |row| row.begun.as_secs();
        /// From there until the phone had its last byte.
        "download_s" ["s"] F64 = |row| row.arrived.since(row.begun).as_secs();
        /// From there until the sender had its last ACK.
        "delay_s" ["s"] F64 = |row| row.end.since(row.begun).as_secs();
        /// Its size.
        "bytes" ["bytes"] U64 = |row| row.bytes;
    }
}

table! {
    /// One row per TTI and user who was sent something in it.
    pub static SCHEDULER: "scheduler" of TtiRecord {
        /// Number of the user.
        "user" [""] U64 = |row| row.user as u64;
        /// Beginning of the TTI.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// The user's C/I value, or CQI; 0 at constant rate.
        "ci" [""] U32 = |row| row.ci;
        /// PDUs sent, or octets where blocks are filled with octets.
        "pdus" [""] U32 = |row| row.pdus;
        /// Blocks received in error.
        "failed" [""] U32 = |row| row.failed;
    }
}

table! {
    /// One row per user and 20 ms: what it could have been sent had it always had something to be sent.
    pub static BANDWIDTH: "bandwidth" of BandwidthRecord {
        /// Number of the user.
        "user" [""] U64 = |row| row.user as u64;
        /// When.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// Bytes of packets that it could have been sent since the beginning.
        "available_bytes" ["bytes"] F64 = |row| row.available_bytes;
        /// CQI that the Node B had; with the link adaptation `shannon`, which needs none, SNR in dB.
        "cqi" ["1"] F32 = |row| row.cqi;
    }
}

/// All series of a run; those not asked for stay empty.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Congestion windows.
    pub cwnd: Vec<CwndRow>,
    /// Segments.
    pub segments: Vec<SegmentRow>,
    /// Round trips.
    pub rtt: Vec<RttRow>,
    /// Backlogs.
    pub queue: Vec<QueueRow>,
    /// Transfers.
    pub transfers: Vec<TransferRow>,
    /// TTIs, with the user's number in the scenario.
    pub scheduler: Vec<TtiRecord>,
    /// Bandwidth that users could have had, with the user's number in the scenario.
    pub bandwidth: Vec<BandwidthRecord>,
}

impl Series {
    /// The tables of what was recorded in replications, each with its number.
    pub(super) fn tables(runs: &[(u64, &RunResult)], record: Record) -> impl Iterator<Item = Table> {
        [
            record.cwnd.then(|| joined(runs, &CWND, |run| &run.series.cwnd)),
            record.segments.then(|| joined(runs, &SEGMENTS, |run| &run.series.segments)),
            record.rtt.then(|| joined(runs, &RTT, |run| &run.series.rtt)),
            record.queue.then(|| joined(runs, &QUEUE, |run| &run.series.queue)),
            record.transfers.then(|| joined(runs, &TRANSFERS, |run| &run.series.transfers)),
            record.scheduler.then(|| joined(runs, &SCHEDULER, |run| &run.series.scheduler)),
            record.bandwidth.then(|| joined(runs, &BANDWIDTH, |run| &run.series.bandwidth)),
        ]
        .into_iter()
        .flatten()
    }
}

/// All series without a row.
pub(super) fn tables() -> [Table; 7] {
    [
        CWND.empty(),
        SEGMENTS.empty(),
        RTT.empty(),
        QUEUE.empty(),
        TRANSFERS.empty(),
        SCHEDULER.empty(),
        BANDWIDTH.empty(),
    ]
}
