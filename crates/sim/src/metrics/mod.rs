//! Each table is declared next to the type of its rows, or by the bearer that alone has it, in `nodeb_radio`.

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
use crate::scenario::{Direction, Scenario};

#[derive(Clone, Debug, PartialEq)]
pub struct FlowRow {
    pub user: u64,
    pub direction: Direction,
    pub phone: u64,
    pub group: String,
    pub start_s: f64,
    pub endless: bool,
    pub complete: bool,
    pub download_s: f64,
    pub transfer_s: f64,
    pub app_bytes: u64,
    pub ip_bytes: u64,
    pub delivered_bytes: u64,
    /// Of the sender over the radio: the proxy's if there is one, the phone's in an upload, or else the
    /// server's.
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
    /// One row per user: times, bytes, bit rates and TCP counts of its connection. With a proxy, this is
    /// the connection between proxy and phone. The time of an event that did not happen is NaN. Uploads
    /// of phones that also download have rows of their own after all users. In an upload, the server
    /// takes the part of the phone, and the phone that of the server.
    pub static FLOWS: "flows" of FlowRow {
        /// Number of the user in the scenario, from 0. Uploads of phones that also download have numbers after those of
        /// all users.
        "user" [""] U64 = |row| row.user;
        /// Name of the user's group, followed by ` up` for the upload of a phone that also downloads.
        "group" [""] Text = |row| row.group.as_str().into();
        /// Start of the user: the group's `start`, plus `stagger` for each earlier user of the group.
        "start_s" ["s"] F64 = |row| row.start_s;
        /// Whether the user's traffic has no end.
        "endless" ["1"] Bool = |row| row.endless;
        /// Whether the sender has received its last ACK; always false if traffic has no end.
        "complete" ["1"] Bool = |row| row.complete;
        /// Time from `start_s` until the phone has received the last byte in order; NaN if it has not, or if traffic
        /// has no end.
        "download_s" ["s"] F64 = |row| row.download_s;
        /// Time from the opening or acceptance of the connection by its sender until the sender has received its last
        /// ACK. With a proxy, the sender is the proxy. NaN if the sender has not received the last ACK.
        "transfer_s" ["s"] F64 = |row| row.transfer_s;
        /// Application bytes of all transfers that have begun; with `ftp` traffic the size of the file.
        "app_bytes" ["bytes"] U64 = |row| row.app_bytes;
        /// Bytes of the data written to TCP, with the TCP/IP headers of one transmission of each segment.
        "ip_bytes" ["bytes"] U64 = |row| row.ip_bytes;
        /// Application bytes received in order by the phone.
        "delivered_bytes" ["bytes"] U64 = |row| row.delivered_bytes;
        /// Segments sent, including the SYN and retransmissions.
        "packets_sent" [""] U64 = |row| row.sender.packets;
        /// Segments retransmitted.
        "packets_retransmitted" [""] U64 = |row| row.sender.retransmissions;
        /// Number of retransmission timeouts of the sender.
        "timeouts" [""] U64 = |row| row.sender.timeouts;
        /// Number of times that the sender entered fast recovery (with Tahoe: slow start after duplicate ACKs).
        "fast_retransmits" [""] U64 = |row| row.sender.fast_retransmits;
        /// Mean of the round-trip times that TCP measured on data; NaN without a sample.
        "rtt_mean_s" ["s"] F64 = |row| row.sender.rtt_mean_s();
        /// Minimum of the round-trip times that TCP measured on data; NaN without a sample.
        "rtt_min_s" ["s"] F64 = |row| row.sender.rtt_min_s();
        /// Number of round-trip times that TCP measured on data.
        "rtt_samples" [""] U64 = |row| row.sender.rtt_samples;
        /// Number of completed transfers: those whose last byte is acknowledged.
        "transfers" [""] U64 = |row| row.transfers;
        /// Mean time from the beginning of a transfer until the sender has received its last ACK.
        "transfer_delay_mean_s" ["s"] F64 = |row| row.transfer_delay_mean_s;
        /// Number of loads completed at the phone: pages with all their objects, or else transfers.
        "loads" [""] U64 = |row| row.loads;
        /// Mean time from the beginning of a load until the phone has received its last byte.
        "load_mean_s" ["s"] F64 = |row| row.load_mean_s;
        /// Median time from the beginning of a load until the phone has received its last byte. Of more than 2,048
        /// loads, a random sample spread evenly over the run is used.
        "load_median_s" ["s"] F64 = |row| row.load_median_s;
        /// 95 % quantile of the load times, computed from the same loads as the median.
        "load_p95_s" ["s"] F64 = |row| row.load_p95_s;
        /// Number of pauses of at least 1 s during which no data arrived in order although a transfer was outstanding.
        /// Waiting for the first byte does not count.
        "stalls" [""] U64 = |row| row.stalls;
        /// Total duration of the pauses counted in `stalls`.
        "stalled_s" ["s"] F64 = |row| row.stalled_s;
        /// Time that the sender spent in loss recovery: fast recovery, or recovery after a timeout.
        "recovery_s" ["s"] F64 = |row| row.recovery_s;
        /// Bytes received in order by the phone, over the time from `start_s` until it had received all bytes. If it
        /// has not, or traffic has no end, the time until the end of the run is used.
        "received_bps" ["bit/s"] F64 = |row| row.received_bps;
        /// Application data over the transfer time (`wang`, section 9.2, equation 1). If traffic has no end, bytes of
        /// completed transfers over the sum of the transfers' durations.
        "application_bps" ["bit/s"] F64 = |row| row.application_bps;
        /// Bit rate that the radio carried for the file, including retransmitted blocks (`wang`,
        /// equation 2): the file with headers over the transfer time, times the blocks sent per
        /// block received, for which `wang` uses 1 / (1 - BLER). Excludes padding and TCP's own
        /// retransmissions; the bearer's `pdus` includes both.
        "retransmit_bps" ["bit/s"] F64 = |row| row.retransmit_bps;
        /// Retransmit bit rate divided by the channel bit rate (`wang`, equation 3); NaN for an upload.
        "utilization" ["1"] F64 = |row| row.utilization;
    }
}

