"""Which share of those who should have a value of a metric do have one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.results.group import Array, Group
from nodeb.results.metrics import Metric

__all__ = ["covered", "covered_by_run"]


def covered(metric: Metric, group: Group, values: Array) -> float:
    """Which share of those who should have a value of a metric do have one, 1 for all.

    Of a users' mean these are the users of all replications, of other metrics the replications.
    Below 1 the mean is one over survivors: who did not finish, or received nothing, is left out.

    Args:
        metric: one that the tables of the group give.
        group: the users.
        values: the metric by run.
    """
    has, _ = _who(metric, group, values)
    return float(has.mean()) if has.size else 1.0


def covered_by_run(metric: Metric, group: Group, values: Array) -> Array:
    """The same share in each replication."""
    has, at = _who(metric, group, values)
    count = np.bincount(at, minlength=len(group.run))
    shares = np.ones(len(group.run))
    np.divide(np.bincount(at, has, len(group.run)), count, out=shares, where=count > 0)
    return shares


def _who(metric: Metric, group: Group, values: Array) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Whether each who should have a value has one, and the replication of each."""
    if metric.column is None:
        return np.isfinite(values), np.arange(len(values))
    table, name = metric.column
    has, at = np.isfinite(group.column(table, name)), group.at(table)
    if not metric.completed:
        return has, at
    ends = group.column("flows", "endless") == 0
    return has[ends], at[ends]
