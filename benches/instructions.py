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
import itertools
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
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
NUMBERS = itertools.count()  # Numbers of valgrind's files.
BLAMED = 8  # Number of functions that are listed for a row that fails.


# --- rows ---

# The function in which instructions are counted, and the package, by program.
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
    short: str
    long: str
    overrides: tuple[str, ...] = ()
    unit: str = "packet"
    # The printed figure that counts units, such as packets, and the units of each.
    counted: str = "data_pkts"
    factor: float = 1.0
    # Two runs whose peak memory is compared, both so long that every queue reaches its maximum.
    memory: tuple[str, ...] = ()
    verb: str = ""  # What `cost` does with the file; empty for `simulate`.

    @property
    def program(self) -> str:
        return COST if self.verb else SIMULATE


EXPLAINED = """
[radio.dch]
bler = 0.1
[[users]]
traffic.ftp.size = "1 MB"
"""

# These scenarios are measured in addition to those in `examples`.
WRITTEN = {"ftp.toml": FTP, "many.toml": MANY, "explained.toml": EXPLAINED}
TTI_S = {"hsdpa": 0.002, "lte": 0.001}


def _ftp(name: str, radio: str, memory: bool = False) -> Row:
    small, middle, large = (f"users.0.traffic.ftp.size={size} MB" for size in (10, 50, 90))
    more = (middle, large) if memory else ()
    return Row(name, "ftp.toml", small, middle, (radio,), memory=more)


def _many(name: str, tcp: str, memory: bool = False) -> Row:
    short, long, longer = (f"duration={seconds} s" for seconds in (20, 60, 90))
    more = (long, longer) if memory else ()
    return Row(f"30 flows, {name}", "many.toml", short, long, (tcp,), memory=more)


def _cell(
    radio: str, users: int, scheduler: str, short_s: int, long_s: int, memory: bool = False
) -> Row:
    file, overrides = cell(radio, users, scheduler)
    runs = f"duration={short_s} s", f"duration={long_s} s"
    name = f"{radio.upper()}, {users} users, {scheduler}"
    units = "user and TTI", "simtime", users / TTI_S[radio]
    return Row(name, str(file), *runs, overrides, *units, memory=runs if memory else ())


def _replications(name: str, file: str, short: str, long: str, *record: str, verb: str = "") -> Row:
    return Row(name, file, short, long, record, "replication", "runs", verb=verb)


