"""Answer of a sweep: a table of one metric, one row for each cell, and a fixed line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nodeb import _core
from nodeb.answer.answer import ONE_REPLICATION, SURVIVORS, Answer, Mark, Rows
from nodeb.answer.numbers import Shown, difference, scale_of, shown
from nodeb.answer.words import counted
from nodeb.base.command_line import command_line
from nodeb.comparison.differences import Difference
from nodeb.errors import InputError, nearest
from nodeb.results.metrics import ALL, METRICS
from nodeb.sweep.results import COVERED, ENDS, plain

if TYPE_CHECKING:
    from nodeb.sweep.sweep import Outcome

Column = tuple[str, list[str | Shown]]
"""Head and cells of a column."""
MAX_ROWS = 30
"""Maximum number of cells that are shown without `--all`."""


def answer(outcome: Outcome, folder: str = "") -> Answer:
    """Returns the answer of a sweep; `folder` is empty in a notebook.

    Raises:
        InputError: no cell has the requested metric.
    """
    table, name = outcome.table, outcome.metric
    if name not in table.columns:
        there = [column for column in table.columns if column in METRICS]
        raise InputError(f"no cell of the sweep has `{name}`{nearest(name, there)}")
    cells = np.flatnonzero(table["group"] == ALL).tolist()
    shown_rows = _rows(outcome, cells[:MAX_ROWS])
    if rest := cells[MAX_ROWS:]:
        last = [f"... and {len(rest)} more", *[""] * (len(shown_rows.head) - 1)]
        shown_rows = replace(shown_rows, rows=[*shown_rows.rows, last])
    headline = METRICS[name].label
    if outcome.against is not None:
        headline += f", against that with {outcome.against.baseline.name}"
    more = outcome.against is not None or len(table) > len(cells[:MAX_ROWS])
    whose = f"Only of {_core.of_whom(METRICS[name])}; `{name}{COVERED}` is their share."
    return Answer(
        command="nodeb sweep",
        subject=outcome.plan.name or outcome.plan.file.stem,
        headline=headline,
        table=shown_rows,
        marks=[Mark(SURVIVORS, whose)] if name + COVERED in table.columns else [],
        notes=list(_notes(outcome, folder)),
        everything=[_rows(outcome, range(len(table)), "every cell and group")] if more else [],
        folded="a row for each cell and group" if more and folder else "",
    )


def _rows(outcome: Outcome, rows: Sequence[int], title: str = "") -> Rows:
    """The table of some rows; with a title, means beside differences have their intervals too."""
    mean, interval = _means(outcome, rows)
    columns = [*_keys(outcome, rows), mean]
    if title or outcome.against is None:
        columns.append(interval)
    if outcome.against is not None:
        columns += _differences(outcome, rows)
    cells = zip(*(cells for _, cells in columns), strict=True)
    return Rows([head for head, _ in columns], [list(row) for row in cells], title)


def _keys(outcome: Outcome, rows: Sequence[int]) -> Iterator[Column]:
    values = [outcome.plan.cells.values(outcome.cells[row]) for row in rows]
    for axis in outcome.plan.axes:
        for swept in axis.swept if len(axis) > 1 else ():
            yield swept.key, [str(plain(each[swept.key])) for each in values]
    groups: list[str | Shown] = [str(group) for group in outcome.table["group"][list(rows)]]
    if set(groups) != {ALL}:
        yield "phones", groups


def _scale(outcome: Outcome) -> tuple[str, float]:
    metric = METRICS[outcome.metric]
    means = np.abs(outcome.table[metric.name])
    largest = float(means[np.isfinite(means)].max(initial=0.0))
    return scale_of(largest, metric.unit, percent=metric.percent)


def _means(outcome: Outcome, rows: Sequence[int]) -> Iterator[Column]:
    table, metric, scale = outcome.table, METRICS[outcome.metric], _scale(outcome)
    texts = []
    for row in rows:
        mean, low, high = (float(table[metric.name + end][row]) for end in ENDS)
        text = shown(mean, low, high, metric.unit, scale=scale)
        if metric.name + COVERED in table.columns and table[metric.name + COVERED][row] < 1:
            text = text.marked(SURVIVORS)
        texts.append(text if math.isfinite(mean) else None)
    yield from _with_intervals("mean", texts, "95 %")


def _differences(outcome: Outcome, rows: Sequence[int]) -> Iterator[Column]:
    assert outcome.against is not None
    scale, confidence = _scale(outcome), f"{100 * outcome.against.confidence:.4g} %"
    compared, groups = outcome.against.compared, outcome.table["group"]
    found = [compared.get((outcome.cells[row], groups[row])) for row in rows]
    if any(math.isfinite(one.ratio.mean) for one in compared.values()):
        texts = [_ratio(one) if one else None for one in found]
        yield from _with_intervals("in %", texts, confidence)
    else:
        texts = [_difference(one, scale) if one else None for one in found]
        yield from _with_intervals("difference", texts, confidence)
    yield "verdict", [one.verdict.word if one else "" for one in found]


def _ratio(one: Difference) -> Shown:
    """Returns the mean in per cent of the baseline's, with its interval."""
    ratio = one.ratio
    found = shown(ratio.mean, ratio.low, ratio.high, "1", percent=True)
    return found.marked(SURVIVORS) if one.covered < 1 and found.unit else found


def _difference(one: Difference, scale: tuple[str, float]) -> Shown:
    unit, factor = scale
    gap = one.difference
    to = "points" if unit == "%" else unit, factor
    found = difference(gap.mean, gap.low, gap.high, scale=to)
    return found.marked(SURVIVORS) if one.covered < 1 else found


def _with_intervals(head: str, texts: Sequence[Shown | None], confidence: str) -> Iterator[Column]:
    yield head, [text or "" for text in texts]
    yield f"({confidence})", [text.interval if text else "" for text in texts]


def _notes(outcome: Outcome, folder: str) -> Iterator[str]:
    plan, runs, unfinished = outcome.plan, outcome.table["runs"], outcome.open
    if unfinished.count:
        text = f"{unfinished.count} of {unfinished.transfers} transfers did not finish"
        is_swept = any(one.key == "duration" for axis in plan.axes for one in axis.swept)
        if math.isfinite(unfinished.enough_s) and not is_swept:
            text += f'; --set duration="{unfinished.enough_s:g} s" suffices at the rate of most'
        yield f"{text}."
    if runs.max() == 1:
        yield ONE_REPLICATION
    each = f"{runs.min()} to {runs.max()} replications"
    if runs.min() == runs.max():
        each = counted(int(runs.max()), "replication")
    kept = f"{outcome.kept} of them already there, " if outcome.kept else ""
    yield f"{counted(len(plan.cells), 'cell')}, {kept}{each} each, seed {plan.seed}."
    if folder:
        yield f"{folder} has the table."
        if keys := [axis.swept[0].key for axis in plan.axes if len(axis) > 1]:
            axes = {"x": keys[0], "y": outcome.metric, "by": keys[1:]}
            yield f"Draw it: {command_line('plot', folder, options=axes)}"
