"""Measures the cost of explanations: of a replication with and without one, and of commands.

    python benches/explain.py

Prints milliseconds of CPU time, the minimum of several runs, and their ratio, which may be at most
two. A transfer is explained to its end, which with one user is nearly the end of the run. Each
scenario has its own process, since the memory left by one affects the allocation times of another.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from nodeb import _core
from nodeb.answer.columns import aligned

TRIES = 7

# Maximum ratio of the CPU time with an explanation to the CPU time without it.
MOST = 2.0
SCENARIOS = {
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
COMMANDS = ("link, 16 MB", "DCH, 10 %, 16 MB", "HS-DSCH, 10 %, 100 kB", "HS-DSCH, 10 %, 16 MB")
RUNS = "50"


def cpu_s() -> float:
    """Returns the CPU time in s of this process and of its child processes that have ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def least(work: Callable[[], object]) -> float:
    """Calls `work` several times and returns the minimum CPU time of a call in ms."""
    found = []
    for _ in range(TRIES):
        begin = cpu_s()
        work()
        found.append(cpu_s() - begin)
    return 1e3 * min(found)


def row(name: str, run: float, explained: float) -> list[str]:
    """Returns a row of the table: both times in ms, their ratio, and whether it is small enough."""
    verdict = "pass" if explained <= MOST * run else "FAIL"
    return [name, f"{run:.2f}", f"{explained:.2f}", f"{explained / run:.1f}", verdict]


def replications(name: str) -> tuple[float, float, float]:
    """Returns the CPU time in ms per replication without and with an explanation."""
    compiled = _core.CompiledScenario.from_toml(SCENARIOS[name], name, [])
    run = least(lambda: compiled.run(1, 0, _core.Control()))
    explained = least(lambda: compiled.explain(1, 0, 0, 0, _core.Control()))
    return run, explained, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def commands(name: str, folder: Path) -> tuple[float, float]:
    """Returns the CPU times of `nodeb run` and `nodeb explain` with `RUNS` replications, in ms."""
    file = folder / "scenario.toml"
    file.write_text(SCENARIOS[name])
    command = [sys.executable, "-m", "nodeb"]
    times = [
        least(
            lambda v=verb: subprocess.run(
                [*command, v, file, "--runs", RUNS], check=True, capture_output=True
            )
        )
        for verb in ("run", "explain")
    ]
    return times[0], times[1]


def main() -> int:
    """Returns 1 if an explanation takes too long."""
    rows, most = [], 0.0
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for name in SCENARIOS:
            run, explained, memory = pool.submit(replications, name).result()
            rows.append(row(name, run, explained))
            most = max(most, memory)
    header = ("run (ms)", "explain (ms)", "ratio", f"at most {MOST:g}")
    show(("one replication", *header), rows)
    print(f"\nat most {most:.0f} MiB of memory\n")
    good, rows = all(cells[-1] == "pass" for cells in rows), []
    with TemporaryDirectory() as folder:
        for name in COMMANDS:
            run, explained = commands(name, Path(folder))
            rows.append(row(name, run, explained))
    show((f"nodeb, --runs {RUNS}", *header), rows)
    return 0 if good and all(cells[-1] == "pass" for cells in rows) else 1


def show(head, rows):
    print("\n".join(aligned([head, *rows], range(1, len(head)), min_width=0)))


if __name__ == "__main__":
    sys.exit(main())
