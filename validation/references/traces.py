"""Comparison of a trace-driven link with the delivery opportunities of its trace.

Traces in mahimahi's format are not part of the project; the user supplies a folder of them. The
reference is the definition of the format: each line has the time at which one packet of 1500 bytes
can be delivered, and the trace repeats from the time of its last line on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import nodeb
from nodeb.cli import invoke
from references.row import Row, spread

PACKET_BYTES = 1500
COMMAND = "python validation/trust.py --traces DIR"
LASTS_S = 60.0


def rows(folder: Path | None) -> Iterator[Row]:
    """Yields one row: bytes that the link could send in 60 s divided by bytes that a trace
    offers."""
    if folder is None:
        return
    files = sorted(path for path in folder.iterdir() if path.suffix in (".down", ".up"))
    ratios = [carried(file) for file in files]
    yield Row(
        "recordings of live networks (mahimahi)",
        f"bytes of packets that can be sent in {LASTS_S:g} s, for those offered with headers",
        len(ratios),
        spread(ratios),
        "",
        COMMAND,
    )


def offered_bytes(file: Path) -> float:
    times = [int(line) for line in file.read_text(encoding="utf-8").split()]
    loops, last = divmod(int(1000 * LASTS_S), times[-1])
    return PACKET_BYTES * (loops * len(times) + sum(one < last for one in times))


def carried(file: Path) -> float:
    """Returns the bytes of packets that the simulated link could send in 60 s over those offered.

    Radio headers use a part of the offered bytes, but are no bytes of packets.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "recorded.trace"
        if invoke(["import", str(file), "--as", "mahimahi", "--out", str(trace)]) != 0:
            raise ValueError(f"{file} cannot be imported")
        scenario = {
            "name": file.name,
            "runs": 1,
            "duration": f"{LASTS_S:g} s",
            "wired": {"rate": "1 Gbps", "delay": "1 ms"},
            "radio": {"hsdpa": {}},
            "tcp": {"linux": {}},
            "record": {"bandwidth": True},
            "users": [
                {
                    "traffic": {"ftp": {"size": "10 GB"}},
                    "ue": {"channel": {"trace": {"file": str(trace), "at_end": "loop"}}},
                }
            ],
        }
        result = nodeb.Scenario.from_dict(scenario).run(jobs=1)
    return float(result.tables["bandwidth"]["available_bytes"][-1]) / offered_bytes(file)
