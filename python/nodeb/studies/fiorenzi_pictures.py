"""Pictures of single sessions: received and available bytes, and congestion windows."""

from dataclasses import dataclass

import numpy as np

from nodeb.plot.style import BAND, color, new_rows
from nodeb.studies import fiorenzi_session
from nodeb.study import Picture

SIZE = (7.2, 7.0)


@dataclass(frozen=True)
class Session:
    """A session: bytes in the bins between `edges`, and the congestion window over time."""

    label: str
    edges: np.ndarray
    received: np.ndarray
    offered: np.ndarray
    window_s: np.ndarray
    window: np.ndarray

    @classmethod
    def of(cls, label, tables):
        """Returns the session that the tables of a replication contain."""
        edges = fiorenzi_session.bins(tables)
        window = fiorenzi_session.rows(tables, "cwnd")
        return cls(
            label,
            edges,
            fiorenzi_session.received(tables, edges),
            fiorenzi_session.offered(tables, edges),
            window["t_s"],
            window["cwnd_packets"],
        )

    def said(self):
        """Returns the mean received and available bit rates in words."""
        received, offered = (
            8e-3 * part.sum() / self.edges[-1] for part in (self.received, self.offered)
        )
        return f"{self.label} {received:.0f} of {offered:.0f} kb/s"


def draw(sessions, at):
    """Draws the sessions, and adds the pictures to the page."""
    said = f"Received of available: {', '.join(one.said() for one in sessions)}."
    for file, number, title, what in (
        ("received", "Figure 4, one session", "Throughput and available bandwidth", _received),
        ("window", "Figure 5, one session", "Congestion window", _window),
    ):
        figure = what(sessions, f"{number}. {title}")
        picture = Picture(number, title, figure, said, "The first replication.")
        at.add(f"session-{file}", picture)


def _received(sessions, title):
    figure, panels = new_rows(title, "Time (s)", "Received, kb/s; grey: available", sessions, SIZE)
    for place, (axes, one) in enumerate(zip(panels, sessions, strict=True)):
        kbps = 8e-3 / np.diff(one.edges)
        axes.stairs(one.offered * kbps, one.edges, fill=True, color=BAND)
        axes.stairs(one.received * kbps, one.edges, color=color(place), linewidth=1.6)
        _name(axes, one)
    panels[0].set_ylim(bottom=0)
    return figure


def _window(sessions, title):
    figure, panels = new_rows(title, "Time (s)", "Congestion window (packets)", sessions, SIZE)
    for place, (axes, one) in enumerate(zip(panels, sessions, strict=True)):
        axes.step(one.window_s, one.window, where="post", color=color(place), linewidth=1.1)
        _name(axes, one)
    panels[0].set_ylim(bottom=0)
    return figure


def _name(axes, one):
    axes.set_title(one.label, loc="center", fontsize=10)
    axes.set_xlim(0, one.edges[-1])
