"""Figures of empirical distribution functions of samples, such as delays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.errors import InputError
from nodeb.plot.labels import Quantity
from nodeb.plot.style import SIZE, color, dash, legend, new_figure

__all__ = ["shares"]

MAX_POINTS = 400
"""Largest number of steps of a curve; for a larger sample, that many quantiles are drawn."""
WIDE = 50.0
"""Ratio of largest value to median above which the axis is logarithmic, if all are positive."""


def shares(
    title: str,
    column: str,
    samples: Mapping[str, NDArray[np.float64]],
    size: tuple[float, float] = SIZE,
) -> Figure:
    known = {name: values[np.isfinite(values)] for name, values in samples.items()}
    known = {name: np.sort(values) for name, values in known.items() if len(values)}
    if not known:
        raise InputError(f"there is no {Quantity.of(column, np.array([])).name} to draw")
    every = np.concatenate(list(known.values()))
    quantity = Quantity.of(column, every)
    figure, axes = new_figure(title, quantity.label, "Share that is no longer (%)", size)
    for place, (name, values) in enumerate(known.items()):
        x, share = _steps(values * quantity.factor)
        label = f"{name} ({len(values):,})".replace(",", "\N{NARROW NO-BREAK SPACE}")
        look: dict[str, Any] = {"color": color(place), "linestyle": dash(place)}
        axes.plot(x, 100 * share, drawstyle="steps-post", label=label, **look)
    is_wide = every.min() > 0 and every.max() > WIDE * np.median(every)
    axes.set_xscale("log") if is_wide else axes.set_xlim(left=0)
    axes.set_ylim(0, 102)
    legend(axes)
    return figure


def _steps(ordered: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest value comes twice, first with the share 0. Of more than `MAX_POINTS` values,
    that many quantiles are returned."""
    ranks = np.arange(1, len(ordered) + 1)
    if len(ordered) > MAX_POINTS:
        ranks = np.unique(np.linspace(1, len(ordered), MAX_POINTS).astype(int))
    values = ordered[ranks - 1]
    return np.concatenate([values[:1], values]), np.concatenate([[0.0], ranks / len(ordered)])
