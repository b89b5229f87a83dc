"""Time of a sweep on a Dask cluster of this machine, against threads, in turns.

    python benches/cluster.py [--cells N] [--rounds N] [--size "2 kB"]

Prints the median ratio of wall-clock times, and the time that the client takes for a cell.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from distributed import Client, LocalCluster

from nodeb.sweep import Sweep

WORKERS = 2
SWEEP = """
name = "tiny"
runs = 1
[[users]]
traffic.ftp.size = "{size}"
[sweep]
wired.delay = {{ from = "1 ms", to = "200 ms", steps = {cells} }}
"""


def main() -> None:
    """Runs the rounds and prints the ratio."""
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--cells", type=int, default=1000)
    line.add_argument("--rounds", type=int, default=5)
    line.add_argument("--size", default="200 kB")
    options = line.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        file = Path(folder) / "tiny.toml"
        file.write_text(SWEEP.format(size=options.size, cells=options.cells))
        plan, ratios, each_s = Sweep.load(file), [], []
        for number in range(options.rounds):
            took_s = {}
            for name, jobs in (("here", WORKERS), ("there", client.get_executor(pure=False))):
                begin = time.monotonic()
                plan.run(Path(folder) / f"{number}-{name}", jobs=jobs)
                took_s[name] = time.monotonic() - begin
            ratios.append(took_s["there"] / took_s["here"])
            each_s.append(took_s["there"] / options.cells)
    print(f"cluster / {WORKERS} threads: {statistics.median(ratios):.2f}")
    print(f"{1000 * statistics.median(each_s):.2f} ms a cell on the cluster")


if __name__ == "__main__":
    main()
