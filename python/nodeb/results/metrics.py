"""The metrics of summaries, sweeps and comparisons.

Each metric is a row of `METRICS`: its name, unit and meaning, its label, whether more or less is
better, the range of its values, and a function that computes it from the tables of results. A
metric has one value per replication and group of users; users of one replication can
influence each other and are never treated as independent. Metrics are computed on demand from
tables, so a new metric needs no new simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nodeb.base.arguments import as_texts
from nodeb.base.functions import call_checked, numbers
from nodeb.base.table import Table
from nodeb.errors import InputError, nearest
from nodeb.results import compute, glossary
from nodeb.results.group import ALL, Array, Group, names
from nodeb.stats import Interval

__all__ = [
    "ALL",
    "METRICS",
    "Group",
    "Metric",
    "add",
    "by_run",
    "chosen",
]

Better = Literal["more", "less", ""]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: a number about a group of users in each replication, with unit and meaning."""

    name: str
    unit: str
    """Unit; 1 for a ratio, empty for a count."""
    meaning: str
    label: str
    of: Callable[[Group], Array | None]
    """Function that returns a value per run, NaN for none; or None if the metric does not apply."""
    better: Better = ""
    """Direction that is better for the user; empty if that depends."""
    low: float = 0.0
    """Smallest possible mean, in the unit of the metric; minus infinity for no limit."""
    high: float = math.inf
    """Largest possible mean, in the unit of the metric; infinity for no limit."""
    percent: bool = False
    """Whether the metric is shown in per cent."""
    can_fail: bool = False
    column: tuple[str, str] | None = None
    """Table and column that show which users have a value; None if it is no mean over users."""
    completed: bool = False
    """Whether only complete transfers have a value, so that none is expected of endless traffic."""

    def within(self, mean: Interval, duration_s: float) -> Interval:
        return mean.within(self.low, self.highest(duration_s))

    def highest(self, duration_s: float) -> float:
        """Returns the largest possible mean, in the unit of the metric.

        For a built-in metric with the unit s, the duration of a run is a limit besides `high`.
        """
        is_time = self.unit == "s" and self.of in BUILT_IN
        return min(self.high, duration_s) if is_time else self.high


def by_run(tables: Mapping[str, Any]) -> Table:
    """Computes each metric by replication: one row per group of users and run, in this order.

    Columns are `group`, `run` and the metrics, NaN if one has no value. A scenario with one
    group has the rows of group `all` only.
    """
    found = {k: one if isinstance(one, Table) else Table(one) for k, one in tables.items()}
    groups = [Group(found, name) for name in names(found["flows"])]
    values = [{name: _values(one, group) for name, one in METRICS.items()} for group in groups]
    defined = [name for name in METRICS if any(one[name] is not None for one in values)]
    return Table.concat(
        _rows(group, one, defined) for group, one in zip(groups, values, strict=True)
    )


def _values(metric: Metric, group: Group) -> Array | None:
    if metric.of in BUILT_IN:
        return metric.of(group)
    runs = (len(group.run),)

    def right(found: Any) -> bool:
        return found is None or (numbers(found) and np.shape(found) == runs)

    expected = "an array with a number for each replication, or None"
    found = call_checked(metric.of, f"metric `{metric.name}`", expected, right, group)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _rows(group: Group, values: Mapping[str, Array | None], defined: list[str]) -> dict[str, Any]:
    nothing = np.full(len(group.run), math.nan)
    return {
        "group": np.full(len(group.run), group.name),
        "run": group.run,
        **{name: nothing if (one := values[name]) is None else one for name in defined},
    }


def _from(table: str, name: str, label: str, better: Better = "", **more: Any) -> Metric:
    column = glossary.tables()[table].columns[name]
    of = more.pop("of", compute.mean_of(table, name))
    return Metric(
        name, column.unit, column.meaning, label, of, better, column=(table, name), **more
    )


SHARE: dict[str, Any] = {"high": 1.0, "percent": True}
DONE: dict[str, Any] = {"completed": True}


