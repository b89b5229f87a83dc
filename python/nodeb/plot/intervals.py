"""Means with their 95 % confidence intervals: as lines, bars or bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.answer.words import percent
from nodeb.base.table import Table
from nodeb.errors import InputError, nearest
from nodeb.plot.style import (
    DASHES,
    INK,
    MARKERS,
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
HOLLOW: Look = {"marker": "o", "markerfacecolor": "white", "markersize": 8.0, "linestyle": "none"}
"""Style of the hollow markers of means that cover only some of the users."""
MAX_MARKERS = 40
"""Number of points above which a joined curve has no markers."""
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
        if not self.low:
            return None
        mean, low, high = map(np.asarray, (self.mean, self.low, self.high))
        distances: Values = np.fmax(0.0, [mean - low, high - mean])
        return distances


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
        marker, paint = MARKERS[number % len(MARKERS)], color(number)
        look: Look = {"color": paint, "marker": marker, "markersize": 5, "label": line.label}
        look |= {"linestyle": DASHES[(number + number // len(PALETTE)) % len(DASHES)]}
        at = [place + shift for place in places]
        axes.errorbar(at, line.mean, yerr=line.errors(), capsize=3, elinewidth=1.1, **look)
        if not dodge:
            hollow = {"markerfacecolor": "none", "markeredgecolor": paint, "markersize": 10}
            _draw_published(axes, x, line, marker=marker, alpha=0.75, **hollow)
    axes.set_xticks(places, list(ticks) or None)
    if dodge:
        axes.grid(visible=False, axis="x")


def _draw_published(axes: Axes, x: Sequence[float], line: Line, **look: Any) -> None:
    pairs = [(at, v) for at, v in zip(x, line.published, strict=False) if v is not None]
    places, values = [at for at, _ in pairs], [value for _, value in pairs]
    axes.plot(places, values, linestyle="none", markeredgewidth=1.2, **look)


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


@dataclass(frozen=True)
class Curve:
    """A curve with its confidence band; where an end of the band is NaN, no band is drawn."""

    label: str
    x: Values
    mean: Values
    low: Values
    high: Values
    points: bool = False
    """Whether the curve's points are not joined by a line."""
    covered: Values | None = None
    """Share of users that each mean covers; None if all means cover all users."""

    @property
    def excludes_users(self) -> NDArray[np.bool_]:
        """Mask of the finite means that cover less than all users; these have hollow markers."""
        if self.covered is None:
            return np.zeros(len(self.x), dtype=bool)
        return np.isfinite(self.mean) & (self.covered < 1)


def bands(
    words: tuple[str, str, str],
    curves: Sequence[Curve],
    *,
    ticks: Sequence[str] = (),
    log: str = "",
    key: str = "",
) -> Figure:
    """Returns a figure of curves whose confidence intervals are drawn as bands.

    Error bars replace the bands if the x axis has texts (`ticks`), and for a curve of one point.

    Args:
        words: title, and labels of the x and y axes.
        curves: the curves.
        ticks: labels of the positions 0, 1, ... on the x axis; empty for a numeric axis.
        log: axes with a logarithmic scale: "", "x", "y" or "xy".
        key: legend title: the quantity that distinguishes the curves.
    """
    figure, axes = new_figure(*words)
    shares: list[float] = []
    for place, curve in enumerate(curves):
        paint, has_markers = color(place), len(curve.x) <= MAX_MARKERS or curve.points
        look: Look = {"color": paint, "label": curve.label, "markersize": 4.5}
        look["marker"] = MARKERS[place % len(MARKERS)] if has_markers else ""
        look["linestyle"] = "none" if ticks or curve.points else dash(place)
        axes.plot(curve.x, curve.mean, **look)
        if ticks or len(curve.x) == 1:
            distances = np.maximum([curve.mean - curve.low, curve.high - curve.mean], 0.0)
            errors = np.nan_to_num(distances)
            axes.errorbar(curve.x, curve.mean, errors, fmt="none", ecolor=paint, capsize=3)
        else:
            axes.fill_between(curve.x, curve.low, curve.high, color=paint, alpha=0.2, linewidth=0)
        some = curve.excludes_users
        if curve.covered is not None and some.any():
            axes.plot(curve.x[some], curve.mean[some], **HOLLOW, markeredgewidth=1.6, color=paint)
            shares.append(float(curve.covered[some].min()))
    if shares:
        text = f"hollow: mean of only some users, of {percent(min(shares))} at the least"
        axes.plot([], [], **HOLLOW, markeredgewidth=1.6, color=INK, label=text)
    if ticks:
        name_places(axes, ticks, SIZE[0])
        axes.set_xlim(-0.5, len(ticks) - 0.5)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    elif all(np.nanmin(curve.mean, initial=0.0) >= 0 for curve in curves):
        # Zero is included first, because matplotlib's top margin is a share of the data's range.
        axes.update_datalim([(axes.dataLim.x0, 0)])
        axes.set_ylim(bottom=0)
    legend(axes, columns=3, fewest=1 if shares else 2, title=key)
    return figure


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
        look["marker"] = MARKERS[place % len(MARKERS)]
        errors = np.maximum([mean - low, high - mean], 0)[:, seen]
        axes.errorbar(x[seen], mean[seen], yerr=errors, capsize=2.5, elinewidth=1.1, **look)
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
