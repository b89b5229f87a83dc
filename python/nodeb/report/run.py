"""The page of a run: its summary, the cell, what happened in one replication, delays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
from matplotlib.figure import Figure

from nodeb import plot
from nodeb.plot.cell import has_places
from nodeb.plot.style import NARROW, nice_step
from nodeb.plot.users import told
from nodeb.report.answer import content
from nodeb.report.delays import delays
from nodeb.report.figures import Content, figure, section
from nodeb.report.recording import Recording, record
from nodeb.report.render import render
from nodeb.results.answer import answer
from nodeb.results.metrics import METRICS
from nodeb.results.result import Result
from nodeb.terminal.progress import ProgressCallback

__all__ = ["html"]

MAP = (NARROW[0], 6.4)
"""Size of the picture of the cell."""
BINS = 50
"""About so many bars of a bit rate: fewer than a larger picture has."""
SERIES: tuple[tuple[str, str, str, Callable[..., Figure]], ...] = (
    ("rtt", "rtt", "Round-trip time that TCP measured", plot.rtt),
    ("cwnd", "cwnd", "Congestion window", plot.cwnd),
    ("queue", "queue", "Queue at the Node B", plot.queue),
    ("bandwidth", "cqi", "Channel quality (CQI) that the Node B had", plot.cqi),
)
"""Table, anchor, title and picture of each series."""


def html(result: Result, progress: ProgressCallback | None = None, named: str = "") -> str:
    """One self-contained page about a result.

    Its series are those of the first replication, which is simulated again where they were not
    recorded; the result stays as it is.

    Args:
        result: what the page is about.
        progress: told how far that replication is.
        named: how the scenario is called on the command line; empty in a notebook.
    """
    about, scenario = result.provenance, result.scenario
    recording = record(result, progress)
    parts = [part for part in _parts(result, recording) if part["figures"] or part["problem"]]
    return render(
        "run.html",
        {
            "title": scenario.name or "A run",
            "answer": content(answer(result, named)),
            "banners": scenario.warnings(),
            "glossary": _glossary(result),
            "parts": parts,
            "sections": [
                *((part["anchor"], part["title"]) for part in parts),
                ("words", "Metrics"),
                ("provenance", "Provenance"),
            ],
            "facts": [
                (_fact(name), str(value))
                for name, value in about.to_dict().items()
                if value is not None
            ],
            "scenario": scenario.to_toml(),
            "version": about.version,
        },
    )


def _glossary(result: Result) -> list[tuple[str, str, str]]:
    """Label, name and meaning of each metric of the summary."""
    found = [METRICS[name] for name in result.summary.distinct("metric")]
    return [(one.label, one.name, one.meaning) for one in found]


def _fact(name: str) -> str:
    """What a field of the provenance is called, with its unit."""
    return re.sub(r"_s$", " (s)", name).replace("_", " ")


def _time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"


def _parts(result: Result, recording: Recording) -> Iterator[Content]:
    """The sections of pictures."""
    is_one = result.provenance.runs == 1
    first = "The replication" if is_one else f"The first of {result.provenance.runs} replications"
    yield section("cell", "The cell", f"{first}.", list(_cell(result)))
    again = ", simulated again to record it" if recording.is_again else ""
    shown = [f"{first}{again}.", told(recording.result) if recording.result else "", recording.told]
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
    result = recording.result
    if result is None:
        return
    users = np.unique(result.flows["user"])
    user = int(users[0]) if len(users) == 1 else None
    if len(result.segments):
        width = nice_step(float(np.max(result.segments["t_s"])), BINS)
        rates = plot.throughput(result, user, width, size=NARROW)
        note = f"Data that reached the phone in order, in bins of {_time(width)}."
        yield figure("throughput", "Application bit rate", rates, note)
    for table, anchor, title, draw in SERIES:
        if table in result.tables and len(result.tables[table]):
            yield figure(anchor, title, draw(result, user, size=NARROW))
