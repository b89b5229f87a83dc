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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.units import NS, NS_PER_S, in_ns
from nodeb.storage import files

__all__ = [
    "COLUMNS",
    "KINDS",
    "MAGIC",
    "Kind",
    "Numbers",
    "Times",
    "Trace",
    "duration_ns",
    "duration_text",
    "write",
]

MAGIC = b"# nodeb trace "
VERSION = 1
MAX_S = 8e6
UNITS_NS = {unit: NS[unit] for unit in ("ns", "us", "ms", "s")}
Numbers = NDArray[np.float64]
Times = NDArray[np.int64]


@dataclass(frozen=True)
class Range:
    """Range of the values of a column.

    It has the limits, inclusive, the description of a valid value for messages, and whether values
    must be whole numbers.
    """

    minimum: float
    maximum: float
    what: str
    whole: bool = False


COLUMNS = {
    "snr_db": Range(-200, 200, "an SNR from -200 to 200 dB"),
    "second_db": Range(-200, 200, "an SNR from -200 to 200 dB"),
    "third_db": Range(-200, 200, "an SNR from -200 to 200 dB"),
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
        """Duration of the recording, ns; for traffic, the time of the last entry."""
        if self.step_ns is not None:
            return len(self) * self.step_ns
        if self.end_ns is not None:
            return self.end_ns
        return 0 if self.times_ns is None else int(self.times_ns[-1])


def write(path: Path, trace: Trace) -> None:

    def put(part: Path) -> None:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(_header(trace))
            for lines in _rows(trace):
                file.write(lines)

    files.replace(path, put)


def _header(trace: Trace) -> str:
    kind = KINDS[trace.kind]
    timed = {} if trace.step_ns is None else {"step": _quantity(trace.step_ns)}
    ends = {} if trace.end_ns is None else {"end": f"{_seconds(trace.end_ns)} s"}
    about = {"kind": trace.kind, "unit": kind.unit, **timed, **ends, "count": str(len(trace))}
    about |= {"source": re.sub(r"\s+", " ", trace.source), "nodeb": _core.version()}
    names = ([] if trace.times_ns is None else ["time_s"]) + list(kind.columns)
    lines = [f"{MAGIC.decode()}{VERSION}", *(f"# {key}: {text}" for key, text in about.items())]
    return "\n".join([*lines, ",".join(names), ""])


def _rows(trace: Trace, portion: int = 20_000) -> Iterator[str]:
    for begin in range(0, len(trace), portion):
        some = slice(begin, begin + portion)
        columns = [_texts(trace.columns[name][some]) for name in KINDS[trace.kind].columns]
        if trace.times_ns is not None:
            columns.insert(0, [_seconds(ns) for ns in trace.times_ns[some].tolist()])
        rows = columns[0] if len(columns) == 1 else map(",".join, zip(*columns, strict=True))
        yield "\n".join(rows) + "\n"


def _texts(values: Numbers) -> list[str]:
    if np.array_equal(values, np.rint(values)):
        return list(map(str, values.astype(np.int64).tolist()))
    return list(map(repr, values.tolist()))


def _seconds(ns: int) -> str:
    whole, rest = divmod(ns, NS_PER_S)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


def _quantity(ns: int) -> str:
    unit = next(unit for unit, size in reversed(UNITS_NS.items()) if ns % size == 0)
    return f"{ns // UNITS_NS[unit]} {unit}"


def duration_text(ns: int) -> str:
    """Returns `ns` as a text, to six digits in the largest unit, up to s, that it reaches.

    A duration of 0 is `0 s`.
    """
    unit = next((unit for unit, size in reversed(UNITS_NS.items()) if ns >= size), "s")
    return f"{ns / UNITS_NS[unit]:.6g} {unit}"


def duration_ns(text: str) -> int | None:
    try:
        ns = in_ns(text)
    except ValueError:
        return None
    return ns if 0 < ns <= MAX_S * NS_PER_S else None
