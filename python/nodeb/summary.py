"""The summary of a result: one row per group of users and metric.

A metric is first averaged over the users of a group within a run; the mean of these averages over
runs has a Student-t interval (`nodeb.stats.mean_interval`). A user whose transfer did not complete
in time has no bit rate and no times and is left out of those; `complete` says how many did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nodeb.stats import jain_index, mean_interval
from nodeb.table import Table

__all__ = ["ALL", "UNITS", "summarize"]

ALL = "all"
"""Name of the group of all users."""

UNITS = {
    "application_bps": "bit/s",
    "retransmit_bps": "bit/s",
    "utilization": "1",
    "download_s": "s",
    "transfer_s": "s",
    "rtt_mean_s": "s",
    "complete": "1",
    "jain_index": "1",
}
"""Unit of each metric; 1 for a ratio. `jain_index` is of the users' application bit rates."""

COLUMNS = ("group", "metric", "unit", "mean", "ci95_low", "ci95_high", "stdev", "runs")

Row = tuple[str, str, str, float, float, float, float, int]


def summarize(flows: Table) -> Table:
    """The summary of a table of flows."""
    rows: list[Row] = []
    if len(flows):
        groups = list(dict.fromkeys(flows["group"].tolist()))
        for group in groups:
            rows += _group_rows(group, flows.where(flows["group"] == group))
        rows += _group_rows(ALL, flows)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    return Table(dict(zip(COLUMNS, columns, strict=True)))


def _group_rows(group: str, flows: Table) -> Iterator[Row]:
    _, run = np.unique(flows["run"], return_inverse=True)
    for metric, unit in UNITS.items():
        if metric == "jain_index":
            values = _fairness(run, flows["application_bps"])
        else:
            values = _mean_by_run(run, flows[metric].astype(np.float64))
        values = values[np.isfinite(values)]
        if values.size:
            i = mean_interval(values)
            yield group, metric, unit, i.mean, i.low, i.high, i.stdev, i.n
        elif metric != "jain_index":
            yield group, metric, unit, math.nan, math.nan, math.nan, math.nan, 0


def _mean_by_run(run: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over users for each run; NaN for a run without any value."""
    known = np.isfinite(values)
    runs = int(run.max()) + 1
    total = np.bincount(run[known], weights=values[known], minlength=runs)
    count = np.bincount(run[known], minlength=runs)
    means = np.full(runs, math.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def _fairness(run: NDArray[np.intp], rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Jain's index for each run; nothing when a run has one user only.

    Who did not complete had nothing to show for it: a rate of 0.
    """
    shares = [np.nan_to_num(rates[run == r], nan=0.0) for r in range(int(run.max()) + 1)]
    return np.array([jain_index(s) for s in shares if s.size > 1], dtype=np.float64)
