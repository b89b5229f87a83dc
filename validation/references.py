"""Rows of the comparisons with studies, ns-2, Linux, decoders, closed forms and recordings.

Recordings in mahimahi's format are not part of the project; the user supplies a folder of them. The
reference is the definition of the format: each line has the time at which one packet of 1500 bytes
can be delivered, and the trace repeats from the time of its last line on.
"""

from __future__ import annotations

import csv
import math
import re
import subprocess
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import linux_downloads
import numpy as np
import oracle

import nodeb
from nodeb import _core, reproduce, studies
from nodeb.cli import invoke
from nodeb.formulas import analytics

ARCHIVE = Path(__file__).parents[1] / "tests" / "data" / "ns2-traces.tar.xz"
ROWS = "every row: 1 \N{MICRO SIGN}s, 0.001 packet"
LINUX = "python validation/linux_downloads.py"
LARGE_BYTES = 1_000_000
RATIO = re.compile(r", ratio ([\d.]+)$", re.MULTILINE)
TESTS = (
    (
        "turbo",
        "reference_error_rates",
        "AFF3CT 3.0.2 and IT++ 4.3.1",
        "frame error rates of the turbo code",
        "20 %",
    ),
    (
        "link",
        "maximum_ratio_combining",
        "Proakis, Digital Communications, 14.4-15",
        "bit error rates of the rake",
        "10 %",
    ),
)
"""Test file, part of the tests' names, reference, quantity compared, limit of the test."""
PACKET_BITS, ACK_BITS = 1500 * 8, 40 * 8
SIZES = (1, 3, 10, 30, 100, 300)
BLERS = (0.01, 0.1, 0.3)
PACKET_BYTES = 1500
LASTS_S = 60.0


@dataclass(frozen=True)
class Row:
    """Comparison of one quantity with one reference."""

    witness: str
    compared: str
    count: int
    distance: str
    limit: str
    command: str


def spread(ratios: Iterable[float]) -> str:
    """Returns mean and range of the deviations from 1: "-0.3 % in the mean, -4.1 to +2.2 %"."""
    percent = [100 * (ratio - 1) for ratio in ratios]
    mean = sum(percent) / len(percent)
    return f"{mean:+.1f} % in the mean, {min(percent):+.1f} to {max(percent):+.1f} %"


# --- Published studies: claims, published values ---


def study_claims(out: Path, quick: bool) -> Iterator[Row]:
    """Replications that are in the folder are not simulated again."""
    reproduce.run_all(out, quick)
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        for found in csv.DictReader(file):
            yield from study(found, f"nodeb reproduce all{' --quick' if quick else ''}")


def study(found: Mapping[str, str], command: str) -> Iterator[Row]:
    """Yields the rows of one study: its claims and published values."""
    name = f"`{found['study']}`: {studies.load(found['study']).title}"
    claims = (
        f"{found['holds']} hold, {found['contradicted']} contradicted, "
        f"{found['undecided']} undecided"
    )
    yield Row(name, "claims", int(found["claims"]), claims, "", command)
    if total := int(found["cells_compared"]):
        distance = f"{found['near']} within their table's tolerance"
        yield Row(name, "published values", total, distance, "", command)
    if total := int(found["scattered"]):
        distance = f"{found['within_scatter']} within the scatter of as few runs"
        yield Row(name, "published values of a run or a few", total, distance, "", command)


# --- ns-2: packet-level traces, row by row ---


def ns2() -> Iterator[Row]:
    """Yields one row per TCP variant, with the number of its traces that differ from ns-2."""
    differ: dict[str, list[bool]] = defaultdict(list)
    for variant, text in archived():
        differ[variant].append(oracle.check(text) is not None)
    for variant, found in sorted(differ.items()):
        distance = f"{sum(found)} differ" if any(found) else "none differs"
        yield Row(
            "ns-2.35",
            f"traces of `{variant}`",
            len(found),
            distance,
            ROWS,
            "python -m pytest tests/python/tools/test_oracle.py",
        )


def archived() -> Iterator[tuple[str, str]]:
    """Yields each trace of the archive as a pair of its TCP variant and its text."""
    variants = {name for kind, name, _ in _core.registry() if kind == "control"}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            parts = member.name.split("_")
            file = archive.extractfile(member)
            if len(parts) > 1 and parts[1] in variants and file is not None:
                yield parts[1], file.read().decode()


# --- A Linux kernel: downloads with the same losses ---


def kernel() -> Iterator[Row]:
    """Yields the rows that compare transfer times, retransmitted segments and one-way delays."""
    yield from downloads(
        row for file in linux_downloads.FILES for row in linux_downloads.compare(file)
    )


