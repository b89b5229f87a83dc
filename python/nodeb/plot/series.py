"""Figures of time series in one replication.

Up to six users share one pair of axes. Of more users, six are selected, and each has a panel of
its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from nodeb.answer.paints import FAMILIES, PACKETS
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.plot.style import (
    SIZE,
    Look,
    Size,
    color,
    legend,
    legend_entries,
    new_figure,
    new_grid,
    nice_step,
)
from nodeb.plot.text import Quantity
from nodeb.results.result import Result
from nodeb.results.timeseries import delivered_bytes, time_averages

BINS = 100
TIME_LABEL = "Time (s)"
TOGETHER = 6
"""Maximum number of users whose curves share axes; of more users, this many have panels."""
DOTS = 200
"""Number of samples above which a curve of RTTs has no dots and one of CQIs shows means."""
PAUSE = 4.0
"""Gap between two RTT samples above which the curve is interrupted, in round-trip times."""
PARTS = 400
"""Number of intervals across a figure, each one to three pixels wide."""
MAX_POINTS = 4 * PARTS
"""Largest number of points of a curve that is drawn unchanged."""

Draw = Callable[[Axes, int, Table, Look], None]
"""Function that draws the rows of a user, given by index, with a colour and a label."""
Values = NDArray[np.float64]


def cwnd(
    result: Result,
    user: int | None = None,
    run: int = 0,
    size: Size = SIZE,
    ax: Axes | None = None,
) -> Figure:
    """Returns a figure of congestion window and slow-start threshold over time, in packets.

    Args:
        result: a result whose scenario has `record.cwnd = true`.
        user: index of a user; None for all, without the threshold.
        run: index of the replication.
        size: width and height in inches.
        ax: axes to draw on, beside what they have; None for a new figure.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    series = _Series(result, "cwnd", user, run, size, ax)

    def draw(axes: Axes, number: int, rows: Table, look: Look) -> None:
        if user is None:
            _steps(axes, rows, "cwnd_packets", series.end_s, **look)
            return
        _steps(axes, rows, "cwnd_packets", series.end_s, **look | {"label": "congestion window"})
        own = color(1) if ax is None else look["color"]
        look = {"color": own, "linestyle": "--", "label": "slow-start threshold"}
        _steps(axes, rows, "ssthresh_packets", series.end_s, **look)

    words = "Congestion window", "Congestion window (packets)"
    return series.draw(words, draw)


def throughput(
    result: Result,
    user: int | None = None,
    bin_s: float | None = None,
    run: int = 0,
    size: Size = SIZE,
    ax: Axes | None = None,
) -> Figure:
    """Returns a figure of the rate of application data that arrived at the receiver, in kbit/s.

    Each packet counts once, with the mean payload of the user's packets.

    Args:
        result: a result whose scenario has `record.segments = true`.
        user: index of a user; None for all.
        bin_s: width of the time bins, s; None for a round width that makes 40 to 100 bins.
        run: index of the replication.
        size: width and height in inches.
        ax: axes to draw on, beside what they have; None for a new figure.

    Raises:
        InputError: the series was not recorded, there is no such user or run, or `bin_s` is not
            positive.
    """
    if bin_s is not None and not bin_s > 0:
        raise InputError(f"bin_s must be above 0, got {bin_s!r}")
    series = _Series(result, "segments", user, run, size, ax)
    end = series.end_s
    width = bin_s or nice_step(end, BINS)
    # The last of several bins ends with the series and is 0.5 to 1.5 times as wide as the others.
    edges = np.arange(0.0, end, width)
    if len(edges) > 1 and end - edges[-1] < width / 2:
        edges = edges[:-1]
    edges = np.append(edges, end) if end > 0 else np.array([0.0, width])
    flows = result.flows.where(np.asarray(result.flows["run"]) == run)

    def draw(axes: Axes, number: int, rows: Table, look: Look) -> None:
        whole = float(np.sum(flows["delivered_bytes"][np.asarray(flows["user"]) == number]))
        delivered = delivered_bytes(rows, whole, edges)
        axes.stairs(delivered * 8 / np.diff(edges) / 1000, edges, linewidth=1.6, **look)

    words = f"Application bit rate in bins of {width:g} s", "Application bit rate (kbit/s)"
    return series.draw(words, draw)


