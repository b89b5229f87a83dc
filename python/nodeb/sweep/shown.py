"""A metric of the cells of a sweep as text: a grid for two swept keys, otherwise a list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.answer import SURVIVORS, Rows
from nodeb.answer.columns import aligned, beside
from nodeb.answer.numbers import Shown, scale_of, shown
from nodeb.answer.terminal import WIDTH
from nodeb.answer.words import joined
from nodeb.comparison.shown import difference_of, level, ratio_of, sign_of
from nodeb.results.group import ALL, ALL_UP
from nodeb.results.metrics import METRICS, Metric
from nodeb.stats import CONFIDENCE
from nodeb.sweep.against import Compared
from nodeb.sweep.axes import Axis
from nodeb.sweep.cells import Cell
from nodeb.sweep.columns import plain
from nodeb.sweep.results import COVERED, ENDS

if TYPE_CHECKING:
    from nodeb.sweep.sweep import Outcome

__all__ = ["Value", "Values", "every_row", "grid", "listed"]

ALIKE = 3.0
"""Largest ratio of interval widths for which one line describes the precision of all."""
WIDE = 0.5
"""Largest relative half-width for which a grid shows values without their intervals."""


@dataclass(frozen=True, slots=True)
class Value:
    """Metric of one group of users in one cell, with its interval."""

    cell: Cell
    group: str
    mean: float
    low: float
    high: float
    covered: float
    """Share of users that the mean covers, 0 to 1."""
    text: Shown
    """Formatted value, in the unit of the whole sweep."""


class Values:
    """Metric of all phones in each cell of a sweep."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome, self._cells = outcome, outcome.plan.cells
        self._table, name = outcome.table, outcome.metric
        self.metric: Metric = METRICS[name]
        self.axes = [axis for axis in outcome.plan.axes if len(axis) > 1]
        """Axes of the sweep that have several values."""
        self._rows = np.flatnonzero(self._table["group"] == ALL)
        self.mean, self.low, self.high = (self._column(name + end) for end in ENDS)
        share = self._table[name + COVERED] if name + COVERED in self._table.columns else None
        self._shares = np.ones(len(self._table)) if share is None else share
        self.covered = self._shares[self._rows]
        self.known = np.isfinite(self.mean)
        """Mask of the cells that have a value."""

    def _column(self, name: str) -> Any:
        return self._table[name][self._rows].astype(np.float64)

    def __len__(self) -> int:
        return len(self._cells)

    def __getitem__(self, number: int) -> Value:
        return self._value(self._cells[number], int(self._rows[number]))

    def _value(self, cell: Cell, row: int) -> Value:
        name = self.metric.name
        mean, low, high = (float(self._table[name + end][row]) for end in ENDS)
        share, group = float(self._shares[row]), str(self._table["group"][row])
        text = shown(mean, low, high, self.metric.unit, scale=self.scale)
        if share < 1 and math.isfinite(mean):
            text = replace(text, mark=SURVIVORS)
        return Value(cell, group, mean, low, high, share, text)

    def every(self) -> Iterator[Value]:
        # The rows of a cell end with the group of all phones and, with uploads beside downloads,
        # that of all uploads.
        groups = np.append(self._table["group"], "")
        ends = self._rows + (groups[self._rows + 1] == ALL_UP)
        numbers = np.searchsorted(ends, np.arange(len(self._table)))
        for row, number in enumerate(numbers.tolist()):
            yield self._value(self._cells[number], row)

    @cached_property
    def scale(self) -> tuple[str, float]:
        largest = float(np.abs(self.mean[self.known]).max(initial=0.0))
        return scale_of(largest, self.metric.unit, percent=self.metric.percent)

    @property
    def leaves_out(self) -> bool:
        """True if a mean excludes users, for instance those whose transfer did not complete."""
        return bool((self.covered[self.known] < 1).any())

    def where(self, cell: Cell) -> str:
        halves: tuple[list[str], list[str]] = ([], [])
        for at, axis in enumerate(self._outcome.plan.axes):
            if len(axis) > 1:
                taken = [f"{one.key} {plain(one.values[cell.places[at]])}" for one in axis.swept]
                halves[at not in self._fixed].extend(taken)
        return " at ".join(joined(half) for half in halves if half)

    @property
    def _fixed(self) -> dict[int, int]:
        against = self._outcome.against
        return {} if against is None else against.baseline.fixed

    @property
    def baseline(self) -> str:
        """Settings of the baseline in the user's notation, `KEY=VALUE`."""
        return " and ".join(
            f"{one.key}={plain(one.values[place])}"
            for axis, place in self._fixed.items()
            for one in self._outcome.plan.axes[axis].swept
        )

    @property
    def confidence(self) -> float:
        against = self._outcome.against
        return CONFIDENCE if against is None else against.confidence

    @cached_property
    def every_compared(self) -> dict[tuple[tuple[int, ...], str], Compared]:
        """Comparisons with the baseline, by the cell's position on the axes and by group."""
        against = self._outcome.against
        found = [] if against is None else against.compared
        return {(one.cell.places, one.found.group): one for one in found}

    @cached_property
    def compared(self) -> dict[tuple[int, ...], Compared]:
        """Comparisons for all phones together, by the cell's position on the axes."""
        return {at: one for (at, group), one in self.every_compared.items() if group == ALL}

    @cached_property
    def has_ratios(self) -> bool:
        """True if effects are shown in per cent of the baseline; false if as differences."""
        return any(math.isfinite(one.found.ratio.mean) for one in self.every_compared.values())

    @property
    def has_signs(self) -> bool:
        """True if verdicts differ between cells, so that each cell shows its own."""
        return len({sign_of(one.found) for one in self.compared.values()}) > 1

    def relative_width(self) -> float | None:
        """Returns the largest half-width of the cells' intervals, as a share of the cell's mean."""
        usable = self.known & np.isfinite(self.low) & (self.mean != 0)
        halves = (self.high - self.low)[usable] / 2 / np.abs(self.mean[usable])
        halves = halves[halves > 0]
        return float(halves.max()) if are_alike(halves) else None

    def are_alike(self) -> bool:
        """Returns true if one line can describe the precision of all cells.

        No interval is then too wide, or much wider than another.
        """
        if self.compared:
            widths = [one.found.ratio.half_width for one in self.compared.values()]
            return are_alike(np.array([one for one in widths if math.isfinite(one) and one > 0]))
        return self.relative_width() is not None or not np.isfinite(self.low).any()