def _table() -> dict[str, Metric]:
    lines = (
        _from("flows", "received_bps", "received by the phone", "more"),
        Metric(
            "received_bps_p5",
            "bit/s",
            "Rate that 95 of 100 users of a replication exceed (`received_bps`); from 20 users on.",
            "received at the cell's edge (5 %)",
            compute.of_users("received_bps", compute.edge, compute.EDGE_USERS),
            "more",
        ),
        Metric(
            "received_bps_p50",
            "bit/s",
            "Rate that half of the users of a replication exceed (`received_bps`).",
            "received, median of the phones",
            compute.of_users("received_bps", lambda rows: np.median(rows, axis=1)),
            "more",
        ),
        Metric(
            "cell_bps",
            "bit/s",
            "Rate at which a shared channel delivers data to all its users together.",
            "delivered by the cell",
            compute.rate,
            "more",
        ),
        Metric(
            "cell_busy",
            "1",
            "Share of time for which a shared channel transmits.",
            "time the cell is busy",
            compute.busy,
            **SHARE,
        ),
        Metric(
            "served",
            "1",
            "Share of the users who received any data.",
            "phones that received something",
            compute.of_users("delivered_bytes", lambda rows: (rows > 0).mean(axis=1)),
            "more",
            **SHARE,
        ),
        _from("flows", "application_bps", "application bit rate", "more", can_fail=True, **DONE),
        _from("flows", "retransmit_bps", "radio bit rate, retransmissions too", **DONE),
        _from(
            "flows",
            "utilization",
            "channel utilization",
            percent=True,
            of=compute.utilization,
            **DONE,
        ),
        _from("flows", "download_s", "download time", "less", can_fail=True, **DONE),
        Metric(
            "download_p50_s",
            "s",
            "Download time that half of the users of a replication do not exceed; users who did "
            "not finish come last.",
            "download time, half of the phones",
            compute.downloads(0.5),
            "less",
        ),
        Metric(
            "download_p95_s",
            "s",
            "Download time that 95 of 100 users do not exceed; unfinished users come last.",
            "download time, 95 of 100 phones",
            compute.downloads(0.95),
            "less",
        ),
        _from("flows", "transfer_s", "transfer time", "less", can_fail=True, **DONE),
        _from("flows", "transfer_delay_mean_s", "mean delay of transfers", "less", **DONE),
        _from(
            "flows",
            "load_median_s",
            "load time, median",
            "less",
            of=compute.loads("load_median_s"),
        ),
        _from(
            "flows",
            "load_p95_s",
            "load time, 95 of 100",
            "less",
            of=compute.loads("load_p95_s"),
        ),
        Metric(
            "stalled_users",
            "1",
            "Share of the users of a replication who had a stall.",
            "phones that stalled",
            compute.of_users("stalls", lambda rows: (rows > 0).mean(axis=1)),
            "less",
            **SHARE,
        ),
        _from("flows", "stalls", "stalls (1 s and more)", "less"),
        _from("flows", "stalled_s", "time stalled", "less"),
        _from("flows", "rtt_mean_s", "mean round-trip time", "less"),
        Metric(
            "queueing_delay_s",
            "s",
            "Mean round trip less the shortest that the connection measured: the delay of queues, "
            "retransmissions and waiting for the scheduler (base delay of RFC 6817, 2.4.1).",
            "queueing delay",
            compute.queueing,
            "less",
            column=("flows", "rtt_mean_s"),
        ),
        _from("flows", "recovery_s", "time in loss recovery", "less"),
        _from("flows", "timeouts", "retransmission timeouts", "less"),
        _from(
            "flows",
            "complete",
            "transfers acknowledged in full",
            "more",
            of=compute.complete,
            **SHARE,
        ),
        Metric(
            "block_errors",
            "1",
            "Share of all blocks sent, retransmissions included, that were received in error.",
            "block errors, all transmissions",
            compute.block_errors,
            **SHARE,
        ),
        Metric(
            "switches_per_s",
            "1/s",
            "Set-ups and releases of dedicated channels per second.",
            "channel switches per second",
            compute.switching(compute.switches, "s"),
        ),
        Metric(
            "switches_per_transfer",
            "1",
            "Set-ups and releases of dedicated channels per completed transfer.",
            "channel switches per transfer",
            compute.switching(compute.switches, "transfers"),
        ),
        Metric(
            "dch_share",
            "1",
            "Share of time for which a dedicated channel is held.",
            "time with a dedicated channel",
            compute.switching(compute.held, "s"),
            **SHARE,
        ),
        Metric(
            "power_w",
            "W",
            "Mean power of the phone's radio.",
            "power of the phone's radio",
            compute.switching(compute.channels("energy_j"), "s"),
            "less",
        ),
        _from("phones", "cqi", "channel quality (CQI)", "more"),
        _from("phones", "first_bler", "block errors, first transmission", **SHARE),
        Metric(
            "jain_index",
            "1",
            "Jain's fairness index of the users' `received_bps`.",
            "fairness (Jain)",
            compute.fairness,
            "more",
            high=1.0,
        ),
    )
    return {one.name: one for one in lines}


METRICS: dict[str, Metric] = _table()
BUILT_IN = frozenset(one.of for one in METRICS.values())
"""Functions of the metrics of this module, whose values need no check."""


def add(metric: Metric) -> None:
    """Adds a metric to all summaries, sweeps and comparisons made from then on.

        from nodeb.results import metrics

        def longest(group):
            return group.each("flows", group.column("flows", "transfer_s"), lambda x: x.max(axis=1))

        metrics.add(metrics.Metric("longest_s", "s", "The longest transfer.", "longest", longest))

    Raises:
        InputError: the name is taken, or the argument is not a valid metric.
    """
    if not isinstance(metric, Metric) or not isinstance(metric.name, str) or not metric.name:
        raise InputError(f"{metric!r} is not a metric with a name; expected `metrics.Metric(...)`")
    if not callable(metric.of):
        raise InputError(f"metric `{metric.name}`: `of` is {metric.of!r}; expected a function")
    if metric.better not in ("more", "less", ""):
        raise InputError(
            f"metric `{metric.name}`: better is {metric.better!r}; expected more, less or nothing"
        )
    if not metric.low <= metric.high:
        raise InputError(
            f"metric `{metric.name}`: low is {metric.low}; expected at most high, {metric.high}"
        )
    if metric.name in METRICS:
        raise InputError(f"there is a metric `{metric.name}` already; choose another name")
    METRICS[metric.name] = metric


def chosen(names: Any) -> list[Metric]:
    wanted = as_texts(names, "metrics", '["transfer_s"]')
    for name in wanted:
        if name not in METRICS:
            raise InputError(f"there is no metric `{name}`{nearest(name, METRICS)}")
    return [METRICS[name] for name in wanted or METRICS]
