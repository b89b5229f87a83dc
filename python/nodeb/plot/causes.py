"""Figure of transfers as bars, divided into the times that `nodeb explain` charges to causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from nodeb.answer.paints import CAUSES, FAMILIES
from nodeb.explanation import Explanation
from nodeb.plot.style import BAND, LABEL, SIZE, Look, Size, legend, new_figure, pale
from nodeb.plot.text import POINTS

SHOWN = 7
"""Maximum number of causes with a legend entry of their own; all other causes share one entry."""
OTHERS = "all others"
HATCHES = ("", "////", "....", "\\\\\\", "---", "xxx", "|||")
"""Textures that distinguish causes of one family (one colour), by `texture` of the cause."""
ROW_IN, AROUND_IN = 1.5 * LABEL / POINTS, 1.4
"""Minimum height of a transfer's row, and height of the figure without rows, inches.

With this height of a row, labels of two rows do not touch.
"""


def causes(
    title: str,
    found: Mapping[str, Explanation],
    *,
    shares: bool = False,
    size: Size = SIZE,
) -> Figure:
    """Returns a figure with a bar for each transfer, divided into the times of its causes.

    Args:
        title: title of the figure.
        found: explanations by label of the transfer.
        shares: show the causes' shares of the time instead of seconds.
        size: width and height in inches; the height increases for many transfers.
    """
    size = (size[0], max(size[1], AROUND_IN + ROW_IN * len(found)))
    label = "Share of the time (%)" if shares else "Time (s)"
    figure, axes = new_figure(title, label, "", size)
    places, left = np.arange(len(found)), np.zeros(len(found))
    shown = _shown(found)
    for cause in shown:
        values = np.array([_value(one, cause, shown, shares) for one in found.values()])
        axes.barh(places, values, left=left, height=0.7, label=cause, **_fill(cause))
        left += values
    axes.set_yticks(places, list(found))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    legend(axes, columns=3, last=OTHERS)
    return figure


def _fill(cause: str) -> Look:
    if cause not in CAUSES:
        return {"color": BAND}
    paint = CAUSES[cause]
    hue = FAMILIES[paint.family].light
    fill = {"facecolor": hue, "edgecolor": hue, "hatch": HATCHES[paint.texture], "linewidth": 0.0}
    return fill | ({"facecolor": pale(hue), "linewidth": 0.6} if paint.texture else {})


def _shown(found: Mapping[str, Explanation]) -> list[str]:
    """Returns the causes with the largest sums of shares of the time, largest first."""
    sums: dict[str, float] = {}
    for one in found.values():
        for cause in one.causes:
            sums[cause] = sums.get(cause, 0.0) + float(one.seconds(cause).mean()) / one.time.mean
    order = sorted(sums, key=lambda cause: -sums[cause])
    return order if len(order) <= SHOWN else [*order[:SHOWN], OTHERS]


def _value(one: Explanation, cause: str, shown: Sequence[str], shares: bool) -> float:
    others = [name for name in one.causes if name not in shown]
    names = others if cause == OTHERS else [cause]
    seconds = sum(float(one.seconds(name).mean()) for name in names)
    return 100 * seconds / one.time.mean if shares else seconds
