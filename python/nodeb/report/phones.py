"""Figure of a cell: bit rate of each phone over its distance, and busy time of the channel."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.numbers import number, scale_of
from nodeb.answer.words import counted, percent
from nodeb.base.table import Table
from nodeb.plot.style import nice_step
from nodeb.report.render import Content
from nodeb.report.tracks import line, picture, track, word
from nodeb.results.metrics import ALL
from nodeb.results.result import Result
from nodeb.results.rings import Rings
from nodeb.stats import mean_interval

__all__ = ["phones"]

WEAK = 5.0
"""Share of the phones of a replication that are marked as weakest, per cent."""
MAX_PHONES = 5_000
"""Maximum number of phones that are drawn; of more phones, a regular sample is drawn."""
ROOM = 1.06
"""Ratio of the upper end of the rate axis to the highest rate."""

Values = NDArray[np.float64]


def phones(result: Result) -> Content | None:
    """Returns a figure of the rates of downloads, or `None` if fewer than two exist or all are 0.

    Phones are ordered by distance, with the mean of each ring (range of distances). They are
    ordered by rate if they have no distance, are too few for rings (`Rings.of`), or if the scenario
    has uploads.
    """
    flows = result.flows
    if "direction" in flows.columns:
        flows = flows.where(flows["direction"] == "down")
    rates = np.asarray(flows["received_bps"], dtype=float)
    users, runs = len(np.unique(flows["user"])), result.provenance.runs
    if users < 2 or not np.isfinite(rates).any() or not np.nanmax(rates):
        return None
    rings = Rings.of(result)
    if rings is not None:
        across, end, axis = rings.distance_m, float(rings.edges_m[-1]), "m from the Node B"
        title = "What each phone received, by its distance"
    else:
        rank = np.empty(len(rates))
        rank[np.argsort(rates, kind="stable")] = np.arange(len(rates))
        across, end = 100 * (rank + 0.5) / len(rates), 100.0
        axis, title = (
            "% of the phones, from the weakest to the strongest",
            "What each phone received",
        )
    drawn = _track(flows, rates, across, end, rings)
    note = f"{counted(len(rates), 'phone')} in {counted(runs, 'replication')}"
    return picture(title, note, [drawn, *_busy(result)], end, axis)


def _track(flows: Table, rates: Values, across: Values, end: float, rings: Rings | None) -> Content:
    top = ROOM * float(np.nanmax(rates))
    unit, factor = scale_of(top, "bit/s")
    weak = _weakest(flows, rates)

    def height(rate: float) -> float:
        return 100 - 100 * rate / top

    kept = np.linspace(0, len(rates) - 1, min(len(rates), MAX_PHONES)).astype(int)
    lines = [
        line(_dots(across[these], rates[these], end, top), css)
        for css, these in (("dots", kept[~weak[kept]]), ("dots weak", kept[weak[kept]]))
    ]
    step = nice_step(top, 7)
    ticks = np.arange(step, top, step).tolist()
    words = [word(f"{at * factor:.6g}", 0, height(at), "y") for at in ticks]
    lines.insert(0, line("".join(f"M0 {height(at):.1f}H1000" for at in ticks), "grid"))
    mean = float(rates.mean())
    lines.append(line(f"M0 {height(mean):.1f}H1000", "mean"))
    mean_text = f"mean {number(mean, 'bit/s')}"
    words.append(word(mean_text, 99, height(mean)))
    key, sentence = "dashed: mean", f"Bit rates of {len(rates)} phones, {mean_text}"
    if weak.any():
        key += f"; squares: the weakest {WEAK:g} % of each replication"
    if rings is not None:
        key = f"crosses: mean of a ring and its 95 % interval; {key}"
        lines.append(line("".join(_crosses(rings, flows, end, top)), "ring"))
        means = [part.mean() for part in rings.of_each(rates) if len(part)]
        sentence += f"; nearest {number(means[0], 'bit/s')}, farthest {number(means[-1], 'bit/s')}"
    return track(unit, key, sentence, 20, css="cell", lines=lines, words=words)


def _weakest(flows: Table, rates: Values) -> NDArray[np.bool_]:
    """Returns a mask of the `WEAK` per cent of phones with the lowest rates in each replication.

    The number is rounded down, so a replication with fewer than 20 phones has none in the mask.
    """
    found, runs = np.zeros(len(rates), dtype=bool), np.asarray(flows["run"])
    for run in np.unique(runs):
        mine = np.flatnonzero(runs == run)
        count = int(len(mine) * WEAK / 100)
        found[mine[np.argsort(rates[mine], kind="stable")[:count]]] = True
    return found


def _dots(across: Values, rates: Values, end: float, top: float) -> str:
    """Returns an SVG path of dots: lines of length zero, whose caps (set by CSS) never distort."""
    x, y = 1000 * across / end, 100 - 100 * rates / top
    return "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _crosses(rings: Rings, flows: Table, end: float, top: float) -> Iterator[str]:
    """Yields SVG paths of crosses: a ring's mean rate (horizontal) and its interval (vertical)."""
    rates, runs = (rings.of_each(flows[name]) for name in ("received_bps", "run"))
    for at, (rate, run) in enumerate(zip(rates, runs, strict=True)):
        if not len(rate):
            continue
        left, right = (1000 * edge / end for edge in rings.edges_m[at : at + 2])
        mean, scale = float(rate.mean()), 100 / top
        yield f"M{left + 8:.1f} {100 - scale * mean:.1f}H{right - 8:.1f}"
        over = mean_interval([rate[run == one].mean() for one in np.unique(run)])
        if math.isfinite(over.low):
            low, high = (mean + sign * (over.high - over.low) / 2 for sign in (-1, 1))
            ends = (min(max(100 - scale * one, 0.0), 100.0) for one in (low, high))
            yield f"M{(left + right) / 2:.1f} " + "V".join(f"{one:.1f}" for one in ends)


def _busy(result: Result) -> Iterator[Content]:
    """Yields a track with the channel's busy share as a bar, or nothing if it is unknown."""
    for row in result.summary:
        if (row["group"], row["metric"]) == (ALL, "cell_busy") and math.isfinite(row["mean"]):
            shown = f"busy {percent(row['mean'])}"
            box = {"left": 0.0, "width": 100 * row["mean"], "title": shown, "paint": "busy"}
            words = [word(shown, 1, 18)]
            sentence = f"The channel was {shown} of the time"
            boxes = [box | {"parts": []}]
            yield track("time on the air", "", sentence, 1.9, css="strip", boxes=boxes, words=words)
