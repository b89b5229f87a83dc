"""Means with their 95 % confidence intervals, as lines or as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nodeb.errors import InputError
from nodeb.plot.style import (
    DASHES,
    MARKERS,
    MUTED,
    PALETTE,
    SIZE,
    color,
    figure_legend,
    legend,
    legend_entries,
    name_places,
    new_figure,
    new_panels,
)

PUBLISHED_LABEL = "published"
HATCHES = ("", "///", "...")
"""Textures of bars; when the colours repeat, the next texture distinguishes the bars."""
SPREAD = 0.6
"""Share of the distance between two positions across which their points are spread (`dodge`)."""


@dataclass(frozen=True)
class Line:
    """A curve with intervals, or the bars of one colour."""

    label: str
    mean: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    published: Sequence[float | None] = ()

    def errors(self) -> list[list[float]] | None:
        """Returns the distances from means to the ends of intervals; None without intervals."""
        if not self.low:
            return None
        below = [max(0.0, m - lo) for m, lo in zip(self.mean, self.low, strict=True)]
        above = [max(0.0, hi - m) for m, hi in zip(self.mean, self.high, strict=True)]
        return [below, above]


def lines(
    title: str,
    x_label: str,
    y_label: str,
    x: Sequence[float],
    data: Sequence[Line],
    *,
    ticks: Sequence[str] = (),
    from_zero: bool = True,
    size: tuple[float, float] = SIZE,
) -> Figure:
    """Returns a figure of curves with error bars.

    Args:
        title: title of the figure.
        x_label: quantity and unit of the x axis.
        y_label: quantity and unit of the y axis.
        x: positions on the x axis.
        data: the curves.
        ticks: labels of the positions; empty for numbers.
        from_zero: let the y axis begin at zero, unless a value is negative.
        size: width and height in inches.

    Raises:
        InputError: a curve does not have one value for each position.
    """
    _check(x, data)
    figure, axes = new_figure(title, x_label, y_label, size)
    _draw(axes, x, data, ticks)
    _explain_published(axes, data, "o", "none")
    return _finish(figure, axes, data, from_zero)


def panels(
    title: str,
    x_label: str,
    y_label: str,
    x: Sequence[float],
    data: Mapping[str, Sequence[Line]],
    *,
    ticks: Sequence[str] = (),
    from_zero: bool = True,
    dodge: bool = False,
    rows: int = 1,
    size: tuple[float, float] = SIZE,
) -> Figure:
    """Returns a figure with a panel for each of several cases, side by side, on one scale."""
    every = [line for lines in data.values() for line in lines]
    _check(x, every)
    figure, parts = new_panels(title, x_label, y_label, (rows, len(data) // rows), size)
    for axes, (case, lines) in zip(parts, data.items(), strict=True):
        draw = _beside if dodge else _draw
        draw(axes, x, lines, ticks)
        axes.set_title(case, loc="center", fontsize=10)
    top = _top(every) if from_zero else None
    if top is not None:
        parts[0].set_ylim(0, top)
    figure_legend(figure, legend_entries(parts[0]), columns=3)
    return figure


def _draw(axes: Axes, x: Sequence[float], data: Sequence[Line], ticks: Sequence[str]) -> None:
    for number, line in enumerate(data):
        _draw_line(axes, x, line, number)
        _hollow(axes, x, line, number)
    axes.set_xticks(list(x), list(ticks) or None)


def _draw_line(axes: Axes, x: Sequence[float], line: Line, number: int) -> None:
    axes.errorbar(
        x,
        line.mean,
        yerr=line.errors(),
        label=line.label,
        color=color(number),
        marker=MARKERS[number % len(MARKERS)],
        markersize=5,
        linestyle=DASHES[(number + number // len(PALETTE)) % len(DASHES)],
        capsize=3,
        elinewidth=1.1,
    )


def _beside(axes: Axes, x: Sequence[float], data: Sequence[Line], ticks: Sequence[str]) -> None:
    """Draws curves such that their points of the same position are next to each other."""
    places = range(len(x))
    for number, line in enumerate(data):
        shift = SPREAD * ((number + 0.5) / len(data) - 0.5)
        _draw_line(axes, [place + shift for place in places], line, number)
    axes.set_xticks(list(places), list(ticks))
    axes.grid(visible=False, axis="x")


def bars(
    title: str,
    x_label: str,
    y_label: str,
    places: Sequence[str],
    data: Sequence[Line],
    *,
    size: tuple[float, float] = SIZE,
) -> Figure:
    """Returns a figure of groups of bars with error bars.

    Args:
        title: title of the figure.
        x_label: quantity that distinguishes the groups.
        y_label: quantity and unit of the y axis.
        places: labels of the groups.
        data: one entry per colour.
        size: width and height in inches.

    Raises:
        InputError: an entry does not have one value for each group.
    """
    x = list(range(len(places)))
    _check(x, data)
    figure, axes = new_figure(title, x_label, y_label, size)
    width = 0.8 / max(1, len(data))
    for place, line in enumerate(data):
        at = [one + (place - (len(data) - 1) / 2) * width for one in x]
        axes.bar(
            at,
            line.mean,
            0.92 * width,
            yerr=line.errors(),
            label=line.label,
            color=color(place),
            hatch=HATCHES[place // len(PALETTE) % len(HATCHES)],
            edgecolor="white" if place >= len(PALETTE) else None,
            capsize=3,
            ecolor=MUTED,
        )
        _on_bars(axes, at, line)
    _explain_published(axes, data, "D", "white")
    axes.grid(visible=False, axis="x")
    name_places(axes, places, size[0])
    return _finish(figure, axes, data, from_zero=True)


def _hollow(axes: Axes, x: Sequence[float], line: Line, place: int) -> None:
    """Draws a curve's published values hollow and larger, so that measured ones stay visible."""
    known = _known(x, line)
    axes.plot(
        *known,
        linestyle="none",
        marker=MARKERS[place % len(MARKERS)],
        markersize=10,
        markerfacecolor="none",
        markeredgecolor=color(place),
        markeredgewidth=1.2,
        alpha=0.75,
    )


