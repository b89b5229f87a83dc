"""Error rates of links over Eb/N0, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nodeb.base.table import Table
from nodeb.errors import InputError, nearest
from nodeb.plot.style import MARKERS, color, dash, legend, new_figure

__all__ = ["LINK_RATES", "link_curves"]

LINK_RATES = {
    "bler": "Block error rate",
    "per": "PDU error rate",
    "ber": "Bit error rate",
    "raw_ber": "Bit error rate before decoding",
    "signalling_bler": "Block error rate of signalling",
}
"""Axis label of each error rate, by its column."""


def link_curves(links: Mapping[str, Table], rate: str = "bler", title: str | None = None) -> Figure:
    """Returns a figure of an error rate over Eb/N0 with 95 % intervals, one curve for each link.

    A rate of 0 has no place on the logarithmic axis; a hollow triangle marks the upper end of its
    interval.

    Args:
        links: tables with one row for each Eb/N0, by legend entry.
        rate: one of `LINK_RATES`.
        title: title of the figure; None for the name of the rate.

    Raises:
        InputError: `rate` is unknown, or there is no value to draw.
    """
    if rate not in LINK_RATES:
        raise InputError(f"there is no rate `{rate}`{nearest(rate, LINK_RATES)}")
    label = LINK_RATES[rate]
    figure, axes = new_figure(title or f"{label} of the link", "Eb/N0 at an antenna (dB)", label)
    drawn = [
        _curve(axes, place, name, table, rate) for place, (name, table) in enumerate(links.items())
    ]
    if not any(drawn):
        raise InputError(f"there is no {label.lower()} in these results")
    axes.set_yscale("log")
    axes.grid(visible=True, which="minor", alpha=0.35)
    axes.set_ylim(top=min(1.0, axes.get_ylim()[1]))
    legend(axes, columns=2)
    return figure


def _curve(axes: Axes, place: int, name: str, table: Table, rate: str) -> bool:
    """Draws the error rate of one link over Eb/N0."""
    order = np.argsort(table["eb_n0_db"])
    x, mean, low, high = (
        np.asarray(table[column], dtype=np.float64)[order]
        for column in ("eb_n0_db", rate, f"{rate}_ci95_low", f"{rate}_ci95_high")
    )
    seen, none = mean > 0, mean == 0
    paint = color(place)
    axes.errorbar(
        x[seen],
        mean[seen],
        yerr=[np.maximum(mean - low, 0)[seen], np.maximum(high - mean, 0)[seen]],
        label=name,
        color=paint,
        marker=MARKERS[place % len(MARKERS)],
        markersize=4.5,
        linestyle=dash(place),
        capsize=2.5,
        elinewidth=1.1,
    )
    axes.plot(
        x[none], high[none], linestyle="none", marker="v", markerfacecolor="none", color=paint
    )
    return bool(seen.any() or none.any())
