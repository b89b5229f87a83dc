"""How all pictures look: one palette, one size, axes without clutter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B6B6B")
"""Colours that people with colour-blindness tell apart (Okabe and Ito, 2008), dark ones first;
grey in the place of black."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[str | tuple[int, tuple[float, ...]], ...] = (
    "-",
    "--",
    "-.",
    (0, (1, 1.2)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (3, 1)),
    (0, (8, 2)),
)
INK = "#24292f"
FAINT = "#d0d7de"
BAND = "#c9d1d9"
SIZE = (7.2, 4.2)
LEGEND_LIMIT = 10
"""With more entries than this a legend hides more than it says."""

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 10.5,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelsize": 10.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.6,
    "figure.dpi": 110,
}


def new_figure(
    title: str, x_label: str, y_label: str, size: tuple[float, float] = SIZE
) -> tuple[Figure, Axes]:
    """An empty figure in nodeb's style; it belongs to no window, so nothing has to be closed."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(title)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    return figure, axes


def new_panels(
    title: str, x_label: str, y_label: str, count: int, size: tuple[float, float] = SIZE
) -> tuple[Figure, list[Axes]]:
    """An empty figure with panels side by side, which share their scales."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        parts = figure.subplots(1, count, sharex=True, sharey=True, squeeze=False)[0]
        if title:
            figure.suptitle(title, x=0.02, ha="left", fontweight="bold", fontsize=12)
        parts[count // 2].set_xlabel(x_label)
        parts[0].set_ylabel(y_label)
    return figure, list(parts)


def new_rows(
    title: str, x_label: str, y_label: str, rows: Sequence[object], size: tuple[float, float] = SIZE
) -> tuple[Figure, list[Axes]]:
    """An empty figure with a panel for each of some things, one below the other, on one scale."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        parts = figure.subplots(len(rows), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        if title:
            figure.suptitle(title, x=0.02, ha="left", fontweight="bold", fontsize=12)
        figure.supxlabel(x_label, fontsize=10.5)
        figure.supylabel(y_label, fontsize=10.5)
    return figure, list(parts)


def color(place: int) -> str:
    """Colour of the n-th entry of a legend."""
    return PALETTE[place % len(PALETTE)]


def legend(axes: Axes, columns: int = 2, last: str = "") -> None:
    """A legend below the axes, or none if there is nothing to tell apart; `last` stands last."""
    handles, labels = axes.get_legend_handles_labels()
    entries = sorted(zip(handles, labels, strict=True), key=lambda entry: entry[1] == last)
    if 1 < len(entries) <= LEGEND_LIMIT:
        axes.legend(
            [handle for handle, _ in entries],
            [label for _, label in entries],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.16),
            ncols=columns,
            frameon=False,
        )


def nice_step(span: float, parts: int) -> float:
    """About `span / parts`, rounded up to 1, 2 or 5 times a power of ten."""
    if span <= 0:
        return 1.0
    raw = span / parts
    power = 10.0 ** _floor_log10(raw)
    steps: Sequence[float] = (1, 2, 5, 10)
    return next(step * power for step in steps if step * power >= raw * (1 - 1e-9))


def _floor_log10(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])
