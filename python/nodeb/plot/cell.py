"""A picture of the cell: the mean SNR everywhere, and how the phones fared where they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nodeb.errors import InputError
from nodeb.plot.style import INK, MARKERS, new_figure

if TYPE_CHECKING:
    from nodeb.results.result import Result

SIZE = (7.6, 6.2)
SIDE = 121
"""Places along each side of the map."""
MAP, PHONES = "Greys", "plasma"
STEPS = 12
TOP_DB = 30.0
"""Beyond this SNR, near the Node B, no phone does better."""


def cell(result: Result, run: int = 0) -> Figure:
    """Where the phones of a replication were, over a map of the cell.

    The map is of the mean SNR on HS-PDSCH, in dB before despreading, of one path without
    shadowing; the colour of a phone is the rate at which data reached it in order. A phone that
    moved stands where it began.

    Args:
        result: a result whose radio is `hsdpa`, with phones at places in the cell.
        run: which replication.

    Raises:
        InputError: if the phones have no places, or there is no such run.
    """
    phones = result.phones.where(np.asarray(result.phones["run"]) == run)
    if not len(phones):
        known = ", ".join(str(n) for n in np.unique(result.phones["run"]))
        raise InputError(f"there is no run {run} (runs: {known})")
    x, y = (np.asarray(phones[name], dtype=float) / 1000 for name in ("x_m", "y_m"))
    if not np.isfinite(x).any():
        raise InputError("no phone has a place; they need the channel `cell`")
    title = "The cell" + (f", run {run}" if len(np.unique(result.phones["run"])) > 1 else "")
    figure, axes = new_figure(f"{title}\n{result.scenario.name}", "East (km)", "North (km)", SIZE)
    _map(figure, axes, result)
    _phones(figure, axes, result, run, (x, y))
    axes.set_aspect("equal")
    axes.grid(visible=False)
    return figure


def _map(figure: Figure, axes: Axes, result: Result) -> None:
    found = result.scenario.cell_map(SIDE)
    axis = found["axis_m"] / 1000
    snr = np.ma.masked_invalid(found["snr_db"])
    levels = MaxNLocator(STEPS).tick_values(float(snr.min()), min(float(snr.max()), TOP_DB))
    shades = axes.contourf(axis, axis, snr, levels=levels, cmap=MAP, alpha=0.75, extend="max")
    figure.colorbar(shades, ax=axes, label="Mean SNR (dB)", shrink=0.8, pad=0.02)
    axes.plot(
        *found["sites_m"].T / 1000,
        linestyle="none",
        marker="*",
        markersize=15,
        color=INK,
        label="Node B",
    )


def _phones(
    figure: Figure,
    axes: Axes,
    result: Result,
    run: int,
    places: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    flows = result.flows.where(np.asarray(result.flows["run"]) == run)
    kbps = np.asarray(flows["received_bps"], dtype=float) / 1e3
    groups = np.asarray(flows["group"])
    names = list(dict.fromkeys(groups.tolist()))
    drawn = None
    for place, name in enumerate(names):
        mine = groups == name
        drawn = axes.scatter(
            places[0][mine],
            places[1][mine],
            c=kbps[mine],
            vmin=0.0,
            vmax=float(kbps.max()) or 1.0,
            cmap=PHONES,
            marker=MARKERS[place % len(MARKERS)],
            s=70,
            edgecolors="white",
            linewidths=0.9,
            label=name,
            zorder=3,
        )
    if drawn is not None:
        figure.colorbar(drawn, ax=axes, label="Received in order (kb/s)", shrink=0.8, pad=0.02)
    figure.legend(loc="outside lower center", ncols=min(4, 1 + len(names)), frameon=False)
