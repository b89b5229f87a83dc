"""Figures made of tracks (rows) on one axis; shapes stretch with the page, text does not.

They show one transfer over time, or what each phone of a cell received.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.answer.numbers import number, scale_of
from nodeb.answer.paints import paint
from nodeb.answer.words import counted, percent
from nodeb.base.table import Table
from nodeb.base.units import NS_PER_S
from nodeb.explanation import Explanation
from nodeb.explanation.replications import Path
from nodeb.plot.series import thinned
from nodeb.plot.style import nice_step
from nodeb.report.render import Content
from nodeb.results.metrics import ALL
from nodeb.results.result import Result
from nodeb.stats import mean_interval

TICKS = 7
"""Approximate number of axis ticks."""
SHARED = 0.005
"""Length, as a fraction of the axis, below which adjacent stretches of causes share a box.

In a shared box, the height of a cause is its fraction of the box's time.
"""
TOP = 0.78
"""Height of the largest value in its track, as a share of the track's height."""
SERIES = (
    ("cwnd", "cwnd_packets", "congestion window", "segments"),
    ("queue", "packets", "Node\N{NO-BREAK SPACE}B queue", "packets"),
)
"""Table, column, name and unit of each track below the causes of a transfer."""
WEAK = 5.0
"""Share of the phones of a replication that are marked as weakest, per cent."""
MAX_PHONES = 5_000
"""Maximum number of phones that are drawn; of more phones, a regular sample is drawn."""
ROOM = 1.06
"""Ratio of the upper end of the rate axis to the highest rate."""

Values = NDArray[np.float64]


