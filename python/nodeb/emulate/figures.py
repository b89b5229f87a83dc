"""Figures of the page of an emulation, from its tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.plot.series import TIME_LABEL, from_zero
from nodeb.plot.shares import WIDE, distributions
from nodeb.plot.style import MUTED, NARROW, Look, color, legend, new_figure
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


def drawings(
    tables: Mapping[str, Table], names: Mapping[int, str], late_limit_s: float | None
) -> dict[str, Figure | None]:
    """Figures by their anchors on the page; None without values to draw."""
    cell, late = tables["emulation_cell"], tables["emulation_lateness"]
    spreads = {
        f"{name} {way}": (rows["up_to_s"], np.cumsum(rows["packets"]))
        for (way, name), rows in _flows(tables["emulation_delays"], names).items()
        if len(rows)
    }
    lateness = {"deliveries": (late["up_to_s"], np.cumsum(late["deliveries"]))}
    figures = {
        "delay-shares": distributions("", "delay_s", spreads, NARROW) if spreads else None,
        "late-shares": distributions("", "lateness_s", lateness, NARROW) if len(late) else None,
    }
    if not len(cell):
        return figures
    flows = _flows(tables["emulation"], names)
    for way in ("down", "up"):
        phones = {name: rows for (own, name), rows in flows.items() if own == way}
        figures[f"rates-{way}"] = _rates(phones, cell, f"simulated_{way}_bytes")
        figures[f"delays-{way}"] = _delays(phones)
    queues = {
        f"{name} {way}": (_edges(rows), rows["queue_packets"])
        for (way, name), rows in flows.items()
        if way == "down" or rows["queue_packets"].any()
    }
    reports = {
        name: (_edges(rows), rows["cqi"])
        for (way, name), rows in flows.items()
        if way == "down" and np.isfinite(rows["cqi"]).any()
    }
    figures["losses"] = _losses(tables["emulation"])
    figures["queues"] = _stairs("waiting_packets", queues)
    figures["cqi"] = _stairs("CQI", reports)
    figures["late"] = _late(cell, late_limit_s)
    return figures


def _flows(table: Table, names: Mapping[int, str]) -> dict[tuple[str, str], Table]:
    """Rows of the first `MAX_CURVES` phones by direction and name."""
    ways = np.asarray(table["way"])
    return {
        (way, name): table.where((ways == way) & (table["user"] == user))
        for way in ("down", "up")
        for user, name in list(names.items())[:MAX_CURVES]
    }


def _rates(phones: Mapping[str, Table], cell: Table, simulated: str) -> Figure | None:
    curves = {name: (_edges(rows), _rate(rows, "arrived_bytes")) for name, rows in phones.items()}
    if cell[simulated].any():
        curves["all simulated"] = (_edges(cell), _rate(cell, simulated))
    return _stairs("rate_bps", curves)


def _delays(phones: Mapping[str, Table]) -> Figure | None:
    """Median delay in each interval, with a band up to the 99th percentile."""
    curves = {
        name: (_edges(rows), rows["delay_p50_s"], rows["delay_p99_s"])
        for name, rows in phones.items()
        if np.isfinite(rows["delay_p50_s"]).any()
    }
    if not curves:
        return None
    every = np.concatenate([p99 for *_, p99 in curves.values()])
    quantity = Quantity.of("delay_s", every)
    figure, axes = new_figure("", TIME_LABEL, quantity.label, NARROW)
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


def _losses(phones: Table) -> Figure | None:
    """Lost packets of all real phones by cause."""
    begins = np.unique(phones["begin_s"])
    edges = np.append(begins, np.max(phones["end_s"]))
    places = np.searchsorted(begins, phones["begin_s"])
    lost = {
        name: np.bincount(places, phones[column]).astype(float) for column, name in LOST.items()
    }
    return _stairs(
        "lost_packets", {n: (edges, counts) for n, counts in lost.items() if counts.any()}
    )


def _late(cell: Table, limit_s: float | None) -> Figure | None:
    """Mean and maximum lateness in each interval."""
    if not cell["deliveries"].any():
        return None
    figure, axes = new_figure("", TIME_LABEL, "Lateness (ms)", NARROW)
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


def _edges(rows: Table) -> Values:
    return np.append(rows["begin_s"], rows["end_s"][-1:])


def _rate(rows: Table, column: str) -> Values:
    """Bit rate in each interval of time, bit/s, from a column of bytes."""
    rate: Values = 8 * rows[column] / np.maximum(rows["end_s"] - rows["begin_s"], 1e-9)
    return rate


def _stairs(column: str, curves: Mapping[str, tuple[Values, Values]]) -> Figure | None:
    if not curves:
        return None
    quantity = Quantity.of(column, np.concatenate([values for _, values in curves.values()]))
    figure, axes = new_figure("", TIME_LABEL, quantity.label, NARROW)
    for place, (name, (edges, values)) in enumerate(curves.items()):
        look: Look = {"color": color(place), "label": name, "linewidth": 1.4}
        axes.stairs(values * quantity.factor, edges, baseline=None, **look)
    from_zero(axes)
    legend(axes)
    return figure
