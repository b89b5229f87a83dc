"""Counts the simulator's instructions and peak memory, and compares them with stored figures.

    python3 benches/instructions.py [--write] [--built FOLDER] [ROW ...]

Valgrind counts instructions, so the figures are equal on all machines of one architecture, whatever
their load. A row is the difference between a long and a short run, which cancels the start, divided
by the difference in packets (or users and TTIs, or replications).

Only functions of the program itself are counted. The C library selects variants of its functions by
the processor, and so do a few functions of the program (`BY_PROCESSOR` in `callgrind.py`).
Calls of these functions have a column of their own, and each counts as fifty instructions.

A row fails if its cost or its peak memory exceeds that in `benches/instructions.tsv` by more than
2 %; the functions that have grown are listed. It also fails if the peak memory of a long run
exceeds that of a short one, or if the file has no such row. `--write` writes the file and a second
one with the functions that cost more than 0.2 % of a row. Only the standard library is needed.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import callgrind
from speed import FTP, MANY, cell, classic, linux

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "benches/instructions.tsv"
FUNCTIONS = ROOT / "benches/instructions_functions.tsv"

MARGIN = 0.02  # Relative growth above which a row fails. A reduction by more should be stored.
# Assumed cost in instructions of a call that leaves the program. A copy of memory costs less, an
# allocation more.
CALL = 50
SHARE = 0.002  # Functions whose share of a row is smaller are not stored.
BLAMED = 8  # Number of functions that are listed for a row that fails.


# --- rows ---

# For each program, its package and the function in which instructions are counted.
SIMULATE, COST = "simulate", "cost"
PROGRAMS = {
    SIMULATE: ("nodeb-sim", "simulate::report"),
    COST: ("nodeb-explain", "cost::repeat"),
}


@dataclass(frozen=True)
class Row:
    """Measurement that compares a short with a long run of a scenario."""

    name: str
    file: str
    short: tuple[str, ...]
    long: tuple[str, ...]
    overrides: tuple[str, ...] = ()
    unit: str = "packet"
    # Number of units (such as packets) of a run, computed from the figures that the run prints.
    units: Callable[[Mapping[str, float]], float] = lambda figures: figures["data_pkts"]
    # Command-line arguments of two runs whose peak memory is compared. Both runs are so long that
    # every queue reaches its maximum.
    memory: tuple[tuple[str, ...], ...] = ()
    program: str = SIMULATE
    verb: tuple[str, ...] = ()  # Words on the command line before the name of the file.


EXPLAINED = """
[radio.dch]
bler = 0.1
[[users]]
traffic.ftp.size = "1 MB"
"""

# These scenarios are measured in addition to those in `examples`.
WRITTEN = {"ftp.toml": FTP, "many.toml": MANY, "explained.toml": EXPLAINED}
TTI_S = {"hsdpa": 0.002, "lte": 0.001}


def _ftp(name: str, *radio: str, memory: bool = False) -> Row:
    small, middle, large = ((f"users.0.traffic.ftp.size={size} MB",) for size in (10, 50, 90))
    return Row(name, "ftp.toml", small, middle, radio, memory=(middle, large) if memory else ())


def _many(name: str, tcp: str, memory: bool = False) -> Row:
    short, long, longer = ((f"duration={seconds} s",) for seconds in (20, 60, 90))
    return Row(
        name=f"30 flows, {name}",
        file="many.toml",
        short=short,
        long=long,
        overrides=(tcp,),
        memory=(long, longer) if memory else (),
    )


def _cell(
    radio: str,
    users: int,
    scheduler: str,
    seconds: tuple[int, int] = (10, 40),
    memory_seconds: tuple[int, ...] = (),
) -> Row:
    short, long = ((f"duration={length} s",) for length in seconds)
    file, overrides = cell(radio, users, scheduler)
    return Row(
        name=f"{radio.upper()}, {users} users, {scheduler}",
        file=str(file),
        short=short,
        long=long,
        overrides=overrides,
        unit="user and TTI",
        units=lambda figures: figures["simtime"] / TTI_S[radio] * users,
        memory=tuple((f"duration={length} s",) for length in memory_seconds),
    )


ROWS = (
    _ftp("wire", "radio=link", memory=True),
    _ftp("DCH, 1 %", "radio.dch.bler=0.01"),
    _ftp("DCH, 10 %", "radio.dch.bler=0.1", memory=True),
    _ftp("HS-DSCH, 1 %", "radio.hs_dsch.bler=0.01"),
    _ftp("HS-DSCH, 10 %", "radio.hs_dsch.bler=0.1", memory=True),
    Row(
        "FACH and DCH, 8 users",
        "examples/switching.toml",
        ("duration=10000 s",),
        ("duration=50000 s",),
        memory=(
            ("duration=20000 s",),
            ("duration=50000 s",),
        ),  # Both runs are long enough to store the maximum number of load times.
    ),
    _many("NewReno", classic("newreno"), memory=True),
    _many("SACK", classic("sack")),
    *(_many(name, linux(name.lower())) for name in ("CUBIC", "BBR", "BBR3")),
    _cell("hsdpa", 30, "proportional_fair", memory_seconds=(10, 40)),
    _cell("hsdpa", 30, "max_ci"),
    _cell("hsdpa", 30, "round_robin"),
    _cell("hsdpa", 400, "proportional_fair", (4, 8)),
    _cell("hsdpa", 400, "max_ci", (4, 8)),
    _cell("hsdpa", 400, "round_robin", (4, 8)),
    _cell("lte", 30, "proportional_fair", (10, 20)),
    _cell("lte", 30, "round_robin", (10, 20)),
    _cell("lte", 400, "proportional_fair", (2, 4)),
    Row(
        "WCDMA, 6 users",
        "examples/wcdma.toml",
        ("duration=0200 s",),
        ("duration=1000 s",),
        ("users.0.traffic.ftp.size=100 MB",),
    ),
    *(
        Row(
            name,
            "examples/dch-50k.toml",
            ("--runs=10",),
            ("--runs=90",),
            tuple(f"record.{what}={record}" for what in ("cwnd", "segments", "queue")),
            "replication",
            lambda figures: figures["runs"],
        )
        for name, record in (("50 kB over DCH", "false"), ("50 kB over DCH, recorded", "true"))
    ),
    *(
        Row(
            name=f"1 MB over DCH, 10 %, {name}",
            file="explained.toml",
            short=("1",),
            long=("9",),
            verb=(what,),
            unit="replication",
            units=lambda figures: figures["runs"],
            program=COST,
        )
        for name, what in (("with tables", "run"), ("explained", "explain"))
    ),
)


@dataclass
class Found:
    """Measured figures of a row. All except the memory are per unit, such as a packet."""

    unit: str
    instructions: float
    calls: float
    peak_bytes: int | None = None
    commit: str = ""
    functions: dict[str, float] = field(default_factory=dict)
    outside: dict[str, float] = field(default_factory=dict)
    short_peak_bytes: int | None = None

    @property
    def cost(self) -> float:
        """Cost in instructions per unit, including calls; it is compared with the stored cost."""
        return self.instructions + CALL * self.calls

    @property
    def costs(self) -> dict[str, float]:
        """Costs in instructions per unit of the program's functions and of calls that leave it."""
        return self.functions | {f"calls of {name}": CALL * n for name, n in self.outside.items()}