def _on_bars(axes: Axes, x: Sequence[float], line: Line) -> None:
    """Draws published values on bars as light diamonds, which are visible on every colour."""
    known = _known(x, line)
    axes.plot(
        *known,
        linestyle="none",
        marker="D",
        markersize=6,
        markerfacecolor="white",
        markeredgecolor=MUTED,
        markeredgewidth=1.2,
        zorder=5,
    )


def _known(x: Sequence[float], line: Line) -> tuple[list[float], list[float]]:
    """Returns the positions of the published values and these values, without missing ones."""
    pairs = [(a, v) for a, v in zip(x, line.published, strict=False) if v is not None]
    return [a for a, _ in pairs], [v for _, v in pairs]


def _explain_published(axes: Axes, data: Sequence[Line], marker: str, face: str) -> None:
    if any(v is not None for line in data for v in line.published):
        axes.plot(
            [],
            [],
            linestyle="none",
            marker=marker,
            markersize=7,
            markerfacecolor=face,
            markeredgecolor=MUTED,
            label=PUBLISHED_LABEL,
        )


def _check(x: Sequence[float], data: Sequence[Line]) -> None:
    for line in data:
        if len(line.mean) != len(x):
            raise InputError(f"`{line.label}` has {len(line.mean)} values for {len(x)} places")


def _finish(figure: Figure, axes: Axes, data: Sequence[Line], from_zero: bool) -> Figure:
    top = _top(data) if from_zero else None
    if top is not None:
        axes.set_ylim(0, top)
    legend(axes, columns=2 if len(data) == 3 else 3, last=PUBLISHED_LABEL)
    return figure


def _top(data: Sequence[Line]) -> float | None:
    """Returns the upper limit of an axis that starts at zero: 8 % above the largest value."""
    values = [
        v for line in data for v in (*line.mean, *line.high, *line.published) if v is not None
    ]
    finite = [v for v in values if np.isfinite(v)]
    return 1.08 * max(finite) if finite and min(finite) >= 0 < max(finite) else None
