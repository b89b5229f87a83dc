"""Long emulation of real packets: checks for drift, growing memory and descriptors left open.

    python tests/python/helpers/soak.py [--seconds 3600]

The HSDPA cell has nine simulated phones, which load web pages continuously, and a real one that
downloads over TCP and sends and receives datagrams. Memory and descriptors of the process are
sampled during the emulation, which takes a minute in tests.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import nodeb
from emulations import ECHO
from nodeb.emulate.labels import in_words
from nodeb.emulate.plan import make
from nodeb.emulate.session import Options, emulate

CELL = """
[tcp.linux]
[wired]
rate = "100 Mbps"
delay = "20 ms"
queue.drop_tail.limit = 1000
[uplink]
rate = "2 Mbps"
delay = "10 ms"
[radio.hsdpa]
scheduler = "proportional_fair"
[[users]]
name = "others"
count = 9
traffic.web.reading.exponential.mean = "2 s"
[[users]]
name = "phone"
traffic = "external"
"""

SERVER = (
    ECHO
    + """
import threading
def datagrams():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((server, 5000))
    while True:
        data, who = s.recvfrom(65536)
        s.sendto(data, who)
threading.Thread(target=datagrams, daemon=True).start()
s = socket.create_server((server, 5001))
while True:
    c, _ = s.accept()
    c.sendall(bytes(200_000))
    c.close()
"""
)

PHONE = (
    ECHO
    + """
until = time.monotonic() + float(sys.argv[1])
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.settimeout(1)
while time.monotonic() < until:
    c = socket.create_connection((server, 5001))
    while c.recv(65536):
        pass
    c.close()
    for number in range(20):
        u.sendto(bytes(200), (server, 5000))
        try:
            u.recv(1000)
        except TimeoutError:
            pass
    time.sleep(0.5)
"""
)


def needed_bytes() -> int:
    """Returns the size in bytes of this process's anonymous memory, resident or swapped.

    Pages of mapped files are excluded, as the kernel evicts and reloads them at will.
    """
    status = Path("/proc/self/status").read_text()
    needed = re.findall(r"^(?:RssAnon|VmSwap):\s+(\d+) kB$", status, re.MULTILINE)
    return 1024 * sum(map(int, needed))


def descriptors() -> int:
    """Returns the number of open file descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))


