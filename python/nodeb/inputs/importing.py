"""Imports logs as trace files: tables of any program, and the formats mahimahi and eurane.

A column is guessed only if its name is exactly one of those below, with or without a unit. An
option always decides over a guess.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import re
import zlib
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.streams import printable
from nodeb.base.units import NS, NS_PER_S
from nodeb.errors import InputError, ScenarioError, nearest
from nodeb.inputs import recording
from nodeb.inputs.trace import (
    COLUMNS,
    KINDS,
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_S,
    Numbers,
    Times,
    Trace,
    duration_ns,
    duration_text,
    opportunity_times,
    read_columns,
)

PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
BYTES = {
    f"{prefix}{base}": factor * size
    for base, size in (("bit", 0.125), ("B", 1.0))
    for prefix, factor in PREFIXES.items()
}
"""Unit of an amount of data -> bytes."""
BIT_RATES = {f"{unit}/s": 8 * size for unit, size in BYTES.items()}
"""Unit of a bit rate -> bit/s."""
ALIASES = {
    **{unit.replace("bit/s", "bps").replace("B/s", "Bps"): unit for unit in BIT_RATES},
    **{"mbps": "Mbit/s", "gbps": "Gbit/s", "Kbps": "kbit/s", "bytes": "B"},
    **{"µs": "us", "μs": "us", "sec": "s", "seconds": "s", "db": "dB"},
}
"""Other spellings of units; ambiguous ones, such as `KBps` and `MBPS`, are left out."""


@dataclass(frozen=True)
class Quantity:
    """Names, in lower case and without separators, and units of a column.

    Units have factors to that of the trace; None is no `default`: the unit must be given.
    """

    names: tuple[str, ...]
    units: Mapping[str, float]
    kind: str = ""
    default: str | None = None

    def unit(self, name: str) -> str | None:
        """The unit in the name of a column, "" if it has none; None if the name is not exact."""
        words = re.findall(r"[^\s_()\[\].-]+", name)
        unit = ALIASES.get(words[-1], words[-1]) if len(words) > 1 else ""
        unit = unit if unit in self.units else ""
        stem = "".join(words[:-1] if unit else words).lower()
        return unit if stem in self.names else None


RATES = ("rate", "bitrate", "datarate", "throughput", "goodput")
TABLES = {
    "cqi": Quantity(("cqi",), {"": 1}, "cqi"),
    "snr": Quantity(("snr", "sinr"), {"dB": 1}, "snr"),
    "rates": Quantity(
        (*RATES, *(f"{way}{name}" for way in ("dl", "ul") for name in RATES)),
        BIT_RATES,
        "rate",
    ),
    "traffic": Quantity(("bytes", "size"), BYTES, "traffic", "B"),
}
TIME = Quantity(("time", "timestamp", "t", "ts", "elapsed", "epoch", "seconds"), NS)
OPTIONS = ("time", "value", "unit", "time_unit", "step", "missing", "decimal", "bytes")
FORMATS = [*TABLES, "mahimahi", "eurane"]
NO_SNR = re.compile(r"rsrp|rsrq|rssi|rscp|ec/?n0|dbm|linear", re.IGNORECASE)
"""Parts of the names of columns with other measures of a signal than SNRs in dB."""
MISSING = ("", "-", "--", "?", "nan", "na", "n/a", "null", "none")
CLOCK = re.compile(
    r"(?:(\d{4})[-./](\d\d)[-./](\d\d)[T _])?"
    r"([01]\d|2[0-3])[:.]([0-5]\d)[:.]([0-5]\d)(?:[.,](\d+))?\s?(?:Z|([+-]\d\d):?(\d\d))?"
)
VALUE = re.compile(rf"[+-]?\d*[.,]?\d+\.?(?:[eE][+-]?\d+)?|{CLOCK.pattern}")
DAY_NS = 24 * NS["h"]
MAX_NS = round(MAX_S * NS_PER_S)
TTI_NS = recording.TTI_NS["hsdpa"]
"""TTI of HSDPA, the step of eurane's traces and of mahimahi's as bit rates, ns."""
MAX_PERIOD_MS = 20_000_000
GAP_STEPS = 10
"""Steps longer than this many median steps are reported."""
Imported = tuple[Trace, list[str]]
"""A trace, and lines that say how columns and rows were read."""


def read(data: bytes, path: Path, wanted: str | None, options: Mapping[str, Any]) -> Imported:
    """Converts a log to a trace.

    Args:
        data: content of the file; gzip and UTF-16 are unpacked.
        wanted: one of `FORMATS`; None takes that of the only column with an exact name.
        options: `OPTIONS` of `nodeb import`; None if not given.

    Raises:
        InputError: the format, a column or a unit is not certain, or an option is wrong or has no
            effect.
        ScenarioError: a line does not fit the format; the message names the line.
    """
    if wanted is not None and wanted not in FORMATS:
        raise InputError(f"--as {wanted}: there is no such format{nearest(wanted, FORMATS)}")
    given = {name: value for name, value in options.items() if value is not None}
    text = _unpacked(data, path)
    if wanted == "mahimahi":
        imported = _mahimahi(text, path, given.pop("bytes", 1500))
    elif wanted == "eurane":
        imported = _eurane(text, path)
    else:
        imported = _Table(text, path, given).imported(wanted)
    for name in given:
        raise InputError(f"{path}: --{name.replace('_', '-')} has no effect here; leave it out")
    return imported


def _unpacked(data: bytes, path: Path) -> bytes:
    if data.startswith(b"\x1f\x8b"):
        try:
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(MAX_BYTES + 1).removeprefix(codecs.BOM_UTF8)
        except (OSError, EOFError, zlib.error) as error:
            raise ScenarioError(f"{path}: this gzip file is damaged: {error}") from None
        if len(data) > MAX_BYTES:
            raise ScenarioError(
                f"{path}: the unpacked file is too large; expected at most {MAX_BYTES >> 20} MiB"
            )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    if b"\0" in data[:10_000]:
        kind = "a spreadsheet or a zip file" if data.startswith(b"PK") else "not text"
        raise ScenarioError(f"{path}: this is {kind}; save the table as CSV and import that file")
    return data


def _mahimahi(data: bytes, path: Path, size: int) -> Imported:
    ms = opportunity_times(data, path, MAX_PERIOD_MS)
    period = int(ms[-1])  # mahimahi repeats a trace after the last time in it.
    # An opportunity at t ms belongs to the millisecond that ends at t; one at 0 ms belongs to the
    # first millisecond. A period of an odd number of ms is repeated, to fill whole TTIs of 2 ms.
    each_ms = np.bincount(np.maximum(ms, 1).astype(np.int64) - 1, minlength=period)
    width = TTI_NS // NS["ms"]
    opportunities = np.tile(each_ms, 1 if period % width == 0 else width)
    bits = opportunities.reshape(-1, width).sum(axis=1) * np.float64(size * 8)
    rates: Numbers = bits * (NS_PER_S / TTI_NS)
    trace = Trace("rate", {"rate_bps": rates}, _source(path, "mahimahi"), step_ns=TTI_NS)
    many = f"{len(ms)} opportunities of {size} bytes"
    return trace, [f"read: {many}, from {ms[0]:.0f} to {period} ms"]


def _eurane(data: bytes, path: Path) -> Imported:
    columns = read_columns(data, path, KINDS["combined"].columns, skip=0)
    ends = (
        "{:g}, {:g}, {:g} dB, CQI {:g}".format(*(values[row] for values in columns.values()))
        for row in (0, -1)
    )
    trace = Trace("combined", columns, _source(path, "eurane"), step_ns=TTI_NS)
    return trace, [f"read: {len(trace)} rows, from {' to '.join(ends)}"]


def _source(path: Path, wanted: str) -> str:
    return f"{printable(path.name)}, as {wanted}"


class _Table:
    """Rows of cells, separated by `;`, tab, `,` or blanks; the first row may have names."""

    def __init__(self, data: bytes, path: Path, given: dict[str, Any]) -> None:
        self.path, self.given = path, given
        self.text = data.decode("utf-8", "replace")
        self.decimal = self.option("decimal", (".", ","))
        self.separator = self._separator()
        head = [row for _, row in islice(self._lines(), 2)]
        if not head:
            raise InputError(f"{path}: the file has no entries; expected at least one")
        is_named = not any(map(VALUE.fullmatch, head[0]))
        if is_named and len(head) == 1:
            raise InputError(f"{path}: this only line has names; expected rows of values below it")
        self.names, self.first = head[0] if is_named else [], head[is_named]
        self.width = len(head[0]) - (not head[0][-1])

    def option(self, name: str, choices: tuple[str, ...]) -> str:
        choice: str = self.given.pop(name, choices[0])
        if choice not in choices:
            raise InputError(f"--{name} {choice}: expected {' or '.join(choices)}")
        return choice

    def _separator(self) -> str:
        """The separator that the first two lines have outside of quotes and decimal commas."""
        values = r'"[^"]*"|\d,\d' if self.decimal == "," else r'"[^"]*"'
        lines = (line.strip(" \r\n") for line in io.StringIO(self.text))
        rows = (re.sub(values, "", line) for line in lines if line and not line.startswith("#"))
        head = list(islice(rows, 2))
        return next((mark for mark in ";\t, " if all(mark in row for row in head)), "\x1f")

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yields the number and the cells of each line with content."""
        lines = io.StringIO(self.text)
        bare = ("" if line.lstrip().startswith("#") else line for line in lines)
        reader = csv.reader(bare, delimiter=self.separator, skipinitialspace=True, strict=True)
        try:
            for cells in reader:
                if any(row := [cell.strip() for cell in cells]):
                    yield reader.line_num, row
        except csv.Error as error:
            raise self.error(reader.line_num, str(error)) from None

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yields the rows below the names; more cells than in the first line must be empty."""
        for line, row in islice(self._lines(), bool(self.names), None):
            if len(row) < self.width or any(row[self.width :]):
                raise self.error(
                    line,
                    f"{len(row)} cells, but {self.width} in the first line; expected as many, and "
                    "quotes around cells with separators",
                )
            yield line, row

    def error(self, line: int, message: str) -> ScenarioError:
        return ScenarioError(f"{self.path}:{line}: {message}")

    def number(self, cell: str) -> float:
        """The number in a cell; NaN if it has no value."""
        try:
            number = float(cell.replace(self.decimal, "."))
        except ValueError:
            number = math.nan if cell.lower() in MISSING else math.inf
        if math.isinf(number):
            comma = re.fullmatch(r"[+-]?\d+,\d+", cell)
            hint = "; if it has a decimal comma, give --decimal ," if comma else ""
            raise ValueError(f"`{cell[:40]}` is not a number{hint}")
        return number

    def _exact(self, quantity: Quantity) -> list[int]:
        return [i for i, name in enumerate(self.names) if quantity.unit(name) is not None]

    def columns(self) -> str:
        what = "the columns are" if self.names else "columns have no names; the first row is"
        return f"{what} {', '.join(f'`{cell}`' for cell in self.names or self.first)}"

    def title(self, place: int) -> str:
        return f"`{self.names[place]}`" if self.names else f"column {place + 1}"

    def column(self, option: str, quantity: Quantity, others: list[int]) -> int:
        """The column of an option; or with an exact name; or the only one of `others`."""
        asked = self.given.pop(option, None)
        if asked is None:
            places = self._exact(quantity) or others
            if len(places) == 1:
                return places[0]
            step = ", or --step with the time between rows" if quantity is TIME else ""
            raise InputError(
                f"{self.path}: which column has the {option}s is not certain; give its name or "
                f"number with --{option}{step}: {self.columns()}"
            )
        if self.names.count(asked) == 1:
            return self.names.index(asked)
        if asked.isdecimal() and 1 <= int(asked) <= self.width:
            return int(asked) - 1
        raise InputError(f"--{option} {asked}: there is no such column; {self.columns()}")

    def check_name(self, place: int, wanted: str) -> None:
        """Refuses a column that by its name has something else than is wanted."""
        name = self.names[place] if self.names else ""
        others = [one for one, quantity in TABLES.items() if quantity.unit(name) is not None]
        if others and wanted not in others:
            remedy = f"give --as {others[0]}, or another column with --value"
        elif wanted == "snr" and NO_SNR.search(name):
            remedy = "give the column of SNRs in dB with --value"
        else:
            return
        raise InputError(f"{self.path}: `{name}` is no {wanted}; {remedy}: {self.columns()}")

    def unit(self, option: str, quantity: Quantity, place: int, default: str | None) -> str:
        if len(quantity.units) == 1:  # The option, which has no effect, is left for a message.
            return next(iter(quantity.units))
        asked = self.given.pop(option, None)
        named = quantity.unit(self.names[place]) if self.names else None
        unit = ALIASES.get(asked, asked) if asked is not None else named or default
        if unit not in quantity.units:
            problem = "unknown unit" if asked is not None else "the unit is not certain"
            raise InputError(
                f"{self.path}: {self.title(place)}: {problem}; give --{option.replace('_', '-')} "
                f"with one of {', '.join(quantity.units)}"
            )
        return str(unit)

    def step_ns(self) -> int | None:
        text = self.given.pop("step", None)
        if text is None:
            return None
        if "time" in self.given:
            raise InputError("--step and --time cannot be combined; give one of them")
        if (ns := duration_ns(text)) is None:
            raise InputError(f"--step {text}: expected a time above 0 s with its unit, as in `1 s`")
        return ns

    def imported(self, wanted: str | None) -> Imported:
        exact = [name for name, quantity in TABLES.items() if self._exact(quantity)]
        formats = [wanted] if wanted else exact
        if len(formats) != 1:
            raise InputError(
                f"{self.path}: say what this is with --as {' or '.join(formats or FORMATS)}: "
                f"{self.columns()}"
            )
        quantity = TABLES[formats[0]]
        is_traffic = quantity.kind == "traffic"
        step_ns = self.step_ns()
        time = None if step_ns else self.column("time", TIME, [])
        value = self.column("value", quantity, [i for i in range(self.width) if i != time])
        if value == time:
            raise InputError(f"--time and --value are both {self.title(value)}; expected two")
        self.check_name(value, formats[0])
        unit = self.unit("unit", quantity, value, quantity.default)
        clock = None if time is None else _Clock(self, time, keeps_zero=is_traffic)
        entries = self._entries(value, clock, step_ns or 0)
        if clock and not is_traffic:
            entries.space(self.path)
        self._fill(entries, value, is_traffic)
        values = entries.values * quantity.units[unit]
        whole = np.rint(values)
        # Bytes are made whole only where floating point made them fractions.
        is_whole = quantity.kind == "rate" or np.isclose(values, whole, rtol=1e-12, atol=1e-9)
        entries.values = np.where(is_whole, whole, values)
        (column,) = KINDS[quantity.kind].columns
        COLUMNS[column].check(
            entries.values, lambda row, text: self.error(entries.lines[row], text)
        )
        read = f"{self.title(value)} as {formats[0]}" + (f" in {unit}" if unit else "")
        times = "" if clock is None else f"{self.title(clock.place)} as {clock.meaning}; "
        trace = entries.trace(quantity.kind, column, _source(self.path, formats[0]))
        rows = [self._shown(entries, row, KINDS[quantity.kind].unit) for row in (0, -1)]
        return trace, [f"read: {times}{read}", *rows, *entries.notes]

    def _entries(self, value: int, clock: _Clock | None, step_ns: int) -> _Entries:
        lines, values, begins = array("q"), array("d"), array("q")
        for line, row in self.rows():
            if len(lines) == MAX_ENTRIES:
                raise self.error(line, f"expected at most {MAX_ENTRIES} rows")
            try:
                values.append(self.number(row[value]))
                begins.append(clock.ns(row[clock.place]) if clock else len(lines) * step_ns)
            except ValueError as error:
                raise self.error(line, str(error)) from None
            lines.append(line)
        end = len(lines) * step_ns
        return _Entries(np.array(lines), np.array(values), np.array(begins), end)

    def _fill(self, entries: _Entries, value: int, is_traffic: bool) -> None:
        """Holds or leaves out rows without a value; on a channel, left out with their time."""
        policy = self.option("missing", ("refuse", "hold", "skip"))
        missing = np.isnan(entries.values)
        count = int(missing.sum())
        if not count:
            return
        if policy == "refuse" or (policy == "hold" and is_traffic) or count == len(missing):
            hold = "" if is_traffic else "--missing hold (the value before it holds) or "
            raise self.error(
                entries.lines[int(np.argmax(missing))],
                f"{self.title(value)} has no value; give {hold}--missing skip (such rows are left "
                "out, with their time)",
            )
        kept = ~missing
        if policy == "hold":
            kept = np.cumsum(kept) > 0
            last = np.maximum.accumulate(np.where(missing, 0, np.arange(len(missing))))
            entries.values = entries.values[last]
        done = "hold the value before" if policy == "hold" else "are left out"
        entries.notes.append(f"note: {count} of {len(missing)} rows have no value and {done}")
        lasts = np.diff(entries.begins, append=entries.end)[kept]
        entries.lines, entries.values = entries.lines[kept], entries.values[kept]
        entries.begins = entries.begins[kept] if is_traffic else np.cumsum(lasts) - lasts
        entries.end = int(lasts.sum())

    def _shown(self, entries: _Entries, row: int, unit: str) -> str:
        line = int(entries.lines[row])
        text = next(islice(io.StringIO(self.text), line - 1, None)).strip()
        value = f"{entries.values[row]:.10g}" + (f" {unit}" if unit != "1" else "")
        time = duration_text(int(entries.begins[row]))
        return f"{'last' if row else 'first'} row, line {line}, `{text[:60]}`: {value} at {time}"


class _Clock:
    """Converts the cells of a column to times in ns since the first row.

    Times of traffic keep their zero, unless they are clock times or Unix times.
    """

    def __init__(self, table: _Table, place: int, keeps_zero: bool) -> None:
        self.place, self.table, self.last = place, table, 0
        self.start: float | None = None
        self.is_clock = CLOCK.fullmatch(table.first[place]) is not None
        self.unit_ns, self.meaning = 1, "clock times"
        if not self.is_clock:
            cell = table.first[place]
            first = table.number(cell) if VALUE.fullmatch(cell) else math.nan
            # Unix times from 1990 to 2096 show their unit by their size.
            sizes = {unit: first * NS[unit] / NS_PER_S for unit in ("s", "ms", "us", "ns")}
            unix = next((unit for unit, size in sizes.items() if 6.3e8 < size < 4e9), "s")
            unit = table.unit("time_unit", TIME, place, unix)
            self.unit_ns, self.meaning = NS[unit], f"times in {unit}"
            if keeps_zero and first * self.unit_ns < MAX_NS:
                self.start = 0

    def ns(self, cell: str) -> int:
        match = CLOCK.fullmatch(cell) if self.is_clock else None
        time = _clock_ns(match) if match else math.nan if self.is_clock else self.table.number(cell)
        if math.isnan(time):
            raise ValueError(
                f"`{cell[:40]}` is no time like those before; expected numbers, or times such as "
                "12:30:05.250 or 2020-02-14 09:38:22"
            )
        if self.start is None:
            self.start = time
        ns = round((time - self.start) * self.unit_ns)
        if match and not match[1] and ns < self.last - DAY_NS // 2:  # Past midnight.
            self.start -= DAY_NS
            ns += DAY_NS
        if ns < self.last:
            raise ValueError(f"`{cell}` goes backward in time; expected one recording, in order")
        if ns >= MAX_NS:
            raise ValueError(
                f"`{cell}` is more than {MAX_S:.0f} s after the first; see --time-unit"
            )
        self.last = ns
        return ns


def _clock_ns(match: re.Match[str]) -> int:
    year, month, day, hour, minute, second, digits, zone_hour, zone_minute = match.groups()
    days = date(int(year), int(month), int(day)).toordinal() if year else 0
    minutes = (24 * days + int(hour)) * 60 + int(minute)
    if zone_hour:
        minutes -= int(zone_hour) * 60 + int(f"{zone_hour[0]}{zone_minute}")
    return (60 * minutes + int(second)) * NS_PER_S + int((digits or "0").ljust(9, "0")[:9])


@dataclass
class _Entries:
    """Rows of a table: their lines, values, and times in ns."""

    lines: NDArray[np.int64]
    values: Numbers
    begins: Times
    end: int
    notes: list[str] = field(default_factory=list)

    def space(self, path: Path) -> None:
        """Gives every row a time of its own, and the last one the median duration.

        Of an even number of durations, the median is the lower of the two in the middle.
        """
        times, counts = np.unique(self.begins, return_counts=True)
        if len(times) < 2:
            raise InputError(f"{path}: all rows have one time; give --step with the time between")
        steps = np.diff(times)
        median = int(np.percentile(steps, 50, method="lower"))
        if gaps := int(np.sum(steps > GAP_STEPS * median)):
            longest = int(np.argmax(steps))
            self.notes.append(
                f"note: {gaps} of the steps are longer than {GAP_STEPS} median steps, the longest "
                f"{duration_text(steps[longest])} from {duration_text(times[longest])}"
            )
        if again := len(self.begins) - len(times):
            self.notes.append(
                f"note: {again} rows have the time of the row before; rows of one time are spread "
                "evenly up to the next, or over a median step"
            )
            rank = np.arange(len(self.begins)) - np.repeat(np.cumsum(counts) - counts, counts)
            room = np.minimum(np.append(steps, median), median)
            self.begins = self.begins + rank * np.repeat(room, counts) // np.repeat(counts, counts)
        self.end = int(times[-1]) + median

    def trace(self, kind: str, column: str, source: str) -> Trace:
        columns = {column: self.values}
        if kind == "traffic":
            return Trace(kind, columns, source, times_ns=self.begins)
        lasts = np.diff(self.begins, append=self.end)
        if (lasts == lasts[0]).all():
            return Trace(kind, columns, source, step_ns=int(lasts[0]))
        return Trace(kind, columns, source, times_ns=self.begins, end_ns=self.end)
