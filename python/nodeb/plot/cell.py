"""Map of the cell: positions of the phones, their bit rates, and the mean SNR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import RegularPolygon
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.plot.style import (
    FAINT,
    INK,
    Look,
    figure_legend,
    legend_entries,
    marker,
    new_figure,
    styled,
)
from nodeb.results.result import Result

SIZE = (6.4, 7.4)
SIDE = 121
MAP, PHONES = "Greys", "plasma"
STEPS = 12
TOP_DB = 30.0
"""Upper end of the scale of the SNR, dB; a higher SNR gives a phone no higher rate."""
PLACES = {"phones": ("x_m", "y_m", 1e-3, "km"), "cell": ("x_radii", "y_radii", 1.0, "cell radii")}
"""Tables with positions: column of x, column of y, factor for both, and unit of the product."""


def cell(result: Result, run: int = 0, size: tuple[float, float] = SIZE) -> Figure:
    """Returns a map of the phones of a replication; on `hsdpa` and `lte` with the mean SNR.

    The shades are the mean SNR of one path in dB, without shadowing; on `hsdpa` it is the SNR of
    HS-PDSCH before despreading.
    """
    name = "cell" if "cell" in result.tables else "phones"
    # If both tables are missing, `getattr` raises an error that names the radios with positions.
    table: Table = getattr(result, name)
    runs = np.unique(table["run"])
    table = table.where(np.asarray(table["run"]) == run)
    if not len(table):
        raise InputError(f"there is no run {run} (runs: {', '.join(map(str, runs))})")
    east, north, factor, unit = PLACES[name]
    x, y = (np.asarray(table[column], dtype=float) * factor for column in (east, north))
    if not np.isfinite(x).any():
        where = "the channel `cell`" if name == "phones" else "`other_cells.map`"
        raise InputError(f"no phone has a position; it needs {where}")
    title = "The cell" + (f", run {run}" if len(runs) > 1 else "")
    figure, axes = new_figure(
        f"{title}\n{result.scenario.name}", f"East ({unit})", f"North ({unit})", size
    )
    axes.set_aspect("equal")
    axes.grid(visible=False)
    with styled():
        if name == "phones":
            _map(figure, axes, result)
        else:
            hexagon = RegularPolygon((0, 0), 6, radius=1.0, facecolor="none", edgecolor=FAINT)
            axes.add_patch(hexagon)
            _node_bs(axes, np.zeros((1, 2)))
        flows = result.flows.where(np.asarray(result.flows["run"]) == run)
        # An upload of a phone that also downloads has a user index of its own, but no position.
        flows = flows.where(np.isin(flows["user"], np.asarray(table["user"])))
        _phones(figure, axes, flows, (x, y))
    figure_legend(figure, legend_entries(axes), columns=4)
    return figure


def has_places(result: Result) -> bool:
    """Returns true if the result has positions of phones, so that the map can be drawn."""
    return any(
        name in result.tables and np.isfinite(np.asarray(result.tables[name][east], float)).any()
        for name, (east, *_) in PLACES.items()
    )


def _map(figure: Figure, axes: Axes, result: Result) -> None:
    """Draws the mean SNR as shades, and the Node Bs."""
    places = result.scenario.cell_map(SIDE)
    axis = places["axis_m"] / 1000
    snr = np.ma.masked_invalid(places["snr_db"])
    levels = MaxNLocator(STEPS).tick_values(float(snr.min()), min(float(snr.max()), TOP_DB))
    shades = axes.contourf(axis, axis, snr, levels=levels, cmap=MAP, alpha=0.75, extend="max")
    _scale(figure, axes, shades, "Mean SNR (dB)")
    inside = np.isfinite(places["snr_db"])
    axes.set_xlim(_limits(axis[inside.any(axis=0)]))
    axes.set_ylim(_limits(axis[inside.any(axis=1)]))
    _node_bs(axes, places["sites_m"] / 1000)


def _limits(places: NDArray[np.float64]) -> tuple[float, float]:
    """Returns the limits of an axis around sorted positions, with a margin."""
    margin = 0.03 * float(places[-1] - places[0])
    return float(places[0]) - margin, float(places[-1]) + margin


def _node_bs(axes: Axes, places: NDArray[np.float64]) -> None:
    look: Look = {"marker": "*", "markersize": 15, "color": INK, "markeredgecolor": "white"}
    axes.plot(*places.T, linestyle="none", label="Node B", **look)


def _phones(
    figure: Figure, axes: Axes, flows: Table, places: Sequence[NDArray[np.float64]]
) -> None:
    kbps = np.asarray(flows["received_bps"], dtype=float) / 1e3
    groups = np.asarray(flows["group"])
    look: Look = {"cmap": PHONES, "s": 70, "edgecolors": "white", "linewidths": 0.9, "zorder": 3}
    look |= {"vmin": 0.0, "vmax": float(kbps.max(initial=0.0)) or 1.0}
    drawn = None
    for place, name in enumerate(flows.distinct("group")):
        x, y, rates = (values[groups == name] for values in (*places, kbps))
        drawn = axes.scatter(x, y, c=rates, marker=marker(place), label=name, **look)
    if drawn is not None:
        _scale(figure, axes, drawn, "Received in order (kbit/s)")


def _scale(figure: Figure, axes: Axes, shades: Any, label: str) -> None:
    """Adds a colour scale below the map, because beside it the scale would narrow the map."""
    figure.colorbar(shades, ax=axes, label=label, location="bottom", aspect=32, pad=0.02)
