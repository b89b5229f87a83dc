"""Figure of one transfer: causes of waiting, congestion window and queue on one axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from nodeb.answer.numbers import number
from nodeb.base.units import NS_PER_S
from nodeb.explanation import Explanation
from nodeb.report.render import Content
from nodeb.report.tracks import picture, steps, strip
from nodeb.results.result import Result

__all__ = ["download"]

SERIES = (
    ("cwnd", "cwnd_packets", "congestion window", "segments"),
    ("queue", "packets", "Node\N{NO-BREAK SPACE}B queue", "packets"),
)
"""Table, column, name and unit of each track below the causes."""


def download(found: Explanation, recorded: Result | None) -> Content:
    """Returns a figure of a transfer's causes over time."""
    path = found.typical
    end = path.time_ns / NS_PER_S
    tracks = [strip(path, end)]
    if recorded is not None:
        tracks += _tracks(recorded, found.user, path.begun_s, end)
    return picture(
        "One transfer, moment by moment",
        _replication_note(found),
        tracks,
        end,
        "s since the phone asked",
    )


def _tracks(recorded: Result, user: int, begun_s: float, end: float) -> Iterator[Content]:
    for table, column, name, unit in SERIES:
        rows: Any = recorded.tables.get(table)
        if rows is None:
            continue
        mine = rows.where((np.asarray(rows["user"]) == user) & (np.asarray(rows["t_s"]) >= 0))
        if len(mine):
            times = np.asarray(mine["t_s"], dtype=float) - begun_s
            values = np.asarray(mine[column], dtype=float)
            yield steps(name, unit, times, values, end, fill=table == "queue")


def _replication_note(found: Explanation) -> str:
    """Returns a phrase on the duration of the shown replication and, of several, the longest."""
    path, runs = found.typical, len(found.paths)
    time = number(path.time_ns / NS_PER_S, "s")
    took = f"took {time}" if path.complete else f"had not ended when the run did, after {time}"
    if runs == 1:
        return f"it {took}"
    longest = number(float(np.max(found.times)), "s")
    return (
        f"replication {path.run}, which {took}, is nearest the median; the longest of {runs} is "
        f"{longest}"
    )
