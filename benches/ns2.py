"""Side by side with ns-2: CPU time per packet and memory of whole processes.

    cargo build --release --example simulate
    python3 benches/ns2.py [--rounds N] [--size BYTES]

ns-2 carries one long FTP over a wire of 384 kb/s; nodeb carries the same file over the same wire,
and over a DCH and an HS-DSCH of 384 kb/s, block by block. The programs take turns (A B C A B C),
so that a busy moment of the machine hits all of them, and the median of the CPU times counts.
Without ns-2 (Debian: `apt install ns2`) nodeb is measured alone. Only the standard library is
needed.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIMULATE = ROOT / "target/release/examples/simulate"
NODEB = ROOT / ".venv/bin/nodeb"
FTP_TCL = ROOT / "benches/ns2/ftp.tcl"

# The fixed network and TCP are nodeb's defaults, which ns2/ftp.tcl repeats.
SCENARIO = """
runs = 1
duration = "1000000 s"
[[users]]
traffic.ftp.size = "16 MB"
"""

# Memory is flat when 100 times the bytes need at most this much more, in MiB.
FLAT_MIB = 1.0


@dataclass(frozen=True)
class Case:
    """What nodeb is asked to carry, and the share of ns-2's time per packet it may take."""

    name: str
    overrides: tuple[str, ...]
    target: float


CASES = (
    Case("wire, 384 kb/s", ("radio=link",), 1 / 5),
    Case("DCH, BLER 1 %", ("radio.dch.bler=0.01",), 1 / 2),
    Case("DCH, BLER 10 %", ("radio.dch.bler=0.1",), 1 / 2),
    Case("HS-DSCH 2 ms, BLER 1 %", ("radio.hs_dsch.bler=0.01",), 1.0),
    Case("HS-DSCH 2 ms, BLER 10 %", ("radio.hs_dsch.bler=0.1",), 1.0),
)


@dataclass(frozen=True)
class Process:
    """A finished process: what it used and the figures it printed."""

    cpu_s: float
    peak_mib: float
    figures: dict[str, float]

    @property
    def us_per_packet(self) -> float:
        """CPU time of the whole process over the data packets sent."""
        return self.cpu_s * 1e6 / self.figures["data_pkts"]


@dataclass
class Series:
    """The processes of one case, one a round."""

    name: str
    command: list[str]
    target: float | None = None
    done: list[Process] = field(default_factory=list)

    def median(self) -> float:
        """Median of the CPU time per packet in microseconds."""
        return statistics.median(process.us_per_packet for process in self.done)

    def spread(self) -> float:
        """Largest less smallest CPU time per packet, as a share of the median."""
        times = [process.us_per_packet for process in self.done]
        return (max(times) - min(times)) / self.median()


def run(command: list[str]) -> Process:
    """Runs a command to its end; the kernel says what this process and no other has used."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout:
        output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"error: {' '.join(command)} failed with status {child.returncode}")
    pairs = (word.split("=", 1) for word in output.split() if "=" in word)
    figures = {key: float(value) for key, value in pairs}
    return Process(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, figures)


def table(header: list[str], rows: list[list[str]]) -> str:
    """Columns side by side: the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: list[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(header), rule, *map(line, rows)])


def take_turns(series: list[Series], rounds: int) -> None:
    """Runs each series once a round."""
    for done in range(rounds):
        for one in series:
            print(f"\rround {done + 1} of {rounds}: {one.name:<30}", end="", file=sys.stderr)
            one.done.append(run(one.command))
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)


def speed(nodeb: list[Series], reference: Series | None) -> tuple[str, bool]:
    """The table of CPU times, and whether all targets are met."""
    header = ["CPU time of the whole process", "packets", "us/packet", "spread"]
    header += ["of ns-2", "target", ""] if reference else []
    rows, good = [], True
    for one in [*([reference] if reference else []), *nodeb]:
        packets = one.done[0].figures["data_pkts"]
        row = [one.name, f"{packets:.0f}", f"{one.median():.3f}", f"{one.spread():.0%}"]
        if reference and one.target is None:
            row += ["1", "", ""]
        elif reference and one.target is not None:
            ratio = one.median() / reference.median()
            holds = ratio <= one.target
            good &= holds
            row += [f"{ratio:.3f}", f"1/{1 / one.target:.0f}", "pass" if holds else "FAIL"]
        rows.append(row)
    return table(header, rows), good


