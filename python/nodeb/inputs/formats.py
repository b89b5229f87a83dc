"""Formats of recordings that others write, made into traces of nodeb's own.

- mahimahi: the ms in which a packet may be delivered, a line each (Netravali and others, 2015)
- cqi: CQIs
- rates: bit rates, with or without times
- snr: SNRs in dB
- eurane: `rx1 rx2 rx3 CQI`, SNRs after one, two and three transmissions of a block, and the CQI
- traffic: `seconds,bytes`
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nodeb.base.units import NS_PER_S
from nodeb.errors import InputError, ScenarioError
from nodeb.inputs import trace_reader
from nodeb.inputs.guess import Head, guess
from nodeb.inputs.trace_file import Numbers, Times, Trace
from nodeb.inputs.ttis import MOST_TTIS, TTI_NS

__all__ = ["FORMATS", "RATE_UNITS", "TIME_UNITS", "Options", "read", "refusal"]

RATE_UNITS = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6}
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
OPPORTUNITY_BYTES = 1500
"""What mahimahi delivers at a time."""


@dataclass(frozen=True)
class Options:
    """What a person says about a recording; None where nothing is said."""

    step_ns: int | None = None
    """How far entries without times are apart; else a TTI, 2 ms."""
    unit: str | None = None
    """Unit of rates, one of `RATE_UNITS`."""
    time_unit: str | None = None
    """Unit of times, one of `TIME_UNITS`; else s."""
    column: str | None = None
    """Name or number, from 1, of the column of values."""
    time_column: str | None = None
    """Name or number of the column of times."""
    opportunity_bytes: int = OPPORTUNITY_BYTES
    """What mahimahi's line delivers."""


def read(data: bytes, path: Path, wanted: str | None, options: Options) -> tuple[Trace, list[str]]:
    """Makes a trace of a recording.

    Args:
        data: what is in the file.
        path: its name in messages.
        wanted: one of `FORMATS`; None guesses where it is certain.
        options: what else is known.

    Returns:
        The trace, and what was taken for granted, each a few words.

    Raises:
        InputError: the format is not certain, or something about the columns is not known.
        ScenarioError: a line is none of such a recording; names it.
    """
    source = _Source(data, path, options)
    if not source.head.rows:
        raise InputError(f"{path}: there is nothing in it; expected at least one entry")
    if wanted is None:
        found = guess(source.head)
        if len(found) != 1:
            raise InputError(
                f"{path}: {_what(found)}; say which with --as {' or '.join(found or FORMATS)}"
            )
        wanted = found[0]
        source.notes.append(f"format {wanted}")
    return FORMATS[wanted](source), source.notes


def refusal(path: Path, data: bytes, traffic: bool) -> str:
    """Why a file that a scenario names is no trace, and the command that makes one of it."""
    possible = ["traffic"] if traffic else [one for one in guess(Head.of(data)) if one != "traffic"]
    name, out = shlex.quote(str(path)), shlex.quote(str(path.with_suffix(".trace")))
    wanted = possible or [one for one in FORMATS if one != "traffic"]
    command = f"`nodeb import {name} --as {wanted[0]} --out {out}`"
    if len(wanted) > 1:
        others = " or ".join(f"`--as {one}`" for one in wanted[1:])
        command += f" (or {others}, as the case may be)"
    return (
        f"{path}: this does not say what it is: its first line is not `# nodeb trace 1`; "
        f"{command} makes a trace of it, to be named in its place"
    )


def _what(found: list[str]) -> str:
    return f"this may be {' or '.join(found)}" if found else "the format is not known"


