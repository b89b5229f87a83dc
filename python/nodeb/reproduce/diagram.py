"""Diagram of the simulated path, from the study's base scenario."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import pairwise
from typing import Any

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 720, 132, 28
BOX_WIDTH, BOX_TOP, BOX_HEIGHT = 84, 42, 46
LINE = 14
KINDS = {
    "hsdpa": ("HSDPA", "MAC-hs, HARQ, CQI, fading"),
    "hs_dsch": ("HS-DSCH or DCH", "RLC, MAC, block errors, scheduler"),
    "dch": ("DCH", "RLC, MAC, block errors"),
    "link": ("link", "queue"),
    "trace": ("trace", "queue"),
    "wcdma": ("WCDMA downlink", "frames, rate selection, selective repeat"),
    "fach_dch": ("FACH or DCH", "a queue per phone, switching policy"),
}


def path_diagram(scenario: Mapping[str, Any]) -> Markup:
    """Returns a diagram of server, gateway (if there is a core network), Node B, phone and
    links."""
    wired, uplink = scenario["wired"], scenario["uplink"]
    radio, inside = KINDS[next(iter(scenario["radio"]))]
    boxes = [("Server", "TCP sender"), ("Node B", inside), ("Phone", "TCP receiver")]
    links = [(f"{wired['rate']}", f"{wired['delay']} one way")]
    if core := _core(scenario):
        boxes.insert(1, ("Gateway", "proxy where there is one"))
        links.append(core)
    links.append((radio, f"uplink {uplink['rate']}, {uplink['delay']}"))
    step = (WIDTH - 2 * MARGIN - BOX_WIDTH) / (len(boxes) - 1)
    places = [MARGIN + n * step for n in range(len(boxes))]
    parts = [_box(x, name, below) for x, (name, below) in zip(places, boxes, strict=True)]
    for (left, right), (above, below) in zip(pairwise(places), links, strict=True):
        parts.append(_link(left + BOX_WIDTH, right, above, below))
    names = ", ".join(name for name, _ in boxes)
    head = (
        f'<svg class="path" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Path: {names}">'
    )
    return Markup(head + "".join(parts) + "</svg>")


def _core(scenario: Mapping[str, Any]) -> tuple[str, str] | None:
    """Returns names and delays of the core network's links and the Iub; None without a core."""
    core = scenario.get("core", [])
    links = [core] if isinstance(core, Mapping) else list(core)
    if not links:
        return None
    radio = next(iter(scenario["radio"].values()))
    iub = radio.get("iub", {}) if isinstance(radio, Mapping) else {}
    delays = [link["delay"] for link in links] + ([iub["delay"]] if "delay" in iub else [])
    names = [link["name"].capitalize() for link in links if "name" in link]
    names += ["Iub"] if "delay" in iub else []
    return ", ".join(names), " + ".join(str(delay).removesuffix(" ms") for delay in delays) + " ms"


def _box(x: float, name: str, below: str) -> str:
    rect = f'<rect x="{x:g}" y="{BOX_TOP}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8"/>'
    middle = x + BOX_WIDTH / 2
    return rect + _text(middle, BOX_TOP + 28, name, "") + _text(middle, 112, below, "small")


def _link(start: float, end: float, above: str, below: str) -> str:
    """Returns arrows in both directions between two boxes, with labels above and below."""
    y, middle = BOX_TOP + BOX_HEIGHT / 2, (start + end) / 2
    arrows = _arrow(start, end - 2, y - 5) + _arrow(end, start + 2, y + 5)
    # Each part of the label gets its own line, because there is little room between boxes.
    lines = below.split(", ")
    labels = (_text(middle, 86 + LINE * at, line, "small") for at, line in enumerate(lines))
    return arrows + _text(middle, 50, above, "small") + "".join(labels)


def _arrow(start: float, end: float, y: float) -> str:
    back = -8 if end > start else 8
    head = f"{end:g},{y} {end + back:g},{y - 3.5} {end + back:g},{y + 3.5}"
    line = f'<line x1="{start:g}" y1="{y}" x2="{end + back / 2:g}" y2="{y}"/>'
    return line + f'<polygon points="{head}"/>'


def _text(x: float, y: float, text: str, css: str) -> str:
    style = f' class="{css}"' if css else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle"{style}>{escape(text)}</text>'