def are_alike(halves: NDArray[np.float64]) -> bool:
    """Returns true if relative half-widths exist, and one line describes them: alike and small."""
    return bool(halves.size) and halves.max() <= min(ALIKE * halves.min(), WIDE)


def grid(values: Values) -> Rows | None:
    """Returns None if the number of separately swept keys is not two, if the grid is too wide,
    or if the intervals differ so much that each must be shown."""
    if len(values.axes) != 2 or not values.are_alike():
        return None
    if any(len(axis.swept) > 1 for axis in values.axes):
        return None
    for down, across in (values.axes, values.axes[::-1]):
        found = _grid(values, down, across)
        if max(map(len, aligned([found.head, *found.rows]))) <= WIDTH:
            return found
    return None


def _grid(values: Values, down: Axis, across: Axis) -> Rows:
    axes = values._outcome.plan.axes
    rows, columns = axes.index(down), axes.index(across)
    at = {cell.places: number for number, cell in enumerate(values._cells)}

    def value(row: int, column: int) -> list[str | Shown]:
        places = [0] * len(axes)
        places[rows], places[columns] = row, column
        return _parts(values, values[at[tuple(places)]])

    texts = [
        beside([value(row, column) for row in range(len(down))]) for column in range(len(across))
    ]
    corner = f"{down.swept[0].key} \\ {across.swept[0].key}"
    head = [corner, *(str(plain(one)) for one in across.swept[0].values)]
    names = [str(plain(one)) for one in down.swept[0].values]
    return Rows(head, [list(row) for row in zip(names, *texts, strict=True)], _title(values))


def _title(values: Values) -> str:
    unit = values.scale[0]
    text = f"{values.metric.label}{f' in {unit}' if unit else ''}"
    if values.has_ratios:
        text += f", and in % of that with {values.baseline}"
    return text


def _parts(values: Values, one: Value) -> list[str | Shown]:
    """Returns the texts of a grid cell: value, per cent of the baseline, and verdict."""
    number = replace(one.text, unit="")
    if (found := values.compared.get(one.cell.places)) is None:
        return [number, "", ""]
    share = replace(ratio_of(found.found), mark="").value
    return [number, share, sign_of(found.found) if values.has_signs else ""]


def listed(values: Values, most: int) -> Rows:
    found = _rows(values, [values[number] for number in range(min(len(values), most))], False)
    rows, head = [*found.rows], found.head
    if len(values) > most:
        rest = f"... and {len(values) - most} more"
        rows.append([rest, *[""] * (len(rows[0]) - 1)])
    if max(map(len, aligned([head, *rows]))) > WIDTH:
        head = _short(head)
    title = values.metric.label
    if values.compared:
        how = "in % of" if values.has_ratios else "its difference from"
        title = f"{title}, and {how} that with {values.baseline}"
    return Rows(head, rows, title)


def _short(head: Sequence[str]) -> list[str]:
    """Returns the last part of each key name, or the full names if these parts are ambiguous."""
    last = [name.rpartition(".")[2] if "(" not in name else name for name in head]
    return list(head) if len({one for one in last if one}) < sum(map(bool, head)) else last


def every_row(values: Values) -> Rows:
    """Returns a row for each cell and group of users, with everything known about it."""
    found = _rows(values, list(values.every()), True)
    return replace(found, title=f"{values.metric.label}, every cell")


def _rows(values: Values, found: Sequence[Value], whole: bool) -> Rows:
    head: list[str] = []
    columns: list[Sequence[str | Shown]] = []

    def add(name: str, texts: Sequence[Shown | None], ends: str) -> None:
        head.append(name)
        columns.append([one or "" for one in texts])
        if ends:
            head.append(f"({ends})")
            columns.append([one.interval if one else "" for one in texts])

    for at, axis in enumerate(values._outcome.plan.axes):
        for swept in axis.swept if len(axis) > 1 else ():
            head.append(swept.key)
            columns.append([str(plain(swept.values[one.cell.places[at]])) for one in found])
    if len({one.group for one in found}) > 1:
        head.append("phones")
        columns.append([one.group for one in found])
    add("mean", [one.text for one in found], "95 %" if whole or not values.compared else "")
    if values.compared:
        known = [values.every_compared.get((one.cell.places, one.group)) for one in found]
        against = [None if one is None else one.found for one in known]
        ends, scale = level(values.confidence), values.scale
        if whole or not values.has_ratios:
            add(
                "difference",
                [one if one is None else difference_of(one, scale) for one in against],
                ends,
            )
        if values.has_ratios:
            add("in %", [one if one is None else ratio_of(one) for one in against], ends)
        head.append("verdict")
        columns.append([one.verdict.word if one else "" for one in against])
    return Rows(head, [list(row) for row in zip(*columns, strict=True)])
