"""Converts recordings in other formats to nodeb's traces.

- mahimahi: delivery opportunities, one time in ms per line (Netravali and others, 2015)
- cqi: CQIs, with or without times
- rates: bit rates, with or without times
- snr: SNRs in dB, with or without times
- eurane: `rx1 rx2 rx3 CQI`, SNRs after one, two and three transmissions of a block, and the CQI
- traffic: times and amounts of data, such as `seconds,bytes`
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nodeb.base.command_line import command_line
from nodeb.base.units import NS_PER_S
from nodeb.errors import InputError, ScenarioError
from nodeb.inputs import column_units, trace_reader
from nodeb.inputs.guess import Head, guess
from nodeb.inputs.source import Options, Source
from nodeb.inputs.trace_file import Numbers, Trace
from nodeb.inputs.ttis import MAX_TTIS, TTI_NS

__all__ = ["FORMATS", "Imported", "Options", "not_a_trace_message", "read"]

OPPORTUNITY_BYTES = 1500
"""Default size of one mahimahi delivery opportunity, bytes."""
OTHER_SNRS = r"lin|linear|ratio|dbm|dbw|dbmw|mw|w"
"""Words in a column's name that show that its SNRs are not in dB."""


@dataclass(frozen=True)
class Imported:
    """Trace converted from a recording.

    Attributes:
        trace: the trace.
        read: interpretation of each column, for messages.
        assumed: assumptions about facts that neither the recording nor an option states.
    """

    trace: Trace
    read: list[str]
    assumed: list[str]


def read(data: bytes, path: Path, wanted: str | None, options: Options) -> Imported:
    """Converts a recording to a trace.

    Args:
        data: content of the file.
        path: name of the file in messages.
        wanted: one of `FORMATS`; None guesses the format.
        options: options of `nodeb import`.

    Raises:
        InputError: the file has no entries, its format is ambiguous or unknown, a column or its
            unit is not certain, or an option has no effect.
        ScenarioError: a line does not fit the format; the message names the line.
    """
    source = Source(data, path, options)
    head = source.head
    if head.names and not head.rows:
        raise InputError(
            f"{path}:{head.line}: this only line is not of numbers, so it is read as names of "
            "columns; expected lines of numbers below it"
        )
    if not head.rows:
        raise InputError(f"{path}: the file has no entries; expected at least one entry")
    if wanted is None:
        found = guess(source.head)
        if len(found) != 1:
            raise InputError(
                f"{path}: {_candidates(found)}; say which with --as {' or '.join(found or FORMATS)}"
            )
        wanted = found[0]
        source.assumed.append(f"format {wanted}")
    trace = FORMATS[wanted](source)
    source.finish(wanted)
    return Imported(trace, source.read, source.assumed)


def not_a_trace_message(path: Path, data: bytes, traffic: bool) -> str:
    """Returns the message for a file that is no trace, with the command that converts it.

    Args:
        path: the file.
        data: content of the file.
        traffic: whether a trace of traffic is expected; otherwise, of a channel.
    """
    possible = ["traffic"] if traffic else [one for one in guess(Head.of(data)) if one != "traffic"]
    wanted = possible or [one for one in FORMATS if one != "traffic"]
    options = {"as": wanted[0], "out": path.with_suffix(".trace")}
    command = f"`{command_line('import', path, options=options)}`"
    if len(wanted) > 1:
        others = " or ".join(f"`--as {one}`" for one in wanted[1:])
        command += f" (or {others}, as the case may be)"
    return (
        f"{path}: this is not a trace file: its first line is not `# nodeb trace 1`; "
        f"{command} converts it to a trace, to be named instead"
    )


def _candidates(found: list[str]) -> str:
    return f"this may be {' or '.join(found)}" if found else "the format is not known"


