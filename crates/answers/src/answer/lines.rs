//! What answers say about metrics: a line for each, in the order of the key metrics of a comparison.

use Quantity::{Other, Rate, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Time,
    /// Rate of data to users.
    Rate,
    Other,
}

#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub name: &'static str,
    /// Name in sentences; empty for "the" followed by the label.
    pub noun: &'static str,
    /// Words before the value if it is the main metric of a comparison; empty if it cannot be.
    pub says: &'static str,
    /// Label among the key figures of several users, if it differs from the metric's.
    pub label: &'static str,
    pub quantity: Quantity,
    /// Whether it is a key metric of comparisons.
    pub is_key: bool,
    /// Whether it is a key figure of a single user.
    pub of_one: bool,
    /// Place among the key figures of several users, from 1; 0 for none.
    pub of_many: u8,
    /// Name of the problem that it measures; it is a key figure only if the problem occurs.
    pub trouble: &'static str,
}

const fn plain(name: &'static str) -> Line {
    Line {
        name,
        noun: "",
        says: "",
        label: "",
        quantity: Other,
        is_key: false,
        of_one: false,
        of_many: 0,
        trouble: "",
    }
}

const fn key(name: &'static str) -> Line {
    Line { is_key: true, ..plain(name) }
}

#[rustfmt::skip]
pub const LINES: [Line; 22] = [
    Line { noun: "the download time", says: "the download takes", quantity: Time, ..key("download_s") },
    Line { noun: "the load time", says: "half of the loads take at most", quantity: Time, of_many: 1, ..key("load_median_s") },
    Line { noun: "the transfer time", says: "the transfer takes", quantity: Time, ..plain("transfer_s") },
    Line { noun: "what the cell delivers", says: "the cell delivers", quantity: Rate, ..key("cell_bps") },
    Line {
        noun: "the mean rate of the phones", says: "a phone receives", label: "mean of the phones", quantity: Rate,
        of_one: true, of_many: 3, ..key("received_bps")
    },
    Line {
        noun: "the median rate of the phones", label: "half of the phones get more than", quantity: Rate, of_many: 2,
        ..key("received_bps_p50")
    },
    Line {
        noun: "the rate at the edge of the cell", label: "edge: 95 of 100 get more than", quantity: Rate, of_many: 4,
        ..key("received_bps_p5")
    },
    Line { quantity: Rate, ..plain("application_bps") },
    Line { noun: "the share of transfers acknowledged in full", ..key("complete") },
    Line { noun: "the share of phones that receive something", ..plain("served") },
    Line { of_many: 5, ..plain("download_p50_s") },
    Line { of_many: 6, ..plain("download_p95_s") },
    Line { of_many: 7, ..plain("stalled_users") },
    Line {
        noun: "the round-trip time", label: "round-trip time, TCP's samples", of_one: true, of_many: 8,
        ..key("rtt_mean_s")
    },
    Line { label: "of it queueing", of_one: true, of_many: 9, ..key("queueing_delay_s") },
    Line { of_one: true, ..key("utilization") },
    Line { noun: "fairness", of_many: 10, ..key("jain_index") },
    Line { trouble: "stalls", ..plain("stalls") },
    Line { noun: "the time stalled", ..key("stalled_s") },
    Line { trouble: "loss recovery", ..key("recovery_s") },
    Line { trouble: "timeouts", ..key("timeouts") },
    Line { noun: "the share of block errors", label: "block errors", of_one: true, ..key("block_errors") },
];

/// Returns the line of a metric and its place; a metric without one comes after all others.
pub fn line_of(metric: &str) -> (usize, Line) {
    let place = LINES.iter().position(|line| line.name == metric);
    place.map_or((LINES.len(), plain("")), |place| (place, LINES[place]))
}
