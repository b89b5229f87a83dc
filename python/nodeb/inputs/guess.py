"""Guesses the format of a recording from its beginning."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from nodeb import _core
from nodeb.base.arguments import is_number
from nodeb.inputs import column_units

__all__ = ["Head", "guess"]

ENTRIES = 2_000
"""Maximum number of lines with content that are examined to guess the format."""
MAX_CQI, MAX_SNR_DB = 30, 60
NAMES = {
    "cqi": r"cqi",
    "rates": r"rate|bps|bit/s|throughput|goodput|bandwidth|speed",
    "snr": r"sinr|snr",
}
"""Format -> pattern found in the name, in lower case, of a column with its values."""
TIME = r"(^|[^a-z])(times?|timestamps?|t|ts|elapsed|epoch|since|clock)($|[^a-z])"


@dataclass(frozen=True)
class Head:
    """The beginning of a recording."""

    line: int
    names: list[str]
    rows: list[list[float | None]]

    @classmethod
    def of(cls, data: bytes) -> Head:
        """Parses the first `ENTRIES` lines with content of a file."""
        entries = _core.first_entries(data, ENTRIES)
        line, first = entries[0] if entries else (1, [])
        has_names = not all(map(is_number, first))
        rows = [[_number(word) for word in words] for _, words in entries[has_names:]]
        if has_names and rows and len(rows[0]) == 1:
            first = [" ".join(first)]  # With only one column, all words form the column's name.
        return cls(line, [word.strip("\"' ") for word in first] if has_names else [], rows)

    @property
    def width(self) -> int:
        """Number of names or, without names, of numbers in the first row; 0 without rows."""
        return len(self.names) or len(self.rows[0] if self.rows else [])

    def describe(self) -> str:
        """Describes the columns for a message: their names, or their number if they have none."""
        return f"columns {', '.join(self.names)}" if self.names else f"{self.width} without names"

    def name(self, place: int) -> str:
        """Returns the name of a column, counted from 0; empty if columns have no names."""
        return self.names[place] if self.names else ""

    def describe_column(self, place: int) -> str:
        return f"column `{self.names[place]}`" if self.names else f"column {place + 1}"

    def column(self, kind: str, but: int | None) -> int | None:
        """Returns the index of the column with a format's values.

        It is the only column whose name indicates the format. If no name does, it is the only
        column besides `but`.
        """
        found = [i for i, name in enumerate(self.names) if i != but and _is_of(name, kind)]
        if len(found) == 1:
            return found[0]
        left = [i for i in range(self.width) if i != but]
        return left[0] if len(left) == 1 and not found else None

    def other_kind(self, place: int, kind: str) -> str | None:
        """Returns the format that the name of a column indicates, if it is not `kind`."""
        name = self.name(place)
        found = [one for one in (*NAMES, "traffic") if _is_of(name, one)]
        return found[0] if found and kind not in found else None

    def time_columns(self) -> list[int]:
        """Returns the indices of the columns whose names say that they have times.

        If columns have no names, the first column counts as times if there are exactly two.
        """
        if not self.names:
            return [0] if self.width == 2 else []
        return [place for place in range(len(self.names)) if self.has_times(place)]

    def has_times(self, place: int) -> bool:
        """Returns true if a column's name says that it has times; false without names."""
        return _is_time(self.name(place))


def guess(head: Head) -> list[str]:
    """Returns the formats that a recording may have: several if ambiguous, [] if unknown.

    If the columns have names, only the names are examined; otherwise, the numbers.
    """
    if head.names:
        times = head.time_columns()
        others = [name for i, name in enumerate(head.names) if i not in times]
        return [kind for kind in (*NAMES, "traffic") if any(_is_of(name, kind) for name in others)]
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
    return ["snr", "rates"] if max(values) <= MAX_SNR_DB else ["rates"]


def _is_cqi(value: float) -> bool:
    return value == round(value) and 0 <= value <= MAX_CQI


def _is_of(name: str, kind: str) -> bool:
    if kind == "traffic":
        return bool(column_units.amounts(name).units) and not _has(name, NAMES["rates"])
    return _has(name, NAMES[kind]) or (kind == "rates" and bool(column_units.rates(name).exact))


def _is_time(name: str) -> bool:
    """Returns true if a column's name contains a word for time or is a unit of time."""
    return _has(name, TIME) or column_units.is_time_unit(name)


def _has(name: str, pattern: str) -> bool:
    return re.search(pattern, column_units.split_words(name).lower()) is not None


def _number(word: str) -> float | None:
    value = float(word) if is_number(word) else math.nan
    return value if math.isfinite(value) else None
