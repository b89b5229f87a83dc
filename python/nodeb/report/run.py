"""Page of a run: summary, cell, time series of one replication, delays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb import plot
from nodeb.base.command_line import Arguments
from nodeb.base.table import Table
from nodeb.plot.cell import has_places
from nodeb.plot.series import selection_note
from nodeb.plot.style import NARROW, nice_step
from nodeb.report.recording import Recording, record
from nodeb.report.render import Content, figure, render, section
from nodeb.report.tracks import download, phones
from nodeb.results.answer import answer_of, explain_only_transfer
from nodeb.results.causes import cause_bars
from nodeb.results.metrics import METRICS
from nodeb.results.result import Result
from nodeb.terminal.progress import ProgressCallback

MAP = (NARROW[0], 6.4)
"""Size of the map of the cell, inches."""
BINS = 50
"""Approximate number of time bins of a bit rate; the figures are too small for more."""
MAX_EVENTS = 3_000_000
"""Number of rows of a series above which only one replication is used."""
SERIES: tuple[tuple[str, str, str, str, Callable[..., Figure]], ...] = (
    ("rtt", "rtt_s", "rtt", "Round-trip time that TCP measured", plot.rtt),
    ("cwnd", "cwnd_packets", "cwnd", "Congestion window", plot.cwnd),
    ("queue", "packets", "queue", "Queue at the Node B", plot.queue),
    ("bandwidth", "cqi", "cqi", "Channel quality (CQI) that the Node B had", plot.cqi),
)
"""Table, column, anchor, title and plot function of each series."""


def html(
    result: Result,
    progress: ProgressCallback | None = None,
    arguments: Arguments | None = None,
) -> str:
    """Returns a self-contained page about a result.

    The time series on the page are those of one replication, which is simulated again if they were
    not recorded: the one nearest the median if the page explains a transfer, otherwise the first.
    `result` is not changed.

    Args:
        result: the result to present.
        progress: callback for the progress of the repeated simulation.
        arguments: the scenario's file on the command line, with the options that change numbers;
            None in a notebook.
    """
    about, scenario = result.provenance, result.scenario
    found = explain_only_transfer(result)
    answer, why = answer_of(result, found, arguments, ""), found if found and found.causes else None
    recording = record(result, progress, run=why.typical.run if why else 0)
    if why:
        answer = replace(answer, picture=cause_bars(why, small=0.0))
    metrics = [METRICS[name] for name in result.summary.distinct("metric")]
    words = [(metric.label, f"{metric.meaning} `{metric.name}`") for metric in metrics]
    parts = [part for part in _parts(result, recording) if part["figures"] or part["problem"]]
    return render(
        "page.html",
        {
            "title": scenario.name or "A run",
            "answer": answer,
            "banners": scenario.warnings(),
            "story": download(why, recording.result) if why else phones(result),
            "parts": [*parts, section("words", "What the metrics mean", "", words=words)],
            "facts": [
                (re.sub(r"_s$", " (s)", name).replace("_", " "), str(value))
                for name, value in about.to_dict().items()
                if value is not None
            ],
            "command": arguments.command("run") if arguments else "",
            "scenario": scenario.to_toml(),
        },
    )


def _parts(result: Result, recording: Recording) -> Iterator[Content]:
    """Yields the sections about the cell, the time series and the delays."""
    runs = result.provenance.runs
    which = "The replication" if runs == 1 else f"Replication {recording.run} (of 0 to {runs - 1})"
    if has_places(result):
        title = "Where the phones were, and what reached them"
        note = "Over the mean SNR without shadowing." if "phones" in result.tables else ""
        drawn = plot.cell(result, int(np.min(result.flows["run"])), size=MAP)
        yield section("cell", "The cell", f"{which}.", [figure("map", title, drawn, note)])
    again = ", simulated again to record it" if recording.is_again else ""
    who = selection_note(recording.result, recording.run) if recording.result else ""
    text = " ".join(filter(None, [f"{which}{again}.", who, recording.summary]))
    series = list(_over_time(recording))
    yield section("time", "Over time", text, series, problem=recording.problem)
    text = "Which share of the delays is no longer than a value, by group of users."
    yield section("delays", "Delays", text, list(_delays(result, recording, which.lower())))


def _over_time(recording: Recording) -> Iterator[Content]:
    result, run = recording.result, recording.run
    if result is None:
        return
    users = np.unique(result.flows["user"])
    user = int(users[0]) if len(users) == 1 else None
    if len(result.segments):
        width = nice_step(float(np.max(result.segments["t_s"])), BINS)
        rates = plot.throughput(result, user, width, run, size=NARROW)
        bins = f"{width:g} s" if width >= 1 else f"{1000 * width:g} ms"
        note = f"Data that arrived in order, in bins of {bins}."
        yield figure("throughput", "Application bit rate", rates, note)
    for table, column, anchor, title, draw in SERIES:
        rows = result.tables.get(table)
        if rows is not None and np.isfinite(np.asarray(rows[column], dtype=float)).any():
            yield figure(anchor, title, draw(result, user, run, size=NARROW))


def _delays(result: Result, recording: Recording, which: str) -> Iterator[Content]:
    """Yields distributions of the delays of transfers, round trips and packets, and of means."""
    flows, runs = result.flows, result.provenance.runs
    every = "the replication" if runs == 1 else f"all {runs} replications"
    part = which if recording.until_s is None else f"the first {recording.until_s:g} s of {which}"

    def series(name: str) -> tuple[Table | None, str]:
        """Returns a series, of all replications if it is not too long, and what it covers."""
        table = result.tables.get(name)
        if table is not None and len(table) <= MAX_EVENTS:
            return table, every
        return recording.result.tables[name] if recording.result else None, part

    def drawn(
        anchor: str, title: str, column: str, table: Table | None, note: str
    ) -> Iterator[Content]:
        samples = _by_group(result, table, column) if table is not None else {}
        sizes = [len(values) for values in samples.values() if len(values)]
        # The number of values is stated here for a single sample; otherwise the legend shows it.
        if len(sizes) == 1:
            note = f"{note} Values: {sizes[0]}."
        if sizes:
            quantity = "delay_s" if anchor == "transfers" else column
            yield figure(anchor, title, plot.shares("", quantity, samples, NARROW), note)

    ended = "From the beginning until the sender has the last ACK"
    mean, of_users = "transfer_delay_mean_s", f"A value for each user and replication, of {every}."
    if int(np.max(flows["transfers"], initial=0)) <= 1:
        yield from drawn("transfers", "Delay of transfers", mean, flows, f"{ended}, of {every}.")
    else:
        table, whose = series("transfers")
        note = f"{ended}, of {whose}."
        yield from drawn("transfers", "Delay of transfers", "delay_s", table, note)
        if runs > 1:
            yield from drawn("mean-transfer", "Mean delay of each user", mean, flows, of_users)
    table, whose = series("rtt")
    note = f"Every round trip that TCP measured in {whose}."
    yield from drawn("rtts", "Round trips", "rtt_s", table, note)
    if runs > 1:
        title = "Mean round-trip time of each user"
        yield from drawn("mean-rtt", title, "rtt_mean_s", flows, of_users)
    table, whose = series("segments")
    note = (
        f"From the sender to the receiver, of the packets of {whose} that were sent only once: "
        "for the others it is unknown which copy arrived."
    )
    packets = None if table is None else packet_delays(table)
    yield from drawn("packet-delays", "Delay of packets", "delay_s", packets, note)


def packet_delays(segments: Table) -> Table:
    """Returns user and delay of each packet that was sent once and arrived."""
    event = np.asarray(segments["event"])
    names = ("run", "user", "seq")
    # A number for each packet.
    code = np.zeros(len(event), dtype=np.int64)
    for column in (np.asarray(segments[name], dtype=np.int64) for name in names):
        code = code * (int(column.max(initial=0)) + 1) + column
    is_sent, is_delivered = np.isin(event, ("send", "resend")), event == "deliver"
    sent, arrived = segments.where(is_sent), segments.where(is_delivered)
    once, first, count = np.unique(code[is_sent], return_index=True, return_counts=True)
    reached, earliest = np.unique(code[is_delivered], return_index=True)
    _, of_sent, of_arrived = np.intersect1d(once[count == 1], reached, True, return_indices=True)
    begin, end = first[count == 1][of_sent], earliest[of_arrived]
    return Table({"user": sent["user"][begin], "delay_s": arrived["t_s"][end] - sent["t_s"][begin]})


def _by_group(result: Result, table: Table, column: str) -> dict[str, NDArray[np.float64]]:
    flows = result.flows
    users, at = np.unique(flows["user"], return_index=True)
    groups = np.asarray(flows["group"])[at]
    values = np.asarray(table[column], dtype=np.float64)
    mine = groups[np.searchsorted(users, np.asarray(table["user"]))]
    finite = np.isfinite(values)
    return {name: values[(mine == name) & finite] for name in flows.distinct("group")}
