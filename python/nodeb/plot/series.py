"""Figures of time series in one replication.

Up to six users share one pair of axes. Of more users, six are selected (`nodeb.plot.users`), and
each has a panel of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.plot.labels import Quantity
from nodeb.plot.steps import thinned
from nodeb.plot.style import SIZE, color, legend, new_figure, new_grid, nice_step
from nodeb.plot.users import TOGETHER, chosen, user_name
from nodeb.results.result import Result
from nodeb.results.timeseries import delivered_bytes, time_averages

__all__ = ["TIME_LABEL", "cqi", "cwnd", "from_zero", "queue", "recorded", "rtt", "throughput"]
__all__ += ["titled"]

BINS = 100
TIME_LABEL = "Time (s)"
DOTS = 200
"""Number of samples above which a curve of RTTs has no dots and one of CQIs shows means."""
PAUSE = 4.0
"""Gap between two RTT samples above which the curve is interrupted, in round-trip times."""

Draw = Callable[[Axes, int, "Table", dict[str, Any]], None]
"""Function that draws the rows of a user, given by index, with a colour and a label."""


def cwnd(
    result: Result, user: int | None = None, run: int = 0, size: tuple[float, float] = SIZE
) -> Figure:
    """Returns a figure of congestion window and slow-start threshold over time, in packets.

    Args:
        result: a result whose scenario has `record.cwnd = true`.
        user: index of a user; None for all, without the threshold.
        run: index of the replication.
        size: width and height in inches.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    end = _end(result, "cwnd", run)

    def draw(axes: Axes, number: int, rows: Table, look: dict[str, Any]) -> None:
        alone = {"label": "congestion window"} if user is not None else {}
        _steps(axes, rows, "cwnd_packets", end, **(look | alone))
        if user is not None:
            look = {"color": color(1), "linestyle": "--", "label": "slow-start threshold"}
            _steps(axes, rows, "ssthresh_packets", end, **look)

    label = "Congestion window (packets)"
    return _over_time(result, "cwnd", (user, run), ("Congestion window", label), draw, size)


def throughput(
    result: Result,
    user: int | None = None,
    bin_s: float | None = None,
    run: int = 0,
    size: tuple[float, float] = SIZE,
) -> Figure:
    """Returns a figure of the rate of application data that arrived at the receiver, in kbit/s.

    Each packet counts once, with the mean payload of the user's packets.

    Args:
        result: a result whose scenario has `record.segments = true`.
        user: index of a user; None for all.
        bin_s: width of the time bins, s; None for a round width that makes 40 to 100 bins.
        run: index of the replication.
        size: width and height in inches.

    Raises:
        InputError: the series was not recorded, there is no such user or run, or `bin_s` is not
            positive.
    """
    if bin_s is not None and not bin_s > 0:
        raise InputError(f"bin_s must be above 0, got {bin_s!r}")
    table = recorded(result, "segments", run)
    end = float(np.max(table["t_s"]))
    width = bin_s or nice_step(end, BINS)
    edges = _bins(end, width)

    def draw(axes: Axes, number: int, rows: Table, look: dict[str, Any]) -> None:
        delivered = delivered_bytes(rows, _delivered(result, number, run), edges)
        axes.stairs(delivered * 8 / np.diff(edges) / 1000, edges, linewidth=1.6, **look)

    words = f"Application bit rate in bins of {width:g} s", "Application bit rate (kbit/s)"
    return _over_time(result, "segments", (user, run), words, draw, size)


def _bins(end: float, width: float) -> NDArray[np.float64]:
    """The last of several bins ends with the series and is 0.5 to 1.5 times as wide as the
    others."""
    if end <= 0:
        return np.array([0.0, width])
    edges = np.arange(0.0, end, width)
    if len(edges) > 1 and end - edges[-1] < width / 2:
        edges = edges[:-1]
    return np.append(edges, end)


def rtt(
    result: Result, user: int | None = None, run: int = 0, size: tuple[float, float] = SIZE
) -> Figure:
    """Returns a figure of TCP's round-trip time samples over the time of measurement.

    Args:
        result: a result whose scenario has `record.rtt = true`.
        user: index of a user; None for all.
        run: index of the replication.
        size: width and height in inches.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    unit = Quantity.of("rtt_s", np.asarray(recorded(result, "rtt", run)["rtt_s"]))

    def draw(axes: Axes, number: int, rows: Table, look: dict[str, Any]) -> None:
        times, values = thinned(rows["t_s"], rows["rtt_s"])
        marker = "." if len(times) <= DOTS else ""
        times, values = _without_pauses(times, values)
        axes.plot(times, values * unit.factor, marker=marker, linewidth=1.0, **look)

    words = unit.title, unit.label
    return _over_time(result, "rtt", (user, run), words, draw, size)


def queue(
    result: Result, user: int | None = None, run: int = 0, size: tuple[float, float] = SIZE
) -> Figure:
    """Returns a figure of the packets in the queue at the Node B over time.

    Args:
        result: a result whose scenario has `record.queue = true`.
        user: index of a user; None for all.
        run: index of the replication.
        size: width and height in inches.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    end = _end(result, "queue", run)

    def draw(axes: Axes, number: int, rows: Table, look: dict[str, Any]) -> None:
        _steps(axes, rows, "packets", end, **look)
        axes.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))

    words = "Queue at the Node B", "Waiting (packets)"
    return _over_time(result, "queue", (user, run), words, draw, size)


