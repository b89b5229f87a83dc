"""Sections and figures as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from nodeb.report.svg import inline_svg

__all__ = ["Content", "figure", "section"]

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


def section(
    anchor: str,
    title: str,
    text: str,
    figures: Sequence[Content] = (),
    tables: Sequence[Content] = (),
    problem: str = "",
    words: Sequence[tuple[str, str]] = (),
) -> Content:
    """A section of a page; `problem` says why it has nothing to show, `words` what names mean."""
    return {
        "anchor": anchor,
        "title": title,
        "text": text,
        "figures": figures,
        "tables": tables,
        "problem": problem,
        "words": words,
    }
