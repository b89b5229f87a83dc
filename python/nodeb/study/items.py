"""The tables and figures of a study: quantities by row or curve, next to printed values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nodeb.errors import InputError
from nodeb.stats import Estimate, prediction_interval
from nodeb.storage.files import csv_text
from nodeb.study.axis import Key, Point, axis_label, label_of
from nodeb.study.case import Case
from nodeb.study.quantity import Measured, Value, value_of

if TYPE_CHECKING:
    from nodeb.study.campaign import Campaign

__all__ = ["Cell", "Cells", "Figure", "Mark", "Table"]

Rows = Mapping[Key, Mapping[Key, Value | float]]
"""Quantities by row and column of a table, or by curve and x value of a figure."""
MISSING = ("-", "nan")
"""Texts that mark a value which the paper did not print."""
COLUMNS = (
    *("study", "item", "row", "column", "unit"),
    *("published", "measured", "ci95_low", "ci95_high", "replications"),
    *("published_runs", "prediction95_low", "prediction95_high"),
)


@dataclass(frozen=True)
class Cell:
    """One table cell or one point of a curve."""

    item: str
    row: str
    column: str
    unit: str
    published: float | None
    measured: Estimate
    digits: int = 1
    tolerance: float | None = None
    """Largest deviation from the published value that counts as near it; None if not set."""
    expected: tuple[float, float] | None = None
    """95 % prediction interval of the mean of `runs` replications, which the paper made."""
    runs: int | None = None
    rounding: float = 0.0
    """The published value, which is rounded, may lie outside `expected` by this much."""

    @property
    def within(self) -> bool | None:
        """Whether the published value lies in the prediction interval; None if not known."""
        if self.published is None or self.expected is None:
            return None
        slack, (low, high) = self.rounding + _rounding(self.published), self.expected
        return low - slack <= self.published <= high + slack

    @property
    def near(self) -> bool | None:
        """Whether the deviation is within the tolerance; None if there is nothing to compare."""
        if self.published is None or self.tolerance is None:
            return None
        distance = abs(self.measured.value - self.published) - _rounding(self.published)
        return distance <= self.tolerance  # Not true if the measured value is NaN.


def _rounding(value: float) -> float:
    """Rounding errors of arithmetic, which must not matter at a limit."""
    return 1e-9 * max(1.0, abs(value))


@dataclass(frozen=True)
class Cells:
    """A measured table or figure: its cells, by row or curve."""

    spec: Item
    rows: tuple[tuple[Cell, ...], ...]

    def __iter__(self) -> Iterator[Cell]:
        for row in self.rows:
            yield from row


def number(value: float | None) -> str:
    """Returns a number as text for CSV files: seven significant digits, "" if it is not finite."""
    return f"{value:.7g}" if value is not None and math.isfinite(value) else ""


def to_csv(study: str, cells: Iterable[Cell]) -> str:
    return csv_text(COLUMNS, ([study, *_row(cell)] for cell in cells))


def _row(cell: Cell) -> list[object]:
    found = cell.measured
    values = (cell.published, found.value, found.low, found.high)
    few = ["", "", ""] if cell.expected is None else [cell.runs, *map(number, cell.expected)]
    where = (cell.item, cell.row, cell.column, cell.unit)
    return [*where, *map(number, values), found.runs, *few]


class Item:
    """Base class of tables and figures."""

    def __init__(
        self, name: str, title: str, rows: Rows, unit: str | None, digits: int, note: str
    ) -> None:
        self.id, self.title, self.digits, self.note = name, title, digits, note
        if not isinstance(rows, Mapping) or not all(isinstance(r, Mapping) for r in rows.values()):
            raise InputError(f"{name}: expected cells as quantities, by row and column")
        self.rows: dict[Key, dict[Key, Value]] = {
            key: {column: value_of(cell) for column, cell in row.items()}
            for key, row in rows.items()
        }
        columns = [list(map(label_of, row)) for row in self.rows.values()]
        if not columns or not columns[0]:
            raise InputError(f"{name} has no cells")
        if odd := [one for one in columns if one != columns[0]]:
            raise InputError(f"{name}: rows have different columns, {columns[0]}, {odd[0]}")
        first = next(iter(next(iter(self.rows.values())).values()))
        self.unit = first.unit if unit is None else unit
        """Unit of the cells that have no unit of their own; by default the first cell's."""
        self.printed: dict[Key, dict[Key, float | None]] = {}
        """Values that the paper states, by row and column, or by curve and x value."""

    @property
    def columns(self) -> list[Key]:
        return list(next(iter(self.rows.values())))

    def cases(self) -> Iterator[Case]:
        for row in self.rows.values():
            for cell in row.values():
                yield from cell.cases()

    def measure(self, work: Campaign) -> Cells:
        cells = (
            tuple(self._cell(work, key, column, value) for column, value in row.items())
            for key, row in self.rows.items()
        )
        return Cells(self, tuple(cells))

    def _cell(self, work: Campaign, row: Key, column: Key, value: Value) -> Cell:
        where, unit = (self.id, label_of(row), label_of(column)), value.unit or self.unit
        return Cell(*where, unit, None, value.estimate(work), self.digits)


