"""Pictures of one watched session: what reached the phone under what the radio had, and windows.

A study whose table `session` has a table `pictures` has them: `at` and `series` say which
scenarios, as in a figure, `received` and `window` what the pictures are called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nodeb.plot.source import save
from nodeb.plot.style import BAND, color, new_rows
from nodeb.reproduce import session
from nodeb.reproduce.arrays import Array, Tables
from nodeb.reproduce.campaign import Campaign
from nodeb.study.stage import Picture

RUN = 0
NOTE = "The first replication."
SIZE = (7.2, 7.0)


@dataclass(frozen=True)
class Session:
    """One session in bins.

    Attributes:
        label: which one it is.
        edges: ends of the bins, s.
        received: bytes that reached the phone in each.
        offered: bytes that the radio had for it.
        window_s: when the congestion window changed, s.
        window: the window from then on, packets.
    """

    label: str
    edges: Array
    received: Array
    offered: Array
    window_s: Array
    window: Array


def draw(campaign: Campaign, out: Path) -> list[Picture]:
    """Simulate the sessions and draw them to `out`, as PNG and SVG."""
    spec = campaign.study.session
    pictures = spec["pictures"]
    fixed = campaign.study.select(pictures["at"])[0]
    record = campaign.study.scenario["record"]
    sessions = [
        _session(choice.label, campaign.tables((*fixed, choice), RUN, record), spec)
        for choice in campaign.study.choices(pictures["series"])
    ]
    drawn = {name: PICTURES[name](sessions, pictures[name]) for name in PICTURES}
    for name, figure in drawn.items():
        for suffix in ("png", "svg"):
            save(figure, out / f"session-{name}.{suffix}")
    return [_picture(pictures[name], drawn[name], sessions) for name in drawn]


def _session(label: str, tables: Tables, spec: Mapping[str, Any]) -> Session:
    edges = session.bins(tables, spec)
    window = session.rows(tables, "cwnd", spec["user"])
    return Session(
        label,
        edges,
        session.received(tables, spec, edges),
        session.offered(tables, spec, edges),
        np.asarray(window["t_s"], dtype=float),
        np.asarray(window["cwnd_packets"], dtype=float),
    )


def _picture(title: str, figure: Figure, sessions: Sequence[Session]) -> Picture:
    number, _, what = title.partition(". ")
    means = (
        f"{one.label} {8e-3 * one.received.sum() / one.edges[-1]:.0f} of "
        f"{8e-3 * one.offered.sum() / one.edges[-1]:.0f} kb/s"
        for one in sessions
    )
    return Picture(number, what, figure, f"Received of available: {', '.join(means)}.", NOTE)


def _received(sessions: Sequence[Session], title: str) -> Figure:
    figure, panels = new_rows(title, "Time (s)", "Received, kb/s; grey: available", sessions, SIZE)
    for place, (axes, one) in enumerate(zip(panels, sessions, strict=True)):
        kbps = 8e-3 / np.diff(one.edges)
        axes.stairs(one.offered * kbps, one.edges, fill=True, color=BAND)
        axes.stairs(one.received * kbps, one.edges, color=color(place), linewidth=1.6)
        _name(axes, one)
    panels[0].set_ylim(bottom=0)
    return figure


def _window(sessions: Sequence[Session], title: str) -> Figure:
    figure, panels = new_rows(title, "Time (s)", "Congestion window (packets)", sessions, SIZE)
    for place, (axes, one) in enumerate(zip(panels, sessions, strict=True)):
        axes.step(one.window_s, one.window, where="post", color=color(place), linewidth=1.1)
        _name(axes, one)
    panels[0].set_ylim(bottom=0)
    return figure


def _name(axes: Axes, one: Session) -> None:
    axes.set_title(one.label, loc="center", fontsize=10)
    axes.set_xlim(0, one.edges[-1])


PICTURES = {"received": _received, "window": _window}