table! {
    /// Further columns of [`FLOWS`] if a scenario has uploads.
    pub static DIRECTIONS: "flows" of FlowRow {
        /// Direction of the connection's data: `down` to the phone, or `up`. Only if the scenario has uploads.
        "direction" [""] Text = |row| row.direction.name().into();
        /// Number of the user whose phone is an end of the connection, from 0. Only if the scenario has uploads.
        "phone" [""] U64 = |row| row.phone;
    }
}

#[derive(Clone, Debug)]
pub struct BearerRow {
    pub bearer: u64,
    pub kind: &'static str,
    pub channel_rate_bps: u64,
    pub bler: f64,
    pub counts: Counts,
    pub active_s: f64,
    pub end_s: f64,
}

table! {
    /// One row per radio bearer: blocks, block errors, packets, active time.
    pub static BEARERS: "bearers" of BearerRow {
        /// Number of the bearer, from 0; a dedicated channel has the number of its user.
        "bearer" [""] U64 = |row| row.bearer;
        /// Kind of the bearer, as the scenario's `radio` names it.
        "kind" [""] Text = |row| row.kind.into();
        /// Bit rate that counts as full use of the bearer: that of full TTIs, at the highest C/I value of any user, or
        /// the (mean) rate of a link.
        "channel_rate_bps" ["bit/s"] U64 = |row| row.channel_rate_bps;
        /// Block error rate of first transmissions, as set in the scenario; 0 if the radio has no such parameter.
        "bler" ["1"] F64 = |row| row.bler;
        /// Number of TTIs in which the bearer transmitted.
        "ttis" [""] U64 = |row| row.counts.ttis;
        /// Blocks sent, including retransmissions.
        "blocks" [""] U64 = |row| row.counts.blocks;
        /// Transmissions of blocks that were received in error.
        "blocks_failed" [""] U64 = |row| row.counts.blocks_failed;
        /// PDUs sent, including retransmissions; octets if blocks are filled with octets.
        "pdus" [""] U64 = |row| row.counts.pdus;
        /// Packets accepted by the bearer.
        "packets_in" [""] U64 = |row| row.counts.packets_in;
        /// Packets delivered to phones.
        "packets_delivered" [""] U64 = |row| row.counts.packets_delivered;
        /// Packets dropped by a full buffer, a queue discipline or a loss model, or lost on the radio.
        "packets_dropped" [""] U64 = |row| row.counts.packets_dropped;
        /// Bytes of the packets delivered.
        "bytes_delivered" ["bytes"] U64 = |row| row.counts.bytes_delivered;
        /// Time during which the bearer transmitted: `ttis` times the length of a TTI; 0 for a radio without TTIs.
        "active_s" ["s"] F64 = |row| row.active_s;
        /// Simulated time at the end of the run.
        "end_s" ["s"] F64 = |row| row.end_s;
    }
}

