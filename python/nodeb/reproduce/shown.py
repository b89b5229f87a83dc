"""Formatting of values, grades and names on a page."""

from __future__ import annotations

import math
from typing import Any

from nodeb.study.cell import Cell

Content = dict[str, Any]
MARKS = {"near": "\N{CHECK MARK}", "off": "\N{ALMOST EQUAL TO}", "far": "\N{BALLOT X}", "open": "?"}
MINUS = "\N{MINUS SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"


def marked(grade: str, word: str) -> Content:
    return {"grade": grade, "verdict": f"{MARKS[grade]} {word}"}


def half_width(value: float, digits: int) -> str:
    if not 0 < value < 0.5 * 10**-digits:
        return f"{value:.{digits}f}"
    places = min(digits + 2, -math.floor(math.log10(value)))
    return f"{value:.{places}f}"


def decimals(cell: Cell) -> int:
    """Returns the number of decimals of a published value, not counting trailing zeros."""
    text = f"{cell.published:g}"
    return len(text.partition(".")[2])


def number(value: float, digits: int) -> str:
    """Zero has no sign even if it was rounded from below."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", MINUS)


def signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", MINUS)
