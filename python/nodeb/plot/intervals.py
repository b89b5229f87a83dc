"""Means with their 95 % confidence intervals: as lines or bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from nodeb.base.table import Table
from nodeb.errors import InputError, nearest
from nodeb.plot.style import (
    DASHES,
    MUTED,
    PALETTE,
    SIZE,
    Look,
    Size,
    color,
    dash,
    figure_legend,
    legend,
    legend_entries,
    marker,
    name_places,
    new_figure,
    new_panels,
)

HATCHES = ("", "///", "...")
"""Textures of bars; when the colours repeat, the next texture distinguishes the bars."""
SPREAD = 0.6
"""Share of the distance between two positions across which their points are spread (`dodge`)."""
PUBLISHED = "published"
ON_BARS: Look = {"marker": "D", "markerfacecolor": "white", "markeredgecolor": MUTED}
"""Published values on bars, which light diamonds show on every colour."""
LINK_RATES = {
    "bler": "Block error rate",
    "per": "PDU error rate",
    "ber": "Bit error rate",
    "raw_ber": "Bit error rate before decoding",
    "signalling_bler": "Block error rate of signalling",
}
"""Axis label of each error rate, by its column."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A curve with intervals, or the bars of one colour."""

    label: str
    mean: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    published: Sequence[float | None] = ()

    def errors(self) -> Values | None:
        """Distances from means to the ends of intervals; None without intervals."""
        return errors(self.mean, self.low, self.high) if self.low else None


