"""Measures the speed of programs in turns, and compares it with limits, with ns-2 and with IT++.

    python benches/speed.py [BENCH ...] [--rounds N] [--scale X]

A round runs every program of a bench once, so that a temporary load of the machine affects all of
them. The median over the rounds counts, or the best where a program repeats its work. ns-2 and
IT++ are measured where they are installed (Debian: `apt install ns2 libitpp-dev g++`).
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "target/release/examples"
NODEB = (sys.executable, "-m", "nodeb")
FLAT_MIB = 1.0
"""Largest difference between the peaks of a long and a short run whose memory is constant."""

Figures = Mapping[str, float]
Command = Sequence[object]


@dataclass
class Row:
    """Program, and the figure of its processes that is compared.

    The figure may be at most `limit`, or at least if more of it is better; with `against`, at most
    this multiple of that row's figure. A peer that is not installed has no command.
    """

    name: str
    command: Command
    figure: Callable[[Figures], float]
    limit: float | None = None
    against: Row | None = None
    processes: list[Figures] = field(default_factory=list)

    @property
    def values(self) -> list[float]:
        return [self.figure(figures) for figures in self.processes]


@dataclass
class Bench:
    """Programs whose figures are of one unit."""

    title: str
    unit: str
    rows: list[Row]
    more_is_better: bool = False
    of_rounds: Callable[[Iterable[float]], float] = statistics.median
    also: Mapping[str, Callable[[Figures], float]] = field(default_factory=dict)
    """Further figures of the last round, by their heads."""
    memory: list[tuple[str, Command | None, Command]] = field(default_factory=list)
    """Names, short runs and long runs, whose peaks must be equal."""


# --- Figures of a process, which prints words such as `data_pkts=12` ---


def cpu_s(figures: Figures) -> float:
    return figures["cpu_s"]


def us_per_packet(figures: Figures) -> float:
    return 1e6 * figures["cpu_s"] / figures["data_pkts"]


def simulated_per_cpu_s(figures: Figures) -> float:
    return figures["simtime"] / figures["cpu_s"]


def printed(name: str) -> Callable[[Figures], float]:
    return lambda figures: figures[name]


TRANSFER = {"packets": printed("data_pkts"), "simulated s": printed("simtime")}


# --- Compiled programs ---


def example(name: str, package: str, *arguments: object) -> Command:
    if not (BUILT / name).exists():
        build = f"cargo build --release -p {package} --example {name}"
        raise SystemExit(f"error: build it first: {build}")
    return [BUILT / name, *arguments]


def simulate(scenario: Path, *overrides: object) -> Command:
    return example("simulate", "nodeb-sim", scenario, *overrides)


def ns2(name: str, script: str, *arguments: object) -> Row:
    program = shutil.which("ns")
    command = [program, ROOT / "benches/ns2" / script, *arguments] if program else []
    return Row(f"ns-2: {name}", command, us_per_packet)


def turbo(folder: Path, scale: float) -> Iterator[Bench]:
    """The turbo code of TS 25.212, without early stop; max-log-MAP scales extrinsics by 0.75."""
    block = ("3840", "3", "1.0")  # bits, iterations, Eb/N0 in dB
    peers = []
    if (config := shutil.which("itpp-config")) and (compiler := shutil.which("g++")):
        flags = shlex.split(subprocess.check_output([config, "--cflags", "--libs"], text=True))
        program, source = folder / "turbo", ROOT / "benches/itpp/turbo.cpp"
        native = [compiler, "-O3", "-march=native", source, "-o", program]
        subprocess.run([*native, *flags], check=True)
        count = round(160 * scale)
        peers = [Row("IT++: max-log-MAP, double", [program, *block, count], printed("mbit_per_s"))]

    def ours(name: str, method: str, *more: str, **limit: float) -> Row:
        command = example("turbo_speed", "nodeb-phy", *block, method, 0.5 * scale, *more)
        return Row(f"nodeb: {name}", command, printed("mbit_per_s"), **limit)

    rows = [
        *peers,
        ours("max-log-MAP, 16 bits", "max_log_map", limit=100.0),
        ours("the same, baseline instructions", "max_log_map", "baseline"),
        ours("max-log-MAP, float", "max_log_map_float"),
        ours("log-MAP, float", "log_map"),
    ]
    also = {"FER": lambda figures: figures["wrong"] / figures["blocks"]}
    title = "turbo code, K = 3840, 3 iterations, 1 dB, one core"
    yield Bench(title, "Mbit/s", rows, more_is_better=True, of_rounds=max, also=also)


def grid(folder: Path, scale: float) -> Iterator[Bench]:
    command = example("grid_speed", "nodeb-radio", 0.2 * scale)
    parts = {
        "deal": ("deal, full buffers", None),
        "deal_limited": ("deal to at most 6 users", None),
        "deal_short": ("deal, a third of the users with little data", None),
        "sample": ("channel at the next sample", 100.0),
        "between": ("channel between samples", None),
        "effective_25": ("effective SNR of 25 groups", None),
        "effective_4": ("effective SNR of 4 groups", None),
        "tti": ("3 reports, a deal and 6 blocks", 2500.0),
    }
    rows = [Row(name, command, printed(f"{p}_ns"), limit) for p, (name, limit) in parts.items()]
    yield Bench("a TTI of 30 users and 25 groups, one core", "ns", rows, of_rounds=min)


FTP = """
runs = 1
duration = "1000000 s"
[[users]]
traffic.ftp.size = "16 MB"
"""
"""nodeb's defaults equal the settings in ns2/ftp.tcl."""


