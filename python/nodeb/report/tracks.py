"""Figures made of tracks (rows) on one axis; shapes stretch with the page, text does not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.numbers import number
from nodeb.answer.paints import paint
from nodeb.base.units import NS_PER_S
from nodeb.explanation.replications import Path
from nodeb.plot.series import thinned
from nodeb.plot.style import nice_step
from nodeb.report.render import Content

__all__ = ["line", "picture", "steps", "strip", "track", "word"]

TICKS = 7
"""Approximate number of axis ticks."""
SHARED = 0.005
"""Length, as a fraction of the axis, below which adjacent stretches of causes share a box.

In a shared box, the height of a cause is its fraction of the box's time.
"""
TOP = 0.78
"""Height of the largest value in its track, as a share of the track's height."""

Times = NDArray[np.float64]


def picture(
    title: str, note: str, tracks: Sequence[Content], end: float, axis: str, css: str = ""
) -> Content:
    step = nice_step(end, TICKS)
    ticks = np.arange(0, end * (1 + 1e-9), step)
    return {
        "title": title,
        "note": note,
        "tracks": tracks,
        "axis": axis,
        "css": css,
        "step": 100 * step / end,
        "ticks": [{"left": 100 * at / end, "text": f"{at:.6g}"} for at in ticks.tolist()],
    }


def track(name: str, unit: str, sentence: str, height: float, **parts: Any) -> Content:
    known = {"css": "", "boxes": (), "lines": (), "words": ()}
    return known | {"name": name, "unit": unit, "sentence": sentence, "height": height} | parts


def line(path: str, css: str) -> Content:
    return {"path": path, "css": css}


def word(text: str, left: float, top: float, css: str = "") -> Content:
    """Words to the right of the middle (`left` above 50) are aligned by their right end."""
    return {"text": text, "left": left, "top": top, "css": f"{css}{' end' if left > 50 else ''}"}


def steps(
    name: str, unit: str, times: Times, values: Times, end: float, *, fill: bool = False
) -> Content:
    """Returns a track of a series that changes in steps; the last value is held until `end`."""
    inside = times <= end
    most = float(np.max(values[inside], initial=0.0))
    scale = 100 * TOP / most if most else 0.0
    x, y = thinned(times[inside], values[inside])
    place = [f"{max(0.0, 1000 * at / end):.1f}" for at in x.tolist()]
    height = [f"{100 - scale * value:.1f}" for value in y.tolist()]
    first, floor = (place[0], height[0]) if place else ("0", "100")
    path = "".join(f"H{at}V{to}" for at, to in zip(place, height, strict=True)) + "H1000"
    lines = [line(f"M{first} {floor}{path}", "data")]
    if fill:
        lines.insert(0, line(f"M{first} 100V{floor}{path}V100Z", "area"))
    at = float(times[inside][np.argmax(values[inside])]) if inside.any() else 0.0
    shown = f"at most {most:.3g}"
    sentence = f"{name}: {shown} {unit}, at {number(at, 's')}"
    return track(name, unit, sentence, 4.5, lines=lines, words=[word(shown, 100 * at / end, 0)])


def strip(path: Path, end: float) -> Content:
    """Returns a track of a transfer's critical path: a strip of causes over time."""
    boxes = _boxes(path, end)
    largest = max(path.causes, key=lambda cause: path.causes[cause])
    share = round(100 * path.causes[largest] / path.time_ns)
    sentence = (
        f"What the transfer waited for, moment by moment, until {number(end, 's')}: "
        f"most of all {largest}, {share} % of the time"
    )
    return track("why it waited", "critical path", sentence, 3.25, css="strip", boxes=boxes)


def _boxes(path: Path, end: float) -> list[Content]:
    """Returns boxes of the stretches of time of each cause, from left to right.

    Adjacent stretches shorter than `SHARED` (a fraction of the axis) that begin in the same slot of
    that length share a box.
    """
    if not path.columns:
        return []
    codes, names = path.columns["cause"]
    first = path.columns["begin_ns"][0]
    begin, until = (
        (path.columns[name] - first) / NS_PER_S / end for name in ("begin_ns", "end_ns")
    )
    # Adjacent stretches of the same cause are merged.
    new = np.r_[True, codes[1:] != codes[:-1]]
    codes, begin, until = codes[new], begin[new], until[np.r_[new[1:], True]]
    is_long = until - begin >= SHARED
    # A long stretch has its own box; short ones are grouped by the slot in which they begin.
    slot = np.where(is_long, -1, (begin / SHARED).astype(int))
    apart = np.r_[True, is_long[1:] | is_long[:-1] | (slot[1:] != slot[:-1])]
    edges = np.append(np.flatnonzero(apart), len(codes))
    return [
        _box(codes[low:high], begin[low:high], until[low:high], names, end)
        for low, high in pairwise(edges.tolist())
    ]


def _box(
    codes: NDArray[Any], begin: Times, until: Times, names: Sequence[str], end: float
) -> Content:
    left, width = float(begin[0]), float(until[-1] - begin[0])
    sums = np.bincount(codes, until - begin, len(names))
    known = [(names[code], float(sums[code])) for code in np.argsort(-sums) if sums[code] > 0]
    parts, bottom = [], 0.0
    for cause, lasts in known:
        height = 100 * lasts / width if width else 100.0
        parts.append({"paint": paint(cause), "bottom": bottom, "height": height})
        bottom += height
    decimals = 2 - math.floor(math.log10(end))
    ends = " to ".join(f"{end * at:.{max(decimals, 0)}f}" for at in (left, left + width))
    title = f"{ends} s: {', '.join(cause for cause, _ in known)}"
    one = parts[0]["paint"] if len(parts) == 1 else ""
    return {
        "left": 100 * left,
        "width": 100 * width,
        "title": title,
        "paint": one,
        "parts": [] if one else parts,
    }
