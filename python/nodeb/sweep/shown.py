"""A metric of the cells of a sweep as people read it: a grid for two keys, a list otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.answer import SURVIVORS, Rows
from nodeb.answer.columns import aligned
from nodeb.answer.numbers import Shown, difference, scale_of, shown
from nodeb.answer.terminal import WIDTH
from nodeb.answer.words import joined
from nodeb.results.metrics import ALL, METRICS, Metric
from nodeb.stats import CONFIDENCE
from nodeb.sweep.against import Compared
from nodeb.sweep.axes import Axis
from nodeb.sweep.cells import Cell
from nodeb.sweep.columns import plain
from nodeb.sweep.results import COVERED, ENDS

if TYPE_CHECKING:
    from nodeb.sweep.sweep import Outcome

__all__ = ["SIGNS", "Value", "Values", "every_row", "grid", "listed"]

SIGNS = {
    "better": "\N{CHECK MARK}",
    "worse": "\N{BALLOT X}",
    "more": "\N{UPWARDS ARROW}",
    "less": "\N{DOWNWARDS ARROW}",
    "same": "=",
    "equal": "=",
    "undecided": "?",
}
"""What stands for a verdict in a cell of a grid."""
ALIKE = 3.0
"""Intervals are alike, and one line tells of all, where the widest is so many times the narrowest
at most."""
WIDE = 0.5
"""The half of an interval that is a larger share is seen at its number."""


@dataclass(frozen=True, slots=True)
class Value:
    """The metric of one cell and group."""

    cell: Cell
    group: str
    mean: float
    low: float
    high: float
    covered: float
    """The share of users of which the mean is."""
    text: Shown
    """As people read it, in the unit of the whole sweep."""

    @property
    def mark(self) -> str:
        """Stands at a mean that leaves users out."""
        return SURVIVORS if self.covered < 1 and math.isfinite(self.mean) else ""

    @property
    def sure(self) -> str:
        """With its interval, as a sentence has it first."""
        return self.text.sure.replace(" (", f" {self.mark} (", 1) if self.mark else self.text.sure

    @property
    def sure_again(self) -> str:
        """The same after the first."""
        ends = f" ({self.text.interval})" if self.text.low else ""
        return f"{self.text.value} {self.mark}".rstrip() + ends


class Values:
    """The metric of all phones in each cell of a sweep.

    Args:
        outcome: of the sweep; one of its cells has the metric.
    """

    def __init__(self, outcome: Outcome) -> None:
        self._outcome, self._cells = outcome, outcome.plan.cells
        self._table, name = outcome.table, outcome.metric
        self.metric: Metric = METRICS[name]
        self.axes = [axis for axis in outcome.plan.axes if len(axis) > 1]
        """What takes several values."""
        self._rows = np.flatnonzero(self._table["group"] == ALL)
        self.mean, self.low, self.high = (self._column(name + end) for end in ENDS)
        share = self._table[name + COVERED] if name + COVERED in self._table.columns else None
        self._shares = np.ones(len(self._table)) if share is None else share
        self.covered = self._shares[self._rows]
        self.known = np.isfinite(self.mean)
        """Which cells have a value."""

    def _column(self, name: str) -> Any:
        return self._table[name][self._rows].astype(np.float64)

    def __len__(self) -> int:
        return len(self._cells)

    def __getitem__(self, number: int) -> Value:
        return self._value(self._cells[number], int(self._rows[number]))

    def _value(self, cell: Cell, row: int) -> Value:
        name = self.metric.name
        mean, low, high = (float(self._table[name + end][row]) for end in ENDS)
        text = shown(mean, low, high, self.metric.unit, scale=self.scale)
        group = str(self._table["group"][row])
        return Value(cell, group, mean, low, high, float(self._shares[row]), text)

    def every(self) -> Iterator[Value]:
        """Each cell and group, in order of the table."""
        ends = [*(self._rows + 1)]  # all phones together are the last group of a cell
        begin = 0
        for cell, end in zip(self._cells, ends, strict=True):
            for row in range(begin, end):
                yield self._value(cell, row)
            begin = int(end)

    @cached_property
    def scale(self) -> tuple[str, float]:
        """Unit of all values, and how to get there."""
        largest = float(np.abs(self.mean[self.known]).max(initial=0.0))
        return scale_of(largest, self.metric.unit, percent=self.metric.percent)

    @property
    def least(self) -> int:
        """Number of the cell with the least value."""
        return int(np.nanargmin(self.mean))

    @property
    def greatest(self) -> int:
        """Number of the cell with the greatest."""
        return int(np.nanargmax(self.mean))

    @property
    def leaves_out(self) -> bool:
        """Whether a mean is one over survivors."""
        return bool((self.covered[self.known] < 1).any())

    def where(self, cell: Cell) -> str:
        """The values of a cell in a sentence, those that differ from the baseline's first."""
        fixed = self._fixed
        order = sorted(range(len(self._outcome.plan.axes)), key=lambda at: at not in fixed)
        parts = [
            f"{one.key} {plain(one.values[cell.places[at]])}"
            for at in order
            if len(self._outcome.plan.axes[at]) > 1
            for one in self._outcome.plan.axes[at].swept
        ]
        changed = [
            len(self._outcome.plan.axes[at].swept)
            for at in fixed
            if len(self._outcome.plan.axes[at]) > 1
        ]
        front = sum(changed)
        halves = [joined(half) for half in (parts[:front], parts[front:]) if half]
        return " at ".join(halves)

    @property
    def _fixed(self) -> dict[int, int]:
        against = self._outcome.against
        return {} if against is None else against.baseline.fixed

    @property
    def baseline(self) -> str:
        """What cells are compared with, as somebody wrote it."""
        return " and ".join(
            f"{one.key}={plain(one.values[place])}"
            for axis, place in self._fixed.items()
            for one in self._outcome.plan.axes[axis].swept
        )

    @property
    def confidence(self) -> float:
        """Of each interval of an effect."""
        against = self._outcome.against
        return CONFIDENCE if against is None else against.confidence

    @cached_property
    def every_compared(self) -> dict[tuple[tuple[int, ...], str], Compared]:
        """Comparisons with the baseline by place and group."""
        against = self._outcome.against
        found = [] if against is None else against.compared
        return {(one.cell.places, one.found.group): one for one in found}

    @cached_property
    def compared(self) -> dict[tuple[int, ...], Compared]:
        """Those of all phones together, by place."""
        return {at: one for (at, group), one in self.every_compared.items() if group == ALL}

    @cached_property
    def has_ratios(self) -> bool:
        """Whether effects are read in per cent of the baseline; elsewhere they are differences."""
        return any(math.isfinite(one.found.ratio.mean) for one in self.every_compared.values())

    @property
    def has_signs(self) -> bool:
        """Whether verdicts differ, so that each stands at its cell."""
        return len({SIGNS[one.found.verdict.word] for one in self.compared.values()}) > 1

    def relative_width(self) -> float | None:
        """The widest interval as a share of its mean; None where they are not alike."""
        usable = self.known & np.isfinite(self.low) & (self.mean != 0)
        halves = (self.high - self.low)[usable] / 2 / np.abs(self.mean[usable])
        halves = halves[halves > 0]
        return float(halves.max()) if are_alike(halves) else None

    def are_alike(self) -> bool:
        """Whether one line tells how sure all are: no interval is much wider than another."""
        if self.compared:
            widths = [one.found.ratio.half_width for one in self.compared.values()]
            return are_alike(np.array([one for one in widths if math.isfinite(one) and one > 0]))
        return self.relative_width() is not None or not np.isfinite(self.low).any()


