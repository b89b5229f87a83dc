"""Compares nodeb with sockets of this machine's kernel whose application pauses and bursts.

python validation/linux_patterns.py [COUNT] [FIRST_SEED] [JOBS]     # 20 patterns, 4 at a time

Each pattern is random: a path, losses, a congestion control, and the times and sizes of writes.
`nodeb emulate` runs the kernel's sockets over the path, in real time; nodeb simulates the same.
Compared are the window before each write, and the time from a write until its last byte is
acknowledged. Needs the rights that `nodeb emulate` needs, and the kernel's `reno`, `cubic`, `bbr`.
"""

from __future__ import annotations

import fcntl
import json
import random
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.answer.columns import aligned
from nodeb.base.table import Table
from nodeb.inputs.scenario import Scenario

PORT = 5000
POLL_S = 0.001
SETTLING_S = 1.0
"""Time of the second write. The first, of 1 B, opens nodeb's connection."""
TCP_CONGESTION, TCP_INFO = 13, 11
SND_CWND_OFFSET = 80
"""Offset of `tcpi_snd_cwnd` in `struct tcp_info`."""


@dataclass(frozen=True)
class Pattern:
    """Random application over a random path. Times in s, from the connection's start."""

    seed: int
    control: str
    writes: tuple[tuple[float, int], ...]
    rate_bps: int
    delay_ms: int
    queue: int
    lost: tuple[int, ...]

    @classmethod
    def draw(cls, seed: int) -> Pattern:
        draw = random.Random(seed)
        at, writes = SETTLING_S, [(0.0, 1)]
        for _ in range(draw.randint(3, 5)):
            count, sizes, gap_s = draw.choice(
                [
                    (1, (20_000, 600_000), (0.0, 0.0)),
                    (draw.randint(2, 5), (5_000, 80_000), (0.05, 0.5)),
                    (draw.randint(10, 40), (100, 6_000), (0.01, 0.15)),
                ]
            )
            for _ in range(count):
                writes.append((round(at, 3), draw.randint(*sizes)))
                at += draw.uniform(*gap_s)
            at += draw.uniform(0.3, 5)
        return cls(
            seed=seed,
            control=draw.choice(["reno", "cubic", "bbr"]),
            writes=tuple(writes),
            rate_bps=draw.choice([1, 2, 5, 10]) * 1_000_000,
            delay_ms=draw.randint(5, 80),
            queue=draw.randint(30, 300),
            lost=tuple(sorted(draw.sample(range(1, 300), draw.randint(0, 2)))),
        )

    def scenario(self, traffic: Any) -> dict[str, Any]:
        loss = {"list": {"positions": list(self.lost)}}
        link = {"rate": f"{self.rate_bps} bps", "queue": {"drop_tail": {"limit": self.queue}}}
        return {
            "duration": f"{self.writes[-1][0] + 60} s",
            "runs": 1,
            "wired": {"rate": "1 Gbps", "delay": f"{self.delay_ms} ms"},
            "uplink": {"rate": f"{self.rate_bps} bps", "delay": f"{self.delay_ms} ms"},
            "radio": {"link": link | ({"loss": loss} if self.lost else {})},
            "tcp": {"linux": {"control": self.control}},
            "users": [{"name": "phone", "traffic": traffic}],
        }


@dataclass(frozen=True)
class Course:
    """Window in segments before each write, and s from each write until its last byte is
    acknowledged."""

    windows: tuple[float, ...]
    lasted_s: tuple[float, ...]


def simulate(pattern: Pattern) -> Course:
    times, sizes = zip(*pattern.writes, strict=True)
    replay = {"times": [f"{at} s" for at in times], "bytes": [f"{size} B" for size in sizes]}
    scenario = pattern.scenario({"replay": replay}) | {"record": {"cwnd": True, "segments": True}}
    tables = Scenario.from_dict(scenario).compiled().run(1, 0, _core.Control())
    windows, segments = Table(tables["cwnd"]), Table(tables["segments"])
    acks = segments["event"] == "ack"
    acked_at, acked = segments["t_s"][acks], np.maximum.accumulate(segments["seq"][acks])
    before = np.searchsorted(windows["t_s"], times) - 1
    done = acked_at[np.searchsorted(acked, 1 + np.cumsum(sizes))]
    return Course(tuple(windows["cwnd_packets"][before]), tuple(done - np.array(times)))


