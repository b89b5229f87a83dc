"""Measures the cost of a cluster: memory during large sweeps, and overhead.

    python benches/cluster.py memory [--cells N]     # of a sweep of tiny cells; cells/s
    python benches/cluster.py overhead [--rounds N]  # against --jobs 2, in turns

The scheduler and two workers are separate processes of this machine. `nodeb` is the one on
PYTHONPATH or the installed one. docs/cluster/cost.md explains the numbers.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/python/helpers"))

from clusters import Processes  # noqa: E402

SWEEP = """
name = "tiny"
runs = 1
[wired]
rate = "10 Mbps"
[[users]]
traffic.ftp.size = "{size}"
[sweep]
radio.dch.bler = {{ from = 0.0, to = 0.4, steps = {steps} }}
wired.delay = {{ from = "1 ms", to = "200 ms", steps = {others} }}
"""
TINY = "2 kB"
LOOK_S = 2.0
SHOWN = 10
"""Number of samples between two lines of output."""
WORKERS = 2


def scenario(folder: Path, cells: int, size: str, runs: int = 1) -> Path:
    """Writes a file with a sweep of `cells` cells over two axes, and returns its path."""
    steps = max(n for n in range(2, int(cells**0.5) + 1) if cells % n == 0)
    text = SWEEP.format(size=size, steps=steps, others=cells // steps)
    file = folder / "tiny.toml"
    file.write_text(text.replace("runs = 1", f"runs = {runs}"))
    return file


def nodeb(file: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    """Starts `nodeb sweep` as a separate process and returns the process."""
    command = [sys.executable, "-m", "nodeb", "sweep", str(file), "--out", str(out), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def memory(options: argparse.Namespace) -> None:
    """Prints the memory of client, scheduler and workers, MiB, while a sweep runs.

    Each cell of the sweep is one short replication: the download of a file of size `TINY`.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, out = scenario(Path(folder), options.cells, TINY), Path(folder) / "out"
        cluster = Processes(Path(folder), WORKERS)
        begin = time.monotonic()
        client = nodeb(file, out, "--cluster", cluster.address)
        names = ["client", "scheduler", *(f"worker {n + 1}" for n in range(WORKERS))]
        processes = [client, cluster.scheduler, *cluster.workers]
        seen: list[tuple[float, int, list[float]]] = []
        print(f"{options.cells} cells of one replication, {WORKERS} workers; MiB")
        print("time_s   cells   " + "  ".join(f"{name:>9}" for name in names), flush=True)
        while client.poll() is None:
            time.sleep(LOOK_S)
            sizes = [_resident_mib(one) for one in processes]
            seen.append((time.monotonic() - begin, _files(out / "cells"), sizes))
            if len(seen) % SHOWN == 0:
                _print_line(*seen[-1])
        cluster.close()
    if client.returncode:
        sys.exit(client.stderr.read().decode() if client.stderr else "failed")
    peaks = [max(one[2][n] for one in seen) for n in range(len(names))]
    print("most             " + "  ".join(f"{one:9.0f}" for one in peaks))
    first = next(one for one in seen if one[1] > 0)
    last = next(one for one in seen if one[1] == max(each[1] for each in seen))
    print(
        f"reading {first[0]:.0f} s, "
        f"simulating {(last[1] - first[1]) / (last[0] - first[0]):.0f} cells/s, "
        f"table {seen[-1][0] - last[0]:.0f} s"
    )


def overhead(options: argparse.Namespace) -> None:
    """Compares a sweep on two workers with one on two threads: wall-clock and total CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        file = scenario(Path(folder), options.cells, options.size, 3)
        cluster = Processes(Path(folder), WORKERS)
        everybody = [cluster.scheduler, *cluster.workers]
        walls, cpus = [], []
        print("--jobs: wall, CPU; --cluster: wall, CPU; s")
        for n in range(options.rounds):
            order = [("--cluster", cluster.address), ("--jobs", str(WORKERS))]
            took = {
                one[0]: _spent(file, Path(folder) / f"{n}{one[0]}", one, everybody)
                for one in (order if n % 2 else order[::-1])
            }
            here, there = took["--jobs"], took["--cluster"]
            walls.append(there[0] / here[0])
            cpus.append(there[1] / here[1])
            print("  ".join(f"{one:.1f}" for one in (*here, *there)), flush=True)
        cluster.close()
    for name, ratios in (("wall", walls), ("CPU", cpus)):
        spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
        median = statistics.median(ratios)
        print(f"--cluster / --jobs {WORKERS}, {name}: median {median:.3f}, {spread}")


def _spent(
    file: Path,
    out: Path,
    options: tuple[str, str],
    others: Sequence[subprocess.Popen[bytes]],
) -> tuple[float, float]:
    """Runs a sweep to its end.

    Returns its wall-clock time and the CPU time of all its processes in seconds.
    """

    def spent() -> float:
        return sum(os.times()[2:4]) + sum(map(_cpu_s, others))

    begin, before = time.monotonic(), spent()
    process = nodeb(file, out, *options)
    _, err = process.communicate()
    if process.returncode:
        sys.exit(err.decode())
    return time.monotonic() - begin, spent() - before


def _resident_mib(process: subprocess.Popen[bytes]) -> float:
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def _cpu_s(process: subprocess.Popen[bytes]) -> float:
    parts = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def _files(folder: Path) -> int:
    try:
        with os.scandir(folder) as found:
            return sum(1 for _ in found)
    except OSError:
        return 0


def _print_line(time_s: float, cells: int, sizes: list[float]) -> None:
    print(f"{time_s:6.0f} {cells:7}   " + "  ".join(f"{one:9.0f}" for one in sizes), flush=True)


def main() -> None:
    """Parses the command line and runs the chosen measurement."""
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    what = line.add_subparsers(required=True, dest="what")
    for measure, numbers in (
        (memory, {"cells": 100_000}),
        (overhead, {"cells": 300, "rounds": 6}),
    ):
        one = what.add_parser(measure.__name__, help=(measure.__doc__ or "").strip())
        for name, value in numbers.items():
            one.add_argument(f"--{name}", type=int, default=value)
        one.set_defaults(run=measure)
    what.choices["overhead"].add_argument("--size", default="2 MB")
    options = line.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
