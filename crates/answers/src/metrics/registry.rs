use nodeb_base::table::Table;

use super::compute::{
    EDGE_USERS, HELD, Per, SWITCHES, block_errors, cell_busy, cell_rate, complete, downloads, edge, fairness,
    loads, of_users, positive, queueing, switching, utilization,
};
use super::{Better, Formula, Group, Metric};
use crate::stats::median;

/// All built-in metrics, in the order of summaries; descriptions of columns come from these tables.
///
/// # Panics
/// Panics without a column that a metric is the mean of.
pub fn metrics(tables: &[Table]) -> Vec<Metric> {
    let mut metrics = lines();
    for metric in &mut metrics {
        let described = matches!(&metric.column, Some((_, column)) if *column == metric.name);
        if let Some((table, column)) = metric.column.as_ref().filter(|_| described) {
            let columns = tables.iter().filter(|one| one.name == table).flat_map(|one| &one.columns);
            let found = columns.into_iter().find(|one| one.name == column);
            let found = found.unwrap_or_else(|| panic!("there is no column {column} of {table}"));
            (metric.unit, metric.meaning) = (found.unit.into(), found.meaning.into());
        }
    }
    metrics
}

#[rustfmt::skip] // a line, or two, for each metric
pub(super) fn lines() -> Vec<Metric> {
    use Better::{Less, More, Neither};
    let flows = |name, label, better| mean("flows", name, label, better);
    vec![
        flows("received_bps", "received by the phone", More),
        metric("received_bps_p5", "bit/s", "received at the cell's edge (5 %)", More,
            |group| of_users(group, "received_bps", EDGE_USERS, edge),
            "Rate that 95 of 100 users of a replication exceed (`received_bps`); from 20 users on."),
        metric("received_bps_p50", "bit/s", "received, median of the phones", More,
            |group| of_users(group, "received_bps", 2, median),
            "Rate that half of the users of a replication exceed (`received_bps`)."),
        metric("cell_bps", "bit/s", "delivered by the cell", More, cell_rate,
            "Rate at which a shared channel delivers data to all its users together."),
        metric("cell_busy", "1", "time the cell is busy", Neither, cell_busy,
            "Share of time for which a shared channel transmits.").share(),
        metric("served", "1", "phones that received something", More,
            |group| of_users(group, "delivered_bytes", 2, positive),
            "Share of the users who received any data.").share(),
        flows("application_bps", "application bit rate", More).can_fail().completed(),
        flows("retransmit_bps", "radio bit rate, retransmissions too", Neither).completed(),
        flows("utilization", "channel utilization", Neither).of(utilization).percent().completed(),
        flows("download_s", "download time", Less).can_fail().completed(),
        metric("download_p50_s", "s", "download time, half of the phones", Less,
            |group| downloads(group, 0.5),
            "Download time that half of the users of a replication do not exceed; users who did not finish come last."),
        metric("download_p95_s", "s", "download time, 95 of 100 phones", Less, |group| downloads(group, 0.95),
            "Download time that 95 of 100 users do not exceed; unfinished users come last."),
        flows("transfer_s", "transfer time", Less).can_fail().completed(),
        flows("transfer_delay_mean_s", "mean delay of transfers", Less).completed(),
        flows("load_median_s", "load time, median", Less).of(|group| loads(group, "load_median_s")),
        flows("load_p95_s", "load time, 95 of 100", Less).of(|group| loads(group, "load_p95_s")),
        metric("stalled_users", "1", "phones that stalled", Less,
            |group| of_users(group, "stalls", 2, positive),
            "Share of the users of a replication who had a stall.").share(),
        flows("stalls", "stalls (1 s and more)", Less),
        flows("stalled_s", "time stalled", Less),
        flows("rtt_mean_s", "mean round-trip time", Less),
        metric("queueing_delay_s", "s", "queueing delay", Less, |group| Some(queueing(group)),
            "Mean round trip less the shortest that the connection measured: the delay of queues, retransmissions and \
            waiting for the scheduler (base delay of RFC 6817, 2.4.1).").seen_in("flows", "rtt_mean_s"),
        flows("recovery_s", "time in loss recovery", Less),
        flows("timeouts", "retransmission timeouts", Less),
        flows("complete", "transfers acknowledged in full", More).of(complete).share(),
        metric("block_errors", "1", "block errors, all transmissions", Neither, block_errors,
            "Share of all blocks sent, retransmissions included, that were received in error.").share(),
        metric("switches_per_s", "1/s", "channel switches per second", Neither,
            |group| switching(group, &SWITCHES, Per::Second),
            "Set-ups and releases of dedicated channels per second."),
        metric("switches_per_transfer", "1", "channel switches per transfer", Neither,
            |group| switching(group, &SWITCHES, Per::Transfer),
            "Set-ups and releases of dedicated channels per completed transfer."),
        metric("dch_share", "1", "time with a dedicated channel", Neither,
            |group| switching(group, &HELD, Per::Second),
            "Share of time for which a dedicated channel is held.").share(),
        metric("power_w", "W", "power of the phone's radio", Less,
            |group| switching(group, &["energy_j"], Per::Second),
            "Mean power of the phone's radio."),
        mean("phones", "cqi", "channel quality (CQI)", More),
        mean("phones", "first_bler", "block errors, first transmission", Neither).share(),
        metric("jain_index", "1", "fairness (Jain)", More, fairness,
            "Jain's fairness index of the users' `received_bps`.").up_to(1.0),
    ]
}

type Of = fn(&Group<'_>) -> Option<Vec<f64>>;

fn mean(table: &'static str, name: &'static str, label: &'static str, better: Better) -> Metric {
    let described = metric(name, "", label, better, |_| None, "");
    Metric { formula: Formula::Mean, ..described }.seen_in(table, name)
}

fn metric(
    name: &'static str,
    unit: &'static str,
    label: &'static str,
    better: Better,
    of: Of,
    meaning: &'static str,
) -> Metric {
    Metric {
        name: name.into(),
        unit: unit.into(),
        meaning: meaning.into(),
        label: label.into(),
        formula: Formula::Of(of),
        better,
        low: 0.0,
        high: f64::INFINITY,
        percent: false,
        can_fail: false,
        column: None,
        completed: false,
    }
}

impl Metric {
    fn of(self, of: Of) -> Self {
        Self { formula: Formula::Of(of), ..self }
    }

    fn percent(self) -> Self {
        Self { percent: true, ..self }
    }

    fn up_to(self, high: f64) -> Self {
        Self { high, ..self }
    }

    fn share(self) -> Self {
        self.percent().up_to(1.0)
    }

    fn can_fail(self) -> Self {
        Self { can_fail: true, ..self }
    }

    fn completed(self) -> Self {
        Self { completed: true, ..self }
    }

    fn seen_in(self, table: &'static str, column: &'static str) -> Self {
        Self { column: Some((table.into(), column.into())), ..self }
    }
}