def measure(pattern: Pattern) -> Course:
    """Runs the kernel's sockets over the emulated path."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pattern.json").write_text(json.dumps([pattern.control, pattern.writes]))
        scenario = Scenario.from_dict(pattern.scenario("external"))
        (folder / "path.toml").write_text(scenario.to_toml(), encoding="utf-8")
        me = f"{sys.executable} {Path(__file__).resolve()}"
        command = [sys.executable, "-m", "nodeb", "emulate", "path.toml", "--late-share", "1"]
        server = f"{me} send {folder}/pattern.json {folder}/course.json"
        phone = [*me.split(), "receive", "10.64.0.1"]
        run = subprocess.run(
            [*command, "--server", server, "--", *phone],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        course = folder / "course.json"
        if not course.exists():
            raise SystemExit(f"pattern {pattern.seed}: {run.stdout}{run.stderr}")
        return Course(*json.loads(course.read_text()))


def send(pattern: str, course: str) -> None:
    """Writes a pattern to the first connection, as the server, and stores its course."""
    control, writes = json.loads(Path(pattern).read_text())
    listener = socket.create_server(("", PORT))
    listener.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, control.encode())
    connection, _ = listener.accept()
    start = time.monotonic()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setblocking(False)
    windows: list[int] = []
    done: list[float] = []
    ends: list[int] = []
    unsent = sent = 0
    while len(done) < len(writes):
        now = time.monotonic() - start
        if len(windows) < len(writes) and now >= writes[len(windows)][0]:
            info = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 104)
            unsent += writes[len(windows)][1]
            ends.append(sent + unsent)
            windows.append(struct.unpack_from("I", info, SND_CWND_OFFSET)[0])
        try:
            written = connection.send(bytes(min(unsent, 1 << 20))) if unsent else 0
        except BlockingIOError:
            written = 0
        sent, unsent = sent + written, unsent - written
        outstanding = struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0]
        while len(done) < len(ends) and sent - outstanding >= ends[len(done)]:
            done.append(now - writes[len(done)][0])
        time.sleep(POLL_S)
    Path(course).write_text(json.dumps([windows, done]))


def receive(server: str) -> None:
    connection = socket.create_connection((server, PORT))
    while connection.recv(1 << 16):
        pass


def rows(patterns: Sequence[Pattern], jobs: int) -> Iterator[tuple[Pattern, Course, Course]]:
    with ThreadPoolExecutor(jobs) as pool:
        for pattern, kernel in zip(patterns, pool.map(measure, patterns), strict=True):
            yield pattern, kernel, simulate(pattern)


def distances(kernel: Course, nodeb: Course) -> tuple[list[float], list[float]]:
    """Ratios of nodeb's windows and times to the kernel's, without the first write."""

    def ratios(ours: tuple[float, ...], theirs: tuple[float, ...]) -> list[float]:
        return [a / b for a, b in zip(ours[1:], theirs[1:], strict=True)]

    return ratios(nodeb.windows, kernel.windows), ratios(nodeb.lasted_s, kernel.lasted_s)


def summary(name: str, ratios: Sequence[float]) -> str:
    off = np.abs(np.array(ratios) - 1)
    low, middle, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    near = [f"{np.mean(off <= limit):.0%} within {limit:.0%}" for limit in (0.01, 0.05, 0.1)]
    spread = f"5 %, median, 95 %: {low:.3f} {middle:.3f} {high:.3f}"
    return f"{name}: {len(ratios)}; {', '.join(near)}; {spread}"


def main(count: int = 20, first: int = 1, jobs: int = 4) -> None:
    head = ["seed", "control", "path", "writes", "lost"]
    head += ["worst window", "worst time", "kernel", "nodeb"]
    table, windows, lasted = [head], [], []
    for pattern, kernel, nodeb in rows([Pattern.draw(first + i) for i in range(count)], jobs):
        window, last = distances(kernel, nodeb)
        worst = max(range(len(last)), key=lambda i: abs(last[i] - 1))
        widest = max(window, key=lambda ratio: abs(ratio - 1))
        path = f"{pattern.rate_bps / 1e6:g} Mbit/s, {pattern.delay_ms} ms, {pattern.queue}"
        lost = " ".join(map(str, pattern.lost)) or "-"
        seconds = [f"{course.lasted_s[1 + worst]:.3f}" for course in (kernel, nodeb)]
        cells = [str(pattern.seed), pattern.control, path, str(len(last)), lost]
        table.append([*cells, f"{widest:.2f}", f"{last[worst]:.2f}", *seconds])
        windows += window
        lasted += last
        print(" ".join(table[-1]), file=sys.stderr, flush=True)
    print("\n".join(aligned(table, range(3, len(head)), min_width=0)))
    print(summary("windows before writes", windows))
    print(summary("times until acknowledged", lasted))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["send", pattern, course]:
            send(pattern, course)
        case ["receive", server]:
            receive(server)
        case numbers:
            main(*map(int, numbers))