def downloads(found: Iterable[linux_downloads.Row]) -> Iterator[Row]:
    """Yields one row per quantity and congestion control from the compared downloads `found`.

    Transfer times have separate rows for downloads below 1 MB and from 1 MB on.
    """
    times: dict[str, list[float]] = defaultdict(list)
    repeated: dict[str, list[bool]] = defaultdict(list)
    delays: dict[str, list[float]] = defaultdict(list)
    for one in found:
        control = one.control
        size = "from 1 MB on" if one.size_bytes >= LARGE_BYTES else "below 1 MB"
        times[f"transfer times, {control}, {size}"].append(one.ratio)
        allowed = max(3, 0.1 * one.kernel_repeated)
        near = abs(one.nodeb_repeated - one.kernel_repeated) <= allowed
        repeated[f"retransmitted segments, {control}"].append(near)
        if not math.isnan(one.kernel_delay_ms):
            delays[f"mean one-way delays, {control}"].append(one.delay_ratio)
    for what, ratios in sorted(times.items()):
        limit = "3 %" if "from 1 MB" in what else "5 %"
        yield Row("Linux 6.18", what, len(ratios), within(ratios, limit), limit, LINUX)
    for what, near_ones in sorted(repeated.items()):
        distance = f"{sum(near_ones)} within"
        yield Row("Linux 6.18", what, len(near_ones), distance, "10 % or 3", LINUX)
    for what, ratios in sorted(delays.items()):
        yield Row("Linux 6.18", what, len(ratios), within(ratios, "10 %"), "10 %", LINUX)


def within(ratios: list[float], limit: str) -> str:
    near = sum(abs(ratio - 1) <= float(limit.split()[0]) / 100 for ratio in ratios)
    return f"{near} within; {spread(ratios)}"


# --- Decoders and closed forms of the rake ---


def phy(everything: bool) -> Iterator[Row]:
    """Yields the rows that compare error rates of the turbo code and of the rake."""
    for file, test, witness, compared, limit in TESTS:
        command = f"cargo test --release -p nodeb-phy --test {file} {test} -- --nocapture"
        command += " --include-ignored" if everything else ""
        done = subprocess.run(
            command.split(),
            cwd=Path(__file__).parents[1],
            check=True,
            capture_output=True,
            text=True,
        )
        ratios = [float(ratio) for ratio in RATIO.findall(done.stdout)]
        yield Row(witness, compared, len(ratios), spread(ratios), limit, command)


# --- Closed forms: slow start, the binomial distribution of block errors ---


def closed() -> Iterator[Row]:
    """Yields one row for slow start over a wire and one for the rate of block errors."""
    worst = max(abs(slow_start(packets)) for packets in SIZES)
    what = f"transfers of {SIZES[0]} to {SIZES[-1]} packets over a wire without loss"
    distance = f"at most {1e9 * worst:.1f} ns"
    yield Row(
        "slow start, packet by packet", what, len(SIZES), distance, "", "python validation/trust.py"
    )
    scores = [block_errors(bler) for bler in BLERS]
    distance = f"at most {max(map(abs, scores)):.1f} standard deviations"
    what = f"shares of blocks in error at {', '.join(f'{100 * one:g} %' for one in BLERS)}"
    yield Row("the binomial law", what, len(scores), distance, "", "python validation/trust.py")


def slow_start(packets: int) -> float:
    """Returns the simulated duration of a transfer minus that of the closed form, in seconds."""
    wire, back = 1e9, 1e9
    rate, delay_s, back_s = 384e3, 0.1, 0.05
    scenario = {
        "name": "slow start",
        "runs": 1,
        "duration": "1000 s",
        "wired": {"rate": f"{wire:.0f} bps", "delay": f"{1e3 * delay_s:g} ms"},
        "radio": {"link": {"rate": f"{rate:.0f} bps", "delay": "0 ms"}},
        "uplink": {"rate": f"{back:.0f} bps", "delay": f"{1e3 * back_s:g} ms"},
        "tcp": {
            "classic": {
                "opened_by": "server",
                "initial_window": 1,
                "max_window": 1000,
                "delayed_ack": "0 ms",
            }
        },
        "users": [{"traffic": {"ftp": {"size": f"{1460 * packets} B"}}}],
    }
    found = float(nodeb.Scenario.from_dict(scenario).run(jobs=1).flows["transfer_s"][0])
    # Propagation: a packet crosses the wire, and its ACK crosses the uplink and the wire.
    both_ways_s = 2 * delay_s + back_s
    # Transmission adds the packet's time on the wire, and the ACK's on the uplink and the wire.
    round_trip_s = both_ways_s + PACKET_BITS / wire + ACK_BITS / back + ACK_BITS / wire
    opening_s = both_ways_s + ACK_BITS / rate + ACK_BITS / back + 2 * ACK_BITS / wire
    theory = analytics.slow_start_transfer_time(packets, round_trip_s, PACKET_BITS / rate, 1)
    return found - opening_s - theory


def block_errors(bler: float) -> float:
    """Returns the deviation of the simulated block error rate from `bler`, in standard errors."""
    scenario = {
        "name": "block errors",
        "runs": 4,
        "duration": "200 s",
        "radio": {"dch": {"bler": bler}},
        "tcp": {"linux": {}},
        "users": [{"traffic": {"ftp": {"size": "1 GB"}}}],
    }
    bearers = nodeb.Scenario.from_dict(scenario).run().bearers
    blocks, failed = (int(np.sum(bearers[name])) for name in ("blocks", "blocks_failed"))
    return float((failed / blocks - bler) / np.sqrt(bler * (1 - bler) / blocks))


# --- A trace-driven link and the opportunities of its trace ---


def traces(folder: Path | None) -> Iterator[Row]:
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
        "python validation/trust.py --traces DIR",
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