def lines(
    title: str,
    x_label: str,
    y_label: str,
    x: Sequence[float],
    data: Sequence[Line],
    *,
    ticks: Sequence[str] = (),
    from_zero: bool = True,
    size: Size = SIZE,
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
    figure, axes = new_figure(title, x_label, y_label, size)
    _draw(axes, x, data, ticks)
    _finish(axes, data, from_zero, {"marker": "o", "markerfacecolor": "none"})
    return figure


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
    size: Size = SIZE,
) -> Figure:
    """Returns a figure with a panel for each of several cases, side by side, on one scale.

    With `dodge`, points of the same position stand beside each other, without published values.
    """
    figure, parts = new_panels(title, x_label, y_label, (rows, len(data) // rows), size)
    for axes, (case, curves) in zip(parts, data.items(), strict=True):
        _draw(axes, x, curves, ticks, dodge)
        axes.set_title(case, loc="center", fontsize=10)
    if from_zero:
        _begin_at_zero(parts[0], [line for curves in data.values() for line in curves])
    figure_legend(figure, legend_entries(parts[0]), columns=3)
    return figure


def bars(
    title: str,
    x_label: str,
    y_label: str,
    places: Sequence[str],
    data: Sequence[Line],
    *,
    size: Size = SIZE,
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
    figure, axes = new_figure(title, x_label, y_label, size)
    width = 0.8 / max(1, len(data))
    for number, line in enumerate(data):
        _check(line, places)
        at = [place + (number - (len(data) - 1) / 2) * width for place in range(len(places))]
        look: Look = {"color": color(number), "label": line.label}
        look["hatch"] = HATCHES[number // len(PALETTE) % len(HATCHES)]
        look["edgecolor"] = "white" if number >= len(PALETTE) else None
        axes.bar(at, line.mean, 0.92 * width, yerr=line.errors(), capsize=3, ecolor=MUTED, **look)
        _draw_published(axes, at, line, **ON_BARS, markersize=6, zorder=5)
    axes.grid(visible=False, axis="x")
    name_places(axes, places, size[0])
    _finish(axes, data, True, ON_BARS)
    return figure


def _draw(
    axes: Axes,
    x: Sequence[float],
    data: Sequence[Line],
    ticks: Sequence[str],
    dodge: bool = False,
) -> None:
    places = list(range(len(x))) if dodge else list(x)
    for number, line in enumerate(data):
        _check(line, x)
        shift = SPREAD * ((number + 0.5) / len(data) - 0.5) if dodge else 0.0
        paint, sign = color(number), marker(number)
        look: Look = {"color": paint, "marker": sign, "markersize": 5, "label": line.label}
        look |= {"linestyle": DASHES[(number + number // len(PALETTE)) % len(DASHES)]}
        at = [place + shift for place in places]
        axes.errorbar(at, line.mean, yerr=line.errors(), capsize=3, elinewidth=1.1, **look)
        if not dodge:
            hollow = {"markerfacecolor": "none", "markeredgecolor": paint, "markersize": 10}
            _draw_published(axes, x, line, marker=sign, alpha=0.75, **hollow)
    axes.set_xticks(places, list(ticks) or None)
    if dodge:
        axes.grid(visible=False, axis="x")


def _draw_published(axes: Axes, x: Sequence[float], line: Line, **look: Any) -> None:
    pairs = [(at, v) for at, v in zip(x, line.published, strict=False) if v is not None]
    places, values = [at for at, _ in pairs], [value for _, value in pairs]
    axes.plot(places, values, linestyle="none", markeredgewidth=1.2, **look)


def errors(mean: ArrayLike, low: ArrayLike, high: ArrayLike) -> Values:
    """Distances from means to the ends of intervals; 0 where an end is NaN."""
    below, above = np.subtract(mean, low), np.subtract(high, mean)
    distances: Values = np.fmax(0.0, [below, above])
    return distances


def _check(line: Line, places: Sequence[object]) -> None:
    if len(line.mean) != len(places):
        raise InputError(f"`{line.label}` has {len(line.mean)} values for {len(places)} places")


def _finish(
    axes: Axes, data: Sequence[Line], from_zero: bool, published: Mapping[str, Any]
) -> None:
    """Adds the legend, in which a neutral marker stands for published values."""
    if any(value is not None for line in data for value in line.published):
        look = {**published, "markersize": 7, "markeredgecolor": MUTED}
        axes.plot([], [], linestyle="none", label=PUBLISHED, **look)
    if from_zero:
        _begin_at_zero(axes, data)
    legend(axes, columns=2 if len(data) == 3 else 3, last=PUBLISHED)


def _begin_at_zero(axes: Axes, data: Sequence[Line]) -> None:
    """Lets the y axis end 8 % above the largest value, unless a value is negative."""
    values = [v for line in data for v in (*line.mean, *line.high, *line.published)]
    finite = [value for value in values if value is not None and np.isfinite(value)]
    if finite and min(finite) >= 0 < max(finite):
        axes.set_ylim(0, 1.08 * max(finite))


def link_curves(links: Mapping[str, Table], rate: str = "bler", title: str | None = None) -> Figure:
    """Returns a figure of an error rate over Eb/N0 with 95 % intervals, one curve for each link.

    A rate of 0 has no place on the logarithmic axis; a hollow triangle marks the upper end of its
    interval.

    Args:
        links: tables with one row for each Eb/N0, by legend entry.
        rate: one of `LINK_RATES`.
        title: title of the figure; None for the name of the rate.

    Raises:
        InputError: `rate` is unknown, or there is no value to draw.
    """
    if rate not in LINK_RATES:
        raise InputError(f"there is no rate `{rate}`{nearest(rate, LINK_RATES)}")
    label = LINK_RATES[rate]
    figure, axes = new_figure(title or f"{label} of the link", "Eb/N0 at an antenna (dB)", label)
    is_empty = True
    for place, (name, table) in enumerate(links.items()):
        x, mean, low, high = (
            np.asarray(table[column], dtype=np.float64)[np.argsort(table["eb_n0_db"])]
            for column in ("eb_n0_db", rate, f"{rate}_ci95_low", f"{rate}_ci95_high")
        )
        seen, none, paint = mean > 0, mean == 0, color(place)
        look: Look = {"color": paint, "label": name, "markersize": 4.5, "linestyle": dash(place)}
        look |= {"marker": marker(place), "capsize": 2.5, "elinewidth": 1.1}
        axes.errorbar(x[seen], mean[seen], yerr=errors(mean, low, high)[:, seen], **look)
        hollow: Look = {"linestyle": "none", "marker": "v", "markerfacecolor": "none"}
        axes.plot(x[none], high[none], color=paint, **hollow)
        is_empty &= not (seen | none).any()
    if is_empty:
        raise InputError(f"there is no {label.lower()} in these results")
    axes.set_yscale("log")
    axes.grid(visible=True, which="minor", alpha=0.35)
    axes.set_ylim(top=min(1.0, axes.get_ylim()[1]))
    legend(axes, columns=2)
    return figure