#[derive(Clone, Debug)]
pub struct LinkRow {
    /// `wired`, `core` or the link's own name with `_down` or `_up`, or `uplink_` and the user's number.
    pub link: String,
    pub counts: LinkCounts,
}

table! {
    /// One row per direction of a link: packets handed over, lost, dropped and marked, and bytes sent. A scheduled
    /// uplink has no row.
    pub static LINKS: "links" of LinkRow {
        /// Name of the link direction: `wired`, `core` or the link's own name with `_down` or `_up`, or `uplink_` and
        /// the user's number.
        "link" [""] Text = |row| row.link.as_str().into();
        /// Packets handed to the link.
        "packets" [""] U64 = |row| row.counts.packets;
        /// Packets lost before the queue by the link's loss model.
        "lost" [""] U64 = |row| row.counts.lost;
        /// Packets dropped because the queue was full.
        "overflowed" [""] U64 = |row| row.counts.overflowed;
        /// Packets that the queue discipline dropped before the queue was full.
        "dropped_early" [""] U64 = |row| row.counts.dropped_early;
        /// Packets that the queue discipline marked with Congestion Experienced (CE, RFC 3168).
        "marked" [""] U64 = |row| row.counts.marked;
        /// Bytes sent by the link.
        "bytes" ["bytes"] U64 = |row| row.counts.bytes;
    }
}

/// The user's row of [`FLOWS`] describes the connection from the proxy to the phone.
#[derive(Clone, Debug)]
pub struct ProxyRow {
    pub user: u64,
    pub server: SenderCounts,
    /// Received in order from the server and not acknowledged by the phone.
    pub most_held_bytes: u64,
    /// 0 without radio network feedback.
    pub messages: MeterCounts,
    /// Set because of messages of the RNC.
    pub windows: Windows,
}

table! {
    /// One row per user if there is a proxy: the connection from the server to the proxy, the proxy's buffer, and the
    /// messages that it received.
    pub static PROXIES: "proxies" of ProxyRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user;
        /// Segments that the server sent, including the SYN and retransmissions.
        "server_packets_sent" [""] U64 = |row| row.server.packets;
        /// Segments that the server retransmitted.
        "server_packets_retransmitted" [""] U64 = |row| row.server.retransmissions;
        /// Retransmission timeouts of the server.
        "server_timeouts" [""] U64 = |row| row.server.timeouts;
        /// Number of times that the server entered fast recovery (with Tahoe: slow start after duplicate ACKs).
        "server_fast_retransmits" [""] U64 = |row| row.server.fast_retransmits;
        /// Maximum number of bytes that the proxy held at one time: received in order from the server, and not yet
        /// acknowledged by the phone.
        "most_held_bytes" ["bytes"] U64 = |row| row.most_held_bytes;
        /// Messages that the RNC sent; 0 without radio network feedback.
        "messages" [""] U64 = |row| row.messages.sent;
        /// Messages of the RNC that were lost on the way to the proxy.
        "messages_lost" [""] U64 = |row| row.messages.lost;
        /// Number of windows that messages of the RNC set.
        "windows_set" [""] U64 = |row| row.windows.count;
        /// Last window that a message of the RNC set; NaN if no message set one.
        "window_last_packets" ["packets"] F64 = |row| if row.windows.count > 0 { row.windows.last } else { f64::NAN };
        /// Mean of the windows that messages of the RNC set; NaN if no message set one.
        "window_mean_packets" ["packets"] F64 = |row| row.windows.sum / row.windows.count as f64;
    }
}