@dataclass
class Samples:
    """Samples of an emulation, taken a few times per second.

    Each has the clock, the virtual time, the memory and the number of open files.
    """

    clock_s: array[float] = field(default_factory=lambda: array("d"))
    world_s: array[float] = field(default_factory=lambda: array("d"))
    needed: array[int] = field(default_factory=lambda: array("q"))
    files: array[int] = field(default_factory=lambda: array("q"))

    def __call__(self, status: Mapping[str, Any]) -> None:
        """Takes a sample of an emulation with status `status`."""
        self.clock_s.append(time.monotonic())
        self.world_s.append(status["time_s"])
        self.needed.append(needed_bytes())
        self.files.append(descriptors())

    def drift_s(self) -> float:
        """Returns a lower bound of the drift of the virtual time in seconds.

        The first tenth of the run is excluded.
        """
        tenth = len(self.clock_s) // 10
        first, last = self.behind_s(tenth, 2 * tenth), self.behind_s(9 * tenth, 10 * tenth)
        return max(first[0] - last[1], last[0] - first[1], 0.0)

    def behind_s(self, start: int, stop: int) -> tuple[float, float]:
        """Returns lower and upper bound of the lag of the virtual time behind the clock, in s.

        A reported time is older than the sample that reads it. A time that is new in a sample was
        reported after the last sample but one, because the previous sample may have read the report
        before it was updated.
        """
        least, most = -math.inf, math.inf
        for at in range(max(start, 2), stop):
            if self.world_s[at] != self.world_s[at - 1]:
                least = max(least, self.clock_s[at - 2] - self.world_s[at])
                most = min(most, self.clock_s[at] - self.world_s[at])
        return least, most

    def growth_bytes(self) -> int:
        """Returns the growth in bytes of the maximum memory from second to last quarter."""
        quarter = len(self.needed) // 4
        return max(self.needed[-quarter:]) - max(self.needed[quarter : 2 * quarter])

    def tenths_mb(self) -> str:
        """Returns the maximum memory in MB in each tenth of the run, as text."""
        tenth = max(len(self.needed) // 10, 1)
        most = [max(self.needed[at * tenth : (at + 1) * tenth]) for at in range(10)]
        return " ".join(f"{bytes_ / 1e6:.2f}" for bytes_ in most)


@dataclass
class Soaked:
    """Outcome of a soak test: samples, final report, and number of open files before and after."""

    samples: Samples
    report: dict[str, Any]
    files_before: int
    files_after: int

    def problems(self) -> list[str]:
        """Returns one text per problem.

        Problems are virtual time that drifts or goes back, growing memory, open files, and too
        little or stuck traffic.
        """
        found = []
        # The limit is not 0, because the virtual time is read a little before it is reported.
        if self.samples.drift_s() > 0.05:
            found.append(f"the world's time drifted by {self.samples.drift_s()} s")
        if self.samples.growth_bytes() > 1 << 20:
            found.append(f"memory grew by {self.samples.growth_bytes()} bytes")
        if len(set(self.samples.files[len(self.samples.files) // 10 :])) > 1:
            found.append(f"{sorted(set(self.samples.files))} files were open")
        if self.files_after != self.files_before:
            found.append(f"{self.files_after - self.files_before} files were left open")
        if any(b < a for a, b in pairwise(self.samples.world_s)):
            found.append("the world's time went back")
        down, up = (self.report["phones"][0][way] for way in ("down", "up"))
        if down["arrived_bytes"] < 16_000 * self.lasted_s or up["arrived_packets"] < self.lasted_s:
            found.append("the cell was all but idle")
        if self.report["waiting"] > 100:
            found.append(f"{self.report['waiting']} packets still wait")
        return found

    @property
    def lasted_s(self) -> float:
        """Time in seconds from the first to the last sample."""
        return self.samples.clock_s[-1] - self.samples.clock_s[0]


def soak(seconds: float) -> Soaked:
    """Emulates a loaded cell with real packets for `seconds`. Returns the outcome."""
    python = (sys.executable, "-c")
    plan = make(nodeb.Scenario.from_toml(CELL, "soak"), [("phone", (*python, PHONE, str(seconds)))])
    before, samples = descriptors(), Samples()
    options = Options(seed=1, server=(*python, SERVER), duration_s=seconds + 60)
    outcome = emulate(plan, options, samples)
    assert outcome.ended == "command", outcome.ended
    assert outcome.status == 0, outcome.exits
    return Soaked(samples, outcome.report, before, descriptors())


def main() -> int:
    """Runs a soak test of `--seconds` and prints its samples. Returns 1 if there are problems."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    found = soak(parser.parse_args().seconds)
    samples, late = found.samples, found.report["lateness"]
    phone = found.report["phones"][0]
    print(
        f"{found.lasted_s:.0f} s, {late['count']} deliveries, "
        f"{phone['down']['arrived_bytes'] / 1e6:.1f} MB down\n"
        f"drift {samples.drift_s() * 1e3:.2f} ms; memory {max(samples.needed) / 1e6:.1f} MB "
        f"at most, {samples.growth_bytes() / 1e3:.0f} kB more at the end; "
        f"in tenths of the time {samples.tenths_mb()} MB\n"
        f"{max(samples.files)} files, {found.files_after - found.files_before} left\n"
        f"late p50 {in_words(late['p50_s'])}, p99 {in_words(late['p99_s'])}, "
        f"max {in_words(late['max_s'])}; CPU of the driver {found.report['cpu_s']:.1f} s"
    )
    for problem in found.problems():
        print(problem, file=sys.stderr)
    return bool(found.problems())


if __name__ == "__main__":
    sys.exit(main())
