"""`nodeb import`: converts a measured channel or traffic to a trace file for scenarios."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from nodeb.base.streams import printable
from nodeb.cli import options as of
from nodeb.errors import InputError, writing
from nodeb.inputs import importing
from nodeb.inputs.trace import KINDS, MAGIC, MAX_BYTES, Trace, duration_text, write
from nodeb.storage import files


@of.command(
    of.place("file", "FILE", "Measurement, as a text file; gzip is unpacked."),
    of.option(
        "--as", "FORMAT", "cqi, snr, rates, traffic, mahimahi or eurane; default: that of the "
        "only column with an exact name.", dest="wanted",
    ),
    of.option("--out", "FILE", "Trace file to write; default: <name>.trace.", Path),
    of.option("--time", "COLUMN", "Column of the times, by name or number."),
    of.option("--value", "COLUMN", "Column of the values, by name or number."),
    of.option("--unit", "UNIT", "Unit of rates or amounts: bit/s, kbit/s, MB/s, KiB/s, kB, ..."),
    of.option("--time-unit", "UNIT", "Unit of times: ns, us, ms, s, min or h."),
    of.option("--step", "TIME", "Time between rows, in place of a column of times."),
    of.option(
        "--missing", "HOW", "Rows without a value: hold the value before, skip them with their "
        "time, or refuse; default: refuse.",
    ),
    of.option("--decimal", "MARK", "Decimal mark of numbers: . or ,; default: a point."),
    of.option(
        "--bytes", "BYTES", "Bytes per line of a mahimahi trace; default: 1500.",
        of.whole(1, 65_535),
    ),
)  # fmt: skip
def import_(given: Namespace) -> None:
    file, out = given.file, given.out
    options = {name: getattr(given, name) for name in importing.OPTIONS}
    data = files.read_bytes(file, MAX_BYTES)
    target = Path(file.with_suffix(".trace").name) if out is None else out
    if target.exists() and target.samefile(file):
        raise InputError(f"{target} is the input file; give another file with --out")
    files.refuse_other(target, MAGIC, "a trace", "--out")
    if data.startswith(MAGIC):
        raise InputError(f"{file} is already a trace; scenarios can use it unchanged")
    trace, report = importing.read(data, file, given.wanted, options)
    with writing(f"write the trace to {target}"):
        target.parent.mkdir(parents=True, exist_ok=True)
        write(target, trace)
    _print(target, trace, report)


def _print(target: Path, trace: Trace, report: list[str]) -> None:
    import numpy as np

    kind = KINDS[trace.kind]
    is_channel = trace.kind != "traffic"
    name = kind.columns[0]
    values = trace.columns[name]
    weights = np.diff(trace.edges_ns) if is_channel else None
    entries = "entry" if len(trace) == 1 else "entries"
    lasts = duration_text(trace.duration_ns)
    print(f"{printable(target)}: {len(trace)} {entries} of {kind.meaning}, {lasts}")
    for line in report:
        print(printable(line))
    mean = np.average(values, weights=weights)
    low, high, mean_text = map(_number, (values.min(), values.max(), mean))
    print(f"{name}: {low} to {high}, mean {mean_text}")
    place = "ue.channel.trace" if is_channel else "traffic.replay"
    print(f"in a scenario here: {place}.file = {json.dumps(target.as_posix(), ensure_ascii=False)}")
    if is_channel:
        print(f'in a run of more than {lasts}: {place}.at_end = "loop" (or "stop") beside it')


def _number(value: float) -> str:
    """Formats a number with six significant digits; without decimals if it is 1e5 or more."""
    return f"{value:.0f}" if abs(value) >= 1e5 else f"{value:.6g}"
