"""Units in which scenarios and command lines are written."""

from __future__ import annotations

import re
from decimal import Decimal, DecimalException
from functools import lru_cache

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
SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
"""Bytes per unit of size."""
QUANTITIES = {
    **{
        f"{prefix}{unit}": ("bps", 10**n)
        for unit in ("bps", "bit/s")
        for prefix, n in {"": 0, "k": 3, "M": 6, "G": 9}.items()
    },
    **{unit: ("s", Decimal(ns) / NS_PER_S) for unit, ns in {**NS, "µs": NS["us"]}.items()},
    **{unit: ("bytes", size) for unit, size in SIZES.items()},
}
"""Suffix of a column with a quantity, and factor that converts to its unit, by unit."""

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


@lru_cache(maxsize=4096)  # The many cells of a sweep share few distinct values.
def quantity(text: str) -> tuple[float, str] | None:
    """Returns a number and the suffix of its column (`s`, `bps`, `bytes`), None without a unit."""
    match = re.fullmatch(r"\s*\+?([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(\S+)\s*", text)
    if match is None or match[2] not in QUANTITIES:
        return None
    suffix, size = QUANTITIES[match[2]]
    try:
        return float(Decimal(match[1]) * size), suffix
    except DecimalException:  # For example, an exponent of nine digits.
        return None
