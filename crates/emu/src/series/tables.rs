//! Tables of the time series of an emulation.

use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::Time;

use super::{Interval, Series, Shared};
use crate::lateness::Lateness;
use crate::report::PhoneReport;

/// Row of the table `emulation`: a phone's packets in one direction and time interval.
struct PhoneRow {
    user: u32,
    way: &'static str,
    span: (f64, f64),
    interval: Interval,
    p50_s: f64,
    p99_s: f64,
}

/// Row of the table `emulation_cell`: all users together in a time interval.
struct SharedRow {
    span: (f64, f64),
    shared: Shared,
}

/// Row of the table `emulation_delays`: one histogram bucket of the delays of a phone's packets in one
/// direction.
struct DelayRow {
    user: u32,
    way: &'static str,
    up_to_s: f64,
    packets: u64,
}

/// Row of the table `emulation_lateness`: one histogram bucket of the lateness of deliveries.
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
    /// One row per interval of time, real phone and way: what became of its packets, and what waited. Intervals are
    /// equally long; packets count in the interval in which it happens to them.
    static PHONES: "emulation" of PhoneRow {
        /// Number of the phone's user.
        "user" [""] U64 = |row| u64::from(row.user);
        /// `down` to the phone, `up` from it.
        "way" [""] Text = |row| row.way.into();
        /// Beginning of the interval.
        "begin_s" ["s"] F64 = |row| row.span.0;
        /// Its end; the last one ends with the emulation.
        "end_s" ["s"] F64 = |row| row.span.1;
        /// Packets accepted from the sending host.
        "offered_packets" [""] U64 = |row| row.interval.offered.packets;
        /// Their bytes, IP headers included.
        "offered_bytes" ["bytes"] U64 = |row| row.interval.offered.bytes;
        /// Packets that arrived at the other end.
        "arrived_packets" [""] U64 = |row| row.interval.arrived.packets;
        /// Their bytes, IP headers included.
        "arrived_bytes" ["bytes"] U64 = |row| row.interval.arrived.bytes;
        /// Packets lost by a link's loss.
        "lost_link" [""] U64 = |row| row.interval.lost[0];
        /// Packets for which a queue or buffer had no room.
        "lost_overflow" [""] U64 = |row| row.interval.lost[1];
        /// Packets dropped early by a queue.
        "lost_early_drop" [""] U64 = |row| row.interval.lost[2];
        /// Packets given up by the radio.
        "lost_radio" [""] U64 = |row| row.interval.lost[3];
        /// Mean time on the way of those that arrived; NaN where none did.
        "delay_mean_s" ["s"] F64 = |row| mean(row.interval.delays_ns as f64 * 1e-9, row.interval.arrived.packets);
        /// The median of these times, to within 1/16.
        "delay_p50_s" ["s"] F64 = |row| row.p50_s;
        /// What 99 of 100 of them do not exceed, to within 1/16.
        "delay_p99_s" ["s"] F64 = |row| row.p99_s;
        /// The longest of them.
        "delay_max_s" ["s"] F64 = |row| row.delay_s(row.interval.delay_max_ns as f64);
        /// Packets that waited: down at the bearer, RNC included, up for the phone's uplink. The mean of looks every
        /// 0.1 s; NaN where there was none.
        "queue_packets" [""] F64 = |row| mean(row.interval.queue.packets as f64, row.interval.samples);
        /// Their bytes, likewise.
        "queue_bytes" ["bytes"] F64 = |row| mean(row.interval.queue.bytes as f64, row.interval.samples);
        /// The CQI that the Node B had, likewise; NaN upwards and where the radio has none.
        "cqi" ["1"] F64 = |row| mean(row.interval.cqi, row.interval.cqis);
    }
}

table! {
    /// One row per interval of time, the same as of `emulation`: what simulated users got, and how late real packets
    /// were delivered.
    static SHARED: "emulation_cell" of SharedRow {
        /// Beginning of the interval.
        "begin_s" ["s"] F64 = |row| row.span.0;
        /// Its end; the last one ends with the emulation.
        "end_s" ["s"] F64 = |row| row.span.1;
        /// Bytes that bearers delivered to simulated users, IP headers included.
        "simulated_down_bytes" ["bytes"] U64 = |row| row.shared.simulated.down;
        /// Bytes that simulated users sent on their uplinks, IP headers included.
        "simulated_up_bytes" ["bytes"] U64 = |row| row.shared.simulated.up;
        /// Real packets that were delivered.
        "deliveries" [""] U64 = |row| row.shared.deliveries;
        /// How late they were on average; NaN where there was none.
        "late_mean_s" ["s"] F64 = |row| mean(row.shared.late_ns as f64 * 1e-9, row.shared.deliveries);
        /// How late at most.
        "late_max_s" ["s"] F64 = |row| mean(row.shared.late_max_ns as f64 * 1e-9, row.shared.deliveries.min(1));
    }
}

table! {
    /// One row per bucket of delays, real phone and way, of the whole emulation: the distribution of the times that
    /// packets were on their way.
    static DELAYS: "emulation_delays" of DelayRow {
        /// Number of the phone's user.
        "user" [""] U64 = |row| u64::from(row.user);
        /// `down` to the phone, `up` from it.
        "way" [""] Text = |row| row.way.into();
        /// The longest delay of the bucket, which is at most 1 % wide.
        "up_to_s" ["s"] F64 = |row| row.up_to_s;
        /// Packets in it.
        "packets" [""] U64 = |row| row.packets;
    }
}

table! {
    /// One row per bucket of lateness, of the whole emulation: by how much real packets were delivered after the time
    /// at which they arrived in the simulated world.
    static LATENESS: "emulation_lateness" of LateRow {
        /// The longest lateness of the bucket, which is at most 1 % wide.
        "up_to_s" ["s"] F64 = |row| row.up_to_s;
        /// Deliveries in it.
        "deliveries" [""] U64 = |row| row.deliveries;
    }
}

/// Returns the tables of an emulation's time series without rows, to describe their columns.
pub fn empty() -> Vec<Table> {
    [PHONES.empty(), SHARED.empty(), DELAYS.empty(), LATENESS.empty()].map(|table| table.of_run(0)).into()
}

impl Series {
    /// Returns the tables of an emulation that ended at `end`. All their intervals get the same length, except the
    /// last one, which ends at `end`.
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
                    // A quantile is exact only to a bucket, so it may exceed the exact maximum, which replaces it
                    // then. NaN (no delays) compares as false and is kept.
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

/// Returns start and end in seconds of each interval of `width` ns up to `end`.
fn spans(width: u64, end: Time) -> Vec<(f64, f64)> {
    let number = end.0.div_ceil(width);
    let span = |place: u64| (Time(place * width).as_secs(), Time(((place + 1) * width).min(end.0)).as_secs());
    (0..number).map(span).collect()
}
