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
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.words import joined, percent
from nodeb.base.table import Table
from nodeb.results.group import Array, Group
from nodeb.results.metrics import METRICS, Metric, by_run
from nodeb.stats import mean_interval

__all__ = ["coverage", "coverage_by_run", "left_out", "of_whom", "summarize"]


def coverage(metric: Metric, group: Group, values: Array) -> float:
    """Below 1, the mean excludes users or replications that lack a value."""
    has, _ = _existing(metric, group, values)
    return float(has.mean()) if has.size else 1.0


def coverage_by_run(metric: Metric, group: Group, values: Array) -> Array:
    has, at = _existing(metric, group, values)
    count = np.bincount(at, minlength=len(group.run))
    shares = np.ones(len(group.run))
    np.divide(np.bincount(at, has, len(group.run)), count, out=shares, where=count > 0)
    return shares


def _existing(
    metric: Metric, group: Group, values: Array
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    if metric.column is None:
        return np.isfinite(values), np.arange(len(values))
    table, name = metric.column
    has, at = np.isfinite(group.column(table, name)), group.at(table)
    if not metric.completed:
        return has, at
    wanted = has | (group.column("flows", "endless") == 0)
    return has[wanted], at[wanted]


def of_whom(metric: Metric) -> str:
    """Returns a phrase for the items that a metric's mean covers.

    These are replications, phones or transfers, as in "transfers that finished".
    """
    if metric.column is None:
        return "replications that have a value"
    if not metric.completed:
        return "phones that have a value"
    if metric.column[1] == "download_s":
        return "transfers that finished"
    return "phones with a transfer acknowledged in full"


def left_out(covered: Iterable[tuple[str, Metric, float]]) -> Iterator[str]:
    """Yields sentences on means that exclude some replications, phones or transfers."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for label, metric, share in covered:
        if share < 1:
            kinds.setdefault(of_whom(metric), {}).setdefault(percent(share), []).append(label)
    for who, shares in kinds.items():
        each = [f"{part} for {joined(names)}" for part, names in shares.items()]
        yield f"Only of {who}: {'; '.join(each)}."


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
