"""The metrics: what summaries, sweeps and comparisons say of replications.

Each is a line of `METRICS`: its name, unit and meaning, what it is called, which way is better,
the range of its values, and how the tables of results give it. A metric has one value for each
replication and group of users; users of one replication share a cell and are never taken for
independent of each other. Tables are read when somebody asks, so a new metric needs no new
simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nodeb.base.arguments import as_texts
from nodeb.base.functions import ask, numbers
from nodeb.base.table import Table
from nodeb.errors import InputError, nearest
from nodeb.results import given, glossary
from nodeb.results.group import ALL, Array, Group

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
    """What is said of a group of users in each replication."""

    name: str
    """Its name in tables."""
    unit: str
    """Its unit; 1 for a ratio, empty for a count."""
    meaning: str
    """What it says, a sentence."""
    label: str
    """What it is called where people read."""
    of: Callable[[Group], Array | None]
    """Its values by run, NaN where it has none; None where it says nothing."""
    better: Better = ""
    """Which way is better for the user; empty where that depends."""
    low: float = 0.0
    """No mean is below."""
    high: float = math.inf
    """No mean is above."""
    percent: bool = False
    """Whether people read it in per cent."""
    can_fail: bool = False
    """Whether it says something that nobody has it."""
    column: tuple[str, str] | None = None
    """Table and column of which it is the users' mean; None where it is calculated otherwise."""
    completed: bool = False
    """Whether only complete transfers have it, so that endless traffic is not expected to."""


def by_run(tables: Mapping[str, Any]) -> Table:
    """Each metric by replication: one row per group of users and run, groups first.

    Columns `group`, `run` and the metrics, NaN where one has no value. The only group of a scenario
    is that of all.

    Args:
        tables: of replications, in order of the run.
    """
    found = {k: one if isinstance(one, Table) else Table(one) for k, one in tables.items()}
    names = found["flows"].distinct("group")
    groups = [Group(found, name) for name in ([*names, ALL] if len(names) > 1 else [ALL])]
    values = [{name: _asked(one, group) for name, one in METRICS.items()} for group in groups]
    said = [name for name in METRICS if any(one[name] is not None for one in values)]
    return Table.concat(_rows(group, one, said) for group, one in zip(groups, values, strict=True))


def _asked(metric: Metric, group: Group) -> Array | None:
    """Its values by run; those of our own are right."""
    if metric.of in OURS:
        return metric.of(group)
    runs = (len(group.run),)

    def right(found: Any) -> bool:
        return found is None or (numbers(found) and np.shape(found) == runs)

    expected = "an array with a number for each replication, or None"
    found = ask(metric.of, f"metric `{metric.name}`", expected, right, group)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _rows(group: Group, values: Mapping[str, Array | None], said: list[str]) -> dict[str, Any]:
    nothing = np.full(len(group.run), math.nan)
    return {
        "group": np.full(len(group.run), group.name),
        "run": group.run,
        **{name: nothing if (one := values[name]) is None else one for name in said},
    }