def same_transfer(nodeb: list[Series], reference: Series) -> str:
    """How far apart the two simulators see the end of the wired transfer."""
    ours, theirs = (one.done[0].figures["simtime"] for one in (nodeb[0], reference))
    return f"end of the transfer over the wire: nodeb {ours:.1f} s, ns-2 {theirs:.1f} s"


def memory(long: list[Series], size: int) -> tuple[str, bool]:
    """The table of peak memory, and whether nodeb's does not grow with the transfer."""
    small = size // 100
    header = ["peak memory in MiB", f"{small / 1e6:g} MB", f"{size / 1e6:g} MB", ""]
    rows, good = [], True
    for one in long:
        command = [word.replace(str(size), str(small)) for word in one.command]
        before = run(command).peak_mib
        after = statistics.median(process.peak_mib for process in one.done)
        flat = after - before <= FLAT_MIB
        verdict = ""
        if one.target is not None:
            verdict = "flat" if flat else "FAIL: it grows"
            good &= flat
        rows.append([one.name, f"{before:.1f}", f"{after:.1f}", verdict])
    return table(header, rows), good


def reproduction() -> str:
    """Times `nodeb reproduce wang`, all tables and figures of the study."""
    if not NODEB.exists():
        return "nodeb reproduce wang: skipped, there is no .venv/bin/nodeb (make build)"
    with tempfile.TemporaryDirectory() as out:
        begin = time.monotonic()
        command = [str(NODEB), "reproduce", "wang", "--out", out]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert child.stderr is not None
        with child.stderr:
            messages = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            return f"nodeb reproduce wang: FAILED\n{messages.decode(errors='replace')[-500:]}"
        wall, cpu = time.monotonic() - begin, usage.ru_utime + usage.ru_stime
    return f"nodeb reproduce wang: {wall:.1f} s on {os.cpu_count()} cores, {cpu:.1f} s of CPU time"


def arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program (default 5)")
    parser.add_argument(
        "--size", type=int, default=1_600_000_000, help="bytes of the file (default 1.6 GB)"
    )
    parser.add_argument("--no-reproduce", action="store_true", help="leave out `nodeb reproduce`")
    options = parser.parse_args()
    if options.rounds < 1 or options.size < 1_000_000:
        parser.error("expected at least 1 round and 1 MB")
    return options


def main() -> int:
    """Runs everything and returns 1 if a target was missed."""
    options = arguments()
    if not SIMULATE.exists():
        sys.exit("error: build it first: cargo build --release --example simulate")
    ns = shutil.which("ns")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ftp.toml"
        file.write_text(SCENARIO)
        size = f"users.0.traffic.ftp.size={options.size} B"
        nodeb = [
            Series(
                f"nodeb: {case.name}",
                [str(SIMULATE), str(file), size, *case.overrides],
                case.target,
            )
            for case in CASES
        ]
        reference = (
            Series("ns-2: wire, 384 kb/s", [ns, str(FTP_TCL), str(options.size)]) if ns else None
        )
        everyone = [*([reference] if reference else []), *nodeb]
        take_turns(everyone, options.rounds)
        times, fast = speed(nodeb, reference)
        peaks, flat = memory(everyone, options.size)
    print(f"one FTP of {options.size / 1e6:g} MB, {options.rounds} rounds in turns\n")
    print(times)
    if reference:
        print(same_transfer(nodeb, reference))
    else:
        print(
            "ns-2 is not installed (Debian: apt install ns2), so there is nothing to compare with."
        )
    print(f"\n{peaks}")
    if not options.no_reproduce:
        print(f"\n{reproduction()}")
    return 0 if fast and flat else 1


if __name__ == "__main__":
    sys.exit(main())