def are_alike(halves: NDArray[np.float64]) -> bool:
    """Whether half-widths, as shares, can be told in one line."""
    return bool(halves.size) and halves.max() <= min(ALIKE * halves.min(), WIDE)


def grid(values: Values) -> Rows | None:
    """A row for each value of one key, a column for each of another; None where that is no use.

    That is where there are not two keys, the grid is too wide, or intervals differ so much that
    each has to be seen.
    """
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

    def column(place: int) -> list[str]:
        cells = []
        for row in range(len(down)):
            places = [0] * len(axes)
            places[rows], places[columns] = row, place
            cells.append(_parts(values, values[at[tuple(places)]]))
        return _below(cells)

    texts = [column(place) for place in range(len(across))]
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


def _parts(values: Values, one: Value) -> tuple[str, str, str, str]:
    """Number, mark, share of the baseline and verdict of a cell of a grid."""
    found = values.compared.get(one.cell.places)
    if found is None:
        return one.text.number, one.mark, "", ""
    mark = SURVIVORS if found.covered < 1 else ""
    sign = SIGNS[found.found.verdict.word] if values.has_signs else ""
    return one.text.number, mark, _ratio(found).value, sign


def _ratio(one: Compared) -> Shown:
    ratio = one.found.ratio
    return shown(ratio.mean, ratio.low, ratio.high, "1", percent=True, scale=("%", 100.0))