#[derive(Clone, Debug)]
pub struct SnoopRow {
    pub user: u64,
    pub counts: SnoopCounts,
}

table! {
    /// One row per user if there is a Snoop agent: retransmissions of the agent, and ACKs that it suppressed.
    pub static SNOOP: "snoop" of SnoopRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user;
        /// Retransmissions by the agent after duplicate ACKs.
        "retransmissions" [""] U64 = |row| row.counts.retransmissions;
        /// Retransmissions by the agent after a timeout.
        "timeouts" [""] U64 = |row| row.counts.timeouts;
        /// ACKs that the agent did not forward to the sender.
        "acks_suppressed" [""] U64 = |row| row.counts.suppressed;
        /// Segments that were not cached because the cache was full.
        "uncached" [""] U64 = |row| row.counts.uncached;
        /// Retransmissions by the agent of segments whose original reached the phone, as detected by Eifel; 0 without
        /// Eifel.
        "spurious" [""] U64 = |row| row.counts.spurious;
    }
}

#[derive(Clone, Debug, Default)]
pub struct RunResult {
    /// In the order of [`Scenario::connections`]. A user with real packets has counts of 0, no stalls or loss
    /// recovery, a `received_bps` of 0, and NaN for other times and rates of transfers.
    pub flows: Vec<FlowRow>,
    /// In the order of the bearers' numbers.
    pub bearers: Vec<BearerRow>,
    /// An uplink that the base station schedules has none.
    pub links: Vec<LinkRow>,
    pub proxies: Vec<ProxyRow>,
    pub snoops: Vec<SnoopRow>,
    /// Tables that only the scenario's kind of radio has, with the users' numbers in the scenario.
    pub of_radio: Vec<Table>,
    pub series: series::Series,
    pub events: u64,
    pub end_s: f64,
}

impl RunResult {
    pub fn link(&self, name: &str) -> Option<LinkCounts> {
        self.links.iter().find(|row| row.link == name).map(|row| row.counts)
    }

    /// Without tables of components that the scenario lacks, and of time series that it does not record.
    pub fn tables(&self, run: u64, scenario: &Scenario) -> Vec<Table> {
        Self::tables_of(&[(run, self)], scenario)
    }

    /// With the rows of all replications, in the order given.
    pub fn tables_of(runs: &[(u64, impl Borrow<Self>)], scenario: &Scenario) -> Vec<Table> {
        let runs: Vec<(u64, &Self)> = runs.iter().map(|(run, result)| (*run, result.borrow())).collect();
        let runs = &runs[..];
        let mut flows = joined(runs, &FLOWS, |run| &run.flows);
        if scenario.has_uploads() {
            flows.add_columns(joined(runs, &DIRECTIONS, |run| &run.flows));
        }
        let mut tables =
            vec![flows, joined(runs, &BEARERS, |run| &run.bearers), joined(runs, &LINKS, |run| &run.links)];
        tables.extend(scenario.proxy.is_some().then(|| joined(runs, &PROXIES, |run| &run.proxies)));
        tables.extend(scenario.snoop.is_some().then(|| joined(runs, &SNOOP, |run| &run.snoops)));
        for (run, result) in runs {
            table::join(&mut tables, result.of_radio.iter().map(|table| table.clone().of_run(*run)));
        }
        tables.extend(series::Series::tables(runs, scenario.record));
        tables
    }
}

fn joined<R>(
    runs: &[(u64, &RunResult)],
    layout: &table::Layout<R>,
    rows: impl Fn(&RunResult) -> &Vec<R>,
) -> Table {
    let rows: Vec<_> = runs.iter().map(|(number, run)| (*number, &rows(run)[..])).collect();
    layout.of_runs(&rows)
}

/// Without rows.
pub fn tables() -> Vec<Table> {
    let mut flows = FLOWS.empty();
    flows.add_columns(DIRECTIONS.empty());
    let mut tables = vec![flows, BEARERS.empty(), LINKS.empty(), PROXIES.empty(), SNOOP.empty()];
    tables.extend(nodeb_radio::tables());
    tables.extend(series::tables());
    tables.into_iter().map(|table| table.of_run(0)).collect()
}
