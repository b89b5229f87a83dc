//! Their number is limited, so they take little memory however long a run is.

use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask, Site};
use nodeb_base::table::{Column, Table, Values};
use nodeb_base::units::{Duration, Time};
use nodeb_radio::Meter;
use nodeb_sim::Scenario;
use nodeb_sim::world::Listener;
use nodeb_tcp::segment::Segment;
use serde::Deserialize;

/// Maximum number of intervals of all users together, unless that leaves fewer than two for each user.
const MAX_INTERVALS: usize = 200_000;

/// Extent of a recording of values over time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Options {
    /// Initial length of the intervals in seconds, from 1e-6 to 1e6.
    pub interval_s: f64,
    /// Maximum number of intervals, by default 1000. Values below 2 count as 2, and there is an upper limit that
    /// depends on the number of users.
    #[serde(default = "thousand")]
    pub most: usize,
    /// Whether to record the bandwidth available to each user and its CQI, which some radios do not measure.
    #[serde(default)]
    pub channel: bool,
}

fn thousand() -> usize {
    1000
}

/// Events of one connection in one interval. The queue and the radio belong to a phone, which may
/// have two connections: their events count only at the connection with the phone's number. A state
/// that did not change in the interval is `None`.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    delivered: u64,
    window: Option<(f64, f64)>,
    /// Sum in seconds, and number, of the round-trip times measured.
    round_trips: (f64, u32),
    /// Largest number of packets, and largest number of bytes, that waited at the bearer after a change.
    most_waiting: (u32, u64),
    waiting: Option<(u32, u64)>,
    units: u64,
    failed: u64,
    available: Option<f64>,
    cqis: (f64, u32),
}

impl Interval {
    fn merge(&mut self, next: &Self) {
        self.delivered += next.delivered;
        self.window = next.window.or(self.window);
        self.round_trips = (self.round_trips.0 + next.round_trips.0, self.round_trips.1 + next.round_trips.1);
        self.most_waiting = larger(self.most_waiting, next.most_waiting);
        self.waiting = next.waiting.or(self.waiting);
        self.units += next.units;
        self.failed += next.failed;
        self.available = next.available.or(self.available);
        self.cqis = (self.cqis.0 + next.cqis.0, self.cqis.1 + next.cqis.1);
    }
}

fn larger(one: (u32, u64), other: (u32, u64)) -> (u32, u64) {
    (one.0.max(other.0), one.1.max(other.1))
}

/// NaN without values.
fn mean((sum, number): (f64, u32)) -> f64 {
    if number == 0 { f64::NAN } else { sum / f64::from(number) }
}

#[derive(Debug)]
pub struct OverTime {
    interval: Duration,
    most: usize,
    is_shared: bool,
    records_channel: bool,
    intervals: Vec<Vec<Interval>>,
}

impl OverTime {
    /// Creates a listener without events.
    ///
    /// # Errors
    ///
    /// Returns a message if the interval is not from 1e-6 to 1e6 s.
    pub fn new(scenario: &Scenario, options: &Options) -> Result<Self, String> {
        let users = scenario.connections().len();
        if !(options.interval_s >= 1e-6 && options.interval_s <= 1e6) {
            return Err(format!(
                "an interval of {} s is not possible; expected 1e-6 to 1e6",
                options.interval_s
            ));
        }
        let parts = scenario.radio.parts();
        Ok(Self {
            interval: Duration((options.interval_s * 1e9).round() as u64),
            most: options.most.clamp(2, (MAX_INTERVALS / users.max(1)).max(2)),
            is_shared: parts.is_shared,
            records_channel: options.channel && parts.meter == Some(Meter::Series),
            intervals: vec![Vec::new(); users],
        })
    }

    fn at(&mut self, user: u32, at: Time) -> &mut Interval {
        while at.0 / self.interval.0 >= self.most as u64 {
            self.double();
        }
        let number = (at.0 / self.interval.0) as usize;
        let intervals = &mut self.intervals[user as usize];
        if number >= intervals.len() {
            intervals.resize(number + 1, Interval::default());
        }
        &mut intervals[number]
    }

    fn double(&mut self) {
        self.interval.0 *= 2;
        for intervals in &mut self.intervals {
            *intervals = intervals
                .chunks(2)
                .map(|pair| {
                    let mut both = pair[0];
                    pair.iter().skip(1).for_each(|next| both.merge(next));
                    both
                })
                .collect();
        }
    }

    pub fn into_table(mut self, end_s: f64) -> (f64, Table) {
        let end = Time(((end_s * 1e9).round() as u64).max(1));
        while end.0.div_ceil(self.interval.0) > self.most as u64 {
            self.double();
        }
        let count = end.0.div_ceil(self.interval.0) as usize;
        let mut columns = Columns::default();
        for (user, intervals) in (0..).zip(&mut self.intervals) {
            intervals.resize(count, Interval::default());
            columns.append(user, intervals, self.interval.as_secs(), end.as_secs(), self.records_channel);
        }
        (self.interval.as_secs(), columns.into_table())
    }
}

