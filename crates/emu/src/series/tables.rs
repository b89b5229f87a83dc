use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::Time;

use super::{Interval, Series, Shared};
use crate::lateness::Lateness;
use crate::report::PhoneReport;

struct PhoneRow {
    user: u32,
    way: &'static str,
    span: (f64, f64),
    interval: Interval,
    p50_s: f64,
    p99_s: f64,
}

struct SharedRow {
    span: (f64, f64),
    shared: Shared,
}

struct DelayRow {
    user: u32,
    way: &'static str,
    up_to_s: f64,
    packets: u64,
}

struct LateRow {
    up_to_s: f64,
    deliveries: u64,
}

fn mean(sum: f64, count: u64) -> f64 {
    if count == 0 { f64::NAN } else { sum / count as f64 }
}

impl PhoneRow {
    fn delay_s(&self, nanoseconds: f64) -> f64 {
        if self.interval.arrived.packets == 0 { f64::NAN } else { nanoseconds * 1e-9 }
    }
}

table! {
    /// One row per real phone, direction and time interval: packets sent, arrived, lost and waiting.
    /// A packet counts in the interval in which it is sent, arrives or is lost. Intervals are equally
    /// long, except the last.
    static PHONES: "emulation" of PhoneRow {
        /// Number of the phone's user in the scenario, from 0.
        "user" [""] U64 = |row| u64::from(row.user);
        /// Direction: `down` to the phone, `up` from it.
        "way" [""] Text = |row| row.way.into();
        /// Start of the time interval.
        "begin_s" ["s"] F64 = |row| row.span.0;
        /// End of the time interval; the last interval ends with the emulation.
        "end_s" ["s"] F64 = |row| row.span.1;
        /// Packets that the simulation accepted from the sending host.
        "offered_packets" [""] U64 = |row| row.interval.offered.packets;
        /// Bytes that the simulation accepted from the sending host, IP headers included.
        "offered_bytes" ["bytes"] U64 = |row| row.interval.offered.bytes;
        /// Packets that arrived at the other end.
        "arrived_packets" [""] U64 = |row| row.interval.arrived.packets;
        /// Bytes that arrived at the other end, IP headers included.
        "arrived_bytes" ["bytes"] U64 = |row| row.interval.arrived.bytes;
        /// Packets lost by a link's loss model.
        "lost_link" [""] U64 = |row| row.interval.lost[0];
        /// Packets for which a queue or buffer had no room.
        "lost_overflow" [""] U64 = |row| row.interval.lost[1];
        /// Packets that a queue discipline dropped before the queue was full.
        "lost_early_drop" [""] U64 = |row| row.interval.lost[2];
        /// Packets lost on the radio.
        "lost_radio" [""] U64 = |row| row.interval.lost[3];
        /// Mean one-way delay of the packets that arrived; NaN if no packet arrived.
        "delay_mean_s" ["s"] F64 = |row| mean(row.interval.delays_ns as f64 * 1e-9, row.interval.arrived.packets);
        /// Median one-way delay, to within 1/16; NaN if no packet arrived.
        "delay_p50_s" ["s"] F64 = |row| row.p50_s;
        /// One-way delay that 99 of 100 packets do not exceed, to within 1/16; NaN if no packet arrived.
        "delay_p99_s" ["s"] F64 = |row| row.p99_s;
        /// Longest one-way delay; NaN if no packet arrived.
        "delay_max_s" ["s"] F64 = |row| row.delay_s(row.interval.delay_max_ns as f64);
        /// Waiting packets, averaged over samples every 0.1 s: downwards at the bearer and the RNC, upwards before
        /// the phone's uplink. NaN if the interval has no sample.
        "queue_packets" [""] F64 = |row| mean(row.interval.queue.packets as f64, row.interval.samples);
        /// Bytes of the waiting packets, averaged over the same samples as `queue_packets`.
        "queue_bytes" ["bytes"] F64 = |row| mean(row.interval.queue.bytes as f64, row.interval.samples);
        /// CQI known at the Node B, averaged over the same samples as `queue_packets`; NaN upwards,
        /// and if the radio has no CQI.
        "cqi" ["1"] F64 = |row| mean(row.interval.cqi, row.interval.cqis);
    }
}

table! {
    /// One row per time interval of the table `emulation`: traffic of all simulated users, and lateness
    /// of real packets.
    static SHARED: "emulation_cell" of SharedRow {
        /// Start of the time interval.
        "begin_s" ["s"] F64 = |row| row.span.0;
        /// End of the time interval; the last interval ends with the emulation.
        "end_s" ["s"] F64 = |row| row.span.1;
        /// Bytes that bearers delivered to simulated users, IP headers included.
        "simulated_down_bytes" ["bytes"] U64 = |row| row.shared.simulated.down;
        /// Bytes that simulated users sent on their uplinks, IP headers included.
        "simulated_up_bytes" ["bytes"] U64 = |row| row.shared.simulated.up;
        /// Real packets handed to real hosts, including those that a host's device did not accept.
        "deliveries" [""] U64 = |row| row.shared.deliveries;
        /// Mean lateness of the interval's deliveries of real packets; NaN if there was none.
        "late_mean_s" ["s"] F64 = |row| mean(row.shared.late_ns as f64 * 1e-9, row.shared.deliveries);
        /// Largest lateness of the interval's deliveries of real packets; NaN if there was none.
        "late_max_s" ["s"] F64 = |row| mean(row.shared.late_max_ns as f64 * 1e-9, row.shared.deliveries.min(1));
    }
}