def _from(table: str, name: str, label: str, better: Better = "", **more: Any) -> Metric:
    """The metric that is the users' mean of a column."""
    column = glossary.tables()[table].columns[name]
    of = more.pop("of", given.mean_of(table, name))
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
            "What 95 of 100 users of a replication exceed in `received_bps`; from 20 users on.",
            "received at the cell's edge (5 %)",
            given.of_users("received_bps", given.edge, given.EDGE_USERS),
            "more",
        ),
        Metric(
            "received_bps_p50",
            "bit/s",
            "What half of the users of a replication exceed in `received_bps`.",
            "received by the median phone",
            given.of_users("received_bps", lambda rows: np.median(rows, axis=1)),
            "more",
        ),
        Metric(
            "cell_bps",
            "bit/s",
            "What a channel that users share delivers to all of them together, over time.",
            "delivered by the cell",
            given.rate,
            "more",
        ),
        Metric(
            "cell_busy",
            "1",
            "Share of time in which a channel that users share transmits.",
            "time the cell is busy",
            given.busy,
            **SHARE,
        ),
        Metric(
            "served",
            "1",
            "Share of the users to whom something was delivered.",
            "phones that received something",
            given.of_users("delivered_bytes", lambda rows: (rows > 0).mean(axis=1)),
            "more",
            **SHARE,
        ),
        _from("flows", "application_bps", "application bit rate", "more", can_fail=True, **DONE),
        _from("flows", "retransmit_bps", "radio bit rate, repetitions too", **DONE),
        _from(
            "flows",
            "utilization",
            "channel utilization",
            percent=True,
            of=given.utilization,
            **DONE,
        ),
        _from("flows", "download_s", "download time", "less", can_fail=True, **DONE),
        Metric(
            "download_p50_s",
            "s",
            "The time in which half of the users of a replication have their download; who did "
            "not finish comes last.",
            "download time of the median phone",
            given.downloads(0.5),
            "less",
        ),
        Metric(
            "download_p95_s",
            "s",
            "The same of 95 of 100 users.",
            "download time, 95 of 100 phones",
            given.downloads(0.95),
            "less",
        ),
        _from("flows", "transfer_s", "transfer time", "less", can_fail=True, **DONE),
        _from("flows", "transfer_delay_mean_s", "mean delay of transfers", "less", **DONE),
        _from(
            "flows", "load_median_s", "load time, median", "less", of=given.loads("load_median_s")
        ),
        _from("flows", "load_p95_s", "load time, 95 of 100", "less", of=given.loads("load_p95_s")),
        Metric(
            "stalled_users",
            "1",
            "Share of the users of a replication who had a stall.",
            "phones that stalled",
            given.of_users("stalls", lambda rows: (rows > 0).mean(axis=1)),
            "less",
            **SHARE,
        ),
        _from("flows", "stalls", "stalls (1 s and more)", "less"),
        _from("flows", "stalled_s", "time stalled", "less"),
        _from("flows", "rtt_mean_s", "mean round-trip time", "less"),
        Metric(
            "queueing_delay_s",
            "s",
            "Mean round trip less the shortest that the connection measured: what queues, "
            "repetitions and the wait for the scheduler add (base delay of RFC 6817, 2.4.1).",
            "queueing delay",
            given.queueing,
            "less",
            column=("flows", "rtt_mean_s"),
        ),
        _from("flows", "recovery_s", "time in loss recovery", "less"),
        _from("flows", "timeouts", "retransmission timeouts", "less"),
        _from("flows", "complete", "completed transfers", "more", of=given.complete, **SHARE),
        Metric(
            "block_errors",
            "1",
            "Share of all blocks sent, repetitions included, that were received in error.",
            "block errors, all transmissions",
            given.block_errors,
            "less",
            **SHARE,
        ),
        Metric(
            "switches_per_s",
            "1/s",
            "Set-ups and releases of dedicated channels per second.",
            "channel switches per second",
            given.switching(given.switches, "s"),
        ),
        Metric(
            "switches_per_transfer",
            "1",
            "The same per completed transfer.",
            "channel switches per transfer",
            given.switching(given.switches, "transfers"),
        ),
        Metric(
            "dch_share",
            "1",
            "Share of time for which a dedicated channel is held.",
            "time with a dedicated channel",
            given.switching(given.held, "s"),
            **SHARE,
        ),
        Metric(
            "power_w",
            "W",
            "Mean power of the phone's radio.",
            "power of the phone's radio",
            given.switching(given.channels("energy_j"), "s"),
            "less",
        ),
        _from("phones", "cqi", "channel quality (CQI)", "more"),
        _from("phones", "first_bler", "block errors, first transmission", "less", **SHARE),
        Metric(
            "jain_index",
            "1",
            "Jain's fairness index of the users' `received_bps`.",
            "fairness (Jain)",
            given.fairness,
            "more",
            high=1.0,
        ),
    )
    return {one.name: one for one in lines}


METRICS: dict[str, Metric] = _table()
"""Every metric by name, in the order of a summary."""
OURS = frozenset(one.of for one in METRICS.values())


def add(metric: Metric) -> None:
    """Adds a metric of your own, which summaries, sweeps and comparisons made from then on have.

        from nodeb.results import metrics

        def longest(group):
            return group.each("flows", group.column("flows", "transfer_s"), lambda x: x.max(axis=1))

        metrics.add(metrics.Metric("longest_s", "s", "The longest transfer.", "longest", longest))

    Raises:
        InputError: there is one of this name, or it is no metric.
    """
    if not isinstance(metric, Metric) or not isinstance(metric.name, str) or not metric.name:
        raise InputError(f"{metric!r} is no metric with a name; expected `metrics.Metric(...)`")
    if not callable(metric.of):
        raise InputError(f"metric `{metric.name}`: `of` is {metric.of!r}; expected a function")
    if metric.better not in ("more", "less", ""):
        raise InputError(
            f"metric `{metric.name}`: better is {metric.better!r}; expected more, less or nothing"
        )
    if not metric.low <= metric.high:
        raise InputError(f"metric `{metric.name}`: low is {metric.low}, above {metric.high}")
    if metric.name in METRICS:
        raise InputError(f"there is a metric `{metric.name}` already; choose another name")
    METRICS[metric.name] = metric


def chosen(names: Any) -> list[Metric]:
    """The metrics of these names; all where there is none.

    Raises:
        InputError: a name is not one, or these are not names.
    """
    wanted = as_texts(names, "metrics", '["transfer_s"]')
    for name in wanted:
        if name not in METRICS:
            raise InputError(f"there is no metric `{name}`{nearest(name, METRICS)}")
    return [METRICS[name] for name in wanted or METRICS]
