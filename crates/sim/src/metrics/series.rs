use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};
use nodeb_tcp::Window;

use super::{RunResult, joined};
use crate::scenario::Record;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentEvent {
    /// By the sender over the radio: the proxy if there is one, the phone in an upload, or else the server.
    Send,
    /// At that sender; `seq` is then the highest segment received in order, or with `linux` the next byte
    /// expected.
    Ack,
    /// By Snoop, at the Node B.
    Resend,
    /// Or lost.
    Drop,
    /// At the phone, or the server in an upload.
    Deliver,
}

impl SegmentEvent {
    /// Indexed by the codes that tables store.
    const ALL: [Self; 5] = [Self::Send, Self::Ack, Self::Resend, Self::Drop, Self::Deliver];

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

#[derive(Clone, Copy, Debug)]
pub struct SegmentRow {
    /// Of the user, or of an upload, as in the table `flows`.
    pub user: u64,
    pub at: Time,
    pub event: SegmentEvent,
    /// Of the segment, or with `linux` of its first byte; for an ACK see [`SegmentEvent::Ack`].
    pub seq: u64,
    /// Sent before.
    pub retransmission: bool,
}

table! {
    /// One row per event of a TCP segment, in the order of time.
    pub static SEGMENTS: "segments" of SegmentRow {
        /// Number of the user, or of an upload, as in the table `flows`.
        "user" [""] U64 = |row| row.user;
        /// Time of the event.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// Event: `send`, `drop`, `deliver` (to the receiver), `ack` (an ACK reached the sender) or `resend`
        /// (by Snoop).
        "event" [""] Name = (|row| row.event as u32, |code| SegmentEvent::ALL[code as usize].name().into());
        /// Number of the segment, or with `linux` TCP of its first byte. For an ACK the highest segment received in
        /// order, or with `linux` the next byte expected.
        "seq" [""] U64 = |row| row.seq;
        /// Whether the segment had been sent before.
        "retransmission" [""] Bool = |row| row.retransmission;
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CwndRow {
    /// As in [`SegmentRow`].
    pub user: u64,
    pub at: Time,
    pub window: Window,
}

table! {
    /// One row per change of the congestion window of the sender that sends the data over the
    /// radio.
    pub static CWND: "cwnd" of CwndRow {
        /// Number of the user, or of an upload, as in the table `flows`.
        "user" [""] U64 = |row| row.user;
        /// Time of the change.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// Congestion window in full-sized segments.
        "cwnd_packets" ["packets"] F64 = |row| row.window.cwnd;
        /// Slow-start threshold in full-sized segments.
        "ssthresh_packets" ["packets"] F64 = |row| row.window.ssthresh;
    }
}

#[derive(Clone, Copy, Debug)]
pub struct RttRow {
    /// As in [`SegmentRow`].
    pub user: u64,
    pub at: Time,
    pub rtt: Duration,
}

table! {
    /// One row per round-trip time that TCP measured.
    pub static RTT: "rtt" of RttRow {
        /// Number of the user, or of an upload, as in the table `flows`.
        "user" [""] U64 = |row| row.user;
        /// Time at which the measurement ended with the arrival of an ACK.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// Round-trip time that TCP measured, from the sending of a segment to its ACK.
        "rtt_s" ["s"] F64 = |row| row.rtt.as_secs();
    }
}

#[derive(Clone, Copy, Debug)]
pub struct QueueRow {
    pub user: u64,
    pub at: Time,
    pub packets: u64,
    pub bytes: u64,
}

table! {
    /// One row for each packet that a bearer accepts or delivers: the user's backlog after that. The backlog
    /// consists of the packets that wait at the RNC or Node B or are being transmitted from there; on `link` and
    /// `trace` only of those that wait.
    pub static QUEUE: "queue" of QueueRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user;
        /// Time at which the bearer accepted or delivered the packet.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// Number of packets in the backlog.
        "packets" ["packets"] U64 = |row| row.packets;
        /// Number of bytes in the backlog.
        "bytes" ["bytes"] U64 = |row| row.bytes;
    }
}

#[derive(Clone, Copy, Debug)]
pub struct TransferRow {
    /// As in [`SegmentRow`].
    pub user: u64,
    /// The connection was opened for it, the phone requested it, or the sender's application had it ready.
    pub begun: Time,
    /// Last byte at the receiver.
    pub arrived: Time,
    /// Last ACK at the sender.
    pub end: Time,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtiRecord {
    /// Start of the TTI.
    pub at: Time,
    pub user: usize,
    /// Or CQI; 0 at constant rate.
    pub ci: u32,
    /// Octets if blocks are filled with octets.
    pub pdus: u32,
    /// Blocks received in error.
    pub failed: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandwidthRecord {
    pub at: Time,
    pub user: usize,
    /// Since the start of the run, if data had always been waiting.
    pub available_bytes: f64,
    /// Or SNR in dB if the link adaptation uses it; NaN with recorded rates.
    pub cqi: f32,
}

table! {
    /// One row per completed transfer.
    pub static TRANSFERS: "transfers" of TransferRow {
        /// Number of the user, or of an upload, as in the table `flows`.
        "user" [""] U64 = |row| row.user;
        /// Time at which the transfer began. The connection is opened for the first transfer. The phone requests a
        /// later one, or the sender's application has it ready without a request.
        "begin_s" ["s"] F64 = |row| row.begun.as_secs();
        /// Time from the beginning of the transfer until the receiver had the last byte.
        "download_s" ["s"] F64 = |row| row.arrived.since(row.begun).as_secs();
        /// Time from the beginning of the transfer until the sender had received the last ACK.
        "delay_s" ["s"] F64 = |row| row.end.since(row.begun).as_secs();
        /// Size of the transfer, without headers.
        "bytes" ["bytes"] U64 = |row| row.bytes;
    }
}

table! {
    /// One row per TTI and user to whom the bearer transmitted in it.
    pub static SCHEDULER: "scheduler" of TtiRecord {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Start of the TTI.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// C/I value or CQI of the user; 0 at constant rate.
        "ci" [""] U32 = |row| row.ci;
        /// PDUs sent; octets if blocks are filled with octets.
        "pdus" [""] U32 = |row| row.pdus;
        /// Blocks received in error.
        "failed" [""] U32 = |row| row.failed;
    }
}

table! {
    /// One row per user and 20 ms: the bytes that the user could have received since the start of the
    /// run if data had always been waiting.
    pub static BANDWIDTH: "bandwidth" of BandwidthRecord {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Time of the sample.
        "t_s" ["s"] F64 = |row| row.at.as_secs();
        /// Bytes of packets that could have been sent to the user since the start of the run.
        "available_bytes" ["bytes"] F64 = |row| row.available_bytes;
        /// CQI that the Node B uses for the user, or SNR in dB with `shannon`; NaN with recorded rates.
        "cqi" ["1"] F32 = |row| row.cqi;
    }
}

/// Those not recorded stay empty.
#[derive(Clone, Debug, Default)]
pub struct Series {
    pub cwnd: Vec<CwndRow>,
    pub segments: Vec<SegmentRow>,
    pub rtt: Vec<RttRow>,
    /// At the RNC or Node B.
    pub queue: Vec<QueueRow>,
    /// In the order of completion.
    pub transfers: Vec<TransferRow>,
    /// With the users' numbers in the scenario.
    pub scheduler: Vec<TtiRecord>,
    /// With the users' numbers in the scenario.
    pub bandwidth: Vec<BandwidthRecord>,
}

impl Series {
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

/// Without rows.
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
