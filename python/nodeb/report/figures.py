"""Building blocks of a page: sections, and figures with captions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from nodeb.report.svg import inline_svg

__all__ = ["Content", "figure", "section"]

Content = dict[str, Any]


def figure(anchor: str, title: str, drawn: Figure, note: str = "") -> Content:
    """Returns a figure with its caption, in the form that page templates expect."""
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
    """Returns a section of a page as variables of its template.

    `problem` is the reason why the section is empty, and `words` are explanations of names in it.
    """
    return {
        "anchor": anchor,
        "title": title,
        "text": text,
        "figures": figures,
        "tables": tables,
        "problem": problem,
        "words": words,
    }
