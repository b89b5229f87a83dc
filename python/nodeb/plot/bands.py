"""Curves with confidence bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.plot.style import MARKERS, SIZE, color, dash, legend, name_places, new_figure

__all__ = ["Curve", "bands"]

MOST_MARKERS = 40
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


def bands(
    title: str,
    x_label: str,
    y_label: str,
    curves: Sequence[Curve],
    *,
    ticks: Sequence[str] = (),
    log: str = "",
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
        size: width and height in inches.
    """
    figure, axes = new_figure(title, x_label, y_label, size)
    for place, curve in enumerate(curves):
        paint = color(place)
        marker = (
            MARKERS[place % len(MARKERS)] if len(curve.x) <= MOST_MARKERS or curve.points else ""
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
    if ticks:
        name_places(axes, ticks, size[0])
        axes.set_xlim(-0.5, len(ticks) - 0.5)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    elif all(np.nanmin(c.mean, initial=0.0) >= 0 for c in curves):
        axes.set_ylim(bottom=0)
    legend(axes, columns=3)
    return figure