ROWS = (
    _ftp("wire", "radio=link", memory=True),
    _ftp("DCH, 1 %", "radio.dch.bler=0.01"),
    _ftp("DCH, 10 %", "radio.dch.bler=0.1", memory=True),
    _ftp("HS-DSCH, 1 %", "radio.hs_dsch.bler=0.01"),
    _ftp("HS-DSCH, 10 %", "radio.hs_dsch.bler=0.1", memory=True),
    Row(
        "FACH and DCH, 8 users",
        "examples/switching.toml",
        "duration=10000 s",
        "duration=50000 s",
        # Both are long enough to store the maximum number of load times.
        memory=("duration=20000 s", "duration=50000 s"),
    ),
    _many("NewReno", classic("newreno"), memory=True),
    _many("SACK", classic("sack")),
    *(_many(name, linux(name.lower())) for name in ("CUBIC", "BBR", "BBR3")),
    _cell("hsdpa", 30, "proportional_fair", 10, 40, memory=True),
    _cell("hsdpa", 30, "max_ci", 10, 40),
    _cell("hsdpa", 30, "round_robin", 10, 40),
    _cell("hsdpa", 400, "proportional_fair", 4, 8),
    _cell("hsdpa", 400, "max_ci", 4, 8),
    _cell("hsdpa", 400, "round_robin", 4, 8),
    _cell("lte", 30, "proportional_fair", 10, 20),
    _cell("lte", 30, "round_robin", 10, 20),
    _cell("lte", 400, "proportional_fair", 2, 4),
    Row(
        "WCDMA, 6 users",
        "examples/wcdma.toml",
        "duration=0200 s",
        "duration=1000 s",
        ("users.0.traffic.ftp.size=100 MB",),
    ),
    *(
        _replications(
            name,
            "examples/dch-50k.toml",
            "--runs=10",
            "--runs=90",
            *(f"record.{what}={record}" for what in ("cwnd", "segments", "queue")),
        )
        for name, record in (("50 kB over DCH", "false"), ("50 kB over DCH, recorded", "true"))
    ),
    *(
        _replications(f"1 MB over DCH, 10 %, {name}", "explained.toml", "1", "9", verb=verb)
        for name, verb in (("with tables", "run"), ("explained", "explain"))
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

    @property
    def stored(self) -> list[str]:
        peak_bytes = "" if self.peak_bytes is None else str(self.peak_bytes)
        return [self.unit, f"{self.instructions:.2f}", f"{self.calls:.4f}", peak_bytes]


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


def _valgrind(options: Sequence[str], program: Path, arguments: Sequence[str]) -> dict[str, float]:
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


def measure(row: Row, built: Path, folder: Path, pool: ThreadPoolExecutor) -> Callable[[], Found]:
    """Starts the runs of a row; the function that is returned waits for their end."""
    _, begin = PROGRAMS[row.program]
    program = built / row.program
    file = folder / row.file if row.file in WRITTEN else ROOT / row.file

    def start(run: str, tool: str, *options: str) -> Future[tuple[float, str]]:
        output = folder / f"{next(NUMBERS)}.out"
        options = (f"--tool={tool}", *options, f"--{tool}-out-file={output}")
        words = [*filter(None, [row.verb]), str(file), *row.overrides, run]

        def work() -> tuple[float, str]:
            printed = _valgrind(options, program, words)
            return printed[row.counted] * row.factor, output.read_text()

        return pool.submit(work)

    costs = [start(run, "callgrind", f"--toggle-collect={begin}") for run in (row.short, row.long)]
    # With a snapshot at each new peak, the figure is exact. This is fast enough, as there are few
    # allocations.
    peaks = [start(run, "massif", "--peak-inaccuracy=0", "--depth=1") for run in row.memory]

    def found() -> Found:
        (before, short), (after, long) = (cost.result() for cost in costs)
        per_unit = []
        # The difference does not contain the cost of starting the program.
        first, last = (callgrind.read(text, program) for text in (short, long))
        for less, more in zip(first, last, strict=True):
            more.subtract(less)
            per_unit.append({name: count / (after - before) for name, count in more.items()})
        functions, outside = per_unit
        now = Found(row.unit, sum(functions.values()), sum(outside.values()))
        now.functions, now.outside = functions, outside
        if peaks:
            now.short_peak_bytes, now.peak_bytes = (_peak(run.result()[1]) for run in peaks)
        return now

    return found


def _peak(text: str) -> int:
    """The peak size of the heap in bytes, from the output of massif."""
    sizes = [line.partition("=")[2] for line in text.splitlines() if line.startswith("mem_heap_B")]
    return max(map(int, sizes))


# --- Files with stored figures ---


def _lines(file: Path) -> Iterable[dict[str, str]]:
    text = file.read_text("utf-8") if file.exists() else ""
    return csv.DictReader(text.splitlines(), delimiter="\t")


def read() -> dict[str, Found]:
    """The stored instruction counts and peak memory by the row's name."""
    found = {
        line["row"]: Found(
            line["unit"],
            float(line["instructions"]),
            float(line["calls"]),
            int(line["peak_bytes"]) if line["peak_bytes"] else None,
            line["commit"],
        )
        for line in _lines(FILE)
    }
    for line in _lines(FUNCTIONS):
        into = found[line["row"]]
        kind = into.outside if line["counted"] == "calls" else into.functions
        kind[line["function"]] = float(line["count"])
    return found


def write(rows: Mapping[str, Found]) -> None:
    """A second file gets the functions with most of the cost."""
    lines = [["row", "unit", "instructions", "calls", "peak_bytes", "commit"]]
    functions = [["row", "counted", "count", "function"]]
    for name, one in rows.items():
        lines.append([name, *one.stored, one.commit])
        for counted, costs in (("instructions", one.functions), ("calls", one.outside)):
            least = SHARE * sum(costs.values())
            for function, cost in sorted(costs.items(), key=lambda item: (-item[1], item[0])):
                if cost > least:
                    functions.append([name, counted, f"{cost:.4g}", function])
    for file, table in ((FILE, lines), (FUNCTIONS, functions)):
        file.write_text("".join("\t".join(line) + "\n" for line in table), "utf-8")


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


def blamed(before: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """The functions whose costs have grown most, with their costs before and now."""
    names = before.keys() | now.keys()
    costs = [(name, before.get(name, 0.0), now.get(name, 0.0)) for name in names]
    return [
        f"    {new - old:+11.3f}  {old:11.3f} -> {new:11.3f}  {function}"
        for function, old, new in sorted(costs, key=lambda cost: (cost[1] - cost[2], cost[0]))
        if new > old
    ][:BLAMED]


def judge(name: str, before: Found | None, now: Found) -> list[str]:
    """What is to be said of a row; it fails if a line begins with `FAIL`."""
    if before is None:
        return [f"FAIL  {name}: not written down yet: make instructions WRITE=1"]
    said = []
    comparisons = [(".2f", f"instructions a {now.unit}", before.cost, now.cost)]
    if now.peak_bytes is not None:
        if before.peak_bytes is None:
            return [f"FAIL  {name}: its memory is not written down yet: make instructions WRITE=1"]
        comparisons.append(("", "bytes at its peak", before.peak_bytes, now.peak_bytes))
        if now.short_peak_bytes is not None and now.peak_bytes > now.short_peak_bytes:
            more = now.peak_bytes - now.short_peak_bytes
            said.append(f"FAIL  {name}: memory grows with simulated time, by {more} bytes")
    for digits, what, old, new in comparisons:
        text = f"{name}: {old:{digits}} -> {new:{digits}} {what} ({new / old - 1:+.1%})"
        if new > old * (1 + MARGIN):
            said.append(f"FAIL  {text}, set at {before.commit}")
            said += blamed(before.costs, now.costs) if digits else []
        elif new < old * (1 - MARGIN):
            said.append(f"lower {text}; write it down: make instructions WRITE=1")
    return said


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
    rows = [row for row in ROWS if any(part in row.name for part in options.rows or [""])]
    built = (options.built or build()).resolve()
    kept, found = read(), dict[str, Found]()
    print(f"{'':36} instructions  change     calls  for one")
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name)
        for file, text in WRITTEN.items():
            (folder / file).write_text(text)
        for row, measured in [(row, measure(row, built, folder, pool)) for row in rows]:
            found[row.name] = measured()
            print(show(row.name, found[row.name], kept.get(row.name)), flush=True)
    if options.write:
        here = commit()
        for name, one in found.items():
            old = kept.get(name)
            one.commit = old.commit if old and old.stored == one.stored else here
        everything = kept | found
        write({row.name: everything[row.name] for row in ROWS if row.name in everything})
        return 0
    said = [line for name, one in found.items() for line in judge(name, kept.get(name), one)]
    print("\n".join(said), end="\n" if said else "")
    return int(any(line.startswith("FAIL") for line in said))


if __name__ == "__main__":
    sys.exit(main())
