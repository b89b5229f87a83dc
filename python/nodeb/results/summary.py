"""The summary of a result: one row per group of users and metric.

A metric is first averaged over the users of a group within a run; the mean of these averages over
runs has a Student-t interval (`nodeb.stats.mean_interval`). A user whose transfer did not complete
in time has no application bit rate and no times and is left out of those; `complete` says how many
did. `received_bps`, what reached the phone in order over time, is there for all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.results import glossary
from nodeb.results.glossary import Column
from nodeb.stats import jain_index, mean_interval
from nodeb.table import Table

__all__ = ["ALL", "METRICS", "UNITS", "by_run", "summarize"]

ALL = "all"
"""Name of the group of all users."""

OF_FLOWS = (
    "received_bps",
    "application_bps",
    "retransmit_bps",
    "utilization",
    "download_s",
    "transfer_s",
    "transfer_delay_mean_s",
    "rtt_mean_s",
    "timeouts",
    "complete",
)
"""Metrics that are columns of the table `flows`."""

SWITCHING = (
    Column("switches_per_s", "1/s", "Set-ups and releases of dedicated channels per second."),
    Column("switches_per_transfer", "1", "The same per completed transfer."),
    Column("dch_share", "1", "Share of time for which a dedicated channel is held."),
    Column("power_w", "W", "Mean power of the phone's radio."),
)
"""Metrics of a radio that switches users between channels."""

SWITCHED = tuple(metric.name for metric in SWITCHING)

RADIO = ("cqi", "first_bler")
"""Metrics of phones on `hsdpa`: columns of the table `phones`."""

FAIRNESS = Column("jain_index", "1", "Jain's fairness index of the users' `received_bps`.")


def _metrics() -> dict[str, Column]:
    flows, phones = (glossary.tables()[name].columns for name in ("flows", "phones"))
    found = [*(flows[name] for name in OF_FLOWS), *SWITCHING]
    return {one.name: one for one in [*found, *(phones[name] for name in RADIO), FAIRNESS]}


METRICS = _metrics()
"""Every metric by name, in the order of a summary."""

UNITS = {name: metric.unit for name, metric in METRICS.items()}
"""Unit of each metric; 1 for a ratio, empty for a count."""

OPTIONAL = (*SWITCHED, *RADIO, "jain_index")
"""Metrics that say nothing in some scenarios and are left out of their summary."""

RATED = "all_rated"
"""Whether each user of a group has an application bit rate."""

COLUMNS = ("group", "metric", "unit", "mean", "ci95_low", "ci95_high", "stdev", "runs")

Row = tuple[str, str, str, float, float, float, float, int]


def by_run(flows: Table, channels: Table | None = None, phones: Table | None = None) -> Table:
    """Each metric by replication: one row per group of users and run, groups first.

    Columns `group`, `run`, the metrics, NaN where one has no value, and `all_rated`.

    Args:
        flows: one row per user and run.
        channels: what a radio that switches users between channels tells of the same users, in
            the same order.
        phones: what `hsdpa` tells of the same users, in the same order.
    """
    if channels is not None:
        flows = Table({**_columns(flows), **_switching(flows, channels)})
    if phones is not None:
        flows = Table({**_columns(flows), **{name: phones[name] for name in RADIO}})
    groups = list(dict.fromkeys(flows["group"].tolist()))
    return Table.concat(
        [_by_run(group, flows.where(flows["group"] == group)) for group in groups]
        + [_by_run(ALL, flows)]
    )


def summarize(flows: Table, channels: Table | None = None, phones: Table | None = None) -> Table:
    """The summary of a table of flows; `channels` and `phones` as for `by_run`."""
    rows: list[Row] = []
    if len(flows):
        runs = by_run(flows, channels, phones)
        for group in dict.fromkeys(runs["group"].tolist()):
            rows += _group_rows(group, runs.where(runs["group"] == group))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    return Table(dict(zip(COLUMNS, columns, strict=True)))


def _by_run(group: str, flows: Table) -> dict[str, NDArray[Any]]:
    numbers, run = np.unique(flows["run"], return_inverse=True)
    means = {
        metric: _mean_by_run(run, flows[metric].astype(np.float64))
        for metric in UNITS
        if metric in flows.columns
    }
    without = np.bincount(run, ~np.isfinite(flows["application_bps"]), len(numbers))
    fairness = _fairness(run, flows["received_bps"].astype(np.float64))
    return {
        "group": np.full(len(numbers), group),
        "run": numbers,
        **means,
        "jain_index": fairness,
        RATED: without == 0,
    }


def _columns(table: Table) -> dict[str, NDArray[Any]]:
    return {name: table[name] for name in table.columns}


def _switching(flows: Table, channels: Table) -> dict[str, NDArray[np.float64]]:
    """The metrics of channel switching by user and run."""
    held = channels["setting_up_s"] + channels["dch_s"] + channels["releasing_s"]
    time = held + channels["fach_s"] + channels["pch_s"] + channels["paging_s"]
    switches = (channels["set_ups"] + channels["releases"]).astype(np.float64)
    per_transfer = np.full(len(flows), math.nan)
    np.divide(switches, flows["transfers"], out=per_transfer, where=flows["transfers"] > 0)
    values = (switches / time, per_transfer, held / time, channels["energy_j"] / time)
    return dict(zip(SWITCHED, values, strict=True))


def _group_rows(group: str, runs: Table) -> Iterator[Row]:
    for metric, unit in UNITS.items():
        if metric not in runs.columns:
            continue
        values = runs[metric][np.isfinite(runs[metric])]
        if values.size:
            i = mean_interval(values)
            yield group, metric, unit, i.mean, i.low, i.high, i.stdev, i.n
        elif metric not in OPTIONAL:
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
    """Jain's index for each run; NaN when a run has one user only."""
    shares = [rates[run == r] for r in range(int(run.max()) + 1)]
    return np.array([jain_index(s) if s.size > 1 else math.nan for s in shares])
