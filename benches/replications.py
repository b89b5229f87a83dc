"""Measures many replications of a tiny download: CPU time of one, of a million, and of a start.

    python3 benches/replications.py [--rounds N] [--runs N]

The scenario is the download of 50 kB over DCH (`examples/dch-50k.toml`), with and without series.
The CPU time of a process with many replications minus that of a process with one is the time of the
replications. Runs of a million and of a tenth as many show whether the time per replication grows.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from side_by_side import table

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "examples/dch-50k.toml"
PLAIN = [f"--set=record.{series}=false" for series in ("cwnd", "segments", "queue")]

API = "import sys, nodeb; nodeb.load(sys.argv[1]).run(runs=int(sys.argv[2]), jobs=1)"
TINY = 5_000

# Upper limits: CPU time per replication with recorded series (us); wall time of a million
# replications without series, with their summary, on two cores (s); wall time of a start (s).
MAX_US, MAX_S, MAX_START_S = 30.0, 20.0, 0.3

# Maximum ratio of the CPU time per replication in a run of a million to that in a run of a tenth as
# many.
MAX_RATIO = 1.25


def measure(command: list[str]) -> tuple[float, float]:
    """Runs a command to its end and returns its CPU time and wall time in seconds."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"error: {command!r} failed with status {child.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin


def median(command: list[str], rounds: int) -> tuple[float, float]:
    found = [measure(command) for _ in range(rounds)]
    return statistics.median(cpu for cpu, _ in found), statistics.median(wall for _, wall in found)


def main() -> int:
    """Returns 1 if a limit was exceeded."""
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--rounds", type=int, default=5, help="runs of each process (default 5)")
    line.add_argument("--runs", type=int, default=1_000_000, help="replications (default 10^6)")
    options = line.parse_args()
    if options.rounds < 1 or options.runs < 10:
        line.error("expected at least 1 round and 10 replications")
    rows: list[list[str]] = []
    good = True

    def row(name: str, found: float, unit: str, most: float | None = None) -> None:
        nonlocal good
        good &= most is None or found <= most
        verdict = "" if most is None else "pass" if found <= most else "FAIL"
        rows.append([name, f"{found:.3g} {unit}", "" if most is None else f"{most:g}", verdict])

    with TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.toml"
        plain.write_text(SCENARIO.read_text().partition("[record]")[0])
        for name, file, most in (("with series", SCENARIO, MAX_US), ("without", plain, None)):
            each = [sys.executable, "-c", API, str(file)]
            one, many = (median([*each, str(n)], options.rounds)[0] for n in (1, TINY))
            row(f"{TINY} replications {name}, CPU of each", 1e6 * (many - one) / TINY, "us", most)
        # The option `--force` lets each command replace the results of the previous one.
        out = ["--out", f"{folder}/out", "--force"]
        command = [sys.executable, "-m", "nodeb", "run", str(SCENARIO), *out, "--runs"]
        cpu, wall = median([*command, "20"], options.rounds)
        row("nodeb run, CPU", cpu, "s")
        row("nodeb run, wall", wall, "s", MAX_START_S)
        of_each: list[float] = []
        for runs, most in ((options.runs // 10, None), (options.runs, MAX_S)):
            cpu, wall = measure([*command, str(runs), *PLAIN])
            of_each.append(cpu / runs)
            row(
                f"nodeb run, {runs} replications without series, CPU of each",
                1e6 * cpu / runs,
                "us",
            )
            row(f"nodeb run, {runs} replications without series, wall", wall, "s", most)
        row("the same, CPU of each over that of a tenth", of_each[1] / of_each[0], "", MAX_RATIO)
    print(table(["median of processes", "nodeb", "at most", ""], rows))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
