"""Figures of a study: measured values, values that the paper printed, and remarks of its text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nodeb import plot
from nodeb.plot import Line
from nodeb.plot.style import MUTED
from nodeb.study.cell import Chart
from nodeb.study.items import Mark

SIZE = (6.4, 4.1)
PANELS = (8.6, 5.0)
ROW = 2.0
LETTERS_PER_INCH = 9
"""Approximate number of letters of a title that fit into an inch."""


def draw(chart: Chart, title: str) -> Figure:
    spec, lines = chart.spec, _lines(chart)
    size = _size(chart)
    title = textwrap.fill(title, int(LETTERS_PER_INCH * size[0]))
    if spec.bars:
        figure = plot.bars(title, chart.x_label, spec.y_label, chart.x_ticks, lines, size=size)
    elif spec.panels:
        figure = _panels(chart, title, lines, size)
    else:
        x = list(chart.curves[0].x)
        labels = (title, chart.x_label, spec.y_label, x)
        ticks = [f"{one:g}" for one in x]
        figure = plot.lines(*labels, lines, ticks=ticks, from_zero=spec.from_zero, size=size)
    for axes in figure.axes:
        for mark in spec.marks:
            _mark(axes, chart, mark)
    return figure


def _size(chart: Chart) -> tuple[float, float]:
    if not chart.spec.panels:
        return SIZE
    width, height = PANELS
    return width, height + (chart.panel_rows - 1) * ROW


def _lines(chart: Chart) -> list[Line]:
    return [
        Line(
            label=curve.legend,
            mean=[cell.measured.value for cell in curve.cells],
            low=[cell.measured.low for cell in curve.cells],
            high=[cell.measured.high for cell in curve.cells],
            published=implied,
        )
        for curve, implied in zip(chart.curves, chart.implied, strict=True)
    ]


def _panels(chart: Chart, title: str, lines: Sequence[Line], size: tuple[float, float]) -> Figure:
    parts: dict[str, list[Line]] = {}
    for curve, line in zip(chart.curves, lines, strict=True):
        parts.setdefault(curve.panel, []).append(line)
    spec, x = chart.spec, list(chart.curves[0].x)
    ticks = [f"{one:g}" for one in x]
    return plot.panels(
        title,
        chart.x_label,
        spec.y_label,
        x,
        parts,
        ticks=ticks,
        from_zero=spec.from_zero,
        dodge=True,
        rows=chart.panel_rows,
        size=size,
    )


def _mark(axes: Axes, chart: Chart, mark: Mark) -> None:
    """Draws a dotted line at a value that the paper's text mentions, with a few words."""
    if mark.x is not None:
        by_place = chart.spec.panels or chart.spec.bars
        x = float(chart.curves[0].x.index(mark.x)) if by_place else mark.x
        axes.axvline(x, color=MUTED, linestyle=":", linewidth=1.4, zorder=1.5)
        _words(axes, mark.text, (x, 1), ("data", "axes fraction"), (4, -3), ("left", "top"))
    if mark.y is not None:
        axes.axhline(mark.y, color=MUTED, linestyle=":", linewidth=1.4, zorder=1.5)
        at = (1, mark.y)
        _words(axes, mark.text, at, ("axes fraction", "data"), (-2, 3), ("right", "bottom"))


def _words(
    axes: Axes,
    text: str,
    at: tuple[float, float],
    coordinates: tuple[str, str],
    offset: tuple[float, float],
    aligned: tuple[Literal["left", "right"], Literal["top", "bottom"]],
) -> None:
    words = axes.annotate(
        text,
        at,
        xytext=offset,
        xycoords=coordinates,
        textcoords="offset points",
        fontsize=9,
        color=MUTED,
        ha=aligned[0],
        va=aligned[1],
    )
    # Words may overlap a panel's edge: the layout must not shrink the panel to make room for them.
    words.set_in_layout(False)
