"""Trace files: self-describing recordings of channels and of traffic.

A trace file is text: a line `# nodeb trace 1`, lines `# key: value`, a line with the names of the
columns, and an entry in each other line.

    # nodeb trace 1
    # kind: rate
    # unit: bit/s
    # step: 100 ms
    # count: 2
    # source: drive.csv, as rates
    # nodeb: 0.1.0
    rate_bps
    1200000
    800000

Entries are `step` apart and hold for that long; or, without a `step`, each begins at its `time_s`
and holds until the next one, the last one until `end`. Entries of traffic have a `time_s` and no
duration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.command_line import command_line
from nodeb.base.table import Table
from nodeb.base.units import NS, NS_PER_S, in_ns
from nodeb.errors import ScenarioError, nearest
from nodeb.storage import files

MAGIC = b"# nodeb trace "
VERSION = 1
MAX_S = 8e6
MAX_BYTES = files.NAMED_BYTES
MAX_ENTRIES = 10_000_000
"""Maximum number of entries of a recording; at 2 ms each, five and a half hours."""
MAX_OPPORTUNITY_MS = 8_000_000_000
"""Maximum time of a mahimahi trace, ms: the maximum duration of a run."""
UNITS_NS = {unit: NS[unit] for unit in ("ns", "us", "ms", "s")}
Numbers = NDArray[np.float64]
Times = NDArray[np.int64]
Fail = Callable[[int, str], ScenarioError]
"""Returns an error with a message that names the line of an entry, given by index from 0."""


@dataclass(frozen=True)
class Range:
    """Values that a column may have; the limits are inclusive."""

    minimum: float
    maximum: float
    what: str
    whole: bool = False

    def check(self, values: Numbers, fail: Fail) -> None:
        odd = (values < self.minimum) | (values > self.maximum)
        if self.whole:
            odd |= values != np.rint(values)
        refuse(values, odd, fail, f"is not {self.what}")


def refuse(values: Numbers, odd: NDArray[np.bool_], fail: Fail, message: str) -> None:
    """Raises an error with the first of the odd values, if there is one."""
    if odd.any():
        place = int(np.argmax(odd))
        raise fail(place, f"{values[place]:.10g} {message}")


_SNR = Range(-200, 200, "an SNR from -200 to 200 dB")
COLUMNS = {
    "snr_db": _SNR,
    "second_db": _SNR,
    "third_db": _SNR,
    "cqi": Range(0, 30, "a CQI, a whole number from 0 to 30", whole=True),
    "rate_bps": Range(0, 1e12, "bit/s from 0 to 1e12"),
    "bytes": Range(1, 2**53, "bytes, a whole number of at least 1", whole=True),
}


@dataclass(frozen=True)
class Kind:
    """Kind of recording: its columns, their units, and its name in messages."""

    columns: tuple[str, ...]
    unit: str
    meaning: str


KINDS = {
    "snr": Kind(("snr_db",), "dB", "SNRs"),
    "cqi": Kind(("cqi",), "1", "CQIs"),
    "combined": Kind(
        ("snr_db", "second_db", "third_db", "cqi"),
        "dB, dB, dB, 1",
        "SNRs after one, two and three transmissions of a block, and CQIs",
    ),
    "rate": Kind(("rate_bps",), "bit/s", "bit rates"),
    "traffic": Kind(("bytes",), "B", "amounts of data and when they are there"),
}


@dataclass(frozen=True)
class Trace:
    """Recording of a channel or of traffic."""

    kind: str
    columns: dict[str, Numbers]
    source: str
    step_ns: int | None = None
    times_ns: Times | None = None
    end_ns: int | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def duration_ns(self) -> int:
        """For traffic, the time of the last entry."""
        if self.step_ns is not None:
            return len(self) * self.step_ns
        if self.end_ns is not None:
            return self.end_ns
        return 0 if self.times_ns is None else int(self.times_ns[-1])

    @property
    def edges_ns(self) -> Numbers:
        """Beginnings of all entries, and the end of the last one."""
        begins = np.arange(len(self)) * (self.step_ns or 0)
        return np.append(begins if self.times_ns is None else self.times_ns, self.duration_ns) * 1.0


def write(path: Path, trace: Trace) -> None:
    from pyarrow import csv

    columns: dict[str, Any] = {}
    if trace.times_ns is not None:
        columns["time_s"] = [_seconds(ns) for ns in trace.times_ns.tolist()]
    for name in KINDS[trace.kind].columns:
        values = trace.columns[name]
        is_whole = np.array_equal(values, np.rint(values))
        columns[name] = values.astype(np.int64) if is_whole else values
    style = csv.WriteOptions(include_header=False, quoting_style="none")

    def put(part: Path) -> None:
        with part.open("wb") as file:
            file.write(_header(trace, ",".join(columns)).encode())
            csv.write_csv(Table(columns).to_arrow(), file, style)

    files.replace(path, put)


def _header(trace: Trace, names: str) -> str:
    keys = {"kind": trace.kind, "unit": KINDS[trace.kind].unit}
    if trace.step_ns is not None:
        keys["step"] = _quantity(trace.step_ns)
    if trace.end_ns is not None:
        keys["end"] = f"{_seconds(trace.end_ns)} s"
    keys |= {"count": str(len(trace)), "source": " ".join(trace.source.split())}
    keys["nodeb"] = _core.version()
    lines = [f"{MAGIC.decode()}{VERSION}", *(f"# {key}: {text}" for key, text in keys.items())]
    return "\n".join([*lines, names, ""])


def _seconds(ns: int) -> str:
    whole, rest = divmod(ns, NS_PER_S)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


def _quantity(ns: int) -> str:
    unit = next(unit for unit, size in reversed(UNITS_NS.items()) if ns % size == 0)
    return f"{ns // UNITS_NS[unit]} {unit}"


def duration_text(ns: int) -> str:
    """A duration to six digits, in the largest unit, up to s, that it reaches."""
    unit = next((unit for unit, size in reversed(UNITS_NS.items()) if ns >= size), "s")
    return f"{ns / UNITS_NS[unit]:.6g} {unit}"


def duration_ns(text: str) -> int | None:
    try:
        ns = in_ns(text)
    except ValueError:
        return None
    return ns if 0 < ns <= MAX_S * NS_PER_S else None


def read(path: Path) -> Trace:
    data = files.read_bytes(path, MAX_BYTES)
    if data.startswith(MAGIC):
        return _Reader(data, path).trace()
    target = path.with_suffix(".imported.trace" if path.suffix == ".trace" else ".trace")
    raise ScenarioError(
        f"{path}: this is not a trace file: its first line is not `# nodeb trace 1`; "
        f"`{command_line('import', path, options={'out': target})}` converts a measurement to a "
        "trace, to be named instead"
    )


class _Reader:
    def __init__(self, data: bytes, path: Path) -> None:
        self.data, self.path = data, path
        self.keys: dict[str, tuple[int, str]] = {}
        header = re.match(rb"(?:#[^\n]*\n?)*", data)
        for number, line in enumerate(header[0].splitlines() if header else (), 1):
            text = line[1:].decode("utf-8", "replace").strip()
            if number == 1 and text != f"nodeb trace {VERSION}":
                raise ScenarioError(
                    f"{path}:1: `{text}` is not a supported version; expected `nodeb trace 1`"
                )
            key, _, value = text.partition(":")
            self.keys[key.strip()] = number, value.strip()

    def _wrong(self, key: str, message: str) -> ScenarioError:
        line, _ = self.keys.get(key, (1, ""))
        return ScenarioError(f"{self.path}:{line}: {key}: {message}")

    def _text(self, key: str, default: str = "") -> str:
        return self.keys.get(key, (1, default))[1]

    def _time(self, key: str) -> int:
        text = self._text(key)
        if (ns := duration_ns(text)) is None:
            raise self._wrong(key, f"`{text}` is not a time; expected one such as `2 ms`")
        return ns

    def trace(self) -> Trace:
        kind = self._text("kind")
        if kind not in KINDS:
            raise self._wrong("kind", f"there is no kind `{kind}` of traces{nearest(kind, KINDS)}")
        unit = KINDS[kind].unit
        if self._text("unit", unit) != unit:
            raise self._wrong("unit", f"`{self._text('unit')}` is not that of `{kind}`, `{unit}`")
        columns = self._columns(kind)
        source = self._text("source", self.path.name)
        if "time_s" not in columns:
            return Trace(kind, columns, source, step_ns=self._time("step"))
        times_ns = self._times(columns.pop("time_s"), channel=kind != "traffic")
        end_ns = None if kind == "traffic" else self._time("end")
        if end_ns is not None and end_ns <= times_ns[-1]:
            raise self._wrong("end", "the trace ends before its last entry begins")
        return Trace(kind, columns, source, times_ns=times_ns, end_ns=end_ns)

    def _columns(self, kind: str) -> dict[str, Numbers]:
        line, names = first_entry(self.data)
        expected = list(KINDS[kind].columns)
        if kind == "traffic" or "step" not in self.keys:
            expected.insert(0, "time_s")
        if names != expected:
            raise ScenarioError(
                f"{self.path}:{line}: the columns are `{','.join(names)}`; expected "
                f"`{','.join(expected)}` of a trace of `{kind}`"
            )
        columns = read_columns(self.data, self.path, names)
        count = str(len(columns[names[0]]))
        if (stated := self._text("count")) != count:
            raise self._wrong(
                "count", f"{stated or 'nothing'} stated, but the file has {count} entries"
            )
        return columns

    def _times(self, times: Numbers, channel: bool) -> Times:
        """Times in whole ns. Those of a channel begin at 0 and increase."""
        fail = partial(_entry_error, self.data, self.path, 1)

        def check(odd: NDArray[np.bool_], message: str) -> None:
            refuse(times, odd, fail, f"s {message}")

        check(~((times >= 0) & (times < MAX_S)), f"is out of range; expected 0 s to {MAX_S:.0f} s")
        ns: Times = np.rint(times * NS_PER_S).astype(np.int64)
        steps = np.diff(ns, prepend=ns[0])
        check(steps < 0, "goes backward in time")
        if channel:
            check(ns[:1] != 0, "is the first time; expected 0 s")
            check(np.append(False, steps[1:] == 0), "occurs twice; expected later times")
        return ns


def first_entry(data: bytes) -> tuple[int, list[str]]:
    """Line and cells of the first line with content."""
    return next(iter(_core.first_entries(data, 1)), (1, []))


def read_columns(
    data: bytes,
    path: Path,
    names: Sequence[str],
    skip: int = 1,
    ranges: Mapping[str, Range] = COLUMNS,
) -> dict[str, Numbers]:
    """Reads and checks the columns of numbers of a text, without empty lines and comments.

    `skip` is the number of lines with content before the first line of numbers. Errors name the
    line.
    """
    try:
        lists = _core.read_numbers(data, skip, MAX_ENTRIES)
    except ValueError as error:
        line, message = error.args
        raise ScenarioError(f"{path}:{line}: {message}") from None
    fail = partial(_entry_error, data, path, skip)
    if not lists:
        raise ScenarioError(f"{path}: the file has no entries; expected at least one")
    if len(lists) != len(names):
        raise fail(0, f"{len(lists)} numbers; expected one in each of `{','.join(names)}`")
    columns = dict(zip(names, lists, strict=True))
    for name in columns.keys() & ranges.keys():
        ranges[name].check(columns[name], fail)
    return columns


def _entry_error(data: bytes, path: Path, skip: int, entry: int, message: str) -> ScenarioError:
    return ScenarioError(f"{path}:{_core.line_of_entry(data, skip + entry)}: {message}")


def opportunity_times(data: bytes, path: Path, max_ms: int = MAX_OPPORTUNITY_MS) -> Numbers:
    """Returns the times of a mahimahi trace, ms.

    Each line is one opportunity: its time, a whole number that never decreases. The last one must
    be above 0, because the trace lasts until then.
    """
    time = Range(0, max_ms, f"an opportunity; expected whole ms from 0 to {max_ms}", whole=True)
    ms = read_columns(data, path, ["time_ms"], 0, {"time_ms": time})["time_ms"]

    fail = partial(_entry_error, data, path, 0)
    falls, last = np.diff(ms, prepend=0) < 0, np.arange(1, len(ms) + 1) == len(ms)
    refuse(ms, falls, fail, "goes backward in time; expected times that never fall")
    message = "is the last time, and a trace lasts until then; expected more than 0 ms"
    refuse(ms, (ms == 0) & last, fail, message)
    return ms
