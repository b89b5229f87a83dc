"""Swept values as columns; the name of a column of quantities ends in their unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, DecimalException
from functools import lru_cache
from typing import Any

from nodeb.inputs.changes import toml_value

__all__ = ["column", "place", "plain", "quantity"]

UNITS = {
    **dict.fromkeys(("bps", "bit/s"), ("bps", "1")),
    **dict.fromkeys(("kbps", "kbit/s"), ("bps", "1e3")),
    **dict.fromkeys(("Mbps", "Mbit/s"), ("bps", "1e6")),
    **dict.fromkeys(("Gbps", "Gbit/s"), ("bps", "1e9")),
    "ns": ("s", "1e-9"),
    **dict.fromkeys(("us", "µs"), ("s", "1e-6")),
    "ms": ("s", "1e-3"),
    "s": ("s", "1"),
    "min": ("s", "60"),
    "h": ("s", "3600"),
    "B": ("bytes", "1"),
    "kB": ("bytes", "1e3"),
    "MB": ("bytes", "1e6"),
    "GB": ("bytes", "1e9"),
    "KiB": ("bytes", "1024"),
    "MiB": ("bytes", "1048576"),
    "GiB": ("bytes", "1073741824"),
}
"""Suffix of a column's name, and factor that converts to its unit, by unit in the scenario file."""


@lru_cache(maxsize=4096)  # The many cells of a sweep share few distinct values.
def quantity(text: str) -> tuple[float, str] | None:
    match = re.fullmatch(r"\s*\+?([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(\S+)\s*", text)
    if match is None or match[2] not in UNITS:
        return None
    suffix, size = UNITS[match[2]]
    try:
        return float(Decimal(match[1]) * Decimal(size)), suffix
    # For example, an exponent of nine digits exceeds the range of `Decimal`.
    except DecimalException:
        return None


def place(data: Any, key: str) -> Any:
    for part in key.split("."):
        if isinstance(data, list):
            data = data[int(part)] if part.isdigit() and int(part) < len(data) else None
        elif isinstance(data, dict):
            data = data.get(part)
        else:
            return None
    return data


def plain(value: Any) -> Any:
    """Returns a value for messages: text without quotes, anything else as TOML."""
    return value if isinstance(value, str) else toml_value(value)


def column(key: str, written: Sequence[Any], resolved: Sequence[Any]) -> tuple[str, list[Any]]:
    found = [quantity(v) if isinstance(v, str) else None for v in resolved]
    known = [one for one in found if one is not None]
    suffixes = {suffix for _, suffix in known}
    if len(known) == len(found) and len(suffixes) == 1:
        return f"{key}_{suffixes.pop()}", [number for number, _ in known]
    kinds = {type(v) for v in resolved}
    if kinds <= {int, float} or kinds == {bool}:
        return key, list(resolved)
    return key, [plain(v) for v in written]
