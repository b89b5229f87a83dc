"""Figures as a page shows them."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from nodeb.report.svg import inline_svg

__all__ = ["Content", "figure"]

Content = dict[str, Any]


def figure(anchor: str, title: str, drawn: Figure, note: str = "") -> Content:
    """A figure with its caption.

    Args:
        anchor: its name on the page.
        title: what it shows.
        drawn: the figure; its own title is dropped.
        note: what stands below it.
    """
    return {
        "anchor": anchor,
        "title": title,
        "note": note,
        "svg": inline_svg(drawn, anchor, f"{title}. {note}".strip()),
    }
