"""Means that exclude some replications, phones or transfers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.answer.words import joined, percent
from nodeb.results.group import Array, Group
from nodeb.results.metrics import Metric

__all__ = ["coverage", "left_out"]


def coverage(metric: Metric, group: Group, values: Array) -> float:
    """Below 1, the mean excludes users or replications that lack a value."""
    has, _ = _existing(metric, group, values)
    return float(has.mean()) if has.size else 1.0


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


def left_out(covered: Iterable[tuple[str, Metric, float]]) -> Iterator[str]:
    """Yields sentences on means that exclude some replications, phones or transfers."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for label, metric, share in covered:
        if share < 1:
            kinds.setdefault(_core.of_whom(metric), {}).setdefault(percent(share), []).append(label)
    for who, shares in kinds.items():
        each = [f"{part} for {joined(names)}" for part, names in shares.items()]
        yield f"Only of {who}: {'; '.join(each)}."
