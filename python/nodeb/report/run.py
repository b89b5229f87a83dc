"""Page of a run: summary, cell, time series of one replication, delays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from nodeb import plot
from nodeb.base.command_line import Arguments
from nodeb.plot.cell import has_places
from nodeb.plot.series import selection_note
from nodeb.plot.style import NARROW, nice_step
from nodeb.report.answer import content
from nodeb.report.delays import delays
from nodeb.report.phones import phones
from nodeb.report.recording import Recording, record, replication_name
from nodeb.report.render import Content, figure, render, section
from nodeb.report.story import download
from nodeb.results.answer import RunAnswer
from nodeb.results.causes import cause_bars
from nodeb.results.metrics import METRICS
from nodeb.results.result import Result
from nodeb.terminal.progress import ProgressCallback

__all__ = ["html"]

MAP = (NARROW[0], 6.4)
"""Size of the map of the cell, inches."""
BINS = 50
"""Approximate number of time bins of a bit rate; the figures are too small for more."""
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
    found = RunAnswer(result, arguments, "")
    why = found.why if found.why is not None and found.why.causes else None
    recording = record(result, progress, run=why.typical.run if why else 0)
    shown = found.answer()
    if why:
        shown = replace(shown, picture=cause_bars(why, small=0.0))
    parts = [part for part in _parts(result, recording) if part["figures"] or part["problem"]]
    return render(
        "page.html",
        {
            "title": scenario.name or "A run",
            "answer": content(shown),
            "banners": scenario.warnings(),
            "story": download(why, recording.result) if why else phones(result),
            "parts": [*parts, section("words", "What the metrics mean", "", words=_words(result))],
            "facts": [
                (_fact(name), str(value))
                for name, value in about.to_dict().items()
                if value is not None
            ],
            "command": arguments.command("run", report=True) if arguments else "",
            "scenario": scenario.to_toml(),
            "version": about.version,
        },
    )


def _words(result: Result) -> list[tuple[str, str]]:
    """Returns the label of each metric of the summary, with its meaning and name as one text."""
    found = [METRICS[name] for name in result.summary.distinct("metric")]
    return [(one.label, f"{one.meaning} `{one.name}`") for one in found]


def _fact(name: str) -> str:
    """Returns the label of a provenance field: "wall_time_s" becomes "wall time (s)"."""
    return re.sub(r"_s$", " (s)", name).replace("_", " ")


def _time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"


def _parts(result: Result, recording: Recording) -> Iterator[Content]:
    """Yields the sections about the cell, the time series and the delays."""
    which = replication_name(result, recording)
    yield section("cell", "The cell", f"{which}.", list(_cell(result)))
    again = ", simulated again to record it" if recording.is_again else ""
    who = selection_note(recording.result, recording.run) if recording.result else ""
    shown = [f"{which}{again}.", who, recording.summary]
    text, problem = " ".join(filter(None, shown)), recording.problem
    yield section("time", "Over time", text, list(_over_time(recording)), problem=problem)
    text = "Which share of the delays is no longer than a value, by group of users."
    yield section("delays", "Delays", text, list(delays(result, recording)))


def _cell(result: Result) -> Iterator[Content]:
    if has_places(result):
        title = "Where the phones were, and what reached them"
        note = "Over the mean SNR without shadowing." if "phones" in result.tables else ""
        run = int(np.min(result.flows["run"]))
        yield figure("map", title, plot.cell(result, run, size=MAP), note)


def _over_time(recording: Recording) -> Iterator[Content]:
    result, run = recording.result, recording.run
    if result is None:
        return
    users = np.unique(result.flows["user"])
    user = int(users[0]) if len(users) == 1 else None
    if len(result.segments):
        width = nice_step(float(np.max(result.segments["t_s"])), BINS)
        rates = plot.throughput(result, user, width, run, size=NARROW)
        note = f"Data that arrived in order, in bins of {_time(width)}."
        yield figure("throughput", "Application bit rate", rates, note)
    for table, column, anchor, title, draw in SERIES:
        rows = result.tables.get(table)
        if rows is not None and np.isfinite(np.asarray(rows[column], dtype=float)).any():
            yield figure(anchor, title, draw(result, user, run, size=NARROW))
