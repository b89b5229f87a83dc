"""Figures of curves with bands or error bars that show their confidence intervals."""

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
"""Style of the hollow markers of means that cover only some of the users."""
MAX_MARKERS = 40
"""Number of points above which a joined curve has no markers."""


@dataclass(frozen=True)
class Curve:
    """A curve with its confidence band; where an end of the band is NaN, no band is drawn."""

    label: str
    x: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    points: bool = False
    """Whether the curve's points are not joined by a line."""
    covered: NDArray[np.float64] | None = None
    """Share of users that each mean covers; None if all means cover all users."""

    @property
    def excludes_users(self) -> NDArray[np.bool_]:
        """Mask of the finite means that cover less than all users; these have hollow markers."""
        if self.covered is None:
            return np.zeros(len(self.x), dtype=bool)
        return np.isfinite(self.mean) & (self.covered < 1)


def _explain_hollow_markers(axes: Axes, curves: Sequence[Curve]) -> None:
    """Adds a legend entry that explains hollow markers, if any curve has these.

    The entry contains the smallest share of users that a mean covers.
    """
    shares = [
        one.covered[one.excludes_users].min()
        for one in curves
        if one.covered is not None and one.excludes_users.any()
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
    """Returns a figure of curves whose confidence intervals are drawn as bands.

    Error bars replace the bands if the x axis has texts (`ticks`), and for a curve of one point.

    Args:
        title: title of the figure.
        x_label: quantity and unit of the x axis.
        y_label: quantity and unit of the y axis.
        curves: the curves.
        ticks: labels of the positions 0, 1, ... on the x axis; empty for a numeric axis.
        log: axes with a logarithmic scale: "", "x", "y" or "xy".
        key: legend title: the quantity that distinguishes the curves.
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
        if (excludes_users := curve.excludes_users).any():
            axes.plot(
                curve.x[excludes_users],
                curve.mean[excludes_users],
                **HOLLOW,
                color=paint,
            )
    _explain_hollow_markers(axes, curves)
    if ticks:
        name_places(axes, ticks, size[0])
        axes.set_xlim(-0.5, len(ticks) - 0.5)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    elif all(np.nanmin(c.mean, initial=0.0) >= 0 for c in curves):
        # Zero is included first, because matplotlib's top margin is a share of the data's range.
        axes.update_datalim([(axes.dataLim.x0, 0)])
        axes.set_ylim(bottom=0)
    fewest = 1 if any(one.excludes_users.any() for one in curves) else 2
    legend(axes, columns=3, fewest=fewest, title=key)
    return figure
