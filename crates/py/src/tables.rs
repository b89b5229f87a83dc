//! A run's results as columns: numpy arrays, and lists for text.

use nodeb_sim::Scenario;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::radio::switching::State;
use nodeb_sim::radio::{CellRow, ChannelRow, PhoneRow};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A table under construction.
struct Table<'py, 'a, R> {
    rows: &'a [R],
    columns: Bound<'py, PyDict>,
}

impl<'py, 'a, R> Table<'py, 'a, R> {
    fn new(py: Python<'py>, run: u64, rows: &'a [R]) -> PyResult<Self> {
        Self { rows, columns: PyDict::new(py) }.column("run", |_| run)
    }

    fn column<T: Element>(self, name: &str, value: impl Fn(&R) -> T) -> PyResult<Self> {
        let array = PyArray1::from_vec(self.columns.py(), self.rows.iter().map(value).collect());
        self.columns.set_item(name, array)?;
        Ok(self)
    }

    fn text(self, name: &str, value: impl Fn(&R) -> String) -> PyResult<Self> {
        let list = PyList::new(self.columns.py(), self.rows.iter().map(value))?;
        self.columns.set_item(name, list)?;
        Ok(self)
    }
}

/// All tables of a run; a series that was not asked for is left out, and so are switches of channels
/// where there are none.
pub fn all<'py>(
    py: Python<'py>,
    run: u64,
    scenario: &Scenario,
    result: &RunResult,
) -> PyResult<Bound<'py, PyDict>> {
    let tables = PyDict::new(py);
    tables.set_item("flows", flows(py, run, result)?)?;
    tables.set_item("bearers", bearers(py, run, result)?)?;
    tables.set_item("links", links(py, run, result)?)?;
    if scenario.proxy.is_some() {
        tables.set_item("proxies", proxies(py, run, result)?)?;
    }
    if scenario.snoop.is_some() {
        tables.set_item("snoop", snoop(py, run, result)?)?;
    }
    if !result.channels.is_empty() {
        tables.set_item("channels", channels(py, run, result)?)?;
    }
    if !result.cell.is_empty() {
        tables.set_item("cell", cell(py, run, result)?)?;
    }
    if !result.phones.is_empty() {
        tables.set_item("phones", phones(py, run, result)?)?;
    }
    let record = scenario.record;
    if record.cwnd {
        tables.set_item("cwnd", cwnd(py, run, result)?)?;
    }
    if record.segments {
        tables.set_item("segments", segments(py, run, result)?)?;
    }
    if record.rtt {
        tables.set_item("rtt", rtt(py, run, result)?)?;
    }
    if record.queue {
        tables.set_item("queue", queue(py, run, result)?)?;
    }
    if record.transfers {
        tables.set_item("transfers", transfers(py, run, result)?)?;
    }
    if record.scheduler {
        tables.set_item("scheduler", scheduler(py, run, result)?)?;
    }
    if record.bandwidth {
        tables.set_item("bandwidth", bandwidth(py, run, result)?)?;
    }
    Ok(tables)
}

fn flows<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.flows)?
        .column("user", |row| row.user)?
        .text("group", |row| row.group.clone())?
        .column("start_s", |row| row.start_s)?
        .column("complete", |row| row.complete)?
        .column("download_s", |row| row.download_s)?
        .column("transfer_s", |row| row.transfer_s)?
        .column("app_bytes", |row| row.app_bytes)?
        .column("ip_bytes", |row| row.ip_bytes)?
        .column("delivered_bytes", |row| row.delivered_bytes)?
        .column("packets_sent", |row| row.packets_sent)?
        .column("packets_retransmitted", |row| row.packets_retransmitted)?
        .column("timeouts", |row| row.timeouts)?
        .column("fast_retransmits", |row| row.fast_retransmits)?
        .column("rtt_mean_s", |row| row.rtt_mean_s)?
        .column("rtt_samples", |row| row.rtt_samples)?
        .column("transfers", |row| row.transfers)?
        .column("transfer_delay_mean_s", |row| row.transfer_delay_mean_s)?
        .column("received_bps", |row| row.received_bps)?
        .column("application_bps", |row| row.application_bps)?
        .column("retransmit_bps", |row| row.retransmit_bps)?
        .column("utilization", |row| row.utilization)?;
    Ok(table.columns)
}