class Table(Item):
    """A table of the paper. For the arguments see `nodeb.study.Study.table`."""

    def __init__(
        self,
        name: str,
        title: str,
        rows: Rows,
        printed: str = "",
        *,
        unit: str | None = None,
        digits: int = 1,
        runs: int | None = None,
        near: float | None = None,
        near_percent: float | None = None,
        note: str = "",
    ) -> None:
        super().__init__(name, title, rows, unit, digits, note)
        self.published_runs, self._near, self._near_percent = runs, near, near_percent
        if near is not None and near_percent is not None:
            raise InputError(f"{name}: give `near` or `near_percent`, not both")
        if not 0 <= (near or near_percent or 0) < math.inf or (runs or 1) < 1:
            raise InputError(f"{name}: `near` is at least 0, and `runs` at least 1")
        values = _values(name, printed)
        shape = [len(row) for row in values]
        if shape not in ([], [len(self.columns)] * len(self.rows)):
            raise InputError(
                f"{name} is {len(self.rows)} by {len(self.columns)}, but its printed values are "
                f"rows of {shape}"
            )
        rows_of_values = values or [[None] * len(self.columns)] * len(self.rows)
        for (key, row), printed_row in zip(self.rows.items(), rows_of_values, strict=True):
            self.printed[key] = dict(zip(row, printed_row, strict=True))
        texts = [f"{value:.12g}" for row in values for value in row if value is not None]
        digits_printed = max((len(text.partition(".")[2]) for text in texts), default=0)
        self._rounding = 0.5 * 10.0**-digits_printed
        """Half a unit of the last decimal of the printed values, not counting trailing zeros."""

    def _cell(self, work: Campaign, row: Key, column: Key, value: Value) -> Cell:
        cell, published = super()._cell(work, row, column, value), self.printed[row][column]
        # `near` is in the table's unit, so it does not apply to a cell that has another one.
        tolerance = self._near if cell.unit == self.unit else None
        if self._near_percent is not None and published is not None:
            tolerance = self._near_percent / 100 * abs(published)
        return replace(
            cell,
            published=published,
            tolerance=tolerance,
            expected=_expected(work, value, self.published_runs),
            runs=self.published_runs,
            rounding=self._rounding,
        )


def _values(item: str, printed: str) -> list[list[float | None]]:
    if not isinstance(printed, str):
        raise InputError(f"{item}: the printed values must be a text with a line for each row")

    def number(text: str) -> float | None:
        if text in MISSING:
            return None
        try:
            if math.isfinite(value := float(text)):
                return value
        except ValueError:
            pass
        raise InputError(f"{item}: the printed value `{text}` is not a number; use `-` for none")

    return [list(map(number, line.split())) for line in printed.strip().splitlines()]


def _expected(work: Campaign, cell: Value, runs: int | None) -> tuple[float, float] | None:
    """The interval of a quantity of two cases would depend on whether both had the same losses
    in the paper, which is not known."""
    if runs is None or not isinstance(cell, Measured):
        return None
    values = cell.singles(work)
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    found = prediction_interval(values, runs)
    return found.low, found.high


@dataclass(frozen=True)
class Mark:
    """A remark of the paper's text on a figure: a position on one axis, and a few words."""

    text: str
    x: float | None = None
    y: float | None = None


class Figure(Item):
    """A figure of the paper. For the arguments see `nodeb.study.Study.figure`."""

    def __init__(
        self,
        name: str,
        title: str,
        curves: Rows,
        y_label: str,
        *,
        x_label: str | None = None,
        unit: str | None = None,
        digits: int = 1,
        printed: Mapping[Key, Mapping[Key, float | None]] | None = None,
        marks: Sequence[Mark] = (),
        said: str = "",
        note: str = "",
        bars: bool = False,
        from_zero: bool = True,
        panels: bool = False,
        extra: bool = False,
    ) -> None:
        super().__init__(name, title, curves, unit, digits, note)
        self.y_label, self.marks, self.said = y_label, tuple(marks), said
        self.x_label = axis_label(self.columns) if x_label is None else x_label
        self.bars, self.from_zero, self.panels, self.extra = bars, from_zero, panels, extra
        stated: dict[Any, float | None] = {
            (label_of(curve), label_of(place)): value
            for curve, values in (printed or {}).items()
            for place, value in values.items()
        }
        for key, row in self.rows.items():
            places = {place: (label_of(key), label_of(place)) for place in row}
            self.printed[key] = {place: stated.pop(at, None) for place, at in places.items()}
        if stated:
            raise InputError(f"{name} has a printed value of no point: {next(iter(stated))}")

    @property
    def x(self) -> list[float]:
        """Positions of the columns on the axis."""
        return [
            place.x if isinstance(place, Point) else float(at)
            for at, place in enumerate(self.columns)
        ]

    def _cell(self, work: Campaign, row: Key, column: Key, value: Value) -> Cell:
        return super()._cell(work, column, row, value)
