"""Figures of real packets over time, from the tables of an emulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.plot.series import TIME_LABEL, from_zero
from nodeb.plot.shares import WIDE, distributions
from nodeb.plot.style import MUTED, SIZE, Look, Size, color, legend, new_figure
from nodeb.plot.text import Quantity

MAX_CURVES = 6
"""Largest number of phones that have curves in a figure."""
LOST = {
    "lost_link": "on a link",
    "lost_overflow": "no room in a queue",
    "lost_early_drop": "dropped early",
    "lost_radio": "given up by the radio",
}

Values = NDArray[np.float64]


def rates(
    phones: Table, cell: Table, names: Mapping[int, str], way: str, size: Size = SIZE
) -> Figure:
    curves = {
        name: (_edges(rows), _rate(rows, "arrived_bytes"))
        for name, rows in _of_phones(phones, names, way)
    }
    simulated = _rate(cell, f"simulated_{way}_bytes")
    if simulated.any():
        curves["all simulated"] = (_edges(cell), simulated)
    return _stairs("Rate", "rate_bps", curves, size)


def delays(phones: Table, names: Mapping[int, str], way: str, size: Size = SIZE) -> Figure | None:
    """Median delay in each interval, with a band up to the 99th percentile."""
    curves = {
        name: (_edges(rows), rows["delay_p50_s"], rows["delay_p99_s"])
        for name, rows in _of_phones(phones, names, way)
        if np.isfinite(rows["delay_p50_s"]).any()
    }
    if not curves:
        return None
    every = np.concatenate([p99 for *_, p99 in curves.values()])
    quantity = Quantity.of("delay_s", every)
    figure, axes = new_figure("Delay", TIME_LABEL, quantity.label, size)
    for place, (name, (edges, *quantiles)) in enumerate(curves.items()):
        p50, p99 = (values * quantity.factor for values in quantiles)
        look: Look = {"color": color(place)}
        axes.stairs(p50, edges, baseline=None, linewidth=1.4, label=name, **look)
        axes.stairs(p99, edges, baseline=p50, fill=True, alpha=0.25, **look)
    least = min(float(np.nanmin(p50)) for _, p50, _ in curves.values())
    if np.nanmax(every) > WIDE * max(least, 1e-9):
        axes.set_yscale("log")
        axes.set_xlim(left=0)
    else:
        from_zero(axes)
    legend(axes)
    return figure


def losses(phones: Table, size: Size = SIZE) -> Figure | None:
    """Lost packets of all real phones by cause, or `None` without losses."""
    begins = np.unique(phones["begin_s"])
    edges = np.append(begins, np.max(phones["end_s"]))
    places = np.searchsorted(begins, phones["begin_s"])
    lost = {
        name: np.bincount(places, phones[column]).astype(float) for column, name in LOST.items()
    }
    curves = {name: (edges, counts) for name, counts in lost.items() if counts.any()}
    return _stairs("Lost", "lost_packets", curves, size) if curves else None


def queues(phones: Table, names: Mapping[int, str], size: Size = SIZE) -> Figure:
    """Queue lengths of bearers, and of uplinks whose queue was not always empty."""
    curves = {
        f"{name} {way}": (_edges(rows), rows["queue_packets"])
        for way in ("down", "up")
        for name, rows in _of_phones(phones, names, way)
        if way == "down" or rows["queue_packets"].any()
    }
    return _stairs("Queue", "waiting_packets", curves, size)


def cqi(phones: Table, names: Mapping[int, str], size: Size = SIZE) -> Figure | None:
    """CQI of real phones, as the Node B has it; phones without a CQI have no curve."""
    curves = {
        name: (_edges(rows), rows["cqi"])
        for name, rows in _of_phones(phones, names, "down")
        if np.isfinite(rows["cqi"]).any()
    }
    return _stairs("Channel quality", "CQI", curves, size) if curves else None


def late(cell: Table, limit_s: float | None, size: Size = SIZE) -> Figure | None:
    """Mean and maximum lateness in each interval; None without deliveries."""
    if not cell["deliveries"].any():
        return None
    figure, axes = new_figure("Lateness", TIME_LABEL, "Lateness (ms)", size)
    edges = _edges(cell)
    for place, (column, name) in enumerate((("late_mean_s", "mean"), ("late_max_s", "longest"))):
        # A logarithmic axis has no zero, so a delivery on time to the nanosecond is drawn at 1 ns.
        values = np.maximum(1e3 * cell[column], 1e-6)
        axes.stairs(values, edges, baseline=None, color=color(place), linewidth=1.4, label=name)
    if limit_s is not None:
        look: Look = {"color": MUTED, "linestyle": "--", "linewidth": 1}
        axes.axhline(1e3 * limit_s, label="late from here", **look)
    axes.set_yscale("log")
    axes.set_xlim(0, edges[-1])
    legend(axes, columns=3)
    return figure


def delay_shares(table: Table, names: Mapping[int, str], size: Size = SIZE) -> Figure | None:
    curves = {
        f"{name} {way}": (rows["up_to_s"], np.cumsum(rows["packets"]))
        for way in ("down", "up")
        for name, rows in _of_phones(table, names, way)
        if len(rows)
    }
    return distributions("Delay", "delay_s", curves, size) if curves else None


def late_shares(table: Table, size: Size = SIZE) -> Figure | None:
    if not len(table):
        return None
    curves = {"deliveries": (table["up_to_s"], np.cumsum(table["deliveries"]))}
    return distributions("Lateness", "lateness_s", curves, size)


def _of_phones(table: Table, names: Mapping[int, str], way: str) -> Iterator[tuple[str, Table]]:
    """Yields name and rows of the first `MAX_CURVES` phones in one direction."""
    mine = table.where(np.asarray(table["way"]) == way)
    for user, name in list(names.items())[:MAX_CURVES]:
        yield name, mine.where(mine["user"] == user)


def _edges(rows: Table) -> Values:
    return np.append(rows["begin_s"], rows["end_s"][-1:])


def _rate(rows: Table, column: str) -> Values:
    """Bit rate in each interval of time, bit/s, from a column of bytes."""
    rate: Values = 8 * rows[column] / np.maximum(rows["end_s"] - rows["begin_s"], 1e-9)
    return rate


def _stairs(
    title: str, column: str, curves: Mapping[str, tuple[Values, Values]], size: Size
) -> Figure:
    quantity = Quantity.of(column, np.concatenate([values for _, values in curves.values()]))
    figure, axes = new_figure(title, TIME_LABEL, quantity.label, size)
    for place, (name, (edges, values)) in enumerate(curves.items()):
        look: Look = {"color": color(place), "label": name, "linewidth": 1.4}
        axes.stairs(values * quantity.factor, edges, baseline=None, **look)
    from_zero(axes)
    legend(axes)
    return figure