class Rings(NamedTuple):
    """Phones of a cell grouped by their distance from the Node B."""

    distance_m: Values
    edges_m: Values
    """Distances that separate the rings, m; the first is 0."""
    places: NDArray[np.uint64]
    """Ring of each phone, from 0 for the one nearest to the Node B."""

    def of_each(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        return [values[self.places == ring] for ring in range(len(self.edges_m) - 1)]


def picture(title: str, note: str, tracks: Sequence[Content], end: float, axis: str) -> Content:
    step = nice_step(end, TICKS)
    ticks = np.arange(0, end * (1 + 1e-9), step).tolist()
    places = [(100 * at / end, f"{at:.6g}") for at in ticks]
    parts = {"title": title, "note": note, "tracks": tracks, "axis": axis}
    return parts | {"step": 100 * step / end, "ticks": places}


def track(name: str, unit: str, sentence: str, height: float, **parts: Any) -> Content:
    empty = {"css": "", "boxes": (), "lines": (), "words": ()}
    return empty | {"name": name, "unit": unit, "sentence": sentence, "height": height} | parts


def word(text: str, left: float, top: float, css: str = "") -> Content:
    """Words to the right of the middle (`left` above 50) are aligned by their right end."""
    return {"text": text, "left": left, "top": top, "css": f"{css}{' end' if left > 50 else ''}"}


def steps(
    name: str, unit: str, times: Values, values: Values, end: float, *, fill: bool = False
) -> Content:
    """Returns a track of a series that changes in steps; the last value is held until `end`."""
    inside = times <= end
    most = float(np.max(values[inside], initial=0.0))
    scale = 100 * TOP / most if most else 0.0
    x, y = thinned(times[inside], values[inside])
    places = [f"{max(0.0, 1000 * at / end):.1f}" for at in x.tolist()] or ["0"]
    heights = [f"{100 - scale * value:.1f}" for value in y.tolist()] or ["100"]
    path = "".join(f"H{at}V{to}" for at, to in zip(places, heights, strict=True) if len(x))
    lines = [("data", f"M{places[0]} {heights[0]}{path}H1000")]
    if fill:
        lines.insert(0, ("area", f"M{places[0]} 100V{heights[0]}{path}H1000V100Z"))
    at = float(times[inside][np.argmax(values[inside])]) if inside.any() else 0.0
    shown = f"at most {most:.3g}"
    sentence = f"{name}: {shown} {unit}, at {number(at, 's')}"
    return track(name, unit, sentence, 4.5, lines=lines, words=[word(shown, 100 * at / end, 0)])


def strip(path: Path, end: float) -> Content:
    """Returns a track of a transfer's critical path: a strip of causes over time."""
    largest = max(path.causes, key=lambda cause: path.causes[cause])
    share = round(100 * path.causes[largest] / path.time_ns)
    sentence = (
        f"What the transfer waited for, moment by moment, until {number(end, 's')}: "
        f"most of all {largest}, {share} % of the time"
    )
    boxes = list(_boxes(path, end))
    return track("why it waited", "critical path", sentence, 3.25, css="strip", boxes=boxes)


def _boxes(path: Path, end: float) -> Iterator[Content]:
    """Yields boxes of the stretches of time of each cause, from left to right.

    Adjacent stretches shorter than `SHARED` (a fraction of the axis) that begin in the same slot of
    that length share a box.
    """
    if not path.columns:
        return
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
    decimals = max(2 - math.floor(math.log10(end)), 0)
    for low, high in pairwise([*np.flatnonzero(apart).tolist(), len(codes)]):
        left, right = float(begin[low]), float(until[high - 1])
        lasted = np.bincount(codes[low:high], (until - begin)[low:high], len(names))
        causes = [code for code in np.argsort(-lasted).tolist() if lasted[code] > 0]
        heights = [100 * float(lasted[code]) / (right - left) for code in causes]
        bottoms = np.cumsum([0.0, *heights]).tolist()
        parts = [
            {"paint": paint(names[code]), "bottom": bottom, "height": height}
            for code, bottom, height in zip(causes, bottoms, heights, strict=False)
        ]
        ends = " to ".join(f"{end * at:.{decimals}f}" for at in (left, right))
        yield {
            "left": 100 * left,
            "width": 100 * (right - left),
            "title": f"{ends} s: {', '.join(names[code] for code in causes)}",
            "paint": parts[0]["paint"] if len(parts) == 1 else "",
            "parts": parts if len(parts) > 1 else [],
        }


def download(found: Explanation, recorded: Result | None) -> Content:
    """Returns a figure of one transfer: causes of waiting, congestion window and queue."""
    path, runs = found.typical, len(found.paths)
    end = path.time_ns / NS_PER_S
    tracks = [strip(path, end)]
    series = recorded.tables if recorded else {}
    for table, column, name, unit in SERIES:
        rows = series.get(table, Table({"user": (), "t_s": ()}))
        mine = rows.where((np.asarray(rows["user"]) == found.user) & (np.asarray(rows["t_s"]) >= 0))
        if len(mine):
            times, values = (np.asarray(mine[key], dtype=float) for key in ("t_s", column))
            is_queue = table == "queue"
            tracks.append(steps(name, unit, times - path.begun_s, values, end, fill=is_queue))
    time = number(end, "s")
    note = f"took {time}" if path.complete else f"had not ended when the run did, after {time}"
    if runs == 1:
        note = f"it {note}"
    else:
        longest = number(float(np.max(found.times)), "s")
        note = (
            f"replication {path.run}, which {note}, is nearest the median; the longest of {runs} "
            f"is {longest}"
        )
    title = "One transfer, moment by moment"
    return picture(title, note, tracks, end, "s since the phone asked")


def phones(result: Result) -> Content | None:
    """Returns a figure of the rates of downloads, or `None` if fewer than two exist or all are 0.

    Phones are ordered by distance, with the mean of each ring (range of distances). They are
    ordered by rate if they have no distance, are too few for rings, or if the scenario
    has uploads.
    """
    flows = result.flows
    if "direction" in flows.columns:
        flows = flows.where(flows["direction"] == "down")
    rates = np.asarray(flows["received_bps"], dtype=float)
    if len(np.unique(flows["user"])) < 2 or not np.nansum(rates):
        return None
    title, found = "What each phone received", _core.rings(result.tables)
    rings = Rings(*found) if found else None
    if rings is not None:
        across, end, axis = rings.distance_m, float(rings.edges_m[-1]), "m from the base station"
        title += ", by its distance"
    else:
        ranks = np.argsort(np.argsort(rates, kind="stable"))
        across, end = 100 * (ranks + 0.5) / len(rates), 100.0
        axis = "% of the phones, from the weakest to the strongest"
    runs = counted(result.provenance.runs, "replication")
    note = f"{counted(len(rates), 'phone')} in {runs}"
    for row in result.summary:
        if (row["group"], row["metric"]) == (ALL, "cell_busy") and math.isfinite(row["mean"]):
            note += f"; the channel was busy {percent(row['mean'])} of the time"
    drawn = _rates(flows, rates, 1000 * across / end, rings)
    return picture(title, note, [drawn], end, axis)


def _rates(flows: Table, rates: Values, x: Values, rings: Rings | None) -> Content:
    """Returns a track with a dot for each phone; `x` are the places across, per mille."""
    top = ROOM * float(np.nanmax(rates))
    unit, factor = scale_of(top, "bit/s")

    def height(rate: Any) -> Any:
        return 100 - 100 * rate / top

    ticks = np.arange(nice_step(top, 7), top, nice_step(top, 7)).tolist()
    mean = float(rates.mean())
    mean_text = f"mean {number(mean, 'bit/s')}"
    is_weak = _weakest(flows, rates)
    kept = np.linspace(0, len(rates) - 1, min(len(rates), MAX_PHONES)).astype(int)
    # Dots are lines of length zero, whose caps (set by CSS) never distort.
    dots = [f"M{a:.1f} {b:.1f}h0" for a, b in zip(x.tolist(), height(rates).tolist(), strict=True)]
    lines = [
        ("grid", "".join(f"M0 {height(at):.1f}H1000" for at in ticks)),
        ("dots", "".join(dots[n] for n in kept if not is_weak[n])),
        ("dots weak", "".join(dots[n] for n in kept if is_weak[n])),
        ("mean", f"M0 {height(mean):.1f}H1000"),
    ]
    words = [word(f"{at * factor:.6g}", 0, height(at), "y") for at in ticks]
    words.append(word(mean_text, 99, height(mean)))
    key, sentence = "dashed: mean", f"Bit rates of {len(rates)} phones, {mean_text}"
    if is_weak.any():
        key += f"; squares: the weakest {WEAK:g} % of each replication"
    if rings is not None:
        key = f"crosses: mean of a ring and its 95 % interval; {key}"
        lines.append(("ring", "".join(_crosses(rings, flows, top))))
        means = [number(part.mean(), "bit/s") for part in rings.of_each(rates) if len(part)]
        sentence += f"; nearest {means[0]}, farthest {means[-1]}"
    return track(unit, key, sentence, 20, css="cell", lines=lines, words=words)


def _weakest(flows: Table, rates: Values) -> NDArray[np.bool_]:
    """Returns a mask of the `WEAK` per cent of phones with the lowest rates in each replication.

    The number is rounded down, so a replication with fewer than 20 phones has none in the mask.
    """
    is_weak, runs = np.zeros(len(rates), dtype=bool), np.asarray(flows["run"])
    for run in np.unique(runs):
        mine = np.flatnonzero(runs == run)
        is_weak[mine[np.argsort(rates[mine], kind="stable")[: int(len(mine) * WEAK / 100)]]] = True
    return is_weak


def _crosses(rings: Rings, flows: Table, top: float) -> Iterator[str]:
    """Yields SVG paths of crosses: a ring's mean rate (horizontal) and its interval (vertical)."""
    rates, runs = (rings.of_each(flows[name]) for name in ("received_bps", "run"))
    edges, scale = 1000 * rings.edges_m / rings.edges_m[-1], 100 / top
    for (left, right), rate, run in zip(pairwise(edges), rates, runs, strict=True):
        if not len(rate):
            continue
        mean = float(rate.mean())
        yield f"M{left + 8:.1f} {100 - scale * mean:.1f}H{right - 8:.1f}"
        over = mean_interval([rate[run == one].mean() for one in np.unique(run)])
        if math.isfinite(over.low):
            half = (over.high - over.low) / 2
            ends = np.clip([100 - scale * (mean - half), 100 - scale * (mean + half)], 0.0, 100.0)
            yield f"M{(left + right) / 2:.1f} " + "V".join(f"{end:.1f}" for end in ends)