fn bearers<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let numbered: Vec<_> = result.bearers.iter().enumerate().collect();
    let table = Table::new(py, run, &numbered)?
        .column("bearer", |(i, _)| *i as u64)?
        .text("kind", |(_, row)| row.kind.to_owned())?
        .column("channel_rate_bps", |(_, row)| row.channel_rate_bps)?
        .column("bler", |(_, row)| row.bler)?
        .column("ttis", |(_, row)| row.counts.ttis)?
        .column("blocks", |(_, row)| row.counts.blocks)?
        .column("blocks_failed", |(_, row)| row.counts.blocks_failed)?
        .column("pdus", |(_, row)| row.counts.pdus)?
        .column("packets_in", |(_, row)| row.counts.packets_in)?
        .column("packets_delivered", |(_, row)| row.counts.packets_delivered)?
        .column("packets_dropped", |(_, row)| row.counts.packets_dropped)?
        .column("bytes_delivered", |(_, row)| row.counts.bytes_delivered)?
        .column("active_s", |(_, row)| row.active_s)?
        .column("end_s", |_| result.end_s)?;
    Ok(table.columns)
}

fn channels<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let time = |state: State| move |row: &ChannelRow| row.usage.time(state).as_secs();
    let table = Table::new(py, run, &result.channels)?
        .column("user", |row| row.user as u64)?
        .column("set_ups", |row| row.usage.set_ups)?
        .column("releases", |row| row.usage.releases)?
        .column("pagings", |row| row.usage.pagings)?
        .column("pch_s", time(State::Pch))?
        .column("paging_s", time(State::Paging))?
        .column("fach_s", time(State::Fach))?
        .column("setting_up_s", time(State::SettingUp))?
        .column("dch_s", time(State::Dch))?
        .column("releasing_s", time(State::Releasing))?
        .column("energy_j", |row| row.energy_j)?;
    Ok(table.columns)
}

fn cell<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let at = |row: &CellRow| row.seat.position.map_or((f64::NAN, f64::NAN), |at| (at.x, at.y));
    let table = Table::new(py, run, &result.cell)?
        .column("user", |row| row.user as u64)?
        .column("x_radii", |row| at(row).0)?
        .column("y_radii", |row| at(row).1)?
        .column("other_cells", |row| row.seat.place.other_cells)?
        .column("eb_n0_db", |row| 10.0 * row.seat.place.eb_n0.log10())?
        .column("slots", |row| row.slots)?
        .column("frames", |row| row.frames)?
        .column("frames_failed", |row| row.frames_failed)?;
    Ok(table.columns)
}

fn phones<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    let table = Table::new(py, run, &result.phones)?
        .column("user", |row| row.user as u64)?
        .column("x_m", |row| row.place_m[0])?
        .column("y_m", |row| row.place_m[1])?
        .column("distance_m", PhoneRow::distance_m)?
        .column("snr_db", |row| row.snr_db)?
        .column("cqi", |row| row.cqi)?
        .column("ttis", |row| row.ttis)?
        .column("blocks", |row| row.blocks)?
        .column("first_failures", |row| row.first_failures)?
        .column("first_bler", |row| share(row.first_failures, row.blocks))?
        .column("transmissions_per_block", |row| share(row.ttis, row.blocks))?
        .column("given_up", |row| row.given_up)?
        .column("bytes_delivered", |row| row.bytes_delivered)?
        .column("packets_dropped", |row| row.packets_dropped)?
        .column("available_bps", |row| row.available_bps)?
        .column("handovers", |row| row.handovers)?;
    Ok(table.columns)
}