def cqi(
    result: Result, user: int | None = None, run: int = 0, size: tuple[float, float] = SIZE
) -> Figure:
    """Returns a figure of each phone's CQI at the Node B over time, sampled every 20 ms.

    For a user with more than `DOTS` samples, the mean in each hundredth of the time is emphasized.
    With the link adaptation `shannon`, which needs no CQI, the figure shows the SNR.

    Args:
        result: a result on `hsdpa` whose scenario has `record.bandwidth = true`.
        user: index of a user; None for all.
        run: index of the replication.
        size: width and height in inches.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    end = _end(result, "bandwidth", run)

    def draw(axes: Axes, number: int, rows: Table, look: dict[str, Any]) -> None:
        if len(rows) <= DOTS:
            _steps(axes, rows, "cqi", end, **look)
            return
        _steps(axes, rows, "cqi", end, color=look["color"], alpha=0.3, linewidth=0.7)
        edges = np.linspace(float(rows["t_s"][0]), end, BINS + 1)
        axes.stairs(time_averages(rows["t_s"], rows["cqi"], edges), edges, baseline=None, **look)

    radio = getattr(result.scenario, "radio", None)
    adaptation = getattr(radio, "link_adaptation", None)
    is_snr = adaptation == "shannon" or getattr(adaptation, "tag", None) == "shannon"
    words = ("SNR of the channel", "SNR (dB)") if is_snr else ("Channel quality", "CQI")
    return _over_time(result, "bandwidth", (user, run), words, draw, size)


def recorded(result: Result, name: str, run: int) -> Table:
    """Returns one replication of a time series.

    Raises:
        InputError: the series was not recorded, or the replication has no rows.
    """
    # The error for a missing table names the missing key of [record].
    table: Table = getattr(result, name)
    chosen_run = table.where(np.asarray(table["run"]) == run)
    if not len(chosen_run):
        known = ", ".join(str(n) for n in np.unique(result.flows["run"]))
        raise InputError(f"{name}: nothing was recorded in run {run} (runs: {known})")
    return chosen_run


def titled(result: Result, what: str, user: int | None, run: int) -> str:
    """Returns the title of a figure: its content, then user, replication and scenario."""
    parts = [what]
    known = len(np.unique(result.flows["user"]))
    if user is not None:
        parts.append(user_name(result, user))
    elif known > TOGETHER:
        parts.append(f"{TOGETHER} of {known} users")
    name: Any = getattr(result.scenario, "name", "")
    runs = len(np.unique(result.flows["run"]))
    head = ", ".join(parts) + (f", run {run}" if runs > 1 else "")
    return f"{head}\n{name}" if name else head


def from_zero(*parts: Axes) -> None:
    """Starts axes that share a scale at zero; the y axis only if no value is negative."""
    parts[0].set_xlim(left=0)
    lowest = [axes.dataLim.y0 for axes in parts if np.isfinite(axes.dataLim.y0)]
    if min(lowest, default=0.0) >= 0:
        parts[0].set_ylim(bottom=0)


def _over_time(
    result: Result,
    series: str,
    which: tuple[int | None, int],
    words: tuple[str, str],
    draw: Draw,
    size: tuple[float, float],
) -> Figure:
    user, run = which
    table = recorded(result, series, run)
    users, of = chosen(result, user, run), np.asarray(table["user"])
    title = titled(result, words[0], user, run)
    names = [user_name(result, number) for number in users]
    is_grid = user is None and len(np.unique(result.flows["user"])) > TOGETHER
    if is_grid:
        figure, parts = new_grid(title, TIME_LABEL, words[1], names, size)
    else:
        figure, axes = new_figure(title, TIME_LABEL, words[1], size)
        parts = [axes] * len(users)
    for place, (axes, number) in enumerate(zip(parts, users, strict=True)):
        look = {"color": color(0 if is_grid else place), "label": names[place]}
        draw(axes, number, table.where(of == number), look)
    from_zero(*parts)
    if not is_grid:
        legend(parts[0])
    return figure


def _steps(axes: Axes, rows: Table, column: str, end_s: float, **look: Any) -> None:
    """Draws a series that changes in steps; the last value is held until `end_s`."""
    times, values = thinned(rows["t_s"], rows[column])
    if len(times) and times[-1] < end_s:
        times, values = np.append(times, end_s), np.append(values, values[-1])
    axes.step(times, values, where="post", **({"linewidth": 1.3} | look))


def _without_pauses(
    times: NDArray[np.float64], samples: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns round-trip times with breaks at long gaps."""
    if len(times) < 2:
        return times, samples
    usual = np.maximum(samples[1:], samples[:-1])
    longest = np.maximum(PAUSE * usual, (times[-1] - times[0]) / BINS)
    at = np.flatnonzero(np.diff(times) > longest) + 1
    return np.insert(times, at, np.nan), np.insert(samples, at, np.nan)


def _end(result: Result, series: str, run: int) -> float:
    return float(np.max(recorded(result, series, run)["t_s"]))


def _delivered(result: Result, user: int, run: int) -> float:
    flows = result.flows
    mine: NDArray[np.bool_] = (np.asarray(flows["user"]) == user) & (
        np.asarray(flows["run"]) == run
    )
    return float(np.sum(flows["delivered_bytes"][mine]))
