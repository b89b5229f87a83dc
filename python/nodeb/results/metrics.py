"""The metrics of summaries, sweeps and comparisons.

The core computes its own metrics from the tables of results; `add` adds further ones. A metric has
one value per replication and group of users; users of one replication can influence each other and
are never treated as independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nodeb import _core
from nodeb.base.arguments import as_texts
from nodeb.base.functions import call_checked, numbers
from nodeb.base.table import Table
from nodeb.errors import InputError, nearest
from nodeb.results.group import ALL, Array, Group
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

Tables = Mapping[str, Table]
Own = list[tuple["Metric", dict[str, Array]]]
"""Metrics that users define, each with its values by group to which it applies."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: a number about a group of users in each replication, with unit and meaning."""

    name: str
    unit: str
    """Unit; 1 for a ratio, empty for a count."""
    meaning: str
    label: str
    of: Callable[[Group], Array | None] | None
    """Function that returns a value per run, NaN for none; or None if the metric does not apply.

    A metric without a function is computed by the core.
    """
    better: Literal["more", "less", ""] = ""
    """Direction that is better for the user; empty if that depends."""
    low: float = 0.0
    """Smallest possible mean, in the unit of the metric; minus infinity for no limit."""
    high: float = math.inf
    """Largest possible mean, in the unit of the metric; infinity for no limit."""
    percent: bool = False
    """Whether the metric is shown in per cent."""
    can_fail: bool = False
    """Whether summaries list the metric even if it has no value."""
    column: tuple[str, str] | None = None
    """Table and column that show which users have a value; None if it is no mean over users."""
    completed: bool = False
    """Whether only complete transfers have a value, so that none is expected of endless traffic."""

    def within(self, mean: Interval, duration_s: float) -> Interval:
        return mean.within(self.low, self.highest(duration_s))

    def highest(self, duration_s: float) -> float:
        """Returns the largest possible mean, in the unit of the metric.

        For a metric of the core with the unit s, the duration of a run is a limit besides `high`.
        """
        is_time = self.unit == "s" and self.of is None
        return min(self.high, duration_s) if is_time else self.high


METRICS = {one["name"]: Metric(of=None, **one) for one in _core.built_in_metrics()}


def by_run(tables: Mapping[str, Any]) -> Table:
    """Computes each metric by replication: one row per group of users and run, in this order.

    Columns are `group`, `run` and the metrics, NaN if one has no value. A scenario with one
    group has the rows of group `all` only.
    """
    tables = {k: one if isinstance(one, Table) else Table(one) for k, one in tables.items()}
    return Table(_core.by_run(tables, own_values(tables)))


def summarize(tables: Tables, duration_s: float = math.inf) -> Table:
    """Returns the summary of a result: one row per group of users and metric.

    The mean of a metric's values, one per replication, has a Student-t interval
    (`nodeb.stats.mean_interval`). The interval is cut at the bounds of the metric and, for times,
    at the duration of the run; this does not change its coverage. A user whose transfer did not
    complete in time has no application bit rate and no download or transfer time, and is excluded
    from their means. `complete` is the share of transfers that completed.

    Columns: `group`, `metric`, `unit`, `mean`, `ci95_low`, `ci95_high`, `stdev`, `runs`;
    `covered`, the share of users that have a value (of replications, if the metric is not a mean
    over users). A scenario with one group has the rows of group `all` only.
    """
    return Table(_core.summarize(tables, own_values(tables), duration_s))


def own_values(tables: Tables) -> Own:
    own = [metric for metric in METRICS.values() if metric.of is not None]
    groups = [Group(tables, name) for name in _core.group_names(tables)] if own else []
    each = [(metric, {group.name: _values(metric, group) for group in groups}) for metric in own]
    return [(metric, {k: one for k, one in of.items() if one is not None}) for metric, of in each]


def _values(metric: Metric, group: Group) -> Array | None:
    runs = (len(group.run),)

    def right(found: Any) -> bool:
        return found is None or (numbers(found) and np.shape(found) == runs)

    expected = "an array with a number for each replication, or None"
    assert metric.of is not None
    found = call_checked(metric.of, f"metric `{metric.name}`", expected, right, group)
    return None if found is None else np.asarray(found, dtype=np.float64)


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