def rtt(
    result: Result,
    user: int | None = None,
    run: int = 0,
    size: Size = SIZE,
    ax: Axes | None = None,
) -> Figure:
    """Returns a figure of TCP's round-trip time samples over the time of measurement.

    Args:
        result: a result whose scenario has `record.rtt = true`.
        user: index of a user; None for all.
        run: index of the replication.
        size: width and height in inches.
        ax: axes to draw on, beside what they have; None for a new figure.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    series = _Series(result, "rtt", user, run, size, ax)
    unit = Quantity.of("rtt_s", np.asarray(series.table["rtt_s"]))
    if ax is not None:  # One unit for all results that are drawn there.
        unit = replace(unit, unit="ms", factor=1e3)

    def draw(axes: Axes, number: int, rows: Table, look: Look) -> None:
        times, values = thinned(rows["t_s"], rows["rtt_s"])
        marker = "." if len(times) <= DOTS else ""
        if len(times) > 1:
            longest = np.maximum(values[1:], values[:-1])
            longest = np.maximum(PAUSE * longest, (times[-1] - times[0]) / BINS)
            pauses = np.flatnonzero(np.diff(times) > longest) + 1
            times, values = (np.insert(one, pauses, np.nan) for one in (times, values))
        axes.plot(times, values * unit.factor, marker=marker, linewidth=1.0, **look)

    return series.draw((unit.title, unit.label), draw)


def queue(
    result: Result,
    user: int | None = None,
    run: int = 0,
    size: Size = SIZE,
    ax: Axes | None = None,
) -> Figure:
    """Returns a figure of the packets in the queue at the Node B over time.

    Args:
        result: a result whose scenario has `record.queue = true`.
        user: index of a user; None for all.
        run: index of the replication.
        size: width and height in inches.
        ax: axes to draw on, beside what they have; None for a new figure.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    series = _Series(result, "queue", user, run, size, ax)

    def draw(axes: Axes, number: int, rows: Table, look: Look) -> None:
        _steps(axes, rows, "packets", series.end_s, **look)
        axes.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))

    words = "Queue at the Node B", "Waiting (packets)"
    return series.draw(words, draw)


