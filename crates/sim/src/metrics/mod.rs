//! What a run is summed up in: one row per flow and bearer, and time series on demand.
//!
//! Each table is declared next to its rows; those that only one kind of bearer has, by that bearer.

pub mod series;

use std::borrow::Borrow;

use nodeb_base::context::Counts;
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_net::LinkCounts;
use nodeb_tcp::SenderCounts;

use crate::proxy::rnf::law::Windows;
use crate::proxy::rnf::meter::MeterCounts;
use crate::proxy::snoop::SnoopCounts;
use crate::scenario::Scenario;

/// One connection of one run. Times are NaN for what did not happen.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the table says what they are")]
pub struct FlowRow {
    pub user: u64,
    pub group: String,
    pub start_s: f64,
    pub endless: bool,
    pub complete: bool,
    pub download_s: f64,
    pub transfer_s: f64,
    pub app_bytes: u64,
    pub ip_bytes: u64,
    pub delivered_bytes: u64,
    /// What the sender did whose segments the phone receives.
    pub sender: SenderCounts,
    pub transfers: u64,
    pub transfer_delay_mean_s: f64,
    pub loads: u64,
    pub load_mean_s: f64,
    pub load_median_s: f64,
    pub load_p95_s: f64,
    pub stalls: u64,
    pub stalled_s: f64,
    pub recovery_s: f64,
    pub received_bps: f64,
    pub application_bps: f64,
    pub retransmit_bps: f64,
    pub utilization: f64,
}

table! {
    /// One row per user: times, bytes, bit rates, and what TCP did. With a proxy they are those of the
    /// connection from there to the phone. Times are NaN for what did not happen.
    pub static FLOWS: "flows" of FlowRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user;
        /// Name of the user's group.
        "group" [""] Text = |row| row.group.as_str().into();
        /// When the phone asked.
        "start_s" ["s"] F64 = |row| row.start_s;
        /// Whether its traffic has no end.
        "endless" ["1"] Bool = |row| row.endless;
        /// Whether the sender has its last ACK; of traffic without an end, never.
        "complete" ["1"] Bool = |row| row.complete;
        /// From the phone's request until the last byte in order at the phone.
        "download_s" ["s"] F64 = |row| row.download_s;
        /// From the connection's acceptance at the server until the sender has its last ACK.
        "transfer_s" ["s"] F64 = |row| row.transfer_s;
        /// Bytes of all transfers begun; of a download the size of the file.
        "app_bytes" ["bytes"] U64 = |row| row.app_bytes;
        /// The same with TCP/IP headers.
        "ip_bytes" ["bytes"] U64 = |row| row.ip_bytes;
        /// Bytes in order at the phone.
        "delivered_bytes" ["bytes"] U64 = |row| row.delivered_bytes;
        /// Segments sent, SYN and retransmissions included.
        "packets_sent" [""] U64 = |row| row.sender.packets;
        /// Segments sent again.
        "packets_retransmitted" [""] U64 = |row| row.sender.retransmissions;
        /// Retransmission timeouts.
        "timeouts" [""] U64 = |row| row.sender.timeouts;
        /// Fast retransmissions.
        "fast_retransmits" [""] U64 = |row| row.sender.fast_retransmits;
        /// Mean of the round trips that TCP measured on data.
        "rtt_mean_s" ["s"] F64 = |row| row.sender.rtt_mean_s();
        /// The shortest of these; NaN without any.
        "rtt_min_s" ["s"] F64 = |row| row.sender.rtt_min_s();
        /// Number of those.
        "rtt_samples" [""] U64 = |row| row.sender.rtt_samples;
        /// Transfers completed.
        "transfers" [""] U64 = |row| row.transfers;
        /// Mean time from a transfer's beginning until the sender has its last ACK.
        "transfer_delay_mean_s" ["s"] F64 = |row| row.transfer_delay_mean_s;
        /// Loads completed at the phone: pages with all their objects, or else transfers.
        "loads" [""] U64 = |row| row.loads;
        /// Mean time from asking for a load until the phone has its last byte.
        "load_mean_s" ["s"] F64 = |row| row.load_mean_s;
        /// Median time from requesting a page or file until its last byte; of more than 2,048 loads, of a random part of
        /// them, drawn evenly over the run.
        "load_median_s" ["s"] F64 = |row| row.load_median_s;
        /// The 95 % quantile of the load times, from the same loads as the median.
        "load_p95_s" ["s"] F64 = |row| row.load_p95_s;
        /// Pauses of 1 s or more in which nothing came in order while more was to come of what the phone had asked
        /// for, after the first byte of it.
        "stalls" [""] U64 = |row| row.stalls;
        /// Time of all these pauses.
        "stalled_s" ["s"] F64 = |row| row.stalled_s;
        /// Time in which the sender repaired losses: fast recovery, or repair after a timeout.
        "recovery_s" ["s"] F64 = |row| row.recovery_s;
        /// Bytes in order at the phone over the time from the phone's request until the last of them, or
        /// until the end of the run where more was to come.
        "received_bps" ["bit/s"] F64 = |row| row.received_bps;
        /// Application data over the transfer time (`wang`, section 9.2, equation 1). Where traffic has no
        /// end, bytes over the time that the completed transfers took.
        "application_bps" ["bit/s"] F64 = |row| row.application_bps;
        /// The file with headers over the transfer time, times the blocks that the bearer has sent for each that
        /// was received: what the radio carried for it, repetitions of blocks included (`wang`, equation 2, which
        /// takes 1 / (1 - BLER) for the latter). Padding and TCP's own retransmissions are not in it; `pdus` of
        /// the bearer has both.
        "retransmit_bps" ["bit/s"] F64 = |row| row.retransmit_bps;
        /// Retransmit bit rate over channel bit rate (`wang`, equation 3).
        "utilization" ["1"] F64 = |row| row.utilization;
    }
}

