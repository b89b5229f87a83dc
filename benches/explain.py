"""What explaining costs: a replication with and without it, in one process.

    python benches/explain.py

Prints milliseconds, the least of several, and their ratio. A transfer is explained to its end,
where the run ends too.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

from nodeb import _core
from nodeb.terminal.text import align

TRIES = 7
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


def least(work: Callable[[], object]) -> float:
    """The least time of several, ms."""
    found = []
    for _ in range(TRIES):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return 1e3 * min(found)


def main() -> None:
    """Measures all."""
    rows = []
    for name, text in SCENARIOS.items():
        compiled = _core.CompiledScenario.from_toml(text, name, [])
        run = least(lambda c=compiled: c.run(1, 0, _core.Control()))
        explained = least(lambda c=compiled: c.explain(1, 0, 0, 0, _core.Control()))
        rows.append([name, f"{run:.2f}", f"{explained:.2f}", f"{explained / run:.1f}"])
    print(align(("scenario", "run (ms)", "explain (ms)", "ratio"), rows))
    print(f"\nat most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB of memory")


if __name__ == "__main__":
    main()
