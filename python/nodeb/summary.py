"""The summary of a result: one row per group of users and metric.

A metric is first averaged over the users of a group within a run; the mean of these averages over
runs has a Student-t interval (`nodeb.stats.mean_interval`). A user whose transfer did not complete
in time has no bit rate and no times and is left out of those; `complete` says how many did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.stats import jain_index, mean_interval
from nodeb.table import Table

__all__ = ["ALL", "UNITS", "by_run", "summarize"]

ALL = "all"
"""Name of the group of all users."""

UNITS = {
    "application_bps": "bit/s",
    "retransmit_bps": "bit/s",
    "utilization": "1",
    "download_s": "s",
    "transfer_s": "s",
    "transfer_delay_mean_s": "s",
    "rtt_mean_s": "s",
    "complete": "1",
    "jain_index": "1",
}
"""Unit of each metric; 1 for a ratio. `jain_index` is of the users' application bit rates."""

COLUMNS = ("group", "metric", "unit", "mean", "ci95_low", "ci95_high", "stdev", "runs")

Row = tuple[str, str, str, float, float, float, float, int]


def by_run(flows: Table) -> Table:
    """Each metric by replication: one row per group of users and run, groups first.

    Columns `group`, `run`, and the metrics; NaN where a metric has no value.
    """
    groups = list(dict.fromkeys(flows["group"].tolist()))
    return Table.concat(
        [_by_run(group, flows.where(flows["group"] == group)) for group in groups]
        + [_by_run(ALL, flows)]
    )


def summarize(flows: Table) -> Table:
    """The summary of a table of flows."""
    rows: list[Row] = []
    if len(flows):
        runs = by_run(flows)
        for group in dict.fromkeys(runs["group"].tolist()):
            rows += _group_rows(group, runs.where(runs["group"] == group))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    return Table(dict(zip(COLUMNS, columns, strict=True)))


def _by_run(group: str, flows: Table) -> dict[str, NDArray[Any]]:
    numbers, run = np.unique(flows["run"], return_inverse=True)
    means = {
        metric: _mean_by_run(run, flows[metric].astype(np.float64))
        for metric in UNITS
        if metric != "jain_index"
    }
    fairness = _fairness(run, flows["application_bps"])
    return {"group": np.full(len(numbers), group), "run": numbers, **means, "jain_index": fairness}


def _group_rows(group: str, runs: Table) -> Iterator[Row]:
    for metric, unit in UNITS.items():
        values = runs[metric][np.isfinite(runs[metric])]
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
    """Jain's index for each run; NaN when a run has one user only.

    Who did not complete had nothing to show for it: a rate of 0.
    """
    shares = [np.nan_to_num(rates[run == r], nan=0.0) for r in range(int(run.max()) + 1)]
    return np.array([jain_index(s) if s.size > 1 else math.nan for s in shares])
