"""A small drawing of the simulated path, from the study's base scenario."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from markupsafe import Markup

WIDTH, HEIGHT = 720, 132
BOXES = ((10, "Server"), (305, "Node B"), (600, "Phone"))
BOX_WIDTH, BOX_TOP, BOX_HEIGHT = 110, 42, 46
KINDS = {
    "hs_dsch": ("HS-DSCH or DCH", "RLC, MAC, block errors, scheduler"),
    "dch": ("DCH", "RLC, MAC, block errors"),
    "link": ("link", "queue"),
    "wcdma": ("WCDMA downlink", "frames, rate selection, selective repeat"),
    "fach_dch": ("FACH or DCH", "a queue per phone, switching policy"),
}


def path_diagram(scenario: Mapping[str, Any]) -> Markup:
    """Server, Node B and phone with what lies between them, as an `<svg>` element."""
    wired, uplink = scenario["wired"], scenario["uplink"]
    radio, inside = KINDS[next(iter(scenario["radio"]))]
    middle = BOX_TOP + BOX_HEIGHT / 2
    labels = [
        (212, 50, f"{wired['rate']}", ""),
        (212, 88, f"{wired['delay']} one way", "small"),
        (507, 50, radio, ""),
        (507, 88, f"uplink {uplink['rate']}, {uplink['delay']}", "small"),
    ]
    parts = [
        *(_box(x, name) for x, name in BOXES),
        _arrow(120, 303, middle - 5),
        _arrow(305, 122, middle + 5),
        _arrow(415, 598, middle - 5),
        _arrow(600, 417, middle + 5),
        *(_text(x, y, text, css) for x, y, text, css in labels),
        _text(360, 112, inside, "small"),
        _text(65, 112, "TCP sender", "small"),
        _text(655, 112, "TCP receiver", "small"),
    ]
    names = ", ".join(name for _, name in BOXES)
    head = (
        f'<svg class="path" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Path: {names}">'
    )
    return Markup(head + "".join(parts) + "</svg>")


def _box(x: int, name: str) -> str:
    rect = f'<rect x="{x}" y="{BOX_TOP}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8"/>'
    return rect + _text(x + BOX_WIDTH / 2, BOX_TOP + 28, name, "")


def _arrow(start: float, end: float, y: float) -> str:
    back = -8 if end > start else 8
    head = f"{end},{y} {end + back},{y - 3.5} {end + back},{y + 3.5}"
    return f'<line x1="{start}" y1="{y}" x2="{end + back / 2}" y2="{y}"/><polygon points="{head}"/>'


def _text(x: float, y: float, text: str, css: str) -> str:
    style = f' class="{css}"' if css else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle"{style}>{escape(text)}</text>'
