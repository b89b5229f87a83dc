"""Compares CPU time per packet and memory of whole processes.

The programs run in turns (A B C A B C), so that a temporary load of the machine affects all of
them, and the median of the CPU times counts. Without ns-2 (Debian: `apt install ns2`) only nodeb is
measured. Only the standard library is needed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIMULATE = ROOT / "target/release/examples/simulate"
NO_NS2 = "ns-2 is not installed (Debian: apt install ns2), so there is nothing to compare with."

# Maximum difference in MiB between the peak memory of a long and of a short run for which memory
# counts as constant.
FLAT_MIB = 1.0


def parser(doc: str | None, rounds: int) -> argparse.ArgumentParser:
    """Exits with an error if the example `simulate` has not been built."""
    if not SIMULATE.exists():
        sys.exit("error: build it first: cargo build --release --example simulate")
    result = argparse.ArgumentParser(description=(doc or "").split("\n", 1)[0])
    result.add_argument(
        "--rounds", type=int, default=rounds, help=f"runs of each program (default {rounds})"
    )
    return result


def ns2(script: str, *arguments: object) -> list[str] | None:
    """Returns the command of ns-2 for a script in `ns2`, or `None` if ns-2 is not installed."""
    ns = shutil.which("ns")
    return [ns, str(ROOT / "benches/ns2" / script), *map(str, arguments)] if ns else None


def nodeb(scenario: Path, *overrides: str) -> list[str]:
    return [str(SIMULATE), str(scenario), *overrides]


@dataclass(frozen=True)
class Process:
    """Process that has ended: its CPU time, and the figures in its output."""

    cpu_s: float
    figures: dict[str, float]

    @property
    def us_per_packet(self) -> float:
        """CPU time of the whole process, in microseconds per data packet sent."""
        return self.cpu_s * 1e6 / self.figures["data_pkts"]


@dataclass
class Series:
    """Processes of one case, one per round, and the comparison of their time with another case.

    The ratio to the time of the case `against` must be at most `target`.
    """

    name: str
    command: list[str]
    against: Series | None = None
    target: float | None = None
    done: list[Process] = field(default_factory=list)

    def median(self) -> float:
        """Median over all rounds of the CPU time per packet, in microseconds."""
        return statistics.median(process.us_per_packet for process in self.done)

    def spread(self) -> float:
        """Range of the CPU time per packet over all rounds, as a fraction of the median."""
        times = [process.us_per_packet for process in self.done]
        return (max(times) - min(times)) / self.median()


def finish(child: subprocess.Popen[str]) -> Process:
    """Waits until a child process ends, and exits with an error if it failed."""
    assert child.stdout is not None
    with child.stdout:
        output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"error: {child.args!r} failed with status {child.returncode}")
    pairs = (word.split("=", 1) for word in output.split() if "=" in word)
    return Process(usage.ru_utime + usage.ru_stime, {key: float(value) for key, value in pairs})


def run(command: list[str]) -> Process:
    """Runs a command to its end, and returns the finished process."""
    return finish(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))


def peak_mib(command: list[str]) -> float:
    """`ru_maxrss` is not used, as it includes the memory of the forking Python process."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    status = Path(f"/proc/{child.pid}/status")
    peak_kib = float("nan")
    while True:
        try:
            lines = status.read_text().splitlines()
        except OSError:
            break
        peaks = [line for line in lines if line.startswith("VmHWM")]
        # The process has ended, so its peak memory is no longer shown. It is reaped below.
        if not peaks:
            break
        # A process that is about to end may report 0.
        peak_kib = max(float(peaks[0].split()[1]), peak_kib)
        time.sleep(0.0005)
    finish(child)
    return peak_kib / 1024


def table(header: list[str], rows: list[list[str]]) -> str:
    """Returns a table as text, with the first column aligned left and the others right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: list[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(header), rule, *map(line, rows)])


def take_turns(series: list[Series], rounds: int) -> None:
    for done in range(rounds):
        for one in series:
            if sys.stderr.isatty():
                print(f"\rround {done + 1} of {rounds}: {one.name:<40}", end="", file=sys.stderr)
            one.done.append(run(one.command))
    if sys.stderr.isatty():
        print("\r" + " " * 70 + "\r", end="", file=sys.stderr)


def speed(everyone: list[Series]) -> tuple[str, bool]:
    """Returns a table of CPU times per packet as text, and whether all targets are met."""
    compared = any(one.against for one in everyone)
    header = ["CPU time of the whole process", "packets", "us/packet", "spread"]
    header += ["ratio", "to", "target", ""] if compared else []
    rows, good = [], True
    for one in everyone:
        packets = one.done[0].figures["data_pkts"]
        row = [one.name, f"{packets:.0f}", f"{one.median():.3f}", f"{one.spread():.0%}"]
        if one.against and one.target is not None:
            ratio = one.median() / one.against.median()
            holds = ratio <= one.target
            good &= holds
            verdict = "pass" if holds else "FAIL"
            row += [f"{ratio:.3f}", one.against.name, f"{one.target:.2f}", verdict]
        elif compared:
            row += ["", "", "", ""]
        rows.append(row)
    return table(header, rows), good
