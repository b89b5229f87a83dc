"""The picture of a search: what each random reading gives, and where the study's result lies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.patches import Rectangle

from nodeb.plot.source import save
from nodeb.plot.style import MUTED, color, new_figure
from nodeb.reproduce.search import Reading
from nodeb.reproduce.study import Study
from nodeb.study.stage import Picture


def draw(study: Study, readings: Sequence[Reading], out: Path) -> Picture:
    """Draw the share of the last variant over what the others deliver; writes it to `out`."""
    spec, last = study.search, study.choices(study.search["series"])[-1].label
    title = spec["picture"]
    figure, axes = new_figure(title, "Mean of the other variants (MB)", f"{last}'s share of it (%)")
    others = [float(np.mean(one.delivered[:-1])) for one in readings]
    shares = [100 * one.share for one in readings]
    axes.scatter(others, shares, s=12, color=color(0), alpha=0.6, linewidths=0)
    (left, right), (low, high) = spec["result"]["others_mb"], spec["result"]["share"]
    corner, size = (left, 100 * low), (right - left, 100 * (high - low))
    axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=MUTED, linestyle=":"))
    axes.annotate(
        "the study", corner, xytext=(4, 4), textcoords="offset points", color=MUTED, fontsize=9
    )
    axes.set_xlim(left=0)
    axes.set_ylim(0, max(105.0, *shares))
    for suffix in ("png", "svg"):
        save(figure, out / f"search.{suffix}")
    number, _, what = title.partition(". ")
    inside = sum(one.gives(spec["result"]) for one in readings)
    note = f"{len(readings)} random readings, seed {spec['seed']}; their numbers are in search.csv."
    return Picture(number, what, figure, f"{inside} of {len(readings)} lie in the frame.", note)
