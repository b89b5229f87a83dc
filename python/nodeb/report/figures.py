"""Sections and figures of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from nodeb.report.svg import inline_svg

__all__ = ["Content", "figure", "section"]

Content = dict[str, Any]


def figure(anchor: str, title: str, drawn: Figure, note: str = "") -> Content:
    """Returns a figure with its caption.

    Args:
        anchor: anchor of the figure on the page.
        title: title in the caption.
        drawn: the figure; its own title is removed.
        note: text below the figure.
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
    """Returns a section; `problem` explains why it is empty, `words` the meaning of names."""
    return {
        "anchor": anchor,
        "title": title,
        "text": text,
        "figures": figures,
        "tables": tables,
        "problem": problem,
        "words": words,
    }
