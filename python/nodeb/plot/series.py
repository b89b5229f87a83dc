"""Pictures of what happened during one replication."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.errors import InputError
from nodeb.plot.style import INK, color, legend, new_figure, nice_step
from nodeb.results.timeseries import delivered_bytes

if TYPE_CHECKING:
    from nodeb.results.result import Result
    from nodeb.table import Table

BINS = 100
TIME_LABEL = "Time (s)"
# One place per kind of event: label, marker, colour, size.
EVENTS = {
    "send": ("sent", ".", color(0), 5),
    "resend": ("sent again", "x", color(1), 6),
    "drop": ("dropped", "v", INK, 6),
    "deliver": ("arrived at the phone", ".", color(2), 3),
}


def cwnd(result: Result, user: int | None = None, run: int = 0) -> Figure:
    """Congestion window and slow-start threshold over time, in packets.

    Args:
        result: a result whose scenario has `record.cwnd = true`.
        user: number of one user; None for all (the threshold is then left out).
        run: which replication.

    Raises:
        InputError: if the series was not recorded, or there is no such user or run.
    """
    table = _recorded(result, "cwnd", run)
    figure, axes = new_figure(
        _title(result, "Congestion window", user, run), TIME_LABEL, "Congestion window (packets)"
    )
    for place, (number, rows) in enumerate(_users(result, table, user)):
        label = "congestion window" if user is not None else _name(result, number)
        axes.step(rows["t_s"], rows["cwnd_packets"], where="post", color=color(place), label=label)
        if user is not None:
            axes.step(
                rows["t_s"],
                rows["ssthresh_packets"],
                where="post",
                color=color(1),
                linestyle="--",
                linewidth=1.2,
                label="slow-start threshold",
            )
    return _finish(figure, axes)


def throughput(
    result: Result, user: int | None = None, bin_s: float | None = None, run: int = 0
) -> Figure:
    """Application data that arrived at the phone per unit of time, in kb/s.

    Each packet counts once, with the mean payload of the user's packets.

    Args:
        result: a result whose scenario has `record.segments = true`.
        user: number of one user; None for all.
        bin_s: width of the time bins, s; None takes about a hundredth of the whole.
        run: which replication.

    Raises:
        InputError: if the series was not recorded, there is no such user or run, or `bin_s` is not
            above zero.
    """
    if bin_s is not None and not bin_s > 0:
        raise InputError(f"bin_s must be above 0, got {bin_s!r}")
    table = _recorded(result, "segments", run)
    end = float(np.max(table["t_s"])) if len(table) else 0.0
    width = bin_s or nice_step(end, BINS)
    edges = np.arange(0.0, end + width, width)
    edges = edges if len(edges) > 1 else np.array([0.0, width])
    what = f"Application bit rate in bins of {width:g} s"
    figure, axes = new_figure(
        _title(result, what, user, run), TIME_LABEL, "Application bit rate (kb/s)"
    )
    for place, (number, rows) in enumerate(_users(result, table, user)):
        rates = _rates(rows, _delivered_bytes(result, number, run), edges)
        axes.stairs(rates, edges, color=color(place), label=_name(result, number), linewidth=1.6)
    return _finish(figure, axes)


def _rates(rows: Table, delivered: float, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bit rate in each bin, kb/s."""
    return np.asarray(delivered_bytes(rows, delivered, edges) * 8 / np.diff(edges) / 1000)


def sequence(result: Result, user: int | None = None, run: int = 0) -> Figure:
    """Packet numbers over time: sent, sent again, dropped, arrived, and the acknowledgements.

    Args:
        result: a result whose scenario has `record.segments = true`.
        user: number of one user; None takes the first, as several would hide each other.
        run: which replication.

    Raises:
        InputError: if the series was not recorded, or there is no such user or run.
    """
    table = _recorded(result, "segments", run)
    number, rows = next(_users(result, table, user))
    figure, axes = new_figure(_title(result, "Packets", number, run), TIME_LABEL, "Packet number")
    event, again = np.asarray(rows["event"]), np.asarray(rows["retransmission"], dtype=bool)
    acks = rows.where(event == "ack")
    axes.step(
        acks["t_s"], acks["seq"], where="post", color=color(3), linewidth=1.2, label="acknowledged"
    )
    shown = {
        "send": (event == "send") & ~again,
        "resend": (event == "send") & again,
        "drop": event == "drop",
        "deliver": event == "deliver",
    }
    for kind, chosen in shown.items():
        label, marker, paint, size = EVENTS[kind]
        part = rows.where(chosen)
        if len(part):
            axes.plot(
                part["t_s"],
                part["seq"],
                linestyle="none",
                marker=marker,
                color=paint,
                markersize=size,
                label=label,
            )
    return _finish(figure, axes, columns=3)


def queue(result: Result, user: int | None = None, run: int = 0) -> Figure:
    """Packets that wait at the Node B over time.

    Args:
        result: a result whose scenario has `record.queue = true`.
        user: number of one user; None for all.
        run: which replication.

    Raises:
        InputError: if the series was not recorded, or there is no such user or run.
    """
    table = _recorded(result, "queue", run)
    figure, axes = new_figure(
        _title(result, "Queue at the Node B", user, run), TIME_LABEL, "Waiting (packets)"
    )
    for place, (number, rows) in enumerate(_users(result, table, user)):
        axes.step(
            rows["t_s"],
            rows["packets"],
            where="post",
            color=color(place),
            linewidth=1.2,
            label=_name(result, number),
        )
    return _finish(figure, axes)


def _recorded(result: Result, name: str, run: int) -> Table:
    """One replication of a time series."""
    table: Table = getattr(result, name)  # says which key of [record] is missing
    chosen = table.where(np.asarray(table["run"]) == run)
    if not len(chosen):
        known = ", ".join(str(n) for n in np.unique(result.flows["run"]))
        raise InputError(f"{name}: nothing was recorded in run {run} (runs: {known})")
    return chosen


def _users(result: Result, table: Table, user: int | None) -> Iterator[tuple[int, Table]]:
    """The rows of each user, or of one."""
    known = np.unique(result.flows["user"])
    if user is not None and user not in known:
        raise InputError(f"there is no user {user} (users: {', '.join(map(str, known))})")
    column = np.asarray(table["user"])
    return iter([(int(n), table.where(column == n)) for n in known if user in (None, n)])


def _delivered_bytes(result: Result, user: int, run: int) -> float:
    flows = result.flows
    mine = (np.asarray(flows["user"]) == user) & (np.asarray(flows["run"]) == run)
    return float(np.sum(flows["delivered_bytes"][mine]))


def _name(result: Result, user: int) -> str:
    """A user's name in a legend: its number and its group."""
    flows = result.flows
    group = np.asarray(flows["group"])[np.asarray(flows["user"]) == user]
    return f"user {user} ({group[0]})" if len(group) else f"user {user}"


def _title(result: Result, what: str, user: int | None, run: int) -> str:
    parts = [what]
    if user is not None:
        parts.append(_name(result, user))
    name: Any = getattr(result.scenario, "name", "")
    runs = len(np.unique(result.flows["run"]))
    head = ", ".join(parts) + (f", run {run}" if runs > 1 else "")
    return f"{head}\n{name}" if name else head


def _finish(figure: Figure, axes: Axes, columns: int = 2) -> Figure:
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    legend(axes, columns)
    return figure
