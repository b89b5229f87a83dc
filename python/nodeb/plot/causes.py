"""Critical paths as pictures: causes side by side, and the path of one transfer over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.answer.paints import CAUSES, FAMILIES
from nodeb.base.units import NS_PER_S
from nodeb.explanation import Explanation
from nodeb.plot.fitting import POINTS
from nodeb.plot.style import BAND, LABEL, SIZE, legend, new_figure, pale

__all__ = ["MOST_STRETCHES", "causes", "waterfall"]

SHOWN = 7
"""Causes that are named; the others are one."""
OTHERS = "all others"
HATCHES = ("", "////", "....", "\\\\\\", "---")
"""Textures of a family's causes, in order."""
FEW = 10
"""So few stretches are seen however short they are; the edges of more would fill the row."""
MOST_STRETCHES = 300
"""Stretches of a row that are drawn one by one: it has no more pixels than that."""
SLICES = 500
"""Moments at which the share is shown that more stretches have."""
ROW_IN, AROUND_IN = 1.5 * LABEL / POINTS, 1.4
"""Height that a transfer's bar takes at least, so that its label touches no other, and height of
what is around all bars, inches."""
Times = NDArray[np.float64]


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
        size: width and height in inches; it grows higher where there are too many transfers.
    """
    size = (size[0], max(size[1], AROUND_IN + ROW_IN * len(found)))
    label = "Share of the time (%)" if shares else "Time (s)"
    figure, axes = new_figure(title, label, "", size)
    names = list(found)
    places = np.arange(len(names))
    left = np.zeros(len(names))
    for cause in _shown(found):
        values = np.array([_value(one, cause, found, shares) for one in found.values()])
        axes.barh(places, values, left=left, height=0.7, label=cause, **_fill(cause))
        left += values
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    legend(axes, columns=3, last=OTHERS)
    return figure


def waterfall(title: str, found: Explanation, size: tuple[float, float] = SIZE) -> Figure:
    """The critical path of a transfer over time, a row for each cause: the first replication.

    Of a cause with more than `MOST_STRETCHES` stretches of time the row is as high as its share of
    the time is, moment by moment.

    Args:
        title: what is shown.
        found: the explanation.
        size: width and height in inches.
    """
    figure, axes = new_figure(title, "Time since the transfer began (s)", "", size)
    rows = _stretches(found)
    over = max((end[-1] for _, end in rows.values()), default=0.0)
    for row, (cause, (begin, end)) in enumerate(rows.items()):
        fill = _fill(cause)
        if len(begin) <= MOST_STRETCHES:
            stretches = list(zip(begin, end - begin, strict=True))
            edge = 1.0 if len(stretches) <= FEW else 0.0
            axes.broken_barh(stretches, (row - 0.4, 0.8), **(fill | {"linewidth": edge}))
        else:
            moments = np.linspace(0, over, SLICES + 1)
            tops = row + 0.4 - 0.8 * _shares(begin, end, moments)
            axes.stairs(tops, moments, baseline=row + 0.4, fill=True, **fill)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    return figure


def _stretches(found: Explanation) -> dict[str, tuple[Times, Times]]:
    """Of each cause, in order of its first, when its stretches of time begin and end, s.

    Those that touch each other are one.
    """
    columns = found.paths[0].columns
    if not columns:
        return {}
    codes, names = columns["cause"]
    begin, end = columns["begin_ns"], columns["end_ns"]
    rows = {}
    for first in np.sort(np.unique(codes, return_index=True)[1]):
        own = codes == codes[first]
        apart = begin[own][1:] != end[own][:-1]
        begins, ends = begin[own][np.r_[True, apart]], end[own][np.r_[apart, True]]
        rows[names[codes[first]]] = (begins - begin[0]) / NS_PER_S, (ends - begin[0]) / NS_PER_S
    return rows


def _shares(begin: Times, end: Times, moments: Times) -> Times:
    """Which share stretches have of the time between each two moments."""
    passed = np.cumsum(end - begin)
    knots = np.column_stack([begin, end]).ravel()
    sums = np.column_stack([passed - (end - begin), passed]).ravel()
    shares: Times = np.diff(np.interp(moments, knots, sums)) / np.diff(moments)
    return shares


def _fill(cause: str) -> dict[str, Any]:
    """The fill of a cause: its family's colour, pale behind a texture."""
    if cause not in CAUSES:
        return {"color": BAND}
    paint = CAUSES[cause]
    hue = FAMILIES[paint.family].light
    face = pale(hue) if paint.texture else hue
    return {
        "facecolor": face,
        "edgecolor": hue,
        "hatch": HATCHES[paint.texture],
        "linewidth": 0.6 if paint.texture else 0.0,
    }


def _shown(found: Mapping[str, Explanation]) -> list[str]:
    """The causes that have most of the time of all, and one for the others."""
    sums: dict[str, float] = {}
    for one in found.values():
        for cause in one.causes:
            share = float(one.seconds(cause).mean()) / one.time.mean
            sums[cause] = sums.get(cause, 0.0) + share
    order = sorted(sums, key=lambda cause: -sums[cause])
    return order if len(order) <= SHOWN else [*order[:SHOWN], OTHERS]


def _value(one: Explanation, cause: str, found: Mapping[str, Explanation], shares: bool) -> float:
    shown = _shown(found)
    wanted = [name for name in one.causes if name not in shown] if cause == OTHERS else [cause]
    seconds = sum(float(one.seconds(name).mean()) for name in wanted)
    return 100 * seconds / one.time.mean if shares else seconds