/// One bearer of one run.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the table says what they are")]
pub struct BearerRow {
    pub bearer: u64,
    pub kind: &'static str,
    pub channel_rate_bps: u64,
    pub bler: f64,
    /// What it did.
    pub counts: Counts,
    pub active_s: f64,
    pub end_s: f64,
}

table! {
    /// One row per radio bearer: blocks, block errors, packets, active time.
    pub static BEARERS: "bearers" of BearerRow {
        /// Number of the bearer; a dedicated channel has its user's.
        "bearer" [""] U64 = |row| row.bearer;
        /// Its kind, as the scenario's `radio` names it.
        "kind" [""] Text = |row| row.kind.into();
        /// Bit rate when every TTI is full.
        "channel_rate_bps" ["bit/s"] U64 = |row| row.channel_rate_bps;
        /// Block error rate of first transmissions that the scenario asks for; 0 where it asks for none.
        "bler" ["1"] F64 = |row| row.bler;
        /// TTIs in which something was sent.
        "ttis" [""] U64 = |row| row.counts.ttis;
        /// Blocks sent, retransmissions included.
        "blocks" [""] U64 = |row| row.counts.blocks;
        /// Blocks received in error.
        "blocks_failed" [""] U64 = |row| row.counts.blocks_failed;
        /// PDUs sent, retransmissions included; octets where blocks are filled with octets.
        "pdus" [""] U64 = |row| row.counts.pdus;
        /// Packets accepted.
        "packets_in" [""] U64 = |row| row.counts.packets_in;
        /// Packets delivered.
        "packets_delivered" [""] U64 = |row| row.counts.packets_delivered;
        /// Packets dropped: buffer full, or given up after the last transmission allowed.
        "packets_dropped" [""] U64 = |row| row.counts.packets_dropped;
        /// Bytes of the packets delivered.
        "bytes_delivered" ["bytes"] U64 = |row| row.counts.bytes_delivered;
        /// Time in which something was sent: TTIs times their length.
        "active_s" ["s"] F64 = |row| row.active_s;
        /// Simulated time at the end of the run.
        "end_s" ["s"] F64 = |row| row.end_s;
    }
}

/// One direction of a link of one run.
#[derive(Clone, Debug)]
pub struct LinkRow {
    /// Name: `wired`, `core` or the link's own with `_down` or `_up`, or `uplink_` and the user's number.
    pub link: String,
    /// What it did.
    pub counts: LinkCounts,
}

