//! What a run is summed up in: one row per flow and bearer, and time series on demand.

pub mod series;

use crate::context::Counts;
use crate::network::link::LinkCounts;
use crate::proxy::rnf::law::Windows;
use crate::proxy::rnf::meter::MeterCounts;
use crate::proxy::snoop::SnoopCounts;
use crate::radio::{CellRow, ChannelRow, PhoneRow};
use crate::transport::SenderCounts;

/// One connection of one run. Times are NaN for what did not happen.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRow {
    /// Number of the user.
    pub user: u64,
    /// Name of the user's group.
    pub group: String,
    /// When the phone asked, in seconds.
    pub start_s: f64,
    /// Whether the sender has its last ACK.
    pub complete: bool,
    /// From the phone's request until the last byte in order at the phone.
    pub download_s: f64,
    /// From the connection's acceptance at the server until the sender has its last ACK.
    pub transfer_s: f64,
    /// Bytes of all transfers begun; of a download the size of the file.
    pub app_bytes: u64,
    /// The same with TCP/IP headers.
    pub ip_bytes: u64,
    /// Bytes in order at the phone.
    pub delivered_bytes: u64,
    /// Segments sent, SYN and retransmissions included.
    pub packets_sent: u64,
    /// Segments sent again.
    pub packets_retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast retransmissions.
    pub fast_retransmits: u64,
    /// Mean of the round trips that TCP measured on data.
    pub rtt_mean_s: f64,
    /// Number of those.
    pub rtt_samples: u64,
    /// Transfers completed.
    pub transfers: u64,
    /// Mean time from a transfer's beginning until the sender has its last ACK.
    pub transfer_delay_mean_s: f64,
    /// Bytes in order at the phone over the time from the phone's request until the last of them, or until
    /// the end of the run where more was to come.
    pub received_bps: f64,
    /// `wang`, section 9.2, equation 1: application data over time. Where traffic has no end, bytes
    /// over the time that the completed transfers took.
    pub application_bps: f64,
    /// Equation 2: file with headers over time, over 1 - BLER.
    pub retransmit_bps: f64,
    /// Equation 3: retransmit bit rate over channel bit rate.
    pub utilization: f64,
}

/// One bearer of one run.
#[derive(Clone, Debug)]
pub struct BearerRow {
    /// Name of its kind.
    pub kind: &'static str,
    /// Bit rate when every TTI is full.
    pub channel_rate_bps: u64,
    /// Block error rate of first transmissions.
    pub bler: f64,
    /// What it did.
    pub counts: Counts,
    /// Time in which something was sent.
    pub active_s: f64,
}

/// One direction of a link of one run.
#[derive(Clone, Debug)]
pub struct LinkRow {
    /// Name: `wired`, `core` or the link's own with `_down` or `_up`, or `uplink_` and the user's number.
    pub link: String,
    /// What it did.
    pub counts: LinkCounts,
}

/// A connection's proxy in one run. The flow's row is about the connection from there to the phone.
#[derive(Clone, Debug)]
pub struct ProxyRow {
    /// Number of the user.
    pub user: u64,
    /// What the server's sender did.
    pub server: SenderCounts,
    /// The most bytes that the proxy held.
    pub most_held_bytes: u64,
    /// Messages of the RNC; none where there is no radio network feedback.
    pub messages: MeterCounts,
    /// The windows that they have set.
    pub windows: Windows,
}

/// A connection's Snoop agent in one run.
#[derive(Clone, Debug)]
pub struct SnoopRow {
    /// Number of the user.
    pub user: u64,
    /// What it did.
    pub counts: SnoopCounts,
}

/// All tables of one run.
#[derive(Clone, Debug, Default)]
pub struct RunResult {
    /// One row per flow, in order of users.
    pub flows: Vec<FlowRow>,
    /// One row per bearer.
    pub bearers: Vec<BearerRow>,
    /// One row per link and direction.
    pub links: Vec<LinkRow>,
    /// One row per flow, where there is a proxy.
    pub proxies: Vec<ProxyRow>,
    /// One row per flow, where there is Snoop.
    pub snoops: Vec<SnoopRow>,
    /// One row per flow where channels are switched, with the user's number in the scenario.
    pub channels: Vec<ChannelRow>,
    /// One row per flow where users have places in a cell, with the user's number in the scenario.
    pub cell: Vec<CellRow>,
    /// One row per flow on `hsdpa`, with the user's number in the scenario.
    pub phones: Vec<PhoneRow>,
    /// Time series asked for.
    pub series: series::Series,
    /// Events the engine has handled.
    pub events: u64,
    /// Simulated time at the end.
    pub end_s: f64,
}

impl RunResult {
    /// What the link direction of this name did.
    pub fn link(&self, name: &str) -> Option<LinkCounts> {
        self.links.iter().find(|row| row.link == name).map(|row| row.counts)
    }
}
