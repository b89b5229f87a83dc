"""`nodeb import`: converts a measured channel or traffic to a trace file for scenarios."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from nodeb.base.streams import printable
from nodeb.cli import options as of
from nodeb.errors import InputError, writing
from nodeb.inputs import column_units, formats, trace_reader
from nodeb.inputs.column_units import AMOUNTS, RATES, TIMES
from nodeb.inputs.trace_file import KINDS, MAGIC, Trace, duration_ns, duration_text, write
from nodeb.storage import files
from nodeb.storage.files import read_bytes


@of.command(
    of.place("file", "FILE", "Measurement, as a text file."),
    of.option(
        "--as", "FORMAT", "mahimahi, cqi, rates, snr, eurane or traffic; default: detected.",
        dest="wanted",
    ),
    of.option("--out", "FILE", "Trace file to write; default: <name>.trace.", Path),
    of.option("--step", "TIME", "Interval of entries without times; default: 2 ms."),
    of.option(
        "--unit", "UNIT", "Unit of rates or amounts: bit/s, kbit/s, MB/s, KiB/s, kB, ..."
    ),
    of.option("--time-unit", "UNIT", "Unit of times: ns, us, ms, s, min or h; default: s."),
    of.option("--column", "NAME", "Column of the values, by name or number."),
    of.option("--time-column", "NAME", "Column of the times, by name or number."),
    of.option(
        "--bytes", "BYTES", "Bytes per line of a mahimahi trace; default: 1500.",
        of.whole(1, 65_535), dest="size",
    ),
)  # fmt: skip
def import_(given: Namespace) -> None:
    if given.wanted is not None:
        of.check_name("format", given.wanted, list(formats.FORMATS))
    data = read_bytes(given.file, trace_reader.MAX_BYTES)
    target = Path(given.file.with_suffix(".trace").name) if given.out is None else given.out
    if target.exists() and target.samefile(given.file):
        raise InputError(f"{target} is the input file; give another file with --out")
    files.refuse_other(target, MAGIC, "a trace", "--out")
    if data.startswith(MAGIC):
        raise InputError(f"{given.file} is already a trace; scenarios can use it unchanged")
    options = formats.Options(
        _step(given.step),
        _data_unit(given.unit),
        _time_unit(given.time_unit),
        given.column,
        given.time_column,
        given.size,
    )
    found = formats.read(data, given.file, given.wanted, options)
    with writing(f"write the trace to {target}"):
        target.parent.mkdir(parents=True, exist_ok=True)
        write(target, found.trace)
    _print(target, found)


def _step(text: str | None) -> int | None:
    ns = None if text is None else duration_ns(text)
    if text is not None and ns is None:
        raise InputError(
            f"--step {text}: expected a time above 0 s with its unit, such as `100 ms`"
        )
    return ns


def _data_unit(text: str | None) -> str | None:
    """Returns the canonical name of a unit of rates or amounts, such as `kbit/s` for `kbps`.

    Returns None for None.
    """
    if text is None:
        return None
    unit = column_units.unit(text, RATES) or column_units.unit(text, AMOUNTS)
    if unit is None:
        raise InputError(
            f"--unit {text}: unknown unit; expected one of "
            f"{column_units.unit_list(RATES)}, or of amounts such as B or kB"
        )
    return unit


def _time_unit(text: str | None) -> str | None:
    unit = None if text is None else column_units.unit(text, TIMES)
    if text is not None and unit is None:
        raise InputError(f"--time-unit {text}: expected one of {column_units.unit_list(TIMES)}")
    return unit


def _print(target: Path, found: formats.Imported) -> None:
    trace = found.trace
    kind = KINDS[trace.kind]
    name = kind.columns[0]
    values = trace.columns[name]
    entries = "entry" if len(trace) == 1 else "entries"
    lasts = duration_text(trace.duration_ns)
    print(f"{printable(target)}: {len(trace)} {entries} of {kind.meaning}, {lasts}")
    print(printable(f"read: {'; '.join(found.read)}"))
    print(printable(f"assumed: {'; '.join(found.assumed) or 'nothing'}"))
    low, high, mean = map(_number, (values.min(), values.max(), _mean(trace)))
    print(f"{name}: {low} to {high}, mean {mean}")
    is_channel = trace.kind != "traffic"
    place = "ue.channel.trace" if is_channel else "traffic.replay"
    print(f"in a scenario here: {place}.file = {json.dumps(target.as_posix(), ensure_ascii=False)}")
    if is_channel:
        print(f'in a run of more than {lasts}: {place}.at_end = "loop" (or "stop") beside it')


def _number(value: float) -> str:
    """Formats a number with six significant digits; without decimals if it is 1e5 or more."""
    return f"{value:.0f}" if abs(value) >= 1e5 else f"{value:.6g}"


def _mean(trace: Trace) -> float:
    """Returns the mean of a trace's values, each weighted by the time for which it holds.

    If the trace states no times, all entries last equally long, and this is the plain mean. It is
    also the plain mean for traffic, whose entries have no duration.
    """
    import numpy as np

    values = next(iter(trace.columns.values()))
    if trace.times_ns is None or trace.end_ns is None:
        return float(values.mean())
    return float(np.average(values, weights=np.diff(trace.times_ns, append=trace.end_ns)))
