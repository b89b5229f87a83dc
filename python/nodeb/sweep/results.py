"""Table of a sweep: metrics of each cell with 95 % intervals, and differences from the baseline."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.table import Table
from nodeb.comparison.differences import difference_within
from nodeb.errors import InputError, nearest
from nodeb.results.coverage import coverage
from nodeb.results.metrics import ALL, METRICS, Group, by_run
from nodeb.results.survivors import NO_TRANSFERS, Unfinished, unfinished
from nodeb.stats import Interval, mean_interval, paired_difference
from nodeb.sweep.axes import Axis
from nodeb.sweep.cells import Cell
from nodeb.sweep.columns import column, place, plain, quantity

__all__ = [
    "COVERED",
    "ENDS",
    "Baseline",
    "Found",
    "Known",
    "results",
    "shown_metric",
    "swept_columns",
]

ENDS = ("", "_ci95_low", "_ci95_high")
DIFFERENCE = "_diff"
COVERED = "_covered"
"""Suffix of the column with the share of users, or replications, that a mean covers."""
FEW = 0.5
"""Share of unfinished transfers from which the default metric is the received bit rate."""
CHUNK = 1000
"""Number of rows of a sweep's table that are converted to arrays together, to save memory."""


@dataclass(frozen=True)
class Found:
    """Metrics of one cell by replication, the coverage of their means, and unfinished transfers."""

    by_run: Table
    """Metrics by group and replication: the result of `results.metrics.by_run`."""
    reached: bool
    covered: Mapping[str, Mapping[str, float]]
    """Share of users that a mean covers, by group and metric."""
    open: Unfinished
    duration_s: float = math.inf

    @classmethod
    def of(cls, tables: Mapping[str, Table], reached: bool, duration_s: float = math.inf) -> Found:
        found = by_run(tables)
        shares = {
            group: _covered(Group(tables, group), found.where(found["group"] == group))
            for group in found.distinct("group")
        }
        end_s = float(np.max(tables["bearers"]["end_s"], initial=0.0))
        return cls(found, reached, shares, unfinished(tables["flows"], end_s), duration_s)


def _covered(group: Group, found: Table) -> dict[str, float]:
    known = (METRICS[name] for name in METRICS if name in found.columns)
    return {one.name: coverage(one, group, found[one.name]) for one in known}


Known = Callable[[tuple[int, ...]], Found]


@dataclass(frozen=True)
class Baseline:
    """Rule for the baseline of a cell: the cell that differs from it only on the fixed axes."""

    fixed: dict[int, int]
    """Position of all baseline cells on each fixed axis, by index of the axis."""

    @classmethod
    def read(cls, settings: Sequence[str], axes: Sequence[Axis]) -> Baseline | None:
        fixed: dict[int, int] = {}
        for setting in settings:
            number, at = _find(setting, axes)
            if fixed.setdefault(number, at) != at:
                raise InputError(f"--baseline {setting} contradicts another --baseline")
        return cls(fixed) if settings else None

    def of(self, cell: Cell) -> tuple[int, ...]:
        return tuple(self.fixed.get(axis, at) for axis, at in enumerate(cell.places))


def swept_columns(cells: Sequence[Cell], axes: Sequence[Axis]) -> dict[str, list[Any]]:
    keys = [one.key for axis in axes for one in axis.swept]
    written: dict[str, list[Any]] = {key: [] for key in keys}
    resolved: dict[str, list[Any]] = {key: [] for key in keys}
    # An axis has few distinct values, so one object is stored for each instead of one per cell.
    same: dict[str, Any] = {}
    for cell in cells:
        scenario = json.loads(cell.scenario)
        for key in keys:
            value = place(scenario, key)
            written[key].append(cell.values[key])
            resolved[key].append(same.setdefault(repr(value), value))
    return dict(column(key, written[key], resolved[key]) for key in keys)


def results(
    cells: Sequence[Cell],
    axes: Sequence[Axis],
    seed: int,
    known: Known,
    baseline: Baseline | None = None,
) -> tuple[Table, Unfinished]:
    """Returns the table of a sweep, and the unfinished transfers of all cells together.

    There is one row per cell and, if there are several groups of users, per group and for `all`.
    The columns are the swept keys with their units, `group`, `runs`, `precision_reached`,
    `seed`, `version`, and for each metric of `results.summary` its mean (`transfer_s`) and 95 %
    interval (`transfer_s_ci95_low`, `transfer_s_ci95_high`). If the metric excludes users in any
    row, the share of users that it covers follows (`transfer_s_covered`).
    """
    swept = swept_columns(cells, axes)
    rows, unended = _Rows(), NO_TRANSFERS
    for i, cell in enumerate(cells):
        own = known(cell.places)
        other = known(baseline.of(cell)) if baseline else None
        runs = len(np.unique(own.by_run["run"]))
        for group in own.by_run.distinct("group"):
            row = {name: values[i] for name, values in swept.items()}
            row |= {"group": group, "runs": runs, "precision_reached": own.reached}
            row |= {"seed": seed, "version": _core.version()}
            rows.add(row | dict(_metrics(group, own, other)))
        unended += own.open
    return rows.table(), unended