def ftp(folder: Path, scale: float) -> Iterator[Bench]:
    """The short transfers fill every queue and buffer."""
    size = max(round(1_600_000_000 * scale), 32_000_000)
    small = max(size // 100, 16_000_000)
    scenario = folder / "ftp.toml"
    scenario.write_text(FTP)
    bearers = {
        "wire, 384 kb/s": ("radio=link", 0.15),
        "DCH, BLER 1 %": ("radio.dch.bler=0.01", 0.40),
        "DCH, BLER 10 %": ("radio.dch.bler=0.1", 0.40),
        "HS-DSCH 2 ms, BLER 1 %": ("radio.hs_dsch.bler=0.01", 0.60),
        "HS-DSCH 2 ms, BLER 10 %": ("radio.hs_dsch.bler=0.1", 0.60),
    }

    def rows(size: int) -> list[Row]:
        peer = ns2("wire, 384 kb/s", "ftp.tcl", size)
        setting = f"users.0.traffic.ftp.size={size} B"
        ours = [
            Row(f"nodeb: {name}", simulate(scenario, setting, radio), us_per_packet, most, peer)
            for name, (radio, most) in bearers.items()
        ]
        return [peer, *ours]

    long = rows(size)
    runs = zip(rows(small), long, strict=True)
    memory = [(after.name, before.command, after.command) for before, after in runs]
    title = f"one FTP of {size / 1e6:g} MB; short: {small / 1e6:g} MB"
    yield Bench(title, "us/packet", long, also=TRANSFER, memory=memory)


MANY = """
runs = 1
[wired]
rate = "10 Mbps"
delay = "20 ms"
queue.drop_tail.limit = 100
[radio.link]
rate = "100 Mbps"
delay = "1 ms"
[uplink]
rate = "100 Mbps"
delay = "6 ms"
[[users]]
count = 30
stagger = "10 ms"
traffic.ftp.size = "100 GB"
"""
"""Flows lose packets at the bottleneck all the time. In ns-2 each flow has its own links; in nodeb
each phone has a link and an uplink."""


def classic(control: str) -> str:
    window = "max_window = 64, initial_ssthresh = 64"
    own = f'control = "{control}", packet_size = "1000 B", {window}, delayed_ack = "0 s"'
    return f"tcp={{ classic = {{ {own} }} }}"


def linux(control: str) -> str:
    return f'tcp={{ linux = {{ control = "{control}", packet_size = "1000 B" }} }}'


def many(folder: Path, scale: float) -> Iterator[Bench]:
    seconds = max(round(1000 * scale), 10)
    scenario = folder / "many.toml"
    scenario.write_text(MANY)

    def ours(name: str, tcp: str, limit: float, against: Row) -> Row:
        command = simulate(scenario, f"duration={seconds} s", tcp)
        return Row(f"nodeb: {name}", command, us_per_packet, limit, against)

    rows = []
    for variant, control in (("Newreno", "newreno"), ("Sack1", "sack")):
        peer = ns2(control, "many.tcl", variant, 30, seconds)
        rows += [peer, ours(control, classic(control), 0.15, peer)]
    newreno = next(row for row in rows if row.name == "nodeb: newreno")
    for control, most in {"cubic": 1.2, "bbr": 1.3, "bbr3": 1.3}.items():
        rows.append(ours(control, linux(control), most, newreno))
    title = f"30 FTPs through one bottleneck for {seconds} s"
    yield Bench(title, "us/packet", rows, also=TRANSFER)


def switching(folder: Path, scale: float) -> Iterator[Bench]:
    """ns-2 carries the same load over one shared link: without queues, timers and signalling."""
    seconds = max(round(200_000 * scale), 1000)
    peer = ns2("one shared link", "bursts.tcl", seconds, 8)
    peer.figure = cpu_s

    def command(policy: str, seconds: int) -> Command:
        overrides = ("users.0.count=8", f"radio.fach_dch.policy={policy}")
        return simulate(ROOT / "examples/switching.toml", f"duration={seconds} s", *overrides)

    policies = ("threshold", "preemptive", "non_preemptive", "longest_queue")
    rows = [Row(f"nodeb: {name}", command(name, seconds), cpu_s, 0.08, peer) for name in policies]
    memory = [("nodeb: threshold", *(command("threshold", s) for s in (seconds // 10, seconds)))]
    title = f"8 connections on FACH and DCH for {seconds} s"
    yield Bench(title, "CPU s", [peer, *rows], also=TRANSFER, memory=memory)


FAIR = "proportional_fair"


def cell(radio: str, users: int, scheduler: str) -> tuple[Path, tuple[str, ...]]:
    """Returns the file and the changes of a cell; the first group of HSDPA's is one phone."""
    size = {
        "hsdpa": (f"users.1.count={users - 1}",),
        "lte": (f"users.0.count={users}", 'radio.lte.bandwidth="20 MHz"'),
    }[radio]
    return Path("examples", f"{radio}-cell.toml"), (*size, f"radio.{radio}.scheduler={scheduler}")


def cells(folder: Path, scale: float) -> Iterator[Bench]:
    """Each user downloads 100 MB without end; schedulers that examine less take no longer.

    EURANE was measured on ns-2.29, on another machine, with fading read from files.
    """
    rows, memory = [], []

    def command(radio: str, users: int, scheduler: str, seconds: float) -> Command:
        file, overrides = cell(radio, users, scheduler)
        return simulate(ROOT / file, *overrides, f"duration={seconds} s")

    for radio, users, seconds, least, eurane in (
        ("hsdpa", 30, 300, 3000.0, " (EURANE: 17)"),
        ("hsdpa", 100, 100, None, ""),
        ("hsdpa", 400, 40, 600.0, " (EURANE: 0.22)"),
        ("hsdpa", 2000, 10, 150.0, ""),
        ("lte", 30, 50, 300.0, ""),
        ("lte", 400, 20, 40.0, ""),
    ):
        name = f"{radio}, {users} users, "
        line = command(radio, users, FAIR, seconds * scale)
        fair = Row(f"{name}{FAIR}{eurane}", line, simulated_per_cpu_s, least)
        rows.append(fair)
        for other in ("round_robin", "max_ci"):
            line = command(radio, users, other, seconds * scale)
            rows.append(Row(name + other, line, simulated_per_cpu_s, 1.0, fair))
        memory.append((f"{name}{FAIR}", None, command(radio, users, FAIR, seconds * scale / 10)))
    full = example("lte_speed", "nodeb-radio", 30, max(1, round(50 * scale)))
    rows.append(Row("lte, 30 users, full buffers, no TCP", full, simulated_per_cpu_s, 400.0))
    yield Bench("cells", "simulated s/CPU s", rows, more_is_better=True, memory=memory)


# --- Python and the command ---

REPLICATION = """
import sys, time, nodeb
scenario, runs = nodeb.load(sys.argv[1]), int(sys.argv[2])
scenario.run(runs=1, jobs=1)
begin = time.process_time()
scenario.run(runs=runs, jobs=1)
print(f"us={1e6 * (time.process_time() - begin) / runs}")
"""


def replications(folder: Path, scale: float) -> Iterator[Bench]:
    """`--force` lets each command replace the results of the previous one."""
    recorded = ROOT / "examples/dch-50k.toml"
    plain = folder / "plain.toml"
    plain.write_text(recorded.read_text().partition("[record]")[0])
    tiny, runs = max(1, round(5000 * scale)), max(10, round(1_000_000 * scale))
    run = [*NODEB, "run", "--force", "--out", folder / "out"]

    def each(name: str, file: Path, limit: float | None = None) -> Row:
        return Row(name, [sys.executable, "-c", REPLICATION, file, tiny], printed("us"), limit)

    rows = [each("with series", recorded, 30.0), each("without", plain)]
    yield Bench(f"a replication of 50 kB over DCH, of {tiny}", "CPU us", rows)
    start = [*run, recorded, "--runs=20"]
    rows = [Row("CPU", start, cpu_s), Row("wall clock", start, printed("wall_s"), 0.3)]
    yield Bench("nodeb run, 20 replications", "s", rows)
    tenth, whole = ([*run, plain, f"--runs={number}"] for number in (runs // 10, runs))
    few = Row("CPU of each, a tenth", tenth, lambda figures: 1e6 * figures["cpu_s"] / (runs // 10))
    many = Row("CPU of each", whole, lambda figures: 1e6 * figures["cpu_s"] / runs, 1.25, few)
    wall = Row("wall clock of all", whole, lambda figures: 1e6 * figures["wall_s"] / runs, 20.0)
    yield Bench(f"nodeb run, {runs} replications without series", "us each", [few, many, wall])


EXPLANATION = """
import sys, time
from nodeb import _core
compiled = _core.CompiledScenario.from_toml(sys.argv[1], "scenario", [])
work = {
    "run": lambda: compiled.run(1, 0, _core.Control()),
    "explain": lambda: compiled.explain(1, 0, 0, 0, _core.Control()),
}
for name, call in work.items():
    times_s = []
    for _ in range(3):
        begin = time.process_time()
        call()
        times_s.append(time.process_time() - begin)
    print(f"{name}_ms={1e3 * min(times_s)}")
"""
EXPLAINED = {
    "link, 100 kB": "[radio.link]\n[[users]]\ntraffic.ftp.size = '100 kB'",
    "link, 16 MB": "[radio.link]\n[[users]]\ntraffic.ftp.size = '16 MB'",
    "DCH, 10 %, 100 kB": "[radio.dch]\nbler = 0.1\n[[users]]\ntraffic.ftp.size = '100 kB'",
    "DCH, 10 %, 16 MB": "[radio.dch]\nbler = 0.1\n[[users]]\ntraffic.ftp.size = '16 MB'",
    "DCH, 1 %, 16 MB": "[radio.dch]\n[[users]]\ntraffic.ftp.size = '16 MB'",
    "HS-DSCH, 10 %, 100 kB": "[radio.hs_dsch]\nbler = 0.1\n[[users]]\ntraffic.ftp.size = '100 kB'",
    "HS-DSCH, 10 %, 16 MB": "[radio.hs_dsch]\nbler = 0.1\n[[users]]\ntraffic.ftp.size = '16 MB'",
    "HS-DSCH, 1 %, 16 MB": "[radio.hs_dsch]\n[[users]]\ntraffic.ftp.size = '16 MB'",
    "HS-DSCH, 3 users, 1 MB": "[radio.hs_dsch]\n[[users]]\ncount = 3\ntraffic.ftp.size = '1 MB'",
    "HSDPA, 4 users, 300 kB": "[radio.hsdpa]\n[[users]]\ncount = 4\ntraffic.ftp.size = '300 kB'",
    "HSDPA, 20 users, 1 MB": "[radio.hsdpa]\n[[users]]\ncount = 20\ntraffic.ftp.size = '1 MB'",
    "FACH and DCH, 100 kB": "[radio.fach_dch]\n[[users]]\ncount = 2\ntraffic.ftp.size = '100 kB'",
    "WCDMA, 100 kB": "[radio.wcdma]\n[[users]]\ncount = 2\ntraffic.ftp.size = '100 kB'",
}


def explain(folder: Path, scale: float) -> Iterator[Bench]:
    """A scenario has its own process, as one's memory affects the allocations of another.

    A transfer is explained to its end, which with one user is nearly the end of the run.
    """
    rows, memory = list[Row](), []
    for name, text in EXPLAINED.items():
        line = [sys.executable, "-c", EXPLANATION, text]
        base = Row(f"{name}, run", line, printed("run_ms"))
        rows += [base, Row(f"{name}, explained", line, printed("explain_ms"), 2.0, base)]
        memory += [(name, None, line)] if name == "link, 16 MB" else []
    title = "a replication without and with its explanation"
    yield Bench(title, "CPU ms", rows, of_rounds=min, memory=memory)


# --- Measuring ---


def finished(child: subprocess.Popen[str], begin: float) -> Figures:
    """Waits for the end of a process, and returns its times and what it printed."""
    assert child.stdout is not None
    with child.stdout:
        words = child.stdout.read().split()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"error: {child.args!r} failed with status {child.returncode}")
    figures = {"cpu_s": usage.ru_utime + usage.ru_stime, "wall_s": time.perf_counter() - begin}
    for name, _, value in (word.partition("=") for word in words):
        try:
            figures[name] = float(value)
        except ValueError:
            continue  # A table for people.
    return figures


def started(command: Command, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True, cwd=folder)


def peak_mib(command: Command, folder: Path) -> float:
    """`ru_maxrss` is not used, as it includes the memory of the forking Python process."""
    child, peak_kib = started(command, folder), math.nan
    status = Path(f"/proc/{child.pid}/status")
    # A process that has ended shows no peak; one that is about to end may report 0.
    while peaks := [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]:
        peak_kib = max(float(peaks[0].split()[1]), peak_kib)
        time.sleep(0.0005)
    finished(child, 0.0)
    return peak_kib / 1024


def measure(bench: Bench, rounds: int, folder: Path) -> None:
    bench.rows = [row for row in bench.rows if row.command]
    lines = list(dict.fromkeys(tuple(map(str, row.command)) for row in bench.rows))
    for _ in range(rounds):
        figures = {line: finished(started(line, folder), time.perf_counter()) for line in lines}
        for row in bench.rows:
            row.processes.append(figures[tuple(map(str, row.command))])


def cells_of(row: Row, bench: Bench) -> list[str]:
    """Returns the name, figure, spread over the rounds, further figures, ratio and verdict."""
    value = bench.of_rounds(row.values)
    spread = (max(row.values) - min(row.values)) / value if value else 0.0
    peer = row.against if row.against and row.against.command else None
    base = bench.of_rounds(peer.values) if peer else 1.0
    texts = [row.name, f"{value:.4g}", f"{spread:.0%}"]
    texts += [f"{figure(row.processes[-1]):.6g}" for figure in bench.also.values()]
    texts += [f"{value / base:.3f}", peer.name] if peer else ["", ""]
    if row.limit is None or peer is not row.against:
        return [*texts, "", ""]
    good = value >= row.limit * base if bench.more_is_better else value <= row.limit * base
    return [*texts, f"{row.limit:g}", "pass" if good else "FAIL"]


def peaks_of(bench: Bench, folder: Path) -> Iterator[list[str]]:
    for name, short, long in bench.memory:
        if not long:
            continue
        after, before = peak_mib(long, folder), peak_mib(short, folder) if short else math.nan
        verdict = "FAIL: it grows" if after - before > FLAT_MIB else "flat"
        judged = short and not name.startswith("ns-2")
        yield [name, f"{before:.1f}" if short else "", f"{after:.1f}", verdict if judged else ""]


BENCHES = {
    bench.__name__: bench
    for bench in (turbo, grid, ftp, many, switching, cells, explain, replications)
}


def main() -> int:
    """Returns 1 if a limit was exceeded."""
    from nodeb.answer.columns import aligned

    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("names", nargs="*", metavar="BENCH", help=", ".join(BENCHES))
    line.add_argument("--rounds", type=int, default=7, help="runs of each program (default 7)")
    line.add_argument("--scale", type=float, default=1.0, help="share of the work (default 1)")
    options = line.parse_args()
    if options.rounds < 1 or options.scale <= 0 or not {*options.names} <= {*BENCHES}:
        line.error(f"expected at least 1 round, a positive scale, and of {', '.join(BENCHES)}")
    verdicts = []
    for name in options.names or BENCHES:
        with tempfile.TemporaryDirectory() as folder:
            for bench in BENCHES[name](Path(folder), options.scale):
                measure(bench, options.rounds, Path(folder))
                limit = "at least" if bench.more_is_better else "at most"
                head = [bench.title, bench.unit, "spread", *bench.also, "ratio", "to", limit, ""]
                tables = [[head, *(cells_of(row, bench) for row in bench.rows)]]
                if bench.memory:
                    head = ["peak memory, MiB", "short", "long", ""]
                    tables.append([head, *peaks_of(bench, Path(folder))])
                for rows in tables:
                    print("\n".join(aligned(rows, range(1, len(rows[0])))), "\n", flush=True)
                    verdicts += [row[-1] for row in rows]
    if not shutil.which("ns"):
        print("ns-2 is not installed (Debian: apt install ns2): nothing is compared with it.")
    return int(any(verdict.startswith("FAIL") for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
