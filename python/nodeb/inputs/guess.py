"""What a recording is, where its beginning leaves no doubt."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from nodeb import _core
from nodeb.base.arguments import is_number

__all__ = ["Head", "guess"]

ENTRIES = 2_000
"""How many entries are looked at."""
HIGHEST_CQI, HIGHEST_SNR_DB = 30, 60
NAMES = {
    "cqi": r"cqi",
    "rates": r"rate|bps|bit/s|throughput|bandwidth",
    "snr": r"sinr|snr",
    "traffic": r"bytes|octets",
}
"""Format -> what the name of its column has in it."""
TIME = r"(^|[^a-z])(time|timestamp|seconds|t)($|[^a-z])"
RATE_UNITS = (("Mbps", r"mbps|mbit"), ("kbps", r"kbps|kbit"), ("bps", r"bps|bit/s"))
TIME_UNITS = (("ms", r"[^a-z](ms|msec)([^a-z]|$)"), ("us", r"[^a-z]us([^a-z]|$)"))
IN_SECONDS = r"seconds|[^a-z]s([^a-z]|$)"


@dataclass(frozen=True)
class Head:
    """The beginning of a recording.

    Attributes:
        line: number of its first line with something in it.
        names: names of its columns, where the first line is no line of numbers.
        rows: the numbers of the next lines; None for what is no number.
    """

    line: int
    names: list[str]
    rows: list[list[float | None]]

    @classmethod
    def of(cls, data: bytes) -> Head:
        """The beginning of a file."""
        entries = _core.first_entries(data, ENTRIES)
        line, first = entries[0] if entries else (1, [])
        has_names = not all(map(is_number, first))
        rows = [[_number(word) for word in words] for _, words in entries[has_names:]]
        return cls(line, [word.strip("\"' ") for word in first] if has_names else [], rows)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.names) or len(self.rows[0] if self.rows else [])

    def shown(self) -> str:
        """The columns for a person."""
        return f"columns {', '.join(self.names)}" if self.names else f"{self.width} without names"

    def column(self, kind: str, but: int | None) -> int | None:
        """Which column has what a format tells; None where that is not certain."""
        found = [i for i, name in enumerate(self.names) if i != but and _has(name, NAMES[kind])]
        if len(found) == 1:
            return found[0]
        left = [i for i in range(self.width) if i != but]
        return left[0] if len(left) == 1 and not found else None

    def time_column(self) -> int | None:
        """Which column has times; of two without names that is the first."""
        found = [i for i, name in enumerate(self.names) if _has(name, TIME)]
        if found:
            return found[0]
        return 0 if not self.names and self.width == 2 else None

    def time_unit(self) -> str | None:
        """The unit in the name of the column of times."""
        place = self.time_column()
        name = self.names[place] if self.names and place is not None else ""
        for unit, pattern in TIME_UNITS:
            if _has(name, pattern):
                return unit
        return "s" if _has(name, IN_SECONDS) else None

    def rate_unit(self, place: int) -> str | None:
        """The unit in the name of a column of rates."""
        name = self.names[place] if self.names else ""
        return next((unit for unit, pattern in RATE_UNITS if _has(name, pattern)), None)


def guess(head: Head) -> list[str]:
    """The formats that a recording may have: one where it is certain, none where nobody knows."""
    if head.names:
        time = head.time_column()
        others = [name for i, name in enumerate(head.names) if i != time]
        return [kind for kind in NAMES if any(_has(name, NAMES[kind]) for name in others)]
    if any(None in row or len(row) != head.width for row in head.rows) or not head.rows:
        return []
    columns = [
        [value for value in column if value is not None] for column in zip(*head.rows, strict=True)
    ]
    if head.width == 4 and all(_is_cqi(value) for value in columns[3]):
        return ["eurane"]
    if head.width == 2:
        return ["rates", "traffic"]
    return _of_one(columns[0]) if head.width == 1 else []


def _of_one(values: list[float]) -> list[str]:
    if min(values) < 0:
        return ["snr"]
    whole = all(value == round(value) for value in values)
    if whole and all(_is_cqi(value) for value in values):
        return ["cqi", "snr"]
    if whole and len(values) > 1 and values == sorted(values):
        return ["mahimahi"]
    return ["snr", "rates"] if max(values) <= HIGHEST_SNR_DB else ["rates"]


def _is_cqi(value: float) -> bool:
    return value == round(value) and 0 <= value <= HIGHEST_CQI


def _has(name: str, pattern: str) -> bool:
    return re.search(pattern, name.lower().replace("_", " ")) is not None


def _number(word: str) -> float | None:
    """A number; None for what is none, or not finite."""
    value = float(word) if is_number(word) else math.nan
    return value if math.isfinite(value) else None