def shown_metric(table: Table, open_: Unfinished) -> str:
    """Returns the default metric.

    This is the application bit rate if every cell has one and the share of unfinished transfers is
    below `FEW`, otherwise the received bit rate.
    """
    rate = "application_bps"
    known = rate in table.columns and np.isfinite(table[rate][table["group"] == ALL]).all()
    return rate if known and open_.share < FEW else "received_bps"


class _Rows:
    """Rows that become a table."""

    def __init__(self) -> None:
        self._chunks: list[dict[str, NDArray[Any]]] = []
        self._lengths: list[int] = []
        self._last: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        self._last.append(row)
        if len(self._last) == CHUNK:
            self._pack()

    def table(self) -> Table:
        self._pack()
        names = {name: None for chunk in self._chunks for name in chunk}
        return Table({name: self._column(name) for name in _ordered(names)})

    def _pack(self) -> None:
        # Rows may have different metrics, such as no fairness for a single user, so the chunk gets
        # the columns of all its rows.
        rows, self._last = self._last, []
        names = {name: None for row in rows for name in row}
        chunk = {
            name: np.asarray([row.get(name, _missing(name)) for row in rows]) for name in names
        }
        self._chunks.append(chunk)
        self._lengths.append(len(rows))

    def _column(self, name: str) -> NDArray[Any]:
        parts = zip(self._chunks, self._lengths, strict=True)
        missing = _missing(name)
        return np.concatenate([chunk.pop(name, np.full(n, missing)) for chunk, n in parts])


def _missing(name: str) -> float:
    """Returns the value of a column in rows that lack it: 1 for a share of users, otherwise NaN."""
    return 1.0 if name.endswith(COVERED) else math.nan


def _ordered(names: Collection[str]) -> Iterator[str]:
    """Yields column names in the given order, but `_covered` behind the metric's `_ci95_high`.

    A column `_covered` has the share of users with a value of the metric.
    """
    for name in names:
        if not name.endswith(COVERED):
            yield name
        if (share := name.removesuffix(ENDS[-1]) + COVERED) in names and name.endswith(ENDS[-1]):
            yield share


def _metrics(group: str, own: Found, other: Found | None) -> Iterator[tuple[str, float]]:
    for metric in (name for name in METRICS if name in own.by_run.columns):
        values = _by_run(own.by_run, group, metric)
        yield from zip(
            (metric + end for end in ENDS), _ends(_mean(metric, values, own)), strict=True
        )
        if own.covered[group][metric] < 1:
            yield metric + COVERED, own.covered[group][metric]
        if other is not None:
            base = _by_run(other.by_run, group, metric)
            ends = _ends(_difference(metric, (values, own), (base, other)))
            yield from zip((metric + DIFFERENCE + end for end in ENDS), ends, strict=True)


def _by_run(metrics: Table, group: str, metric: str) -> NDArray[np.float64]:
    """NaN if the cell has no such metric or group."""
    if metric in metrics.columns:
        found: NDArray[np.float64] = metrics[metric][metrics["group"] == group].astype(np.float64)
        if found.size:
            return found
    return np.full(len(np.unique(metrics["run"])), math.nan)


def _ends(found: Interval | None) -> tuple[float, float, float]:
    return (math.nan, math.nan, math.nan) if found is None else (found.mean, found.low, found.high)


def _mean(metric: str, values: NDArray[np.float64], of: Found) -> Interval | None:
    values = values[np.isfinite(values)]
    return METRICS[metric].within(mean_interval(values), of.duration_s) if values.size else None


def _difference(
    metric: str, own: tuple[NDArray[np.float64], Found], base: tuple[NDArray[np.float64], Found]
) -> Interval | None:
    """Returns the interval of the paired difference over the runs common to both cells."""
    common = min(own[0].size, base[0].size)
    both = np.isfinite(own[0][:common]) & np.isfinite(base[0][:common])
    if not both.any():
        return None
    mine, other = own[0][:common][both], base[0][:common][both]
    mean = METRICS[metric].within(mean_interval(other), base[1].duration_s)
    found = paired_difference(mine, other)
    return difference_within(METRICS[metric], found, mean, own[1].duration_s)


def _find(setting: str, axes: Sequence[Axis]) -> tuple[int, int]:
    key, equals, text = (part.strip() for part in setting.partition("="))
    if not equals:
        raise InputError(f'--baseline {setting}: expected KEY=VALUE, such as wired.delay="50 ms"')
    swept = {one.key: (n, one) for n, axis in enumerate(axes) for one in axis.swept}
    if key not in swept:
        raise InputError(f"--baseline: unknown swept key `{key}`{nearest(key, swept)}")
    number, one = swept[key]
    at = [i for i, value in enumerate(one.values) if _same(value, text)]
    if len(at) != 1:
        taken = ", ".join(plain(value) for value in one.values)
        why = "takes this value more than once" if at else "does not take this value"
        raise InputError(f"--baseline {setting}: `{key}` {why} (values: {taken})")
    return number, at[0]


def _same(value: Any, text: str) -> bool:
    text = text.strip("\"'")
    if plain(value) == text:
        return True
    if isinstance(value, str):
        return (found := quantity(value)) is not None and found == quantity(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return False
