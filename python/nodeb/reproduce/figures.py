"""Figures of a study: measured values, values that the paper printed, and remarks of its text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from nodeb import plot
from nodeb.plot import Line
from nodeb.plot.source import save as save_picture
from nodeb.plot.style import MUTED
from nodeb.study.axis import anchor, context_of, label_of, parts
from nodeb.study.items import Cells, Figure, Mark

SIZE = (6.4, 4.1)
PANELS, ROW = (8.6, 3.0), 2.0
LETTERS_PER_INCH = 9
"""Approximate number of letters of a title that fit into an inch."""


def save(measured: Iterable[Cells], folder: Path) -> None:
    """Writes each figure as PNG and SVG file."""
    for cells in measured:
        if isinstance(spec := cells.spec, Figure):
            picture = draw(cells, spec.title if spec.extra else f"{spec.id}. {spec.title}")
            for suffix in ("png", "svg"):
                save_picture(picture, folder / f"{anchor(spec.id)}.{suffix}")


def draw(cells: Cells, title: str) -> Picture:
    spec = cells.spec
    assert isinstance(spec, Figure)
    ticks, first = list(map(label_of, spec.columns)), 2 if spec.panels else 0
    panels: dict[str, list[Line]] = {}
    for (key, printed), row in zip(spec.printed.items(), cells.rows, strict=True):
        values = [cell.measured for cell in row]
        mean, low, high = ([getattr(v, name) for v in values] for name in ("value", "low", "high"))
        line = Line(context_of(parts(key)[first:]), mean, low, high, list(printed.values()))
        panels.setdefault(label_of(parts(key)[:first]), []).append(line)
    lines = next(iter(panels.values()))
    rows = len({parts(key)[0] for key in spec.rows})
    size = (PANELS[0], PANELS[1] + rows * ROW) if spec.panels else SIZE
    labels = textwrap.fill(title, int(LETTERS_PER_INCH * size[0])), spec.x_label, spec.y_label
    if spec.bars:
        picture = plot.bars(*labels, ticks, lines, size=size)
    else:
        ticks = [f"{x:g}" for x in spec.x]
        if spec.panels:
            picture = plot.panels(
                *(*labels, spec.x, panels),
                ticks=ticks,
                from_zero=spec.from_zero,
                dodge=True,
                rows=rows,
                size=size,
            )
        else:
            picture = plot.lines(
                *(*labels, spec.x, lines), ticks=ticks, from_zero=spec.from_zero, size=size
            )
    for axes in picture.axes:
        for mark in spec.marks:
            _mark(axes, spec, mark)
    return picture


def _mark(axes: Axes, spec: Figure, mark: Mark) -> None:
    """Draws a dotted line at a value that the paper's text mentions, with a few words."""
    line: dict[str, Any] = {"color": MUTED, "linestyle": ":", "linewidth": 1.4, "zorder": 1.5}
    words: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9, "color": MUTED}
    notes = []
    if mark.x is not None:
        x = float(spec.x.index(mark.x)) if spec.panels or spec.bars else mark.x
        axes.axvline(x, **line)
        words |= {"xycoords": ("data", "axes fraction"), "xytext": (4, -3)}
        notes.append(axes.annotate(mark.text, (x, 1), ha="left", va="top", **words))
    if mark.y is not None:
        axes.axhline(mark.y, **line)
        words |= {"xycoords": ("axes fraction", "data"), "xytext": (-2, 3)}
        notes.append(axes.annotate(mark.text, (1, mark.y), ha="right", va="bottom", **words))
    for note in notes:
        # Words may overlap a panel's edge: the layout must not shrink the panel for them.
        note.set_in_layout(False)
