"""Effect of each axis of a sweep: none, or the largest ratio of a metric between two cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.results.metrics import ALL
from nodeb.stats import Interval, ratio_interval
from nodeb.sweep.axes import Axis

if TYPE_CHECKING:
    from nodeb.sweep.results import Known

__all__ = ["Effect", "largest_effects", "without_effect"]

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Effect:
    """Largest effect of an axis on a metric, while the other axes are constant."""

    keys: str
    ratio: Interval
    """Ratio of the larger to the smaller of two cells that differ in these keys, paired by run."""


def largest_effects(table: Table, axes: Sequence[Axis], metric: str, known: Known) -> list[Effect]:
    if metric not in table.columns:
        return []
    means = table[metric][table["group"] == ALL].astype(np.float64)
    if not (means > 0).all():
        return []
    means = means.reshape([len(axis) for axis in axes])

    def by_run(places: tuple[int, ...]) -> NDArray[np.float64]:
        found = known(places).by_run
        values: NDArray[np.float64] = found[metric][found["group"] == ALL]
        return values

    effects = []
    for at, axis in enumerate(axes):
        if len(axis) < 2:
            continue
        ratios = means.max(axis=at, keepdims=True) / means.min(axis=at, keepdims=True)
        places = list(map(int, np.unravel_index(np.argmax(ratios), ratios.shape)))
        line = means[*places[:at], :, *places[at + 1 :]]
        most, least = (
            by_run((*places[:at], int(place), *places[at + 1 :]))
            for place in (np.argmax(line), np.argmin(line))
        )
        runs = min(len(most), len(least))
        both = np.isfinite(most[:runs]) & np.isfinite(least[:runs])
        if both.any():
            ratio = ratio_interval(most[:runs][both], least[:runs][both])
            effects.append(Effect(" with ".join(one.key for one in axis.swept), ratio))
    return sorted(effects, key=lambda one: -one.ratio.mean)


def without_effect(table: Table, axes: Sequence[Axis]) -> list[str]:
    """Returns the swept keys whose values change no result at all."""
    width, begin, idle = sum(len(axis.swept) for axis in axes), 0, []
    swept = [table[name] for name in table.columns[:width]]
    outcomes = [table[name] for name in table.columns[width:]]
    cell = _numbered(swept, len(table))
    for axis in axes:
        end = begin + len(axis.swept)
        others = swept[:begin] + swept[end:]
        if len(axis) > 1 and not _matters(outcomes, cell, _numbered(others, len(table))):
            idle.append(", ".join(one.key for one in axis.swept))
        begin = end
    return idle


def _matters(outcomes: Sequence[NDArray[Any]], cell: Numbers, others: Numbers) -> bool:
    place, rows = _places(cell)
    _, first, like = np.unique(
        _numbered([others, place], len(cell)), return_index=True, return_inverse=True
    )
    # The partner of a row is in the first of the cells that differ only on the axis.
    partner = first[like]
    if (rows != rows[partner]).any():
        return True
    return any(_differ(column, column[partner]) for column in outcomes)


def _differ(one: NDArray[Any], other: NDArray[Any]) -> bool:
    unlike = one != other
    if one.dtype.kind == "f":
        unlike &= ~(np.isnan(one) & np.isnan(other))
    return bool(unlike.any())


def _places(cell: Numbers) -> tuple[Numbers, Numbers]:
    """Returns the index of each row within its cell, and for each row the cell's number of rows."""
    order = np.argsort(cell, kind="stable")
    rows = np.bincount(cell)
    place = np.empty_like(cell)
    place[order] = np.arange(len(cell)) - np.repeat(np.cumsum(rows) - rows, rows)
    return place, rows[cell]


def _numbered(columns: Sequence[NDArray[Any]], rows: int) -> Numbers:
    found = np.zeros(rows, np.int64)
    for column in columns:
        values = column.astype(str) if column.dtype.kind == "O" else column
        _, numbers = np.unique(values, return_inverse=True)
        _, found = np.unique(found * (rows + 1) + numbers, return_inverse=True)
    return found
