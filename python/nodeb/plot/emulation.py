"""Figures of real packets over time, from the tables of an emulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.plot.labels import Quantity
from nodeb.plot.series import TIME_LABEL, from_zero
from nodeb.plot.style import MUTED, SIZE, color, legend, new_figure

__all__ = ["cqi", "delay_shares", "delays", "late", "late_shares", "losses", "queues", "rates"]

MAX_CURVES = 6
"""Largest number of phones that have curves in a figure."""
LOST = {
    "lost_link": "on a link",
    "lost_overflow": "no room in a queue",
    "lost_early_drop": "dropped early",
    "lost_radio": "given up by the radio",
}
WIDE = 50.0
"""Ratio of the largest to the smallest value above which an axis is logarithmic."""

Values = NDArray[np.float64]
Size = tuple[float, float]


def rates(
    phones: Table, cell: Table, names: Mapping[int, str], way: str, size: Size = SIZE
) -> Figure:
    curves = {
        name: (_edges(rows), _rate(rows, "arrived_bytes")) for name, rows in _of(phones, names, way)
    }
    simulated = _rate(cell, f"simulated_{way}_bytes")
    if simulated.any():
        curves["all simulated"] = (_edges(cell), simulated)
    return _stairs("Rate", "rate_bps", curves, size)


def delays(phones: Table, names: Mapping[int, str], way: str, size: Size = SIZE) -> Figure | None:
    """Returns a figure of the median delay in each interval, with a band up to the 99th
    percentile.

    Returns None if no packet of the first `MAX_CURVES` phones has arrived.
    """
    found = [one for one in _of(phones, names, way) if np.isfinite(one[1]["delay_p50_s"]).any()]
    if not found:
        return None
    every = np.concatenate([rows["delay_p99_s"] for _, rows in found])
    quantity = Quantity.of("delay_s", every)
    figure, axes = new_figure("Delay", TIME_LABEL, quantity.label, size)
    for place, (name, rows) in enumerate(found):
        edges = _edges(rows)
        p50, p99 = (rows[column] * quantity.factor for column in ("delay_p50_s", "delay_p99_s"))
        look: dict[str, Any] = {"color": color(place)}
        axes.stairs(p50, edges, baseline=None, linewidth=1.4, label=name, **look)
        axes.stairs(p99, edges, baseline=p50, fill=True, alpha=0.25, **look)
    least = min(float(np.nanmin(rows["delay_p50_s"])) for _, rows in found)
    if np.nanmax(every) > WIDE * max(least, 1e-9):
        axes.set_yscale("log")
        axes.set_xlim(left=0)
    else:
        from_zero(axes)
    legend(axes)
    return figure


def losses(phones: Table, size: Size = SIZE) -> Figure | None:
    """Returns a figure of lost packets of all real phones by cause, or `None` without losses."""
    begins = np.unique(phones["begin_s"])
    edges = np.append(begins, np.max(phones["end_s"]))
    places = np.searchsorted(begins, phones["begin_s"])
    curves = {}
    for column, name in LOST.items():
        lost: Values = np.zeros(len(begins))
        np.add.at(lost, places, phones[column])
        if lost.any():
            curves[name] = (edges, lost)
    return _stairs("Lost", "lost_packets", curves, size) if curves else None


def queues(phones: Table, names: Mapping[int, str], size: Size = SIZE) -> Figure:
    """Returns a figure of the queue lengths of bearers and uplinks.

    It has curves for the first `MAX_CURVES` phones, but none for an uplink whose queue was
    always empty.
    """
    curves = {}
    for way in ("down", "up"):
        for name, rows in _of(phones, names, way):
            if way == "down" or rows["queue_packets"].any():
                curves[f"{name} {way}"] = (_edges(rows), rows["queue_packets"])
    return _stairs("Queue", "waiting_packets", curves, size)


def cqi(phones: Table, names: Mapping[int, str], size: Size = SIZE) -> Figure | None:
    """Returns a figure of the CQI of the first `MAX_CURVES` real phones, as the Node B has it.

    Phones without a CQI have no curve.
    """
    curves = {
        name: (_edges(rows), rows["cqi"])
        for name, rows in _of(phones, names, "down")
        if np.isfinite(rows["cqi"]).any()
    }
    if not curves:
        return None
    return _stairs("Channel quality", "CQI", curves, size)


def late(cell: Table, limit_s: float | None, size: Size = SIZE) -> Figure | None:
    """Returns a figure of mean and maximum lateness in each interval; None without deliveries."""
    if not cell["deliveries"].any():
        return None
    figure, axes = new_figure("Lateness", TIME_LABEL, "Lateness (ms)", size)
    edges = _edges(cell)
    for place, (column, name) in enumerate((("late_mean_s", "mean"), ("late_max_s", "longest"))):
        # A logarithmic axis has no zero, so a delivery on time to the nanosecond is drawn at 1 ns.
        values = np.maximum(1e3 * cell[column], 1e-6)
        axes.stairs(values, edges, baseline=None, color=color(place), linewidth=1.4, label=name)
    if limit_s is not None:
        axes.axhline(
            1e3 * limit_s, color=MUTED, linestyle="--", linewidth=1, label="late from here"
        )
    axes.set_yscale("log")
    axes.set_xlim(0, edges[-1])
    legend(axes, columns=3)
    return figure


def delay_shares(table: Table, names: Mapping[int, str], size: Size = SIZE) -> Figure | None:
    """Returns a figure of the distributions of delays of the first `MAX_CURVES` phones."""
    curves = {}
    for way in ("down", "up"):
        for name, rows in _of(table, names, way):
            if len(rows):
                curves[f"{name} {way}"] = (rows["up_to_s"], rows["packets"])
    return _shares("Delay", "delay_s", curves, size)


def late_shares(table: Table, size: Size = SIZE) -> Figure | None:
    """Returns a figure of the distribution of lateness, or `None` if nothing was delivered."""
    if not len(table):
        return None
    return _shares(
        "Lateness", "lateness_s", {"deliveries": (table["up_to_s"], table["deliveries"])}, size
    )


def _of(table: Table, names: Mapping[int, str], way: str) -> Iterator[tuple[str, Table]]:
    """Yields name and rows of the first `MAX_CURVES` phones in one direction."""
    mine = table.where(np.asarray(table["way"]) == way)
    for user, name in list(names.items())[:MAX_CURVES]:
        yield name, mine.where(mine["user"] == user)


def _edges(rows: Table) -> Values:
    return np.append(rows["begin_s"], rows["end_s"][-1:])


def _rate(rows: Table, column: str) -> Values:
    """Returns the bit rate in each interval of time, bit/s, from a column of bytes."""
    found: Values = 8 * rows[column] / np.maximum(rows["end_s"] - rows["begin_s"], 1e-9)
    return found


def _stairs(
    title: str, column: str, curves: Mapping[str, tuple[Values, Values]], size: Size
) -> Figure:
    quantity = Quantity.of(column, np.concatenate([values for _, values in curves.values()]))
    figure, axes = new_figure(title, TIME_LABEL, quantity.label, size)
    for place, (name, (edges, values)) in enumerate(curves.items()):
        look: dict[str, Any] = {"color": color(place), "label": name, "linewidth": 1.4}
        axes.stairs(values * quantity.factor, edges, baseline=None, **look)
    from_zero(axes)
    legend(axes)
    return figure


def _shares(
    title: str, column: str, curves: Mapping[str, tuple[Values, Values]], size: Size
) -> Figure | None:
    """Returns a figure of distribution functions, computed from counts in buckets;"""
    if not curves:
        return None
    every = np.concatenate([ends for ends, _ in curves.values()])
    quantity = Quantity.of(column, every)
    figure, axes = new_figure(title, quantity.label, "Share that is no longer (%)", size)
    for place, (name, (ends, counts)) in enumerate(curves.items()):
        share = 100 * np.cumsum(counts) / np.sum(counts)
        label = f"{name} ({int(np.sum(counts)):,})".replace(",", "\N{NARROW NO-BREAK SPACE}")
        x = np.concatenate([ends[:1], ends]) * quantity.factor
        y = np.concatenate([[0.0], share])
        axes.plot(x, y, drawstyle="steps-post", color=color(place), label=label)
    is_wide = every.min() > 0 and every.max() > WIDE * every.min()
    axes.set_xscale("log") if is_wide else axes.set_xlim(left=0)
    axes.set_ylim(0, 102)
    legend(axes)
    return figure
