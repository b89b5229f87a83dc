"""How values, grades and names are written on a page."""

from __future__ import annotations

import math
from typing import Any

from nodeb.study.cell import Cell

Content = dict[str, Any]
MARKS = {"near": "\N{CHECK MARK}", "off": "\N{ALMOST EQUAL TO}", "far": "\N{BALLOT X}", "open": "?"}
MINUS = "\N{MINUS SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"


def marked(grade: str, word: str) -> Content:
    """A grade and its sign with a word."""
    return {"grade": grade, "verdict": f"{MARKS[grade]} {word}"}


def half_width(value: float, digits: int) -> str:
    """A half-width with the decimals of its value, or with one digit where those would be zeros."""
    if not 0 < value < 0.5 * 10**-digits:
        return f"{value:.{digits}f}"
    places = min(digits + 2, -math.floor(math.log10(value)))
    return f"{value:.{places}f}"


def decimals(cell: Cell) -> int:
    """As many decimals as the study printed."""
    text = f"{cell.published:g}"
    return len(text.partition(".")[2])


def number(value: float, digits: int) -> str:
    """A number with a true minus sign, and none before zero."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", MINUS)


def signed(value: float, digits: int) -> str:
    """A number with its sign, but zero."""
    text = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", MINUS)
