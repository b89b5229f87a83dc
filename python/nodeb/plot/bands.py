"""Curves with confidence bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.answer.words import percent
from nodeb.plot.style import INK, MARKERS, SIZE, color, dash, legend, name_places, new_figure

__all__ = ["Curve", "bands"]

HOLLOW: dict[str, Any] = {
    "marker": "o",
    "markersize": 8.0,
    "markerfacecolor": "white",
    "markeredgewidth": 1.6,
    "linestyle": "none",
}
"""A mark at a mean that leaves users out."""
MAX_MARKERS = 40
"""With more points than this, markers hide the curve."""


@dataclass(frozen=True)
class Curve:
    """One curve; NaN ends of a band leave it out there."""

    label: str
    x: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    points: bool = False
    """Whether its points are not joined by a line."""
    covered: NDArray[np.float64] | None = None
    """The share of users of which each mean is; None where none leaves anybody out."""

    @property
    def some(self) -> NDArray[np.bool_]:
        """Which means leave users out."""
        if self.covered is None:
            return np.zeros(len(self.x), dtype=bool)
        return np.isfinite(self.mean) & (self.covered < 1)


def _tell_of_some(axes: Axes, curves: Sequence[Curve]) -> None:
    """Says in the legend what hollow marks are."""
    shares = [
        one.covered[one.some].min() for one in curves if one.covered is not None and one.some.any()
    ]
    if shares:
        text = f"hollow: mean of only some users, of {percent(min(shares))} at the least"
        axes.plot([], [], **HOLLOW, color=INK, label=text)


def bands(
    title: str,
    x_label: str,
    y_label: str,
    curves: Sequence[Curve],
    *,
    ticks: Sequence[str] = (),
    log: str = "",
    key: str = "",
    size: tuple[float, float] = SIZE,
) -> Figure:
    """Curves with their intervals as bands, and as bars where a curve has few points.

    Args:
        title: what is shown.
        x_label: quantity and unit of the x axis.
        y_label: quantity and unit of the y axis.
        curves: the curves.
        ticks: names of the places 0, 1, ... on the x axis; none for a numeric axis.
        log: axes with a logarithmic scale: "", "x", "y" or "xy".
        key: what tells the curves apart, above their names.
        size: width and height in inches.
    """
    figure, axes = new_figure(title, x_label, y_label, size)
    for place, curve in enumerate(curves):
        paint = color(place)
        marker = (
            MARKERS[place % len(MARKERS)] if len(curve.x) <= MAX_MARKERS or curve.points else ""
        )
        line = "none" if ticks or curve.points else dash(place)
        axes.plot(
            curve.x,
            curve.mean,
            label=curve.label,
            color=paint,
            marker=marker,
            markersize=4.5,
            linestyle=line,
        )
        if ticks or len(curve.x) == 1:
            below, above = curve.mean - curve.low, curve.high - curve.mean
            errors = np.nan_to_num(np.maximum([below, above], 0.0))
            axes.errorbar(curve.x, curve.mean, errors, fmt="none", ecolor=paint, capsize=3)
        else:
            axes.fill_between(curve.x, curve.low, curve.high, color=paint, alpha=0.2, linewidth=0)
        if (some := curve.some).any():
            axes.plot(curve.x[some], curve.mean[some], **HOLLOW, color=paint, label="_some")
    _tell_of_some(axes, curves)
    if ticks:
        name_places(axes, ticks, size[0])
        axes.set_xlim(-0.5, len(ticks) - 0.5)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    elif all(np.nanmin(c.mean, initial=0.0) >= 0 for c in curves):
        axes.set_ylim(bottom=0)
    fewest = 1 if any(one.some.any() for one in curves) else 2
    legend(axes, columns=3, fewest=fewest, title=key)
    return figure