class _Source:
    """A recording that is being read."""

    def __init__(self, data: bytes, path: Path, options: Options) -> None:
        self.data, self.path, self.options = data, path, options
        self.head = Head.of(data)
        self.notes: list[str] = []

    def title(self, kind: str) -> str:
        return f"{self.path.name}, as {kind}"

    @property
    def skip(self) -> int:
        return 1 if self.head.names else 0

    def place(self, asked: str | None, known: int | None, what: str) -> int:
        """Which column, from 0, by name or number."""
        if asked is None:
            if known is None:
                raise InputError(
                    f"{self.path}:{self.head.line}: which column has the {what} is not "
                    f"certain; give its name or number: {self.head.shown()}"
                )
            return known
        if asked in self.head.names:
            return self.head.names.index(asked)
        if asked.isdecimal() and 1 <= int(asked) <= self.head.width:
            return int(asked) - 1
        raise InputError(f"{self.path}: there is no column `{asked}`: {self.head.shown()}")

    def value_place(self, kind: str, what: str) -> int:
        known = self.head.column(kind, but=self.time_place())
        return self.place(self.options.column, known, what)

    def time_place(self) -> int | None:
        asked, known = self.options.time_column, self.head.time_column()
        return known if asked is None else self.place(asked, None, "times")

    def numbers(self, places: list[int]) -> list[Numbers]:
        return trace_reader.read_numbers(self.data, self.path, self.skip, places)

    def check(self, name: str, values: Numbers) -> None:
        trace_reader.check_range(self.data, self.path, name, values, self.skip)

    def times(self, times: Numbers, *, channel: bool) -> Times:
        unit = self.options.time_unit or self.head.time_unit()
        if unit is None:
            unit = "s"
            self.notes.append("times in s")
        times *= TIME_UNITS[unit]
        if channel and times[0] != 0:
            self.notes.append(f"times counted from the first, {times[0]:.10g} s")
            times -= times[0]
        return trace_reader.check_times(self.data, self.path, times, self.skip, channel)

    def trace(
        self, kind: str, columns: dict[str, Numbers], times: Numbers | None, what: str
    ) -> Trace:
        """A channel's trace; entries without times, and those evenly apart, get a step."""
        for name, values in columns.items():
            self.check(name, values)
        if times is None:
            step = self.options.step_ns
            if step is None:
                step = TTI_NS
                self.notes.append("entries 2 ms apart, a TTI")
            return Trace(kind, columns, self.title(what), step_ns=step)
        times_ns = self.times(times, channel=True)
        if len(times_ns) < 2:
            raise InputError(
                f"{self.path}: one time says nothing of how long it lasts; expected two"
            )
        apart = np.diff(times_ns)
        if (apart == apart[0]).all():
            return Trace(kind, columns, self.title(what), step_ns=int(apart[0]))
        end = int(times_ns[-1] + apart[-1])
        return Trace(kind, columns, self.title(what), times_ns=times_ns, end_ns=end)

    def timed(self, kind: str, what: str) -> tuple[Numbers, Numbers | None]:
        """A column of values, and the one of times where there is one."""
        value, time = self.value_place(kind, what), self.time_place()
        if time is None:
            return self.numbers([value])[0], None
        values, times = self.numbers([value, time])
        return values, times


def _mahimahi(source: _Source) -> Trace:
    (ms,) = source.numbers([source.place(source.options.column, 0, "times")])
    odd = np.append(ms[:1], np.diff(ms)) < 0
    odd |= (ms != np.rint(ms)) | (ms >= MOST_TTIS * TTI_NS / 1_000_000)
    if odd.any():
        place = int(np.argmax(odd))
        raise trace_reader.odd_entry(
            source.data,
            source.path,
            place + source.skip,
            f"{ms[place]:g} is no time in ms of a mahimahi trace; expected whole numbers "
            f"that do not fall, below {MOST_TTIS * TTI_NS // 1_000_000}",
        )
    period = int(ms[-1])  # mahimahi begins again with its last line's time
    if period == 0:
        raise ScenarioError(
            f"{source.path}: a mahimahi trace lasts until its last time, and that is 0 ms"
        )
    # What a line allows at a time goes through in the ms before it. Two periods fill whole TTIs.
    each_ms = np.bincount(np.maximum(ms, 1).astype(np.int64) - 1, minlength=period)
    width = TTI_NS // 1_000_000
    opportunities = np.tile(each_ms, 1 if period % width == 0 else width)
    size = source.options.opportunity_bytes
    source.notes.append(f"{size} bytes each")
    rates: Numbers = opportunities.reshape(-1, width).sum(axis=1) * np.float64(
        size * 8 * NS_PER_S / TTI_NS
    )
    return Trace("rate", {"rate_bps": rates}, source.title("mahimahi"), step_ns=TTI_NS)


def _cqi(source: _Source) -> Trace:
    cqi, times = source.timed("cqi", "CQIs")
    return source.trace("cqi", {"cqi": cqi}, times, "cqi")


def _rates(source: _Source) -> Trace:
    values, times = source.timed("rates", "rates")
    unit = source.options.unit or source.head.rate_unit(source.value_place("rates", "rates"))
    if unit is None:
        raise InputError(
            f"{source.path}: the unit of the rates is not known; "
            f"give --unit {', '.join(RATE_UNITS)}"
        )
    values *= RATE_UNITS[unit]
    return source.trace("rate", {"rate_bps": np.rint(values, out=values)}, times, "rates")


def _snr(source: _Source) -> Trace:
    values, times = source.timed("snr", "SNRs")
    return source.trace("snr", {"snr_db": values}, times, "snr")


def _eurane(source: _Source) -> Trace:
    names = ("snr_db", "second_db", "third_db", "cqi")
    columns = dict(zip(names, source.numbers([0, 1, 2, 3]), strict=True))
    return source.trace("combined", columns, None, "eurane")


def _traffic(source: _Source) -> Trace:
    time = source.time_place()
    known = source.head.column("traffic", but=time)
    amount = source.place(source.options.column, 1 if known is None else known, "amounts")
    times, amounts = source.numbers([0 if time is None else time, amount])
    source.check("bytes", amounts)
    times_ns = source.times(times, channel=False)
    return Trace("traffic", {"bytes": amounts}, source.title("traffic"), times_ns=times_ns)


FORMATS: dict[str, Callable[[_Source], Trace]] = {
    "mahimahi": _mahimahi,
    "cqi": _cqi,
    "rates": _rates,
    "snr": _snr,
    "eurane": _eurane,
    "traffic": _traffic,
}
