"""Kills workers, the scheduler and the client of a sweep at random moments.

    python tests/python/helpers/kills.py [--kills N] [--seed S]

The command of a sweep is repeated, with the killed process replaced, until the sweep is complete.
Further sweeps follow until the number of kills is reached. The results must equal those of
`--jobs 1` byte for byte, and complete cells must not be written a second time.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from clusters import Processes

SWEEP = """
name = "kills"
runs = 3
[[users]]
traffic.ftp.size = "1 MB"
[sweep]
radio.dch.bler = { from = 0.0, to = 0.4, steps = 100 }
wired.delay = ["20 ms", "80 ms", "200 ms"]
"""
CELLS = 300
LONGEST_S = 6.0
"""Maximum time between two kills, in seconds."""
END_S = 180.0
"""Maximum time in which a client must end, in seconds."""


@dataclass
class Kills:
    """Runs sweeps on a cluster and kills random processes meanwhile.

    Args:
        folder: directory of all files.
        seed: seed of the random choice of victims and times.
    """

    folder: Path
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    """Number of kills by kind of process, and of completed `sweeps`."""

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._file = self.folder / "kills.toml"
        self._file.write_text(SWEEP)
        self._clusters = 0
        self._wanted: dict[str, bytes] = {}

    @property
    def kills(self) -> int:
        """Number of processes killed so far."""
        return sum(n for who, n in self.counts.items() if who != "sweeps")

    def run(self, kills: int) -> None:
        """Runs sweeps until there were `kills` kills and the last sweep is complete.

        Raises:
            AssertionError: results differ, a complete cell was simulated again, or an error message
                is a traceback.
        """
        here = self.folder / "here"
        assert self._client(here, "--jobs", "1").wait() == 0
        self._wanted = kept(here)
        self._cluster = self._started()
        try:
            while self.kills < kills:
                self._sweep(self.folder / f"there-{self.counts['sweeps']}", kills)
                self.counts["sweeps"] += 1
        finally:
            self._cluster.close()

    def _sweep(self, out: Path, kills: int) -> None:
        while True:
            before = self._complete(out)
            client = self._client(out, "--cluster", self._cluster.address)
            while client.poll() is None and self.kills < kills:
                self._wait(client, self._chance.uniform(0.0, LONGEST_S))
                if client.poll() is None:
                    self._kill(
                        self._chance.choice(["worker", "worker", "scheduler", "client"]), client
                    )
            _, err = client.communicate(timeout=END_S)
            assert "Traceback" not in err, err
            after = self._complete(out)
            again = [name for name, time_ns in before.items() if after.get(name) != time_ns]
            assert not again, f"{len(again)} cells were written again"
            if client.returncode == 0:
                break
            assert client.returncode in (1, 2, -signal.SIGKILL), (client.returncode, err)
            if self._cluster.scheduler.poll() is not None:
                self._cluster.close()
                self._cluster = self._started()
        assert kept(out) == self._wanted, "other bytes than with --jobs 1"

    def _kill(self, who: str, client: subprocess.Popen[str]) -> None:
        self.counts[who] += 1
        if who == "client":
            client.kill()
        elif who == "scheduler":
            if self._cluster.scheduler.poll() is None:
                self._cluster.scheduler.kill()
                self._cluster.scheduler.wait()
                client.wait(END_S)
        else:
            alive = [one for one in self._cluster.workers if one.poll() is None]
            self._cluster.add()
            if alive:
                self._chance.choice(alive).send_signal(
                    self._chance.choice([signal.SIGKILL, signal.SIGTERM])
                )

    def _complete(self, out: Path) -> dict[str, int]:
        """Returns the modification times in ns of the files of cells that have all replications."""
        files = (out / "cells").glob("*.arrow")
        return {
            file.name: file.stat().st_mtime_ns
            for file in files
            if file.read_bytes() == self._wanted.get(file.name)
        }

    def _started(self) -> Processes:
        self._clusters += 1
        folder = self.folder / f"cluster-{self._clusters}"
        folder.mkdir()
        return Processes(folder, 2)

    def _client(self, out: Path, *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "nodeb", "sweep", str(self._file), "--out", str(out)]
        return subprocess.Popen(
            [*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    @staticmethod
    def _wait(client: subprocess.Popen[str], time_s: float) -> None:
        end = time.monotonic() + time_s
        while client.poll() is None and time.monotonic() < end:
            time.sleep(0.02)


def kept(folder: Path) -> dict[str, bytes]:
    """Returns the result files of a sweep.

    The file `provenance.json` is excluded, as it contains the time of day.
    """
    files = [folder / "sweep.parquet", *sorted((folder / "cells").iterdir())]
    return {file.name: file.read_bytes() for file in files}


def main() -> None:
    """Kills as many processes as the command line requests, and prints the counts."""
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--kills", type=int, default=20)
    line.add_argument("--seed", type=int, default=1)
    options = line.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = Kills(Path(folder), options.seed)
        found.run(options.kills)
        print(f"{found.kills} kills: {dict(found.counts)}; {CELLS} cells each as with --jobs 1")


if __name__ == "__main__":
    main()
