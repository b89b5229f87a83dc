"""A measured cell beside its published value, and the tables and figures made of such."""

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
    """When a cell counts as near its published value: absolute in the cell's unit, or relative."""

    absolute: float | None = None
    relative: float | None = None

    def allowed(self, published: float) -> float | None:
        """Largest deviation that counts as near, in the unit of the cell."""
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
    """One table cell or one point of a curve.

    Attributes:
        item: table or figure, for example "Table 13".
        row: label of the row, or of the place on a curve's axis.
        column: label of the column, or of the curve.
        unit: unit of all values.
        published: the study's value; None where it printed only a picture or the value is withheld.
        measured: the value found here.
        digits: decimals to show.
        tolerance: when the two count as near.
        expected: where the value lies that so few replications give as the study had; None where
            that is not known.
        rounding: half of the last digit that the study printed.
    """

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
        """Whether the published value lies where so few replications as it is of would put it."""
        if self.published is None or self.expected is None or math.isnan(self.expected.low):
            return None
        slack = self.rounding + 1e-9 * max(1.0, abs(self.published))
        return self.expected.low - slack <= self.published <= self.expected.high + slack

    @property
    def deviation(self) -> float | None:
        """Measured minus published, in the cell's unit; None without one of them."""
        if self.published is None or not self.measured.known:
            return None
        return self.measured.value - self.published

    @property
    def grade(self) -> str:
        """`near`: within the tolerance, `off`: within twice as much, `far`: beyond; else `open`."""
        return self.grade_of(self.measured.value)

    def grade_of(self, value: float) -> str:
        """The grade that a value would have in this cell."""
        if self.published is None:
            return "open"
        if not math.isfinite(value):
            return "far"
        allowed = self.tolerance.allowed(self.published)
        if allowed is None:
            return "plain"
        # Published values are rounded: half a digit more is not a deviation, nor is 1e-9 of
        # arithmetic.
        size = abs(value - self.published) - 1e-9 * max(1.0, abs(self.published))
        return "near" if size <= allowed else "off" if size <= 2 * allowed else "far"


@dataclass(frozen=True)
class Grid:
    """A measured table: its labels and its cells, row by row.

    `blocks` says for each row to which block of rows it belongs (the first axis of several);
    `corner` and `across` are what the rows and columns are, when they are of one axis.
    """

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
    """A measured curve: places on the axis, and a cell for each.

    `legend` is its label where the axes of the series are not named beside it, `panel` the one it
    is in.
    """

    label: str
    x: tuple[float, ...]
    cells: tuple[Cell, ...]
    panel: str = ""
    legend: str = ""


@dataclass(frozen=True)
class Chart:
    """A measured figure, and what the study's own tables say about it.

    `panel_rows` are the rows of its panels, where several axes have panels.
    """

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
    """A number for a CSV file: seven significant digits, empty when there is none."""
    if value is None or not math.isfinite(value):
        return ""
    return f"{value:.{SIGNIFICANT}g}"


def to_csv(study: str, cells: Iterable[Cell]) -> str:
    """The text of `cells.csv`."""
    return csv_text(COLUMNS, ([study, *_row(cell)] for cell in cells))


def _row(cell: Cell) -> list[object]:
    found, predicted = cell.measured, cell.expected
    values = (cell.published, found.value, found.low, found.high)
    where = (cell.item, cell.row, cell.column, cell.unit)
    few = (predicted.of, number(predicted.low), number(predicted.high)) if predicted else ()
    padding = [""] * (3 - len(few))
    return [*where, *map(number, values), found.runs, *few, *padding]