impl Listener for OverTime {
    fn mask(&self) -> Mask {
        [Mask::PACKETS, Mask::QUEUE, Mask::TTIS, Mask::WINDOW, Mask::ROUND_TRIPS]
            .into_iter()
            .fold(Mask::BANDWIDTH.when(self.records_channel), Mask::or)
    }

    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        let is_shared = self.is_shared;
        let number = |bearer: u32, user: u32| if is_shared { user } else { bearer };
        let of_bearer = match *event {
            Event::Queue { bearer, user, .. }
            | Event::Tti { bearer, user, .. }
            | Event::Available { bearer, user, .. } => Some(number(bearer, user)),
            _ => None,
        };
        let user = match *event {
            Event::Received { place, .. } if place.site == Site::Phone => Some(place.index),
            Event::Window { flow, .. } | Event::RoundTrip { flow, .. } => Some(flow),
            _ => of_bearer,
        };
        let Some(interval) = user.map(|user| self.at(user, at)) else {
            return ControlFlow::Continue(());
        };
        match *event {
            Event::Received { .. } => {
                interval.delivered += segment.map_or(0, |segment| u64::from(segment.size));
            }
            Event::Window { cwnd, ssthresh, .. } => interval.window = Some((cwnd, ssthresh)),
            Event::RoundTrip { rtt, .. } => {
                interval.round_trips = (interval.round_trips.0 + rtt.as_secs(), interval.round_trips.1 + 1);
            }
            Event::Queue { packets, bytes, .. } => {
                interval.most_waiting = larger(interval.most_waiting, (packets, bytes));
                interval.waiting = Some((packets, bytes));
            }
            Event::Tti { units, failed, .. } => {
                interval.units += u64::from(units);
                interval.failed += u64::from(failed);
            }
            Event::Available { bytes, cqi, .. } => {
                interval.available = Some(bytes);
                interval.cqis = (interval.cqis.0 + f64::from(cqi), interval.cqis.1 + 1);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Columns of the table, by row: sorted by user, then time.
#[derive(Debug, Default)]
struct Columns {
    user: Vec<u32>,
    t_s: Vec<f64>,
    delivered_bps: Vec<f64>,
    cwnd_packets: Vec<f64>,
    ssthresh_packets: Vec<f64>,
    rtt_s: Vec<f64>,
    queue_bytes: Vec<u64>,
    queue_packets: Vec<u32>,
    radio_units: Vec<u64>,
    blocks_failed: Vec<u64>,
    available_bps: Vec<f64>,
    cqi: Vec<f64>,
}

impl Columns {
    fn append(&mut self, user: u32, intervals: &[Interval], length_s: f64, end_s: f64, has_channel: bool) {
        let mut window = (f64::NAN, f64::NAN);
        let (mut waiting, mut available) = ((0, 0), 0.0);
        for (number, one) in intervals.iter().enumerate() {
            let begin_s = number as f64 * length_s;
            let seconds = length_s.min(end_s - begin_s);
            window = one.window.unwrap_or(window);
            let (packets, bytes) = larger(waiting, one.most_waiting);
            waiting = one.waiting.unwrap_or(waiting);
            let total = one.available.unwrap_or(available);
            self.user.push(user);
            self.t_s.push(begin_s);
            self.delivered_bps.push(8.0 * one.delivered as f64 / seconds);
            self.cwnd_packets.push(window.0);
            self.ssthresh_packets.push(window.1);
            self.rtt_s.push(mean(one.round_trips));
            self.queue_bytes.push(bytes);
            self.queue_packets.push(packets);
            self.radio_units.push(one.units);
            self.blocks_failed.push(one.failed);
            self.available_bps.push(if has_channel { 8.0 * (total - available) / seconds } else { f64::NAN });
            self.cqi.push(mean(one.cqis));
            available = total;
        }
    }

    fn into_table(self) -> Table {
        let column = |name, unit, meaning, values| Column { name, unit, meaning, values };
        Table {
            name: "over_time",
            meaning: "One row per user and interval.",
            columns: vec![
                column("user", "", "Number of the user in the scenario, from 0.", Values::U32(self.user)),
                column("t_s", "s", "Start of the interval.", Values::F64(self.t_s)),
                column(
                    "delivered_bps",
                    "bit/s",
                    "Rate of the packets that the phone received.",
                    Values::F64(self.delivered_bps),
                ),
                column(
                    "cwnd_packets",
                    "packets",
                    "Congestion window at the end of the interval.",
                    Values::F64(self.cwnd_packets),
                ),
                column(
                    "ssthresh_packets",
                    "packets",
                    "Slow-start threshold at the end of the interval.",
                    Values::F64(self.ssthresh_packets),
                ),
                column(
                    "rtt_s",
                    "s",
                    "Mean of the round trips measured; NaN if there are none.",
                    Values::F64(self.rtt_s),
                ),
                column(
                    "queue_bytes",
                    "bytes",
                    "Largest backlog of the bearer in bytes.",
                    Values::U64(self.queue_bytes),
                ),
                column(
                    "queue_packets",
                    "packets",
                    "Largest backlog of the bearer in packets.",
                    Values::U32(self.queue_packets),
                ),
                column(
                    "radio_units",
                    "",
                    "PDUs, or octets, sent in TTIs, retransmissions included.",
                    Values::U64(self.radio_units),
                ),
                column("blocks_failed", "", "Blocks received in error.", Values::U64(self.blocks_failed)),
                column(
                    "available_bps",
                    "bit/s",
                    "Rate that the radio offered to the user; NaN if it is not recorded.",
                    Values::F64(self.available_bps),
                ),
                column("cqi", "1", "Mean CQI; NaN if it is not recorded.", Values::F64(self.cqi)),
            ],
        }
    }
}
