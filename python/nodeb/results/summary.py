"""The summary of a result: one row per group of users and metric.

A metric (`nodeb.results.metrics`) has one value per replication; the mean of these has a Student-t
interval (`nodeb.stats.mean_interval`). The interval is cut at the bounds of the metric and, for
times, at the duration of the run; this does not change its coverage. A user whose transfer did not
complete in time has no application bit rate and no download or transfer time, and is excluded from
their means. `complete` is the share of transfers that completed, and `covered` the share of users
with a value.
`received_bps`, the data that reached the receiver in order over time, exists for all users.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from nodeb.base.table import Table
from nodeb.results.coverage import coverage
from nodeb.results.metrics import METRICS, Group, by_run
from nodeb.stats import mean_interval

__all__ = ["summarize"]

COLUMNS = ("group", "metric", "unit", "mean", "ci95_low", "ci95_high", "stdev", "runs", "covered")

Row = tuple[str, str, str, float, float, float, float, int, float]


def summarize(tables: Mapping[str, Table], duration_s: float = math.inf) -> Table:
    """Columns: `group`, `metric`, `unit`, `mean`, `ci95_low`, `ci95_high`, `stdev`; `covered`,
    the share of users that have a value (of replications, if the metric is not a mean over
    users). A scenario with one group has the rows of group `all` only."""
    rows: list[Row] = []
    if len(tables["flows"]):
        runs = by_run(tables)
        for group in runs.distinct("group"):
            rows += _rows(Group(tables, group), runs.where(runs["group"] == group), duration_s)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    return Table(dict(zip(COLUMNS, columns, strict=True)))


def _rows(group: Group, runs: Table, duration_s: float) -> Iterator[Row]:
    who = group.name
    for name, metric in METRICS.items():
        if name not in runs.columns:
            continue
        values = runs[name][np.isfinite(runs[name])]
        if values.size:
            i = metric.within(mean_interval(values), duration_s)
            share = coverage(metric, group, runs[name])
            yield who, name, metric.unit, i.mean, i.low, i.high, i.stdev, i.n, share
        elif metric.can_fail:
            yield who, name, metric.unit, math.nan, math.nan, math.nan, math.nan, 0, 0.0
