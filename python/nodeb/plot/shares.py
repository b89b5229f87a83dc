"""Figures of empirical distribution functions of samples, such as delays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.errors import InputError
from nodeb.plot.style import SIZE, Look, Size, color, dash, legend, new_figure
from nodeb.plot.text import Quantity

MAX_POINTS = 400
"""Largest number of steps of a curve; for a larger sample, that many quantiles are drawn."""
WIDE = 50.0
"""Ratio of largest value to a typical one above which an axis is logarithmic, if all are positive.
"""

Values = NDArray[np.float64]


def shares(
    title: str,
    column: str,
    samples: Mapping[str, Values],
    size: Size = SIZE,
    ax: Axes | None = None,
) -> Figure:
    """Returns a figure of the shares of samples that are no longer than a value, by label.

    With `ax`, it draws on these axes.
    """
    finite = {name: np.sort(values[np.isfinite(values)]) for name, values in samples.items()}
    curves = {}
    for name, values in finite.items():
        ranks = np.arange(1, len(values) + 1)
        if len(values) > MAX_POINTS:
            ranks = np.unique(np.linspace(1, len(values), MAX_POINTS).astype(int))
        if len(values):
            curves[name] = values[ranks - 1], ranks
    if not curves:
        raise InputError(f"there is no {Quantity.of(column, np.array([])).name} to draw")
    typical = float(np.median(np.concatenate(list(finite.values()))))
    return distributions(title, column, curves, size, typical, ax)


def distributions(
    title: str,
    column: str,
    curves: Mapping[str, tuple[Values, NDArray[np.int64]]],
    size: Size,
    typical: float | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draws curves of values in order, with the number of samples up to each.

    Args:
        title: title of the figure.
        column: column of the values, which determines the unit.
        curves: values and numbers by label.
        size: width and height in inches.
        typical: value with which the largest is compared; None for the smallest value.
        ax: axes to draw on; None for a new figure.
    """
    every = np.concatenate([values for values, _ in curves.values()])
    quantity = Quantity.of(column, every)
    figure, axes = new_figure(title, quantity.label, "Share that is no longer (%)", size, ax)
    for place, (name, (values, counts)) in enumerate(curves.items()):
        # The smallest value comes twice, first with the share 0.
        x = np.concatenate([values[:1], values]) * quantity.factor
        y = np.concatenate([[0.0], 100 * (counts / counts[-1])])
        label = f"{name} ({int(counts[-1]):,})".replace(",", "\N{NARROW NO-BREAK SPACE}")
        look: Look = {"color": color(place), "linestyle": dash(place)}
        axes.plot(x, y, drawstyle="steps-post", label=label, **look)
    least = float(every.min())
    is_wide = least > 0 and every.max() > WIDE * (least if typical is None else typical)
    axes.set_xscale("log") if is_wide else axes.set_xlim(left=0)
    axes.set_ylim(0, 102)
    legend(axes)
    return figure
