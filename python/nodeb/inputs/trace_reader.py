"""Reads trace files; errors name the line. See `nodeb.inputs.trace_file`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.units import NS_PER_S
from nodeb.errors import ScenarioError, nearest
from nodeb.inputs.trace_file import (
    COLUMNS,
    KINDS,
    MAGIC,
    MAX_S,
    VERSION,
    Numbers,
    Times,
    Trace,
    duration_ns,
)
from nodeb.storage.files import read_bytes

__all__ = [
    "MAX_BYTES",
    "MAX_ENTRIES",
    "check_range",
    "check_times",
    "entry_error",
    "is_of_traffic",
    "read",
    "read_numbers",
]

HEADER = 4096
"""Number of bytes at the beginning of a trace file in which `is_of_traffic` searches."""
MAX_BYTES = 256 << 20
MAX_ENTRIES = 10_000_000
"""Maximum number of entries of a recording; at 2 ms each, five and a half hours."""


def read(path: Path) -> Trace | bytes:
    """Reads a trace file; returns the bytes of any other file.

    Raises:
        ScenarioError: the file cannot be read, is too large, or is a damaged trace file; the
            message names the line.
    """
    data = read_bytes(path, MAX_BYTES)
    return parse(data, path) if data.startswith(MAGIC) else data


def parse(data: bytes, path: Path) -> Trace:
    """Parses a trace file.

    Args:
        data: content of the file.
        path: name of the file in messages.

    Raises:
        ScenarioError: the file is damaged or invalid; the message names the line.
    """
    return _Reader(data, path).trace()


def is_of_traffic(data: bytes) -> bool:
    """Returns true if the header of a trace file says that its kind is traffic."""
    return re.search(rb"^#\s*kind:\s*traffic\s*$", data[:HEADER], re.MULTILINE) is not None


class _Reader:
    def __init__(self, data: bytes, path: Path) -> None:
        self._data, self._path = data, path
        self._about = dict(self._keys())

    def trace(self) -> Trace:
        kind = self._kind()
        columns = self._columns(kind)
        times = columns.pop("time_s", None)
        times_ns = None if times is None else self._times(times, kind)
        ends = times_ns is not None and kind != "traffic"
        end_ns = self._time("end") if ends else None
        if end_ns is not None and times_ns is not None and end_ns <= times_ns[-1]:
            raise self._wrong("end", "the trace ends before its last entry begins")
        return Trace(
            kind,
            columns,
            self._about.get("source", (1, self._path.name))[1],
            self._time("step") if times_ns is None else None,
            times_ns,
            end_ns,
        )

    def _keys(self) -> Iterator[tuple[str, tuple[int, str]]]:
        """Yields each key of the header with its line and text."""
        begin = number = 0
        while self._data.startswith(b"#", begin):
            end = self._data.find(b"\n", begin)
            end = len(self._data) if end < 0 else end
            number += 1
            line = self._data[begin + 1 : end].decode("utf-8", "replace").strip()
            if number == 1 and line != f"nodeb trace {VERSION}":
                raise ScenarioError(
                    f"{self._path}:1: `{line}` is not a supported version; expected `nodeb trace 1`"
                )
            key, mark, text = line.partition(":")
            if mark and number > 1:
                yield key.strip(), (number, text.strip())
            begin = end + 1

    def _wrong(self, key: str, message: str) -> ScenarioError:
        line, _ = self._about.get(key, (1, ""))
        return ScenarioError(f"{self._path}:{line}: {key}: {message}")

    def _kind(self) -> str:
        _, kind = self._about.get("kind", (1, ""))
        if kind not in KINDS:
            hint = nearest(kind, list(KINDS))
            raise self._wrong("kind", f"there is no kind `{kind}` of traces{hint}")
        _, unit = self._about.get("unit", (1, KINDS[kind].unit))
        if unit != KINDS[kind].unit:
            raise self._wrong(
                "unit", f"`{unit}` is not the unit of `{kind}`; expected `{KINDS[kind].unit}`"
            )
        return kind

    def _time(self, key: str) -> int:
        _, text = self._about.get(key, (1, ""))
        ns = duration_ns(text)
        if ns is None:
            raise self._wrong(key, f"`{text}` is not a time; expected one such as `2 ms`")
        return ns

    def _columns(self, kind: str) -> dict[str, Numbers]:
        heads = _core.first_entries(self._data, 1)
        line, names = heads[0] if heads else (1, [])
        expected = list(KINDS[kind].columns)
        if kind == "traffic" or "step" not in self._about:
            expected.insert(0, "time_s")
        if names != expected:
            raise ScenarioError(
                f"{self._path}:{line}: the columns are `{','.join(names)}`; expected "
                f"`{','.join(expected)}` of a trace of `{kind}`"
            )
        found = read_numbers(self._data, self._path, skip=1)
        self._check_count(len(found[0]) if found else 0)
        if len(found) != len(names):
            raise ScenarioError(
                f"{self._path}:{line + 1}: {len(found)} numbers below {len(names)} columns; "
                "expected one each"
            )
        columns = dict(zip(names, found, strict=True))
        for name in KINDS[kind].columns:
            check_range(self._data, self._path, name, columns[name], skip=1)
        return columns

    def _check_count(self, found: int) -> None:
        _, text = self._about.get("count", (1, ""))
        if text != str(found):
            raise self._wrong(
                "count",
                f"{text or 'nothing'} stated, but {found} entries found; the file is damaged",
            )
        if found == 0:
            raise ScenarioError(
                f"{self._path}: the file has no entries; expected at least one entry"
            )

    def _times(self, times: Numbers, kind: str) -> Times:
        return check_times(self._data, self._path, times, skip=1, channel=kind != "traffic")


def read_numbers(
    data: bytes, path: Path, skip: int, columns: list[int] | None = None
) -> list[Numbers]:
    """Reads columns of numbers from the lines of a text.

    Args:
        data: the text; empty lines and comments are ignored.
        path: name of the file in messages.
        skip: number of lines with content before the first line of numbers.
        columns: indices of the columns, from 0; None for all.

    Raises:
        ScenarioError: a line has a word that is not a number, or there are more than `MAX_ENTRIES`
            lines; the message names the line.
    """
    try:
        return _core.read_numbers(data, skip, columns, MAX_ENTRIES)
    except ValueError as error:
        line, message = error.args
        raise ScenarioError(f"{path}:{line}: {message}") from None


def check_range(data: bytes, path: Path, name: str, values: Numbers, skip: int) -> None:
    """Checks that values are in the range of the column `name` of a trace (`COLUMNS`).

    `skip` is the number of lines with content before the first value.

    Raises:
        ScenarioError: a value is out of range; the message names its line.
    """
    allowed = COLUMNS[name]
    odd = (values < allowed.minimum) | (values > allowed.maximum)
    if allowed.whole:
        odd |= values != np.rint(values)
    if odd.any():
        place = int(np.argmax(odd))
        raise entry_error(data, path, place + skip, f"{values[place]:g} is not {allowed.what}")


def entry_error(data: bytes, path: Path, entry: int, message: str) -> ScenarioError:
    """Returns an error that names the line of an entry.

    `entry` is its index among the lines with content, from 0, headings included.
    """
    return ScenarioError(f"{path}:{_core.line_of_entry(data, entry)}: {message}")


def check_times(
    data: bytes,
    path: Path,
    times: Numbers,
    skip: int,
    channel: bool,
    show: Callable[[float], str] = lambda time_s: f"{time_s:g} s",
) -> Times:
    """Converts times to whole ns and checks them.

    Args:
        data: text of the file, to find lines for messages.
        path: name of the file in messages.
        times: times in s, at least one; the array is overwritten, to save memory.
        skip: number of lines with content before the first time.
        channel: whether the times are those of a channel, which must begin at 0 and be distinct.
        show: function that returns a time, given in s, as the file has it, for messages.

    Raises:
        ScenarioError: a time is out of range or decreases, or those of a channel do not begin at 0
            or are not distinct; the message names the line.
    """

    def wrong(odd: NDArray[np.bool_], message: str) -> ScenarioError:
        place = int(np.argmax(odd))
        time = show(times[place] / NS_PER_S)
        if place and times[place] < times[place - 1]:
            message = "goes backward in time"
        return entry_error(data, path, place + skip, f"{time} {message}")

    times *= NS_PER_S
    outside = ~((times >= 0) & (times < MAX_S * NS_PER_S))
    if outside.any():
        raise wrong(outside, f"is not a time of a recording; expected 0 s to {MAX_S:.0f} s")
    ns: Times = np.rint(times, out=times).astype(np.int64)
    if channel and ns[0] != 0:
        raise wrong(ns != 0, "is the first time; expected 0 s")
    before, after = ns[:-1], ns[1:]  # Comparing views takes no memory for differences.
    if (after < before).any():
        raise wrong(np.append(False, after < before), "goes backward in time")
    if channel and (after == before).any():
        raise wrong(np.append(False, after == before), "occurs twice; expected increasing times")
    return ns