def _below(cells: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Parts of cells below each other."""
    widths = [max(map(len, parts)) for parts in zip(*cells, strict=True)]
    lines = []
    for cell in cells:
        number, mark, share, sign = (
            f"{part:>{width}}" for part, width in zip(cell, widths, strict=True)
        )
        ends = [f"{number}{f' {mark}' if widths[1] else ''}", share, sign]
        lines.append(
            "  ".join(
                part for part, width in zip(ends, (1, *widths[2:]), strict=True) if width
            ).rstrip()
        )
    return lines


def listed(values: Values, most: int) -> Rows:
    """A row for each cell, up to a number of them."""
    shown_ = [values[number] for number in range(min(len(values), most))]
    rows: list[list[str | Shown]] = [_row(values, one) for one in shown_]
    if len(values) > most:
        rest = f"... and {len(values) - most} more"
        rows.append([rest, *[""] * (len(rows[0]) - 1)])
    head = _head(values, False)
    if max(map(len, aligned([head, *rows]))) > WIDTH:
        head = _short(head)
    return Rows(head, rows, _list_title(values))


def _short(head: Sequence[str]) -> list[str]:
    """Keys by the last of their names, where these tell them apart."""
    last = [name.rpartition(".")[2] if "(" not in name else name for name in head]
    return list(head) if len({one for one in last if one}) < sum(map(bool, head)) else last


def every_row(values: Values) -> Rows:
    """A row for each cell and group, with all that is known of it."""
    found = list(values.every())
    groups = len({one.group for one in found}) > 1
    return Rows(
        _head(values, True, groups),
        [_row(values, one, True, groups) for one in found],
        f"{values.metric.label}, every cell",
    )


def _list_title(values: Values) -> str:
    if not values.compared:
        return values.metric.label
    how = "in % of" if values.has_ratios else "its difference from"
    return f"{values.metric.label}, and {how} that with {values.baseline}"


def _head(values: Values, whole: bool, groups: bool = False) -> list[str]:
    keys = [one.key for axis in values.axes for one in axis.swept]
    level = f"{100 * values.confidence:.4g} %"
    ratio = ["in %", f"({level})"] if values.has_ratios else []
    gap = ["difference", f"({level})"] if whole or not ratio else []
    compared = [*gap, *ratio, "verdict"] if values.compared else []
    interval = ["(95 %)"] if whole or not values.compared else []
    return [*keys, *(["phones"] if groups else []), "mean", *interval, *compared]


def _row(
    values: Values, one: Value, whole: bool = False, groups: bool = False
) -> list[str | Shown]:
    keys = [str(plain(value)) for axis in values.axes for value in _taken(values, axis, one)]
    text = Shown(one.text.number, f"{one.text.unit} {one.mark}".strip())
    row: list[str | Shown] = [*keys, *([one.group] if groups else []), text]
    if whole or not values.compared:
        row.append(one.text.interval)
    if values.compared:
        row += _compared(values, values.every_compared.get((one.cell.places, one.group)), whole)
    return row


def _taken(values: Values, axis: Axis, one: Value) -> list[Any]:
    place = one.cell.places[values._outcome.plan.axes.index(axis)]
    return [swept.values[place] for swept in axis.swept]


def _compared(values: Values, one: Compared | None, whole: bool) -> list[str | Shown]:
    """What is said of a cell and its baseline; nothing of the baseline itself."""
    has_gap = whole or not values.has_ratios
    if one is None:
        return [""] * (2 * has_gap + 2 * values.has_ratios + 1)
    mark = f" {SURVIVORS}" if one.covered < 1 else ""
    cells: list[str | Shown] = []
    if has_gap:
        gap, metric = one.found.difference, values.metric
        text = difference(
            gap.mean, gap.low, gap.high, metric.unit, percent=metric.percent, scale=values.scale
        )
        cells += [Shown(text.number, f"{text.unit}{mark}".strip()), text.interval]
    if values.has_ratios:
        ratio = _ratio(one)
        cells += [Shown(ratio.number, f"%{mark}" if ratio.unit else ""), ratio.interval]
    return [*cells, one.found.verdict.word]
