"""Units of time in which scenarios and command lines are written."""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["NS", "NS_PER_S", "in_ns", "in_s"]

NS_PER_S = 1_000_000_000
NS = {
    "ns": 1,
    "us": 1000,
    "ms": 10**6,
    "s": NS_PER_S,
    "min": 60 * NS_PER_S,
    "h": 3600 * NS_PER_S,
}
"""Units of time and their length in nanoseconds."""


_NUMBER = r"(?:\d{1,18}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?"
_TIME = re.compile(rf"\s*({_NUMBER})\s*([a-z]+)\s*", re.ASCII)


def in_s(time: str) -> float:
    """Converts a time with its unit, such as `1.5 ms`, to seconds, rounded to 1 ns."""
    return in_ns(time) / NS_PER_S


def in_ns(time: str) -> int:
    """Converts a time with its unit, such as `1.5 s`, to the nearest whole number of ns.

    Negative numbers are not accepted.
    """
    found = _TIME.fullmatch(time)
    if found is None or found[2] not in NS:
        raise ValueError(f"{time!r} is not a time with a unit; expected one such as 1.5 s")
    return round(Decimal(found[1]) * NS[found[2]])
