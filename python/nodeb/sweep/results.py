"""The table of a sweep: metrics of each cell with 95 % intervals, and differences to a baseline."""

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
from nodeb.errors import InputError, nearest
from nodeb.results.coverage import coverage
from nodeb.results.metrics import ALL, METRICS, Group, by_run
from nodeb.results.survivors import NO_TRANSFERS, Unfinished, unfinished
from nodeb.stats import mean_interval, paired_difference
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
"""End of the column with the share of users, or replications, of which a mean is."""
CHUNK = 1000
"""So many rows are packed together."""


@dataclass(frozen=True)
class Found:
    """Metrics of one cell."""

    by_run: Table
    """As `results.metrics.by_run` gives them."""
    reached: bool
    """Whether a precision was reached."""
    covered: Mapping[str, Mapping[str, float]]
    """Group -> metric -> the share of users of which its mean is."""
    open: Unfinished
    """What did not finish."""

    @classmethod
    def of(cls, tables: Mapping[str, Table], reached: bool) -> Found:
        """The metrics of the replications that count."""
        found = by_run(tables)
        shares = {
            group: _covered(Group(tables, group), found.where(found["group"] == group))
            for group in found.distinct("group")
        }
        end_s = float(np.max(tables["bearers"]["end_s"], initial=0.0))
        return cls(found, reached, shares, unfinished(tables["flows"], end_s))


def _covered(group: Group, found: Table) -> dict[str, float]:
    known = (METRICS[name] for name in METRICS if name in found.columns)
    return {one.name: coverage(one, group, found[one.name]) for one in known}


Known = Callable[[tuple[int, ...]], Found]
"""Gives the metrics of the cell at these places."""


@dataclass(frozen=True)
class Baseline:
    """What each cell is compared with: the cell that has some values in place of its own."""

    fixed: dict[int, int]
    """Number of an axis -> its place in the baseline."""

    @classmethod
    def read(cls, settings: Sequence[str], axes: Sequence[Axis]) -> Baseline | None:
        """The baseline that `KEY=VALUE` settings ask for; None if there are none.

        Raises:
            InputError: a key is not swept, or does not take the value.
        """
        fixed: dict[int, int] = {}
        for setting in settings:
            number, at = _find(setting, axes)
            if fixed.setdefault(number, at) != at:
                raise InputError(f"--baseline {setting} contradicts another --baseline")
        return cls(fixed) if settings else None

    def of(self, cell: Cell) -> tuple[int, ...]:
        """Places of the cell that a cell is compared with."""
        return tuple(self.fixed.get(axis, at) for axis, at in enumerate(cell.places))


def swept_columns(cells: Sequence[Cell], axes: Sequence[Axis]) -> dict[str, list[Any]]:
    """The columns of the swept keys, one value per cell."""
    keys = [one.key for axis in axes for one in axis.swept]
    written: dict[str, list[Any]] = {key: [] for key in keys}
    resolved: dict[str, list[Any]] = {key: [] for key in keys}
    same: dict[str, Any] = {}  # an axis has few values: one object for each
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
    """The table of a sweep, and what did not finish in all cells together.

    One row per cell and, where there are several groups of users, per group and for `all`. The
    columns are the swept keys with their units, `group`, `runs`, `precision_reached`, `seed`,
    `version`, and for each metric of `results.summary` its mean (`transfer_s`) and 95 % interval
    (`transfer_s_ci95_low`, `transfer_s_ci95_high`). A metric that leaves out users in any of the
    rows has the share of those that it is of, too (`transfer_s_covered`). With a baseline the
    paired difference "cell less baseline" follows in the same form (`transfer_s_diff`, ...).

    Args:
        cells: the cells, in order of the rows.
        axes: what is swept.
        seed: seed of all random streams.
        known: gives the metrics of a cell.
        baseline: what the cells are compared with.
    """
    swept = swept_columns(cells, axes)
    rows, unended = _Rows(), NO_TRANSFERS
    for i, cell in enumerate(cells):
        own = known(cell.places)
        other = known(baseline.of(cell)).by_run if baseline else None
        runs = len(np.unique(own.by_run["run"]))
        for group in own.by_run.distinct("group"):
            row = {name: values[i] for name, values in swept.items()}
            row |= {"group": group, "runs": runs, "precision_reached": own.reached}
            row |= {"seed": seed, "version": _core.version()}
            rows.add(row | dict(_metrics(group, own, other)))
        unended += own.open
    return rows.table(), unended


