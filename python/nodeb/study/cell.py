"""Measured cells next to their published values, and the tables and figures made of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodeb.stats import Estimate
from nodeb.storage.files import csv_text

if TYPE_CHECKING:
    from nodeb.study.items import Figure, Table

COLUMNS = (
    "study",
    "item",
    "row",
    "column",
    "unit",
    "published",
    "measured",
    "ci95_low",
    "ci95_high",
    "replications",
    "published_runs",
    "prediction95_low",
    "prediction95_high",
)
SIGNIFICANT = 7


@dataclass(frozen=True)
class Tolerance:
    """Largest absolute or relative deviation from the published value that is graded `near`."""

    absolute: float | None = None
    relative: float | None = None

    def allowed(self, published: float) -> float | None:
        """Returns the largest deviation graded `near`, in the cell's unit; None without a limit."""
        if self.absolute is not None:
            return self.absolute
        return None if self.relative is None else self.relative * abs(published)


NO_TOLERANCE = Tolerance()


@dataclass(frozen=True)
class Prediction:
    """A 95 % prediction interval of the mean of `of` replications."""

    of: int
    low: float
    high: float


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
    tolerance: Tolerance = NO_TOLERANCE
    expected: Prediction | None = None
    rounding: float = 0.0

    @property
    def within(self) -> bool | None:
        """As the value is rounded, it may lie outside by at most `rounding`."""
        if self.published is None or self.expected is None or math.isnan(self.expected.low):
            return None
        slack = self.rounding + 1e-9 * max(1.0, abs(self.published))
        return self.expected.low - slack <= self.published <= self.expected.high + slack

    @property
    def deviation(self) -> float | None:
        if self.published is None or not self.measured.known:
            return None
        return self.measured.value - self.published

    @property
    def grade(self) -> str:
        """Grade of the measured value in this cell, such as `near` or `far` (`grade_of`)."""
        return self.grade_of(self.measured.value)

    def grade_of(self, value: float) -> str:
        """`near` is within the tolerance, `off` within twice the tolerance, `far` beyond that or
        not finite. `open` has no published value, `plain` no tolerance."""
        if self.published is None:
            return "open"
        if not math.isfinite(value):
            return "far"
        allowed = self.tolerance.allowed(self.published)
        if allowed is None:
            return "plain"
        # A billionth of the published value (of 1 for smaller values) is subtracted, so that the
        # rounding errors of arithmetic do not matter for a deviation equal to the limit.
        size = abs(value - self.published) - 1e-9 * max(1.0, abs(self.published))
        return "near" if size <= allowed else "off" if size <= 2 * allowed else "far"


@dataclass(frozen=True)
class Grid:
    """A measured table: labels, and cells row by row. "" if the keys are not points of one axis."""

    spec: Table
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    blocks: tuple[str, ...] = ()
    corner: str = ""
    across: str = ""

    def __iter__(self) -> Iterator[Cell]:
        for row in self.cells:
            yield from row


@dataclass(frozen=True)
class Curve:
    """A measured curve: positions on the axis, and one cell for each."""

    label: str
    x: tuple[float, ...]
    cells: tuple[Cell, ...]
    panel: str = ""
    legend: str = ""


@dataclass(frozen=True)
class Chart:
    """A measured figure, with the values that the paper states in its tables or text
    (`implied`)."""

    spec: Figure
    x_label: str
    x_ticks: tuple[str, ...]
    curves: tuple[Curve, ...]
    implied: tuple[tuple[float | None, ...], ...]
    panel_rows: int = 1

    def __iter__(self) -> Iterator[Cell]:
        for curve in self.curves:
            yield from curve.cells


def number(value: float | None) -> str:
    """Returns a number as text for CSV files: seven significant digits, "" if it is not finite."""
    if value is None or not math.isfinite(value):
        return ""
    return f"{value:.{SIGNIFICANT}g}"


def to_csv(study: str, cells: Iterable[Cell]) -> str:
    return csv_text(COLUMNS, ([study, *_row(cell)] for cell in cells))


def _row(cell: Cell) -> list[object]:
    found, predicted = cell.measured, cell.expected
    values = (cell.published, found.value, found.low, found.high)
    where = (cell.item, cell.row, cell.column, cell.unit)
    few = (predicted.of, number(predicted.low), number(predicted.high)) if predicted else ()
    padding = [""] * (3 - len(few))
    return [*where, *map(number, values), found.runs, *few, *padding]
