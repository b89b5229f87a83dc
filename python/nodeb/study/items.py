"""The tables and figures of a study: quantities by row or curve, next to printed values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodeb.errors import InputError
from nodeb.stats import prediction_interval
from nodeb.study.axis import Key, Point, axis_label, context_of, label_of, parts
from nodeb.study.case import Case
from nodeb.study.cell import Cell, Chart, Curve, Grid, Prediction, Tolerance
from nodeb.study.quantity import Known, Measured, known

if TYPE_CHECKING:
    from nodeb.study.campaign import Campaign

__all__ = ["Figure", "Mark", "Table"]

Rows = Mapping[Key, Mapping[Key, Known | float]]
"""Quantities by row and column of a table, or by curve and x value of a figure."""
MISSING = ("-", "nan")
"""Texts that mark a value which the paper did not print."""


class _Item:
    """Base class of tables and figures."""

    def __init__(self, name: str, title: str, rows: Rows, unit: str | None) -> None:
        self.id, self.title, self._unit = name, title, unit
        if not isinstance(rows, Mapping) or not all(isinstance(r, Mapping) for r in rows.values()):
            raise InputError(f"{name}: expected cells as quantities, by row and column")
        self.rows: dict[Key, dict[Key, Known]] = {
            key: {column: known(cell) for column, cell in row.items()} for key, row in rows.items()
        }
        columns = [list(map(label_of, row)) for row in self.rows.values()]
        if not columns or not columns[0]:
            raise InputError(f"{name} has no cells")
        if odd := [one for one in columns if one != columns[0]]:
            raise InputError(f"{name}: rows have different columns, {columns[0]}, {odd[0]}")

    @property
    def columns(self) -> list[Key]:
        return list(next(iter(self.rows.values())))

    @property
    def unit(self) -> str:
        """Unit of the cells that have no unit of their own; by default the first cell's."""
        if self._unit is not None:
            return self._unit
        return next(cell for row in self.rows.values() for cell in row.values()).unit

    def cases(self) -> Iterator[Case]:
        """Returns the cases that must be simulated to measure the item."""
        for row in self.rows.values():
            for cell in row.values():
                yield from cell.cases()


class Table(_Item):
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
        super().__init__(name, title, rows, unit)
        self.digits, self.published_runs, self.note = digits, runs, note
        if near is not None and near_percent is not None:
            raise InputError(f"{name}: give `near` or `near_percent`, not both")
        for what, value in (("near", near), ("near_percent", near_percent)):
            if value is not None and not 0 <= value < math.inf:
                raise InputError(f"{name}: {what} is {value}; expected 0 or more")
        if runs is not None and runs < 1:
            raise InputError(f"{name}: runs is {runs}; expected at least 1")
        relative = None if near_percent is None else near_percent / 100
        self.tolerance = Tolerance(absolute=near, relative=relative)
        self.published = _values(name, printed)

    @property
    def rounding(self) -> float:
        """Half a unit of the last decimal of the printed values, not counting trailing zeros."""
        texts = [f"{value:.12g}" for row in self.published for value in row if value is not None]
        digits = max((len(text.partition(".")[2]) for text in texts), default=0)
        return float(0.5 * 10.0**-digits)

    @property
    def printed(self) -> dict[Key, dict[Key, float | None]]:
        """Printed values by row and column; empty rows if the paper printed none.

        Raises:
            InputError: the printed values do not have the shape of the table.
        """
        if not self.published:
            return {key: {} for key in self.rows}
        shape = [len(row) for row in self.published]
        if shape != [len(self.columns)] * len(self.rows):
            raise InputError(
                f"{self.id} is {len(self.rows)} by {len(self.columns)}, but its printed values are "
                f"rows of {shape}"
            )
        return {
            key: dict(zip(self.columns, values, strict=True))
            for key, values in zip(self.rows, self.published, strict=True)
        }

    def measure(self, work: Campaign) -> Grid:
        """Measures the table's quantities. Returns the table with measured and printed values."""
        printed = self.printed
        cells = tuple(
            tuple(
                self._cell(work, (row, column), cell, printed[row].get(column))
                for column, cell in quantities.items()
            )
            for row, quantities in self.rows.items()
        )
        rows = tuple(self.rows)
        return Grid(
            self,
            tuple(map(label_of, rows)),
            tuple(map(label_of, self.columns)),
            cells,
            tuple(map(_block, rows)),
            axis_label(rows),
            axis_label(self.columns),
        )

    def _cell(
        self, work: Campaign, place: tuple[Key, Key], cell: Known, printed: float | None
    ) -> Cell:
        row, column = place
        unit = cell.unit or self.unit
        # An absolute tolerance is in the table's unit, so it does not apply to a cell that has
        # another unit.
        own = unit == self.unit
        return Cell(
            self.id,
            label_of(row),
            label_of(column),
            unit,
            printed,
            cell.estimate(work),
            self.digits,
            self.tolerance if own else Tolerance(relative=self.tolerance.relative),
            _expected(work, cell, self.published_runs),
            self.rounding,
        )


