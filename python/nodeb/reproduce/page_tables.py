"""Tables of a report: groups of columns for published, measured and predicted values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from nodeb.answer.words import counted
from nodeb.reproduce.shown import (
    MARKS,
    PLUS_MINUS,
    Content,
    decimals,
    half_width,
    number,
    signed,
)
from nodeb.study.axis import anchor
from nodeb.study.cell import Cell, Grid

WIDEST = 9
"""Maximum number of columns of a table whose groups of columns are side by side."""
INDENT = "\N{EM SPACE}"


def content(grid: Grid) -> Content:
    """Returns a table with its groups of columns side by side, or stacked if that is too wide."""
    spec, groups = grid.spec, _groups(grid)
    units = {cell.unit for cell in grid}
    by_column = [{row[at].unit for row in grid.cells} for at in range(len(grid.columns))]
    aligned = len(units) > 1 and all(len(one) == 1 for one in by_column)
    mixed = len(units) > 1 and not aligned
    stacked = len(groups) > 1 and len(groups) * len(grid.columns) > WIDEST
    return {
        "id": spec.id,
        "anchor": anchor(spec.id),
        "title": spec.title,
        "unit": _subtitle(grid, spec.unit if len(units) == 1 else ""),
        "compared": bool(spec.published),
        "corner": grid.corner,
        "columns": [
            f"{column} ({next(iter(one))})" if aligned else column
            for column, one in zip(grid.columns, by_column, strict=True)
        ],
        "heads": [] if stacked or len(groups) == 1 else list(groups.values()),
        "groups": [""] if stacked else list(groups),
        "rows": _stacked(grid, groups, mixed) if stacked else _rows(grid, groups, mixed),
        "note": spec.note,
    }


def _groups(grid: Grid) -> dict[str, str]:
    calculated = all(cell.measured.runs == 0 for cell in grid)
    measured = "calculated" if calculated else f"measured {PLUS_MINUS} 95 % CI"
    few = grid.spec.published_runs
    groups = {"published": "published"} if grid.spec.published else {}
    groups["measured"] = measured
    if few is not None:
        groups["predicted"] = "one run, 95 %" if few == 1 else f"mean of {few} runs, 95 %"
    return groups | ({"difference": "difference"} if grid.spec.published else {})


def _rows(grid: Grid, groups: Iterable[str], mixed: bool) -> list[Content]:
    rows = [
        {
            "label": label,
            "first": at > 0 and bool(grid.blocks[at]) and grid.blocks[at] != grid.blocks[at - 1],
            "cells": [_cell(cell, group, at) for group in groups for at, cell in enumerate(row)],
        }
        for at, (label, row) in enumerate(zip(grid.rows, grid.cells, strict=True))
    ]
    return _with_units(rows, grid) if mixed else rows


def _stacked(grid: Grid, groups: Mapping[str, str], mixed: bool) -> list[Content]:
    rows = []
    for at, (label, row) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        unit = f" ({row[0].unit})" if mixed else ""
        for place, (group, heading) in enumerate(groups.items()):
            cells = [_cell(cell, group, column) for column, cell in enumerate(row)]
            name = f"{label}{unit}, {heading}" if place == 0 else INDENT + heading
            rows.append({"label": name, "first": place == 0 and at > 0, "cells": cells})
    return rows


def _subtitle(grid: Grid, unit: str) -> str:
    """The axis is named only if the labels of all columns begin with a digit, because numbers do
    not explain themselves."""
    bare = all(column[0].isdigit() for column in grid.columns)
    across = grid.across.replace(" (%)", "").lower().replace("internet", "Internet")
    by = f"by {across}" if bare and across else ""
    return ", ".join(part for part in (f"in {unit}" if unit else "", by) if part)


def _with_units(rows: list[Content], grid: Grid) -> list[Content]:
    """Adds the unit of a row's first cell to the row's label, and other units to their cells."""
    for row, cells in zip(rows, grid.cells, strict=True):
        first = cells[0].unit
        row["label"] += f" ({first})"
        for at, shown in enumerate(row["cells"]):
            cell = cells[at % len(cells)]
            if cell.unit != first and shown["text"]:
                shown["text"] += f" {cell.unit}"
    return rows


def _cell(cell: Cell, group: str, column: int) -> Content:
    css = ["begin"] if column == 0 else []
    shown: Content = {"text": "", "interval": "", "mark": "", "hint": ""}
    if group == "published":
        shown["text"] = "" if cell.published is None else number(cell.published, decimals(cell))
    elif group == "measured":
        shown |= _measured(cell)
        css += ["open"] if cell.published is None else []
    elif group == "predicted":
        shown |= _predicted(cell)
        css += [] if cell.within is None else ["near" if cell.within else "far"]
    elif cell.deviation is not None:
        shown["text"] = signed(cell.deviation, cell.digits)
        shown["mark"] = MARKS.get(cell.grade, "")
        shown["hint"] = f"{cell.grade}: {cell.item}, {cell.row}, {cell.column}"
        css.append(cell.grade)
    return shown | {"css": " ".join(css)}


def _measured(cell: Cell) -> Content:
    found = cell.measured
    if not found.known:
        return {"text": "\N{EN DASH}", "hint": "a download did not end"}
    interval = f"{PLUS_MINUS} {half_width(found.half_width, cell.digits)}" if found.runs > 1 else ""
    hint = counted(found.runs, "replication") if found.runs else "calculated"
    return {"text": number(found.value, cell.digits), "interval": interval, "hint": hint}


def _predicted(cell: Cell) -> Content:
    found = cell.expected
    if found is None:
        return {"text": "\N{EN DASH}", "hint": "not known for a difference of two scenarios"}
    width = found.high - found.low
    digits = max(0, min(cell.digits, 1 - math.floor(math.log10(width)))) if width else cell.digits
    ends = f"{number(found.low, digits)} .. {number(found.high, digits)}"
    if cell.within is None:
        return {"text": ends, "hint": ""}
    inside = "inside" if cell.within else "outside"
    mark = MARKS["near" if cell.within else "far"]
    return {"text": ends, "mark": mark, "hint": f"the published value lies {inside}"}
