"""Times as people read them: in s or ms, with as many digits as a mean has."""

from __future__ import annotations

import math

from nodeb.terminal.text import FACTORS, decimals_of, shown_unit

__all__ = ["ends_text", "time_cells", "time_text"]


def time_cells(mean: float, low: float, high: float) -> list[str]:
    """A time, s, its interval, empty where there is none, and the unit of both."""
    unit = shown_unit("", "s", mean)
    factor = FACTORS.get(unit, 1.0)
    decimals = decimals_of(mean * factor)
    ends = [f"{end * factor:z.{decimals}f}" for end in (low, high) if math.isfinite(end)]
    return [f"{mean * factor:z.{decimals}f}", " .. ".join(ends), unit]


def time_text(seconds: float) -> str:
    """A time, s, with its unit."""
    number, _, unit = time_cells(seconds, math.nan, math.nan)
    return f"{number} {unit}"


def ends_text(mean: float, low: float, high: float) -> str:
    """The interval of a time with its unit; empty where there is none."""
    _, ends, unit = time_cells(mean, low, high)
    return f"{ends} {unit}" if ends else ""
