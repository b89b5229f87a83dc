"""Downloads that somebody has measured, read from CSV, and the paths that they took."""

from __future__ import annotations

import copy
import csv
import io
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nodeb.errors import InputError, nearest
from nodeb.storage import bounded

__all__ = ["Download", "Paths", "read"]

MOST_BYTES = 64 << 20
"""What a file of cases may have."""
MOST_DIGITS = 15
"""What a count in it may have."""
EVERYTHING = "*"
"""The pattern that says nothing of a case in particular."""
OF_THE_CASE = ("name", "duration", "runs", "precision", "max_runs", "seed", "users", "record")
"""Keys of a scenario that a path has not."""


@dataclass(frozen=True)
class Download:
    """One download, or the median of several.

    Attributes:
        case: the name of the path.
        control: the congestion control.
        size_bytes: what was downloaded.
        label: the case with what else tells it from others, for tables.
        transfer_s: from the phone's SYN to the last byte: mean or median, least, largest.
        repeated: data segments whose first byte had been sent before.
        delay_ms: mean one-way delay of the data segments that arrived; NaN: not measured.
        lost: data segments lost, by position in the order sent, 1 being the first; 0 is the SYN.
        setting: what else the download's scenario says.
    """

    case: str
    control: str
    size_bytes: int
    label: str
    transfer_s: tuple[float, float, float]
    repeated: float
    delay_ms: float = math.nan
    lost: tuple[int, ...] = ()
    setting: Mapping[str, Any] = field(default_factory=dict)


class _Line:
    """A line of a file; a value that is none raises ValueError, with the column in its message."""

    def __init__(self, row: Mapping[str, str | None]) -> None:
        self._row = row

    def text(self, column: str) -> str:
        if (found := self._row[column]) is None:
            raise ValueError(f"the line ends before {column}")
        return found.strip()

    def count(self, column: str) -> int:
        return _count(column, self.text(column))

    def counts(self, column: str) -> tuple[int, ...]:
        return tuple(_count(column, one) for one in self.text(column).split())

    def seconds(self, column: str) -> float:
        found = self._number(column)
        if not 0 < found < math.inf:
            raise ValueError(f"{column} is {self.text(column)!r}, expected a time above 0")
        return found

    def delay(self, column: str) -> float:
        """NaN says that it was not measured."""
        found = self._number(column)
        if found < 0 or math.isinf(found):
            raise ValueError(f"{column} is {self.text(column)!r}, expected a delay or nan")
        return found

    def _number(self, column: str) -> float:
        text = self.text(column)
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"{column} is {text!r}, expected a number") from None


def _count(column: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise ValueError(f"{column} is {text!r}, expected whole numbers, at least 0")
    return int(text)


def _single(line: _Line) -> Download:
    """A line of a file in which each download has one."""
    seconds = line.seconds("transfer_s")
    return Download(
        case=line.text("case"),
        control=line.text("control"),
        size_bytes=line.count("size_bytes"),
        label=line.text("case"),
        transfer_s=(seconds, seconds, seconds),
        repeated=line.count("repeated_segments"),
        delay_ms=line.delay("mean_one_way_delay_ms"),
        lost=line.counts("lost_positions"),
    )


def _median(line: _Line) -> Download:
    """A line of a file of medians, with the initial window and the queue in columns."""
    queue = line.text("queue_pkts")
    limit = 1_000_000 if queue == "inf" else line.count("queue_pkts")
    window = line.count("iw")
    return Download(
        case=line.text("variant"),
        control=line.text("cc"),
        size_bytes=line.count("size_bytes"),
        label=f"{line.text('variant')}, IW {window}, queue {queue}",
        transfer_s=(
            line.seconds("transfer_med_s"),
            line.seconds("transfer_min_s"),
            line.seconds("transfer_max_s"),
        ),
        repeated=line.count("retrans_med"),
        setting={
            "radio": {"link": {"queue": {"drop_tail": {"limit": limit}}}},
            "tcp": {"linux": {"initial_window": window}},
        },
    )


SINGLE = (
    "case",
    "control",
    "size_bytes",
    "transfer_s",
    "repeated_segments",
    "mean_one_way_delay_ms",
    "lost_positions",
)
MEDIAN = (
    "variant",
    "size_bytes",
    "cc",
    "iw",
    "queue_pkts",
    "transfer_med_s",
    "transfer_min_s",
    "transfer_max_s",
    "retrans_med",
)
"""Columns that the two kinds of files must have; they may have others."""


def read(path: Path) -> list[Download]:
    """The downloads of a file.

    Args:
        path: CSV with a head. A column `variant` tells medians from single downloads.

    Raises:
        InputError: the file cannot be read, columns are missing, or a value is none.
    """
    try:
        found = list(_downloads(path))
    except csv.Error as error:
        raise InputError(f"{path}: not CSV: {error}") from None
    if not found:
        raise InputError(f"{path}: there is no download in it")
    return found


def _downloads(path: Path) -> Iterator[Download]:
    lines = csv.DictReader(io.StringIO(bounded.read_text(path, MOST_BYTES)))
    there = [name.strip() for name in lines.fieldnames or ()]
    needed, parse = (MEDIAN, _median) if "variant" in there else (SINGLE, _single)
    if missing := [name for name in needed if name not in there]:
        many = "columns are" if len(missing) > 1 else "column is"
        raise InputError(f"{path}: the {many} missing: {', '.join(missing)}")
    lines.fieldnames = there
    for row in lines:
        try:
            yield parse(_Line(row))
        except ValueError as error:
            raise InputError(f"{path}:{lines.line_num}: not a download: {error}") from None


class Paths:
    """Parts of scenarios by the name of a case, or by a pattern such as `d_*`.

    Args:
        file: TOML, a table for each name or pattern, with keys of a scenario. What matches a case
            adds up in the order of the file.

    Raises:
        InputError: the file cannot be read, or is not such TOML.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._parts: dict[str, Any] = tomllib.loads(bounded.read_text(file, MOST_BYTES))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{file}: not TOML: {error}") from None
        if odd := [name for name, part in self._parts.items() if not isinstance(part, dict)]:
            raise InputError(f"{file}: `{odd[0]}` is no table; expected one for each case")
        for name, part in self._parts.items():
            if own := [key for key in OF_THE_CASE if key in part]:
                raise InputError(f"{file}: {name}.{own[0]}: a path has none; leave it out")

    def of(self, case: str) -> dict[str, Any]:
        """The scenario's parts for a case.

        Raises:
            InputError: nothing but `*` matches it.
        """
        matching = [name for name in self._parts if fnmatchcase(case, name)]
        if matching in ([], [EVERYTHING]):
            known = [name for name in self._parts if name != EVERYTHING]
            hint = nearest(case, known) if known else ": `*` adds to paths, and is none"
            raise InputError(f"{self._file}: no path for the case `{case}`{hint}")
        return merged([self._parts[name] for name in matching])


def merged(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Nested tables laid over each other, the later ones on top."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            below = whole.get(key)
            if isinstance(value, Mapping) and isinstance(below, Mapping):
                whole[key] = merged([below, value])
            else:
                whole[key] = copy.deepcopy(value)
    return whole
