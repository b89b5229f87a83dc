"""Colours of causes and of packets: the same on every page and in every plot.

A cause has the hue of its family, and a texture by its position in the family, so no two causes
look the same. Causes are drawn as filled areas, packets as lines and markers. All colours have a
contrast of at least 3:1 against the page. Any two colours of a palette differ by at least 11.6
(OKLab, times 100) with each kind of colour-blindness.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hue:
    """Colour in two versions, one for light pages and one for dark pages."""

    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class Paint:
    """Fill of the areas that show a cause: the hue of the cause's family, and a texture."""

    family: str
    texture: int
    """Texture: 0 solid, 1 diagonal stripes, 2 dots, 3 thin diagonal stripes the other way,
    4 horizontal lines, 5 crossed lines, 6 vertical lines.
    """


FAMILIES = {
    "start": Hue("#582e64", "#a068a8"),
    "window": Hue("#1c44aa", "#619dfa"),
    "air": Hue("#b94004", "#fc8a32"),
    "move": Hue("#4fa08c", "#8bd7b3"),
    "turn": Hue("#bf8604", "#f2dd5a"),
    "loss": Hue("#850815", "#dc3f4a"),
    "host": Hue("#6c6c6c", "#9f9f9f"),
}
MEMBERS = {
    "start": ("handshake", "request", "channel set-up and release"),
    "window": (
        "window: slow start",
        "window: congestion avoidance",
        "delayed ACK",
        "window: receiver",
        "window: proxy",
        "window: send buffer",
    ),
    "air": ("RLC retransmission", "HARQ round trips", "reordering wait"),
    "move": ("transmission", "propagation", "segmentation"),
    "turn": (
        "waiting for the scheduler",
        "queue behind others",
        "credits",
        "queue behind own data",
        "handover",
        "uplink grant",
        "DRX",
    ),
    "loss": ("recovery", "timeout"),
    "host": ("application", "server", "pacing"),
}
CAUSES = {
    cause: Paint(family, place)
    for family, members in MEMBERS.items()
    for place, cause in enumerate(members)
}
PACKETS = {
    "data": Hue("#2e2e2e", "#e5f0fc"),
    "ack": Hue("#777777", "#747474"),
    "ask": Hue("#09596c", "#7dcec9"),
    "again": Hue("#de4fc6", "#de5ec7"),
    "lost": Hue("#ae1f04", "#e12a04"),
}
"""The kinds are data, ACKs, requests (`ask`), retransmissions (`again`, drawn thick) and lost
packets (a cross)."""


def paint(cause: str) -> str:
    """Returns the CSS class of the fill of a cause on pages, such as `k-slow-start`."""
    return "k-" + cause.removeprefix("window: ").lower().replace(" ", "-")