# --- Measurements ---


def build() -> Path:
    """Compiles the programs in release mode, ignoring compiler flags of the caller."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CARGO_PROFILE_") and "RUSTFLAGS" not in name
    }
    command = ["cargo", "build", "--release", "--quiet"]
    for program, (package, _) in PROGRAMS.items():
        command += ["-p", package, "--example", program]
    subprocess.run(command, cwd=ROOT, env=env, check=True)
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release/examples"


def _valgrind(options: list[str], program: Path, arguments: tuple[str, ...]) -> dict[str, float]:
    valgrind = shutil.which("valgrind") or "valgrind"
    done = subprocess.run(
        [valgrind, "-q", *options, str(program), *arguments],
        capture_output=True,
        text=True,
        # Without the caller's environment, VALGRIND_OPTS and ~/.valgrindrc do not change the
        # result.
        env={"PATH": os.defpath},
    )
    if done.returncode:
        sys.exit(f"error: {program} {' '.join(arguments)}: {done.stderr or done.stdout}")
    pairs = (word.split("=", 1) for word in done.stdout.split() if "=" in word)
    return {name: float(value) for name, value in pairs}


def peak(text: str) -> int:
    """Returns the peak size of the heap in bytes, from the output of massif."""
    sizes = [line.partition("=")[2] for line in text.splitlines() if line.startswith("mem_heap_B")]
    return max(map(int, sizes))


class Laboratory:
    """Runs the programs in folder `built` in parallel."""

    def __init__(self, built: Path, folder: Path) -> None:
        self._built, self._folder = built, folder
        for name, text in WRITTEN.items():
            (folder / name).write_text(text)
        self._pool = ThreadPoolExecutor(os.cpu_count())
        self._files = 0

    def _start(self, row: Row, run: tuple[str, ...], tool: list[str]) -> Future[tuple[float, str]]:
        self._files += 1
        output = self._folder / f"{self._files}.out"
        file = self._folder / row.file if row.file in WRITTEN else ROOT / row.file
        program, words = self._built / row.program, (*row.verb, str(file), *row.overrides, *run)

        def work() -> tuple[float, str]:
            figures = _valgrind([*tool[:-1], tool[-1] + str(output)], program, words)
            text = output.read_text()
            output.unlink()
            return row.units(figures), text

        return self._pool.submit(work)

    def measure(self, row: Row) -> Callable[[], Found]:
        begin = PROGRAMS[row.program][1]
        tool = ["--tool=callgrind", f"--toggle-collect={begin}", "--callgrind-out-file="]
        costs = [self._start(row, run, tool) for run in (row.short, row.long)]
        # With a snapshot at each new peak, the figure is exact. This is fast enough, as there are
        # few allocations.
        tool = ["--tool=massif", "--peak-inaccuracy=0", "--depth=1", "--massif-out-file="]
        peaks = [self._start(row, run, tool) for run in row.memory]

        def found() -> Found:
            (before, short), (after, long) = (one.result() for one in costs)
            units, program = after - before, self._built / row.program
            first, last = (callgrind.read(text, program) for text in (short, long))
            profile = last.less(first)
            result = Found(row.unit, profile.instructions / units, profile.calls / units)
            result.functions = {name: cost / units for name, cost in profile.functions.items()}
            result.outside = {name: calls / units for name, calls in profile.outside.items()}
            if peaks:
                result.short_peak_bytes, result.peak_bytes = (
                    peak(one.result()[1]) for one in peaks
                )
            return result

        return found


# --- Files with stored figures ---


def read(file: Path = FILE, functions: Path = FUNCTIONS) -> dict[str, Found]:
    """Returns the stored instruction counts and peak memory by the row's name.

    The result is empty if `file` does not exist.
    """
    found = dict[str, Found]()
    if not file.exists():
        return found
    with file.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines, delimiter="\t"):
            found[line["row"]] = Found(
                line["unit"],
                float(line["instructions"]),
                float(line["calls"]),
                int(line["peak_bytes"]) if line["peak_bytes"] else None,
                line["commit"],
            )
    with functions.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines, delimiter="\t"):
            into = found[line["row"]]
            kind = into.outside if line["counted"] == "calls" else into.functions
            kind[line["function"]] = float(line["count"])
    return found


def write(rows: dict[str, Found], file: Path = FILE, functions: Path = FUNCTIONS) -> None:
    """A second file gets the functions with most of the cost."""
    header = ("row", "unit", "instructions", "calls", "peak_bytes", "commit")
    with file.open("w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, delimiter="\t", lineterminator="\n")
        lines.writerow(header)
        for name, one in rows.items():
            peak_bytes = "" if one.peak_bytes is None else one.peak_bytes
            lines.writerow(
                [
                    name,
                    one.unit,
                    f"{one.instructions:.2f}",
                    f"{one.calls:.4f}",
                    peak_bytes,
                    one.commit,
                ]
            )
    with functions.open("w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, delimiter="\t", lineterminator="\n")
        lines.writerow(("row", "counted", "count", "function"))
        for name, one in rows.items():
            for counted, costs in (("instructions", one.functions), ("calls", one.outside)):
                least = SHARE * sum(costs.values())
                for function, cost in sorted(costs.items(), key=lambda item: (-item[1], item[0])):
                    if cost > least:
                        lines.writerow((name, counted, f"{cost:.4g}", function))


def commit() -> str:
    head = ["git", "rev-parse", "--short=10", "HEAD"]
    name = subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    sources = [":(glob)crates/*/src/**", ":(glob)crates/*/examples/*.rs", ":(glob)examples/*.toml"]
    sources += ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml"]
    sources += [f"benches/{name}.py" for name in ("instructions", "callgrind", "speed")]
    changed = ["git", "status", "--porcelain", "--", *sources]
    dirty = subprocess.run(changed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return name + ("+" if dirty else "")


# --- Verdicts ---


def grown(before: Mapping[str, float], now: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """Returns all functions with their costs before and now, by decreasing growth."""
    names = before.keys() | now.keys()
    costs = [(name, before.get(name, 0.0), now.get(name, 0.0)) for name in names]
    return sorted(costs, key=lambda cost: (cost[1] - cost[2], cost[0]))


def judge(name: str, before: Found | None, now: Found) -> tuple[bool, list[str]]:
    if before is None:
        return False, [f"FAIL  {name}: not written down yet: make instructions WRITE=1"]
    good, said, lower = True, list[str](), list[str]()
    about = f"{name}: {before.cost:.2f} -> {now.cost:.2f} instructions a {now.unit}"
    about += f" ({now.cost / before.cost - 1:+.1%})"
    if now.cost > before.cost * (1 + MARGIN):
        good = False
        said.append(f"FAIL  {about}, set at {before.commit}; what has grown:")
        said += [
            f"    {new - old:+11.3f}  {old:11.3f} -> {new:11.3f}  {function}"
            for function, old, new in grown(before.costs, now.costs)[:BLAMED]
            if new > old
        ]
    elif now.cost < before.cost * (1 - MARGIN):
        lower.append(about)
    if now.peak_bytes is not None:
        if now.short_peak_bytes is not None and now.peak_bytes > now.short_peak_bytes:
            good = False
            more = now.peak_bytes - now.short_peak_bytes
            said.append(
                f"FAIL  {name}: memory grows with simulated time, by {more} bytes at its peak"
            )
        old_peak = before.peak_bytes
        if old_peak is None:
            good = False
            said.append(
                f"FAIL  {name}: its memory is not written down yet: make instructions WRITE=1"
            )
        else:
            about = f"{name}: {old_peak} -> {now.peak_bytes} bytes at its peak"
            if now.peak_bytes > old_peak * (1 + MARGIN):
                good = False
                said.append(f"FAIL  {about}, set at {before.commit}")
            elif now.peak_bytes < old_peak * (1 - MARGIN):
                lower.append(about)
    said += [f"lower {about}; write it down: make instructions WRITE=1" for about in lower]
    return good, said


def same(one: Found, other: Found | None) -> bool:
    """Returns true if the figures of two rows are equal in all digits that are stored."""
    return other is not None and (
        f"{one.instructions:.2f} {one.calls:.4f} {one.peak_bytes}"
        == f"{other.instructions:.2f} {other.calls:.4f} {other.peak_bytes}"
    )


def show(name: str, now: Found, before: Found | None) -> str:
    """Returns the line of a row in the printed table, with the change from the stored figures."""
    change = f"{now.instructions / before.instructions - 1:+7.1%}" if before else "    new"
    memory = "" if now.peak_bytes is None else f"{now.short_peak_bytes}, {now.peak_bytes} B"
    figures = f"{name:36} {now.instructions:11.2f} {change} {now.calls:9.4f}"
    return f"{figures}  {now.unit:13} {memory}".rstrip()


def main() -> int:
    """Measures the chosen rows and compares or stores them. Returns 1 if a row fails."""
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("rows", nargs="*", metavar="ROW", help="part of a row's name (default: all)")
    line.add_argument("--write", action="store_true", help="store the figures")
    line.add_argument(
        "--built", type=Path, metavar="FOLDER", help="folder with simulate and cost already built"
    )
    options = line.parse_args()
    if platform.machine() != "x86_64" or not shutil.which("valgrind"):
        print(
            "instructions: skipped, they are counted on x86_64 with valgrind (apt install valgrind)"
        )
        return 0
    rows = [
        row for row in ROWS if not options.rows or any(part in row.name for part in options.rows)
    ]
    built = (options.built or build()).resolve()
    kept = read()
    found = dict[str, Found]()
    print(f"{'':36} instructions  change     calls  for one")
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(built, Path(folder))
        for name, measured in [(row.name, laboratory.measure(row)) for row in rows]:
            found[name] = measured()
            print(show(name, found[name], kept.get(name)), flush=True)
    if options.write:
        here = commit()
        for name, one in found.items():
            old = kept.get(name)
            one.commit = old.commit if old and same(one, old) else here
        write(
            {
                row.name: found.get(row.name) or kept[row.name]
                for row in ROWS
                if row.name in found | kept
            }
        )
        return 0
    verdicts = [judge(name, kept.get(name), one) for name, one in found.items()]
    for _, said in verdicts:
        print("\n".join(said), end="\n" if said else "")
    return 0 if all(good for good, _ in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
