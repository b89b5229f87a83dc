"""Table of a sweep: metrics of each cell with 95 % intervals, and differences from the baseline."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.arguments import is_number
from nodeb.base.table import Table
from nodeb.base.units import quantity
from nodeb.comparison.differences import Difference, difference
from nodeb.errors import InputError, nearest
from nodeb.inputs.changes import value_at
from nodeb.inputs.keys import toml_value
from nodeb.results.metrics import ALL, METRICS, own_values
from nodeb.stats import CONFIDENCE, Interval, family_confidence, mean_interval
from nodeb.sweep.axes import Axis
from nodeb.sweep.cells import Cells

ENDS = ("", "_ci95_low", "_ci95_high")
DIFFERENCE = "_diff"
COVERED = "_covered"
"""Suffix of the column with the share of users, or replications, that a mean covers."""
FEW = 0.5
"""Share of unfinished transfers from which the default metric is the received bit rate."""


@dataclass(frozen=True)
class Metrics:
    """Metrics of one cell by replication, the coverage of their means, and unfinished transfers."""

    by_run: Table
    """Metrics by group and replication: the result of `results.metrics.by_run`."""
    reached: bool
    covered: Mapping[str, Mapping[str, float]]
    """Share of users that a mean covers, by group and metric."""
    open: _core.Unfinished
    duration_s: float

    @classmethod
    def of(cls, tables: Mapping[str, Table], reached: bool, duration_s: float) -> Metrics:
        own = own_values(tables)
        covered = _core.coverage(tables, own)
        end_s = float(np.max(tables["bearers"]["end_s"], initial=0.0))
        open_ = _core.unfinished(tables, end_s)
        return cls(Table(_core.by_run(tables, own)), reached, covered, open_, duration_s)

    def of_group(self, group: str, metric: str) -> NDArray[np.float64]:
        """Values by replication; NaN if the cell has no such metric or group."""
        rows = self.by_run["group"] == group
        if metric in self.by_run.columns and rows.any():
            return np.asarray(self.by_run[metric][rows], np.float64)
        return np.full(len(np.unique(self.by_run["run"])), math.nan)


Load = Callable[[int], Metrics]
"""Function that returns the metrics of a cell by its number."""


@dataclass(frozen=True)
class Baseline:
    """Rule for the baseline of a cell: the cell that differs from it only on the fixed axes."""

    fixed: dict[int, int]
    """Position of all baseline cells on each fixed axis, by index of the axis."""
    name: str
    """The settings as `KEY=VALUE`."""

    @classmethod
    def read(cls, settings: Sequence[str], axes: Sequence[Axis]) -> Baseline | None:
        fixed: dict[int, int] = {}
        for setting in settings:
            number, at = _find(setting, axes)
            if fixed.setdefault(number, at) != at:
                raise InputError(f"--baseline {setting} contradicts another --baseline")
        chosen = ((swept, at) for number, at in fixed.items() for swept in axes[number].swept)
        name = " and ".join(f"{swept.key}={plain(swept.values[at])}" for swept, at in chosen)
        return cls(fixed, name) if settings else None


@dataclass(frozen=True)
class Against:
    """All cells except baseline cells, each compared with its own baseline cell."""

    baseline: Baseline
    confidence: float
    """Confidence of each interval: all intervals of a group of users together hold with 95 %."""
    compared: dict[tuple[int, str], Difference]
    """Differences in one metric, by number of the cell and group of users."""


def against(cells: Cells, load: Load, baseline: Baseline, metric: str, margin: float) -> Against:
    pairs = [(cells.beside(number, baseline.fixed), number) for number in range(len(cells))]
    others = [pair for pair in pairs if pair[0] != pair[1]]
    confidence = family_confidence(len(others))
    compared = {}
    for pair in others:
        both = base, own = [load(number) for number in pair]
        for group in base.by_run.distinct("group"):
            if each := _difference(group, metric, base, own, margin, confidence):
                share = min(one.covered[group][metric] for one in both)
                compared[pair[1], group] = replace(each, covered=share)
    return Against(baseline, confidence, compared)


def swept_columns(cells: Cells) -> dict[str, list[Any]]:
    """Swept values by column; the name of a column of quantities ends in their unit."""
    keys = [swept.key for axis in cells.axes for swept in axis.swept]
    written: dict[str, list[Any]] = {key: [] for key in keys}
    resolved: dict[str, list[Any]] = {key: [] for key in keys}
    # An axis has few distinct values, so one object is stored for each instead of one per cell.
    same: dict[str, Any] = {}
    for cell in cells:
        scenario = json.loads(cell.scenario)
        for key in keys:
            value = value_at(key, scenario)
            written[key].append(cell.values[key])
            resolved[key].append(same.setdefault(repr(value), value))
    return dict(_column(key, written[key], resolved[key]) for key in keys)


def _column(key: str, written: Sequence[Any], resolved: Sequence[Any]) -> tuple[str, list[Any]]:
    quantities = [quantity(v) if isinstance(v, str) else None for v in resolved]
    numbers = [each for each in quantities if each is not None]
    suffixes = {suffix for _, suffix in numbers}
    if len(numbers) == len(resolved) and len(suffixes) == 1:
        return f"{key}_{suffixes.pop()}", [number for number, _ in numbers]
    kinds = {type(v) for v in resolved}
    if kinds <= {int, float} or kinds == {bool}:
        return key, list(resolved)
    return key, [plain(v) for v in written]


def plain(value: Any) -> Any:
    """Returns a value for messages: text without quotes, anything else as TOML."""
    return value if isinstance(value, str) else toml_value(value)


def results(
    cells: Cells, seed: int, load: Load, baseline: Baseline | None = None
) -> tuple[Table, list[int], _core.Unfinished]:
    """Returns the table of a sweep, the cell of each row, and all unfinished transfers.

    There is one row per cell and, if there are several groups of users, per group and for `all`.
    The columns are the swept keys with their units, `group`, `runs`, `precision_reached`,
    `seed`, `version`, and for each metric of the summary its mean (`transfer_s`) and 95 %
    interval (`transfer_s_ci95_low`, `transfer_s_ci95_high`). If the metric excludes users in any
    row, the share of users that it covers follows (`transfer_s_covered`).
    """
    swept = swept_columns(cells)
    texts: dict[str, list[Any]] = {}
    numbers: dict[str, array[float]] = {}
    rows: list[int] = []
    unended = _core.Unfinished()
    for number in range(len(cells)):
        own = load(number)
        base = load(cells.beside(number, baseline.fixed)) if baseline else None
        runs = len(np.unique(own.by_run["run"]))
        for group in own.by_run.distinct("group"):
            row = {name: values[number] for name, values in swept.items()}
            row |= {"group": group, "runs": runs, "precision_reached": own.reached}
            for name, value in (row | {"seed": seed, "version": _core.version()}).items():
                texts.setdefault(name, []).append(value)
            # A row may lack metrics of others, such as fairness with a single user.
            for name, mean in _metrics(group, own, base):
                column = numbers.setdefault(name, array("d"))
                column.extend([_missing(name)] * (len(rows) - len(column)))
                column.append(mean)
            rows.append(number)
        unended += own.open
    for name, column in numbers.items():
        column.extend([_missing(name)] * (len(rows) - len(column)))
    means = {name: np.frombuffer(column) for name, column in numbers.items()}
    whole = {name for name in means if name.endswith(COVERED) and (means[name] == 1).all()}
    means = {name: column for name, column in means.items() if name not in whole}
    return Table({**texts, **means}), rows, unended


def _missing(name: str) -> float:
    return 1.0 if name.endswith(COVERED) else math.nan


def shown_metric(table: Table, open_: _core.Unfinished) -> str:
    """Returns the default metric.

    This is the application bit rate if every cell has one and the share of unfinished transfers is
    below `FEW`, otherwise the received bit rate.
    """
    rate = "application_bps"
    known = rate in table.columns and np.isfinite(table[rate][table["group"] == ALL]).all()
    return rate if known and open_.share < FEW else "received_bps"


def without_effect(table: Table, axes: Sequence[Axis]) -> list[str]:
    """Returns the swept keys whose values change no result at all."""
    end, idle, width = 0, [], sum(len(axis.swept) for axis in axes)
    for axis in axes:
        begin, end = end, end + len(axis.swept)
        outcomes: dict[tuple[str, ...], list[str]] = {}
        for row in table:
            cells = [str(value) for value in row.values()]
            others = *cells[:begin], *cells[end:width], row["group"]
            if outcomes.setdefault(others, cells[width:]) != cells[width:]:
                break
        else:
            if len(axis) > 1:
                idle.append(", ".join(swept.key for swept in axis.swept))
    return idle


def _metrics(group: str, own: Metrics, base: Metrics | None) -> Iterator[tuple[str, float]]:
    for metric in (name for name in METRICS if name in own.by_run.columns):
        values = own.of_group(group, metric)
        yield from _ends(metric, _mean(metric, values, own.duration_s))
        yield metric + COVERED, own.covered[group][metric]
        if base is not None:
            found = _difference(group, metric, base, own)
            yield from _ends(metric + DIFFERENCE, found.difference if found else None)


def _ends(name: str, interval: Interval | None) -> Iterator[tuple[str, float]]:
    ends = [math.nan] * 3 if interval is None else [interval.mean, interval.low, interval.high]
    return zip((name + end for end in ENDS), ends, strict=True)


def _mean(metric: str, values: NDArray[np.float64], duration_s: float) -> Interval | None:
    values = values[np.isfinite(values)]
    return METRICS[metric].within(mean_interval(values), duration_s) if values.size else None


def _difference(
    group: str,
    metric: str,
    base: Metrics,
    own: Metrics,
    margin: float = 0.0,
    confidence: float = CONFIDENCE,
) -> Difference | None:
    values = base.of_group(group, metric), own.of_group(group, metric)
    durations_s = base.duration_s, own.duration_s
    return difference(group, METRICS[metric], *values, margin, confidence, durations_s)


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
    is_plain = isinstance(value, int | float) and not isinstance(value, bool)
    return is_plain and is_number(text) and float(text) == value