table! {
    /// One row per direction of a link: packets, and what became of them.
    pub static LINKS: "links" of LinkRow {
        /// `wired`, `core` or the link's own name with `_down` or `_up`, or `uplink_` and the user's number.
        "link" [""] Text = |row| row.link.as_str().into();
        /// Packets handed to the link.
        "packets" [""] U64 = |row| row.counts.packets;
        /// Packets lost before the queue, by the link's loss.
        "lost" [""] U64 = |row| row.counts.lost;
        /// Packets dropped because the queue was full.
        "overflowed" [""] U64 = |row| row.counts.overflowed;
        /// Packets that the queue discipline dropped before the queue was full.
        "dropped_early" [""] U64 = |row| row.counts.dropped_early;
        /// Packets that the queue discipline marked (RFC 3168, CE).
        "marked" [""] U64 = |row| row.counts.marked;
        /// Bytes sent.
        "bytes" ["bytes"] U64 = |row| row.counts.bytes;
    }
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

table! {
    /// One row per user where there is a proxy: the connection from the server to it, what it held, and
    /// what it was told.
    pub static PROXIES: "proxies" of ProxyRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user;
        /// Segments that the server sent, SYN and retransmissions included.
        "server_packets_sent" [""] U64 = |row| row.server.packets;
        /// Segments that it sent again.
        "server_packets_retransmitted" [""] U64 = |row| row.server.retransmissions;
        /// Its retransmission timeouts.
        "server_timeouts" [""] U64 = |row| row.server.timeouts;
        /// Its fast retransmissions.
        "server_fast_retransmits" [""] U64 = |row| row.server.fast_retransmits;
        /// The most bytes that the proxy held.
        "most_held_bytes" ["bytes"] U64 = |row| row.most_held_bytes;
        /// Messages that the RNC sent; 0 without radio network feedback.
        "messages" [""] U64 = |row| row.messages.sent;
        /// Those that were lost.
        "messages_lost" [""] U64 = |row| row.messages.lost;
        /// Windows that messages have set.
        "windows_set" [""] U64 = |row| row.windows.count;
        /// The last of them; NaN without one.
        "window_last_packets" ["packets"] F64 = |row| if row.windows.count > 0 { row.windows.last } else { f64::NAN };
        /// Their mean; NaN without one.
        "window_mean_packets" ["packets"] F64 = |row| row.windows.sum / row.windows.count as f64;
    }
}

/// A connection's Snoop agent in one run.
#[derive(Clone, Debug)]
pub struct SnoopRow {
    /// Number of the user.
    pub user: u64,
    /// What it did.
    pub counts: SnoopCounts,
}

table! {
    /// One row per user where there is Snoop: what the agent did.
    pub static SNOOP: "snoop" of SnoopRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user;
        /// Segments sent again because duplicate ACKs asked for them.
        "retransmissions" [""] U64 = |row| row.counts.retransmissions;
        /// Segments sent again because no ACK came in time.
        "timeouts" [""] U64 = |row| row.counts.timeouts;
        /// ACKs that were kept from the sender.
        "acks_suppressed" [""] U64 = |row| row.counts.suppressed;
        /// Segments that found the cache full.
        "uncached" [""] U64 = |row| row.counts.uncached;
        /// Segments sent again of which Eifel found that they had arrived before.
        "spurious" [""] U64 = |row| row.counts.spurious;
    }
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
    /// What only the scenario's kind of bearer tells, with the users' numbers in the scenario.
    pub of_radio: Vec<Table>,
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

    /// The tables of replication `run` of a scenario. A series that was not asked for is left out, and so is
    /// what the scenario does not have.
    pub fn tables(&self, run: u64, scenario: &Scenario) -> Vec<Table> {
        Self::tables_of(&[(run, self)], scenario)
    }

    /// The tables of several replications of a scenario, each given with its number: every table has the rows of
    /// all, in this order.
    pub fn tables_of(runs: &[(u64, impl Borrow<Self>)], scenario: &Scenario) -> Vec<Table> {
        let runs: Vec<(u64, &Self)> = runs.iter().map(|(run, result)| (*run, result.borrow())).collect();
        let runs = &runs[..];
        let mut tables = vec![
            joined(runs, &FLOWS, |run| &run.flows),
            joined(runs, &BEARERS, |run| &run.bearers),
            joined(runs, &LINKS, |run| &run.links),
        ];
        tables.extend(scenario.proxy.is_some().then(|| joined(runs, &PROXIES, |run| &run.proxies)));
        tables.extend(scenario.snoop.is_some().then(|| joined(runs, &SNOOP, |run| &run.snoops)));
        for (run, result) in runs {
            table::join(&mut tables, result.of_radio.iter().map(|table| table.clone().of_run(*run)));
        }
        tables.extend(series::Series::tables(runs, scenario.record));
        tables
    }
}

/// The table of the rows that replications have, each given with its number.
fn joined<R>(
    runs: &[(u64, &RunResult)],
    layout: &table::Layout<R>,
    rows: impl Fn(&RunResult) -> &Vec<R>,
) -> Table {
    let rows: Vec<_> = runs.iter().map(|(number, run)| (*number, &rows(run)[..])).collect();
    layout.of_runs(&rows)
}

/// Every table that a run can have, without a row: the names, units and meanings of all results.
pub fn tables() -> Vec<Table> {
    let mut tables = vec![FLOWS.empty(), BEARERS.empty(), LINKS.empty(), PROXIES.empty(), SNOOP.empty()];
    tables.extend(nodeb_radio::tables());
    tables.extend(series::tables());
    tables.into_iter().map(|table| table.of_run(0)).collect()
}
