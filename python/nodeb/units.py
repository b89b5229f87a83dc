"""Units of time in which scenarios and command lines are written."""

from __future__ import annotations

from decimal import Decimal

__all__ = ["NS", "NS_PER_S", "SECONDS", "in_ns"]

NS_PER_S = 1_000_000_000
NS = {
    "ns": 1,
    "us": 1000,
    "ms": 10**6,
    "s": NS_PER_S,
    "min": 60 * NS_PER_S,
    "h": 3600 * NS_PER_S,
}
"""Nanoseconds of each."""
SECONDS = {unit: ns / NS_PER_S for unit, ns in NS.items()}
"""Seconds of each."""


def in_ns(time: str) -> int:
    """A time of a resolved scenario, such as `1.5 s`, in ns."""
    number, unit = time.split()
    return int(Decimal(number) * NS[unit])
