"""Text layout: text that is too wide for a figure is broken into lines, not truncated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from nodeb.plot.picture import any_glyph

__all__ = ["broken", "columns_of", "width_of"]

POINTS = 72.0
"""Typographic points, the unit of font sizes, in an inch."""
HANDLE = 3.6
"""Width of a legend column without its label, as a multiple of the font size."""


@lru_cache(maxsize=4096)
def width_of(text: str, size: float, weight: str = "normal") -> float:
    font = FontProperties(family="sans-serif", weight=weight, size=size)
    with any_glyph():
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / POINTS


def broken(text: str, room: float, size: float, weight: str = "normal") -> str:
    """Returns text with line breaks at spaces, so that lines are at most `room` inches wide.

    A word wider than `room` is not broken; its line is wider.
    """
    return "\n".join(_lines(text.split("\n"), room, size, weight))


def _lines(parts: Sequence[str], room: float, size: float, weight: str) -> list[str]:
    lines: list[str] = []
    for part in parts:
        line = ""
        for word in part.split(" "):
            longer = f"{line} {word}" if line else word
            if line and width_of(longer, size, weight) > room:
                lines.append(line)
                line = word
            else:
                line = longer
        lines.append(line)
    return lines


def columns_of(labels: Sequence[str], room: float, size: float, most: int) -> int:
    """Returns the number of legend columns that fit side by side in `room` inches, 1 to `most`."""
    widest = max(width_of(line, size) for label in labels for line in label.split("\n"))
    return max(1, min(most, int(room / (widest + HANDLE * size / POINTS))))