table! {
    /// Histogram of the one-way delays of each real phone's packets in each direction, over the whole emulation:
    /// one row per bucket.
    static DELAYS: "emulation_delays" of DelayRow {
        /// Number of the phone's user in the scenario, from 0.
        "user" [""] U64 = |row| u64::from(row.user);
        /// Direction: `down` to the phone, `up` from it.
        "way" [""] Text = |row| row.way.into();
        /// Upper bound of the bucket of delays, which is at most 1 % or 1 ns wide.
        "up_to_s" ["s"] F64 = |row| row.up_to_s;
        /// Packets with a delay in this bucket.
        "packets" [""] U64 = |row| row.packets;
    }
}

table! {
    /// Histogram of the lateness of real packets over the whole emulation: one row per bucket. Lateness is the time
    /// from a packet's arrival in the simulation to its delivery by the real clock.
    static LATENESS: "emulation_lateness" of LateRow {
        /// Upper bound of the bucket of lateness, which is at most 1 % or 1 ns wide.
        "up_to_s" ["s"] F64 = |row| row.up_to_s;
        /// Deliveries with a lateness in this bucket.
        "deliveries" [""] U64 = |row| row.deliveries;
    }
}

/// Without rows.
pub fn empty() -> Vec<Table> {
    [PHONES.empty(), SHARED.empty(), DELAYS.empty(), LATENESS.empty()].map(|table| table.of_run(0)).into()
}

impl Series {
    /// All their intervals get the same length, except the last one, which ends at `end`.
    pub fn tables(&mut self, end: Time, phones: &[PhoneReport], late: &Lateness) -> Vec<Table> {
        let width = self.align(end);
        let spans = spans(width, end);
        let tables = [
            PHONES.table(&self.phone_rows(&spans)),
            SHARED.table(&self.shared_rows(&spans)),
            DELAYS.table(&delay_rows(phones)),
            LATENESS.table(&late_rows(late)),
        ];
        tables.map(|table| table.of_run(0)).into()
    }

    fn phone_rows(&self, spans: &[(f64, f64)]) -> Vec<PhoneRow> {
        let mut rows = Vec::new();
        for (user, tracks) in self.users.iter().zip(&self.tracks) {
            for (way, track) in ["down", "up"].into_iter().zip(tracks) {
                for (place, span) in spans.iter().enumerate() {
                    let delays = track.delays.get(place);
                    let interval = *track.intervals.get(place);
                    // A quantile is exact only to a bucket, so it may exceed the exact maximum and is then
                    // replaced by the maximum. NaN (no delays) compares as false and is kept.
                    let longest_s = interval.delay_max_ns as f64 * 1e-9;
                    let quantile_s = |share| match delays.quantile_s(share) {
                        beyond if beyond > longest_s => longest_s,
                        within => within,
                    };
                    rows.push(PhoneRow {
                        user: *user,
                        way,
                        span: *span,
                        interval,
                        p50_s: quantile_s(0.5),
                        p99_s: quantile_s(0.99),
                    });
                }
            }
        }
        rows
    }

    fn shared_rows(&self, spans: &[(f64, f64)]) -> Vec<SharedRow> {
        let row =
            |(place, span): (usize, &(f64, f64))| SharedRow { span: *span, shared: *self.shared.get(place) };
        spans.iter().enumerate().map(row).collect()
    }
}

fn delay_rows(phones: &[PhoneReport]) -> Vec<DelayRow> {
    let ways = phones.iter().flat_map(|it| [(it.user, "down", &it.down), (it.user, "up", &it.up)]);
    let rows = ways.flat_map(|(user, way, report)| {
        report.delay.steps().map(move |(up_to_s, packets)| DelayRow { user, way, up_to_s, packets })
    });
    rows.collect()
}

fn late_rows(late: &Lateness) -> Vec<LateRow> {
    late.steps().map(|(up_to_s, deliveries)| LateRow { up_to_s, deliveries }).collect()
}

/// In seconds.
fn spans(width: u64, end: Time) -> Vec<(f64, f64)> {
    let number = end.0.div_ceil(width);
    let span = |place: u64| (Time(place * width).as_secs(), Time(((place + 1) * width).min(end.0)).as_secs());
    (0..number).map(span).collect()
}
