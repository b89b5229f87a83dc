"""Critical paths as pictures: causes side by side, and the path of one transfer over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from nodeb.plot.style import BAND, SIZE, color, legend, new_figure

if TYPE_CHECKING:
    from nodeb.explanation import Explanation

__all__ = ["causes", "waterfall"]

SHOWN = 7
"""Causes that have a colour of their own; the others are one."""
OTHERS = "all others"


def causes(
    title: str,
    found: Mapping[str, Explanation],
    *,
    shares: bool = False,
    size: tuple[float, float] = SIZE,
) -> Figure:
    """What each cause has of the time of transfers, side by side.

    Args:
        title: what is shown.
        found: explanations by what the transfer is called.
        shares: show shares of the time, not seconds.
        size: width and height in inches.
    """
    label = "Share of the time (%)" if shares else "Time (s)"
    figure, axes = new_figure(title, label, "", size)
    names = list(found)
    places = np.arange(len(names))
    left = np.zeros(len(names))
    for cause, paint in _colours(found).items():
        values = np.array([_value(one, cause, found, shares) for one in found.values()])
        axes.barh(places, values, left=left, height=0.7, color=paint, label=cause)
        left += values
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    legend(axes, columns=3, last=OTHERS)
    return figure


def waterfall(title: str, found: Explanation, size: tuple[float, float] = SIZE) -> Figure:
    """The critical path of a transfer over time, a row for each cause: the first replication.

    Args:
        title: what is shown.
        found: the explanation.
        size: width and height in inches.
    """
    figure, axes = new_figure(title, "Time since the transfer began (s)", "", size)
    spans = found.spans
    begun = int(spans["begin_ns"][0]) if len(spans) else 0
    begin, lasts = (spans["begin_ns"] - begun) / 1e9, (spans["end_ns"] - spans["begin_ns"]) / 1e9
    rows = list(dict.fromkeys(spans["cause"].tolist()))
    colours = _colours({"": found})
    for row, cause in enumerate(rows):
        of_cause = spans["cause"] == cause
        stretches = _joined(begin[of_cause], lasts[of_cause])
        axes.broken_barh(stretches, (row - 0.4, 0.8), color=colours.get(cause, BAND))
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    return figure


def _joined(begin: np.ndarray, lasts: np.ndarray) -> list[tuple[float, float]]:
    """Stretches of time, those that touch each other as one."""
    found: list[tuple[float, float]] = []
    for at, width in zip(begin.tolist(), lasts.tolist(), strict=True):
        if found and at - sum(found[-1]) < 1e-12:
            found[-1] = (found[-1][0], at + width - found[-1][0])
        else:
            found.append((at, width))
    return found


def _colours(found: Mapping[str, Explanation]) -> dict[str, str]:
    """The causes that have most of the time of all, with their colours, and one for the others."""
    sums: dict[str, float] = {}
    for one in found.values():
        for cause in one.causes:
            share = float(one.seconds(cause).mean()) / one.time.mean
            sums[cause] = sums.get(cause, 0.0) + share
    order = sorted(sums, key=lambda cause: -sums[cause])
    shown = {cause: color(place) for place, cause in enumerate(order[:SHOWN])}
    return shown if len(order) <= SHOWN else {**shown, OTHERS: BAND}


def _value(one: Explanation, cause: str, found: Mapping[str, Explanation], shares: bool) -> float:
    shown = [name for name in _colours(found) if name != OTHERS]
    wanted = [name for name in one.causes if name not in shown] if cause == OTHERS else [cause]
    seconds = sum(float(one.seconds(name).mean()) for name in wanted)
    return 100 * seconds / one.time.mean if shares else seconds