def cqi(
    result: Result,
    user: int | None = None,
    run: int = 0,
    size: Size = SIZE,
    ax: Axes | None = None,
) -> Figure:
    """Returns a figure of each phone's CQI at the Node B over time, sampled every 20 ms.

    For a user with more than `DOTS` samples, the mean in each hundredth of the time is emphasized.
    With the link adaptation `shannon`, which needs no CQI, the figure shows the SNR.

    Args:
        result: a result on `hsdpa` whose scenario has `record.bandwidth = true`.
        user: index of a user; None for all.
        run: index of the replication.
        size: width and height in inches.
        ax: axes to draw on, beside what they have; None for a new figure.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    series = _Series(result, "bandwidth", user, run, size, ax)
    end = series.end_s

    def draw(axes: Axes, number: int, rows: Table, look: Look) -> None:
        if len(rows) <= DOTS:
            _steps(axes, rows, "cqi", end, **look)
            return
        _steps(axes, rows, "cqi", end, color=look["color"], alpha=0.3, linewidth=0.7)
        edges = np.linspace(float(rows["t_s"][0]), end, BINS + 1)
        axes.stairs(time_averages(rows["t_s"], rows["cqi"], edges), edges, baseline=None, **look)

    adaptation = getattr(getattr(result.scenario, "radio", None), "link_adaptation", None)
    is_snr = "shannon" in (adaptation, getattr(adaptation, "tag", None))
    words = ("SNR of the channel", "SNR (dB)") if is_snr else ("Channel quality", "CQI")
    return series.draw(words, draw)


def sequence(
    result: Result,
    user: int | None = None,
    run: int = 0,
    size: Size = SIZE,
    ax: Axes | None = None,
) -> Figure:
    """Returns a figure of packet numbers: sent, retransmitted, dropped, arrived and acknowledged.

    Args:
        result: a result whose scenario has `record.segments = true`.
        user: index of a user; None for the first user; several users would overlap.
        run: index of the replication.
        size: width and height in inches.
        ax: axes to draw on, beside what they have; None for a new figure.

    Raises:
        InputError: the series was not recorded, or there is no such user or run.
    """
    one = int(np.min(result.flows["user"])) if user is None else user
    series = _Series(result, "segments", one, run, size, ax)

    def draw(axes: Axes, number: int, rows: Table, look: Look) -> None:
        event, again = np.asarray(rows["event"]), np.asarray(rows["retransmission"], dtype=bool)
        acks, look = rows.where(event == "ack"), {"color": PACKETS["ack"].light}
        label = "acknowledged"
        axes.step(acks["t_s"], acks["seq"], where="post", linewidth=1.2, label=label, **look)
        sent = event == "send"
        for label, marker, hue, size, mask in (
            ("sent", ".", PACKETS["data"], 5, sent & ~again),
            ("sent again", "+", PACKETS["again"], 7, sent & again),
            ("dropped", "x", PACKETS["lost"], 6, event == "drop"),
            ("arrived", ".", FAMILIES["move"], 3, event == "deliver"),
        ):
            part, look = rows.where(mask), {"color": hue.light, "marker": marker}
            if len(part):
                look |= {"markersize": size, "linestyle": "none", "label": label}
                axes.plot(part["t_s"], part["seq"], **look)

    return series.draw(("Packets", "Packet number"), draw, columns=3)


def from_zero(*parts: Axes) -> None:
    """Starts axes that share a scale at zero; the y axis only if no value is negative."""
    parts[0].set_xlim(left=0)
    lowest = [axes.dataLim.y0 for axes in parts if np.isfinite(axes.dataLim.y0)]
    if min(lowest, default=0.0) >= 0:
        parts[0].set_ylim(bottom=0)


@dataclass(frozen=True)
class _Series:
    """A series of one replication, and where it is drawn."""

    result: Result
    name: str
    user: int | None
    run: int
    size: Size
    ax: Axes | None

    @cached_property
    def table(self) -> Table:
        # The error for a missing table names the missing key of [record].
        table: Table = getattr(self.result, self.name)
        rows = table.where(np.asarray(table["run"]) == self.run)
        if not len(rows):
            runs = ", ".join(map(str, np.unique(self.result.flows["run"])))
            raise InputError(f"{self.name}: nothing was recorded in run {self.run} (runs: {runs})")
        return rows

    @property
    def end_s(self) -> float:
        return float(np.max(self.table["t_s"]))

    @property
    def users(self) -> int:
        return len(np.unique(self.result.flows["user"]))

    def title(self, quantity: str) -> str:
        if self.user is not None:
            quantity += f", {_user_name(self.result, self.user)}"
        elif self.users > TOGETHER:
            quantity += f", {TOGETHER} of {self.users} users"
        runs = len(np.unique(self.result.flows["run"]))
        return quantity + (f", run {self.run}" if runs > 1 else "")

    def draw(self, words: tuple[str, str], draw: Draw, columns: int = 2) -> Figure:
        """Draws each user; `words` are the title, and the label of the y axis."""
        result, ax = self.result, self.ax
        users, user_of = chosen(result, self.user, self.run), np.asarray(self.table["user"])
        is_grid = self.user is None and self.users > TOGETHER
        if is_grid and ax is not None:
            raise InputError(
                f"`ax` has room for {TOGETHER} of {self.users} users; name one by `user`"
            )
        name = getattr(result.scenario, "name", "")
        title = self.title(words[0]) + (f"\n{name}" if name and ax is None else "")
        names = [_user_name(result, number) for number in users]
        if is_grid:
            figure, parts = new_grid(title, TIME_LABEL, words[1], names, self.size[0])
        else:
            figure, axes = new_figure(title, TIME_LABEL, words[1], self.size, ax)
            parts = [axes] * len(users)
        before = [] if ax is None else [artist for artist, _ in legend_entries(ax)]
        for place, (axes, number) in enumerate(zip(parts, users, strict=True)):
            look = {"color": color(0 if is_grid else len(before) + place), "label": names[place]}
            draw(axes, number, self.table.where(user_of == number), look)
        for artist, label in () if ax is None else legend_entries(ax):
            if artist not in before and name:
                artist.set_label(f"{name}: {label}")
        from_zero(*parts)
        if not is_grid:
            legend(parts[0], columns)
        return figure


def _steps(axes: Axes, rows: Table, column: str, end_s: float, **look: Any) -> None:
    """Draws a series that changes in steps; the last value is held until `end_s`."""
    times, values = thinned(rows["t_s"], rows[column])
    if len(times) and times[-1] < end_s:
        times, values = np.append(times, end_s), np.append(values, values[-1])
    axes.step(times, values, where="post", **{"linewidth": 1.3} | look)


def thinned(times: ArrayLike, values: ArrayLike) -> tuple[Values, Values]:
    """Returns the visible points of a series: first, last and extremes of each small interval.

    This is the aggregation M4 (Jugel and others, VLDB 2014), which leaves the pixels of a line
    unchanged if an interval is a pixel wide. A series of at most `MAX_POINTS` points is returned
    whole.
    """
    t, v = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(t) <= MAX_POINTS:
        return t, v
    part = np.minimum((PARTS * (t - t[0]) / max(t[-1] - t[0], 1e-12)).astype(int), PARTS - 1)
    # Points are sorted by interval, and within an interval from the lowest to the highest value.
    order = np.lexsort((v, part))
    begins = np.concatenate([[0], np.flatnonzero(np.diff(part)) + 1])
    ends = np.concatenate([begins[1:], [len(t)]]) - 1
    kept = np.unique(np.concatenate([begins, ends, order[begins], order[ends]]))
    return t[kept], v[kept]


def chosen(result: Result, user: int | None = None, run: int = 0) -> list[int]:
    """Returns the users to draw: `user`, all if there are few, otherwise some of each group.

    The selection has at least one user of each group, unless there are more groups than `TOGETHER`.
    Within a group, users are selected at equal steps in the order of `received_bps` in replication
    `run`.
    """
    users = [int(number) for number in np.unique(result.flows["user"])]
    if user is not None:
        if user not in users:
            raise InputError(f"there is no user {user} (users: {', '.join(map(str, users))})")
        return [user]
    if len(users) <= TOGETHER:
        return users
    flows = result.flows.where(np.asarray(result.flows["run"]) == run)
    slowest_first = np.argsort(np.asarray(flows["received_bps"], dtype=float), kind="stable")
    group_of, user_of = np.asarray(flows["group"]), np.asarray(flows["user"])
    groups = list(dict.fromkeys(group_of[np.argsort(user_of, kind="stable")].tolist()))
    if len(groups) > TOGETHER:
        return _spread(user_of[slowest_first].tolist(), TOGETHER)
    sizes = {name: int(np.sum(group_of == name)) for name in groups}
    shares = dict.fromkeys(groups, 1)
    while sum(shares.values()) < TOGETHER:
        shares[max(sizes, key=lambda name: sizes[name] / shares[name])] += 1
    ordered = {name: user_of[[n for n in slowest_first if group_of[n] == name]] for name in groups}
    return [n for name in groups for n in _spread(ordered[name].tolist(), shares[name])]


def selection_note(result: Result, run: int = 0) -> str:
    """Returns a sentence on the users that are drawn; "" if these are all."""
    users, shown = len(np.unique(result.flows["user"])), len(chosen(result, None, run))
    if shown == users:
        return ""
    return (
        f"Shown are {shown} of {users} users, from the slowest to the fastest of their groups, "
        "by what they received in this replication."
    )


def _spread(users: list[int], count: int) -> list[int]:
    """Returns `count` users at equal steps, including both ends; a single one is the middle."""
    if count == 1:
        return [users[len(users) // 2]]
    return [users[round(at)] for at in np.linspace(0, len(users) - 1, count).tolist()]


def _user_name(result: Result, user: int) -> str:
    flows = result.flows
    group = np.asarray(flows["group"])[np.asarray(flows["user"]) == user]
    return f"user {user} ({group[0]})" if len(group) else f"user {user}"
