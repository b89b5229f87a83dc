//! Time series, kept in columns.

use crate::transport::Window;
use crate::units::{Duration, Time};

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

/// A transfer that has been completed.
#[derive(Clone, Copy, Debug)]
pub struct TransferRow {
    /// Number of the user.
    pub user: u64,
    /// When it was asked for.
    pub begun: Time,
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