fn links<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.links)?
        .text("link", |row| row.link.clone())?
        .column("packets", |row| row.counts.packets)?
        .column("lost", |row| row.counts.lost)?
        .column("overflowed", |row| row.counts.overflowed)?
        .column("dropped_early", |row| row.counts.dropped_early)?
        .column("marked", |row| row.counts.marked)?
        .column("bytes", |row| row.counts.bytes)?;
    Ok(table.columns)
}

fn proxies<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.proxies)?
        .column("user", |row| row.user)?
        .column("server_packets_sent", |row| row.server.packets)?
        .column("server_packets_retransmitted", |row| row.server.retransmissions)?
        .column("server_timeouts", |row| row.server.timeouts)?
        .column("server_fast_retransmits", |row| row.server.fast_retransmits)?
        .column("most_held_bytes", |row| row.most_held_bytes)?
        .column("messages", |row| row.messages.sent)?
        .column("messages_lost", |row| row.messages.lost)?
        .column("windows_set", |row| row.windows.count)?
        .column("window_last_packets", |row| if row.windows.count > 0 { row.windows.last } else { f64::NAN })?
        .column("window_mean_packets", |row| row.windows.sum / row.windows.count as f64)?;
    Ok(table.columns)
}

fn snoop<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.snoops)?
        .column("user", |row| row.user)?
        .column("retransmissions", |row| row.counts.retransmissions)?
        .column("timeouts", |row| row.counts.timeouts)?
        .column("acks_suppressed", |row| row.counts.suppressed)?
        .column("uncached", |row| row.counts.uncached)?
        .column("spurious", |row| row.counts.spurious)?;
    Ok(table.columns)
}

fn cwnd<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.series.cwnd)?
        .column("user", |row| row.user)?
        .column("t_s", |row| row.at.as_secs())?
        .column("cwnd_packets", |row| row.window.cwnd)?
        .column("ssthresh_packets", |row| row.window.ssthresh)?;
    Ok(table.columns)
}

fn segments<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.series.segments)?
        .column("user", |row| row.user)?
        .column("t_s", |row| row.at.as_secs())?
        .text("event", |row| row.event.name().to_owned())?
        .column("seq", |row| row.seq)?
        .column("retransmission", |row| row.retransmission)?;
    Ok(table.columns)
}

fn rtt<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.series.rtt)?
        .column("user", |row| row.user)?
        .column("t_s", |row| row.at.as_secs())?
        .column("rtt_s", |row| row.rtt.as_secs())?;
    Ok(table.columns)
}

fn queue<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.series.queue)?
        .column("user", |row| row.user)?
        .column("t_s", |row| row.at.as_secs())?
        .column("packets", |row| row.packets)?
        .column("bytes", |row| row.bytes)?;
    Ok(table.columns)
}

fn transfers<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.series.transfers)?
        .column("user", |row| row.user)?
        .column("begin_s", |row| row.begun.as_secs())?
        .column("delay_s", |row| row.end.since(row.begun).as_secs())?
        .column("bytes", |row| row.bytes)?;
    Ok(table.columns)
}

fn scheduler<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.series.scheduler)?
        .column("user", |row| row.user as u64)?
        .column("t_s", |row| row.at.as_secs())?
        .column("ci", |row| row.ci)?
        .column("pdus", |row| row.pdus)?
        .column("failed", |row| row.failed)?;
    Ok(table.columns)
}

fn bandwidth<'py>(py: Python<'py>, run: u64, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let table = Table::new(py, run, &result.series.bandwidth)?
        .column("user", |row| row.user as u64)?
        .column("t_s", |row| row.at.as_secs())?
        .column("available_bytes", |row| row.available_bytes)?
        .column("cqi", |row| row.cqi)?;
    Ok(table.columns)
}