def shown_metric(table: Table) -> str:
    """What people are shown unless they ask: a bit rate that every cell has."""
    rate = "application_bps"
    known = rate in table.columns and np.isfinite(table[rate][table["group"] == ALL]).all()
    return rate if known else "received_bps"


class _Rows:
    """Rows that become a table, and take little more memory than it while they do."""

    def __init__(self) -> None:
        self._chunks: list[dict[str, NDArray[Any]]] = []
        self._lengths: list[int] = []
        self._last: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        """Adds a row."""
        self._last.append(row)
        if len(self._last) == CHUNK:
            self._pack()

    def table(self) -> Table:
        """All rows, which go with it."""
        self._pack()
        names = {name: None for chunk in self._chunks for name in chunk}
        return Table({name: self._column(name) for name in _ordered(names)})

    def _pack(self) -> None:
        # A cell may have metrics that another has not, such as the fairness of a single user.
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
    """What a row has that says nothing of a column: it leaves nobody out."""
    return 1.0 if name.endswith(COVERED) else math.nan


def _ordered(names: Collection[str]) -> Iterator[str]:
    """Columns in their order, with shares behind the interval that they are about."""
    for name in names:
        if not name.endswith(COVERED):
            yield name
        if (share := name.removesuffix(ENDS[-1]) + COVERED) in names and name.endswith(ENDS[-1]):
            yield share


def _metrics(group: str, own: Found, other: Table | None) -> Iterator[tuple[str, float]]:
    """Name and value of each metric's columns."""
    for metric in (name for name in METRICS if name in own.by_run.columns):
        values = _by_run(own.by_run, group, metric)
        yield from zip((metric + end for end in ENDS), _interval(metric, values), strict=True)
        if own.covered[group][metric] < 1:
            yield metric + COVERED, own.covered[group][metric]
        if other is not None:
            found = _difference(values, _by_run(other, group, metric))
            yield from zip((metric + DIFFERENCE + end for end in ENDS), found, strict=True)


def _by_run(metrics: Table, group: str, metric: str) -> NDArray[np.float64]:
    """Returns a metric of a group by run, NaN where a cell has no such metric or group."""
    if metric in metrics.columns:
        found: NDArray[np.float64] = metrics[metric][metrics["group"] == group].astype(np.float64)
        if found.size:
            return found
    return np.full(len(np.unique(metrics["run"])), math.nan)


def _interval(metric: str, values: NDArray[np.float64]) -> tuple[float, float, float]:
    values = values[np.isfinite(values)]
    if not values.size:
        return math.nan, math.nan, math.nan
    found = mean_interval(values).within(METRICS[metric].low, METRICS[metric].high)
    return found.mean, found.low, found.high


def _difference(own: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float, float]:
    """Paired by run, over the runs that both have."""
    common = min(own.size, other.size)
    both = np.isfinite(own[:common]) & np.isfinite(other[:common])
    if not both.any():
        return math.nan, math.nan, math.nan
    found = paired_difference(own[:common][both], other[:common][both])
    return found.mean, found.low, found.high


def _find(setting: str, axes: Sequence[Axis]) -> tuple[int, int]:
    """Number of the axis and place on it that `KEY=VALUE` means."""
    key, equals, text = (part.strip() for part in setting.partition("="))
    if not equals:
        raise InputError(f'--baseline {setting}: expected KEY=VALUE, such as wired.delay="50 ms"')
    swept = {one.key: (n, one) for n, axis in enumerate(axes) for one in axis.swept}
    if key not in swept:
        raise InputError(f"--baseline: no swept key is `{key}`{nearest(key, swept)}")
    number, one = swept[key]
    at = [i for i, value in enumerate(one.values) if _same(value, text)]
    if len(at) != 1:
        taken = ", ".join(plain(value) for value in one.values)
        why = "takes this value more than once" if at else "does not take this value"
        raise InputError(f"--baseline {setting}: `{key}` {why} (values: {taken})")
    return number, at[0]


def _same(value: Any, text: str) -> bool:
    """Whether a value of the file is what somebody wrote on the command line."""
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