def _mahimahi(source: Source) -> Trace:
    column = source.index(source.option("column"), 0, "times")
    if source.head.names and not source.head.has_times(column):
        raise InputError(
            f"{source.path}:{source.head.line}: `{' '.join(source.head.names)}` is no time in ms; "
            "expected a whole number in each line"
        )
    named = column_units.times(source.head.name(column))
    if named.doubt or named.exact not in (None, "ms"):
        raise InputError(
            f"{source.path}:{source.head.line}: {source.head.describe_column(column)} is not in ms "
            "by its name; expected `ms`, as in mahimahi's traces"
        )
    source.record_use(column, "times in ms")
    (ms,) = source.numbers([column])
    odd = np.append(ms[:1], np.diff(ms)) < 0
    odd |= (ms != np.rint(ms)) | (ms >= MAX_TTIS * TTI_NS / 1_000_000)
    if odd.any():
        place = int(np.argmax(odd))
        raise trace_reader.entry_error(
            source.data,
            source.path,
            place + source.skip,
            f"{ms[place]:g} is no time in ms of a mahimahi trace; expected whole numbers "
            f"that do not fall, below {MAX_TTIS * TTI_NS // 1_000_000}",
        )
    period = int(ms[-1])  # mahimahi repeats a trace after the last time in the trace.
    if period == 0:
        raise ScenarioError(
            f"{source.path}: a mahimahi trace lasts until its last time, and that is 0 ms"
        )
    # An opportunity at t ms belongs to the millisecond that ends at t; one at 0 ms belongs to the
    # first millisecond. A period of an odd number of ms is repeated, to fill whole TTIs of 2 ms.
    each_ms = np.bincount(np.maximum(ms, 1).astype(np.int64) - 1, minlength=period)
    width = TTI_NS // 1_000_000
    opportunities = np.tile(each_ms, 1 if period % width == 0 else width)
    size = source.option("opportunity_bytes")
    if size is None:
        size = OPPORTUNITY_BYTES
        source.assumed.append(f"{size} bytes each")
    rates: Numbers = opportunities.reshape(-1, width).sum(axis=1) * np.float64(
        size * 8 * NS_PER_S / TTI_NS
    )
    return Trace("rate", {"rate_bps": rates}, source.title("mahimahi"), step_ns=TTI_NS)


def _cqi(source: Source) -> Trace:
    place, cqi, times = source.timed_values("cqi", "CQIs")
    source.record_use(place, "CQIs")
    return source.trace("cqi", {"cqi": cqi}, times, "cqi")


def _rates(source: Source) -> Trace:
    place, values, times = source.timed_values("rates", "rates")
    return source.trace("rate", {"rate_bps": source.rates(place, values)}, times, "rates")


def _snr(source: Source) -> Trace:
    place, values, times = source.timed_values("snr", "SNRs")
    words = re.findall("[a-z]+", source.head.name(place).lower())
    if other := [word for word in words if re.fullmatch(OTHER_SNRS, word)]:
        raise InputError(
            f"{source.path}:{source.head.line}: {source.head.describe_column(place)} is no SNR in "
            f"dB by its name, which has `{other[0]}`; expected SNRs in dB"
        )
    source.record_use(place, "SNRs in dB")
    if "db" not in words:
        source.assumed.append("SNRs in dB")
    return source.trace("snr", {"snr_db": values}, times, "snr")


def _eurane(source: Source) -> Trace:
    names = ("snr_db", "second_db", "third_db", "cqi")
    columns = dict(zip(names, source.numbers([0, 1, 2, 3]), strict=True))
    for place, name in enumerate(names):
        source.record_use(
            place, "CQIs" if name == "cqi" else f"SNRs in dB, transmission {place + 1}"
        )
    return source.trace("combined", columns, None, "eurane")


def _traffic(source: Source) -> Trace:
    time = source.time_index()
    time = 0 if time is None else time
    known = source.head.column("traffic", but=time)
    amount = source.index(source.option("column"), 1 if known is None else known, "amounts")
    amounts, times = source.timed_numbers(amount, time, "amounts")
    amounts = source.amounts(amount, amounts)
    source.check("bytes", amounts)
    times_ns = source.times(time, times, channel=False)
    return Trace("traffic", {"bytes": amounts}, source.title("traffic"), times_ns=times_ns)


FORMATS: dict[str, Callable[[Source], Trace]] = {
    "mahimahi": _mahimahi,
    "cqi": _cqi,
    "rates": _rates,
    "snr": _snr,
    "eurane": _eurane,
    "traffic": _traffic,
}