def _block(row: Key) -> str:
    texts = re.split(": |, ", row, maxsplit=1) if isinstance(row, str) else parts(row)
    return str(texts[0]) if len(texts) > 1 else ""


def _values(item: str, printed: str) -> tuple[tuple[float | None, ...], ...]:
    if not isinstance(printed, str):
        raise InputError(f"{item}: the printed values must be a text with a line for each row")

    def number(text: str) -> float | None:
        if text in MISSING:
            return None
        try:
            if math.isfinite(found := float(text)):
                return found
        except ValueError:
            pass
        raise InputError(f"{item}: the printed value `{text}` is not a number; use `-` for none")

    return tuple(tuple(map(number, line.split())) for line in printed.strip().splitlines())


def _expected(work: Campaign, cell: Known, runs: int | None) -> Prediction | None:
    """The interval of a quantity of two cases would depend on whether both had the same losses
    in the paper, which is not known."""
    if runs is None or not isinstance(cell, Measured):
        return None
    values = cell.singles(work)
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    found = prediction_interval(values, runs)
    return Prediction(runs, found.low, found.high)


@dataclass(frozen=True)
class Mark:
    """A remark of the paper's text on a figure: a position on one axis, and a few words."""

    text: str
    x: float | None = None
    y: float | None = None


class Figure(_Item):
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
        super().__init__(name, title, curves, unit)
        self.y_label, self.x_label, self.digits = y_label, x_label, digits
        self.printed = printed or {}
        self.marks, self.said, self.note = tuple(marks), said, note
        self.bars, self.from_zero, self.panels, self.extra = bars, from_zero, panels, extra

    def measure(self, work: Campaign) -> Chart:
        """Measures the figure's quantities. Returns the figure with measured and printed values."""
        places = self.columns
        x = tuple(p.x if isinstance(p, Point) else float(at) for at, p in enumerate(places))
        # The title of a panel has the first two parts of the key, so the label leaves them out.
        first = 2 if self.panels else 0
        curves = tuple(
            Curve(
                label_of(parts(key)[first:]),
                x,
                tuple(self._cell(work, key, place, cell) for place, cell in cells.items()),
                label_of(parts(key)[:first]),
                context_of(parts(key)[first:]),
            )
            for key, cells in self.rows.items()
        )
        panel_rows = len({parts(key)[0] for key in self.rows}) if self.panels else 1
        label = axis_label(places) if self.x_label is None else self.x_label
        ticks = tuple(map(label_of, places))
        return Chart(self, label, ticks, curves, self._implied(), panel_rows)

    def _cell(self, work: Campaign, key: Key, place: Key, cell: Known) -> Cell:
        value, row, column = cell.estimate(work), label_of(place), label_of(key)
        return Cell(self.id, row, column, cell.unit or self.unit, None, value, self.digits)

    def _implied(self) -> tuple[tuple[float | None, ...], ...]:
        stated = {
            (label_of(curve), label_of(place)): value
            for curve, values in self.printed.items()
            for place, value in values.items()
        }
        found = tuple(
            tuple(stated.pop((label_of(key), label_of(place)), None) for place in self.columns)
            for key in self.rows
        )
        if stated:
            raise InputError(f"{self.id} has a printed value of no point: {next(iter(stated))}")
        return found
