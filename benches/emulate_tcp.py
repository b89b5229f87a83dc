"""Compares downloads of a Linux kernel in `nodeb emulate` with those of `linux` in `nodeb run`.

    python benches/emulate_tcp.py [--sizes 100000,10000000] [--seeds 10] [--controls reno,cubic,bbr]
                                  [--cells 'A;B']

Each download has its own namespaces, the downloads of a case have different seeds, and each is
paired with the simulation of the same scenario and seed. Round trips of the kernel are measured as
by its sender, but at the server's device: for each ACK or SACK of new segments, since the
transmission of the oldest of these segments that was sent only once. Needs root.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from nodeb.answer.columns import aligned
from nodeb.emulate.plan import SERVER, make
from nodeb.emulate.session import Options, emulate
from nodeb.inputs.scenario import Scenario

AT_A_TIME = 8
"""Number of simultaneous emulations: each needs a few per cent of a core."""
FIRST = ("chrt", "-f", "5")
"""Both ends have a higher priority than all but the driver, so that other load is not measured."""

COMMON = """
duration = "{duration} s"
[tcp.linux]
control = "{control}"
pacing = {pacing}
[wired]
rate = "100 Mbps"
delay = "30 ms"
queue.drop_tail.limit = 1000
[record]
rtt = true
"""

UPLINK = '[uplink]\nrate = "384 kbps"\ndelay = "20 ms"\n'

PHONE = """
[[users]]
name = "phone"
start = "{start} ms"
traffic.ftp = {{ size = "{size} B", request = "100 B" }}
"""

CELLS = {
    "link, 2 Mb/s": '[radio.link]\nrate = "2 Mbps"\ndelay = "20 ms"\nqueue.drop_tail.limit = 50',
    "dch, BLER 1 %": "[radio.dch]\nbler = 0.01",
    "dch, BLER 10 %": "[radio.dch]\nbler = 0.1",
    "hs_dsch, BLER 10 %": "[radio.hs_dsch]\nchannels = 5\nbler = 0.1",
    "hsdpa, 10 simulated": """[radio.hsdpa]
scheduler = "proportional_fair"
buffer = 70
cell = { radius = "1 km", path_loss = "log_distance", shadowing.sigma_db = 0.0 }""",
    "lte, 10 simulated": """[radio.lte]
scheduler = "proportional_fair"
queue.drop_tail.limit = 70
uplink.scheduled = {}
cell = { radius = "1 km", path_loss = "log_distance", shadowing.sigma_db = 0.0 }""",
}
CHANNEL = 'ue.channel.cell = { distance = "300 m", profile = "pedestrian_a", speed = "3 km/h" }\n'
OTHERS = '[[users]]\nname = "others"\ncount = 10\ntraffic.ftp.size = "200 MB"\n'

SERVER_PROGRAM = f"""
import os, socket, struct, sys, threading, time
tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
tap.bind(("nodeb0", 0))
sent, rtts, M = {{{{}}}}, [], 0xffffffff
def sacked(options):
    while options and options[0]:
        if options[0] == 5:
            edges = struct.unpack_from(f"!{{{{(options[1] - 2) // 4}}}}I", options, 2)
            return list(zip(edges[::2], edges[1::2]))
        options = options[1 if options[0] == 1 else options[1]:]
    return []
def watch():
    while True:
        packet, (_, _, kind, *_) = tap.recvfrom(100)
        now = time.monotonic()
        if packet[0] >> 4 != 4 or packet[9] != 6:
            continue
        head = 4 * (packet[0] & 15)
        seq, ack, offset = struct.unpack("!IIB", packet[head + 4:head + 13])
        if kind == socket.PACKET_OUTGOING:
            bytes_ = struct.unpack("!H", packet[2:4])[0] - head - 4 * (offset >> 4)
            if bytes_:
                end = (seq + bytes_) & 0xffffffff
                sent[end] = None if end in sent else now
        else:
            # As tcp_clean_rtx_queue and tcp_sacktag_one have it: of those that it is the first to
            # answer, the oldest that was sent once.
            answered = [(ack - (1 << 30), ack), *sacked(packet[head + 20:head + 4 * (offset >> 4)])]
            new = [e for e in sent if any(0 < (e - a) & M <= (b - a) & M for a, b in answered)]
            times = [begun for end in new if (begun := sent.pop(end)) is not None]
            if times:
                rtts.append(now - min(times))
threading.Thread(target=watch, daemon=True).start()
s = socket.socket()
# Connections take the control from the listening socket. If it were set on the connection, a host
# whose default is BBR would go on pacing.
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{{control}}")
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("{SERVER.v4}", 5001))
s.listen()
c, _ = s.accept()
want = {{size}}
got = 0
while got < 100:
    got += len(c.recv(100))
c.sendall(bytes(want))
c.shutdown(socket.SHUT_WR)
c.recv(1)
time.sleep(0.05)
with open(sys.argv[1], "w") as file:
    file.write(repr(sum(rtts) / len(rtts)))
"""

PHONE_PROGRAM = f"""
import socket, sys, time
time.sleep({{start}})
begun = time.monotonic()
c = socket.create_connection(("{SERVER.v4}", 5001))
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
c.sendall(bytes(100))
got = 0
while part := c.recv(1 << 16):
    got += len(part)
took = time.monotonic() - begun
assert got == {{size}}
open(sys.argv[1], "w").write(repr(took))
c.close()
time.sleep(3)
"""


@dataclass(frozen=True)
class Case:
    """Download to be measured in both ways: cell, congestion control and size in bytes."""

    cell: str
    control: str
    size: int

    @property
    def has_others(self) -> bool:
        """True if simulated users share the cell with the measured phone."""
        return "simulated" in self.cell

    @property
    def is_lte(self) -> bool:
        """True if the base station schedules the uplink, so that the scenario has no `[uplink]`."""
        return self.cell.startswith("lte")

    @property
    def start_s(self) -> int:
        """Start time in s, at which the downloads of other users have reached a steady state."""
        return 20 if self.has_others else 0

    def text(self, seed: int) -> str:
        start = 1000 * self.start_s + (3.7 * seed % 10 if self.is_lte else 0)
        pacing = "true" if self.control == "bbr" else "false"
        # The duration need not cover the downloads of the other users, which are longer.
        duration = 60 if self.size < 1_000_000 else 600
        common = COMMON.format(control=self.control, pacing=pacing, duration=duration)
        phone = PHONE.format(size=self.size, start=f"{start:.1f}")
        text = f"{common}{'' if self.is_lte else UPLINK}{CELLS[self.cell]}\n{phone}"
        if self.is_lte or self.has_others:
            text += CHANNEL
        return f"{text}{OTHERS}{CHANNEL}" if self.has_others else text


@dataclass(frozen=True)
class Download:
    """Result of one download: duration, mean round-trip time, and lateness of the emulation."""

    took_s: float
    rtt_s: float
    late_s: float = 0.0
    """99 % quantile of the lateness in seconds."""


def emulated(case: Case, seed: int, folder: Path) -> Download:
    took, rtt = (folder / f"{abs(hash((case, seed)))}.{what}" for what in ("took", "rtt"))
    program = PHONE_PROGRAM.format(size=case.size, start=case.start_s)
    scenario = Scenario.from_toml(case.text(seed), case.cell)
    plan = make(scenario, [("phone", (*FIRST, sys.executable, "-c", program, str(took)))])
    serving = SERVER_PROGRAM.format(control=case.control, size=case.size)
    server = (*FIRST, sys.executable, "-c", serving, str(rtt))
    outcome = emulate(plan, Options(seed=seed, server=server, duration_s=1500))
    late = outcome.report["lateness"]["p99_s"]
    return Download(float(took.read_text()), float(rtt.read_text()), late)


def simulated(case: Case, seed: int) -> Download:
    """Runs the download with the simulated TCP of `nodeb run`, and returns its result."""
    scenario = Scenario.from_toml(case.text(seed), case.cell)
    flows = scenario.run(runs=1, seed=seed, jobs=1).flows
    return Download(float(flows["download_s"][0]), float(flows["rtt_mean_s"][0]))


def compared(case: Case, kernel: list[Download], ours: list[Download]) -> list[str]:
    """Returns a row of the table: means and their ratios, with 95 % intervals by Student's t."""
    found = [case.cell, case.control, f"{case.size / 1000:.0f} kB"]
    for what in ("took_s", "rtt_s"):
        k, o = (np.array([getattr(one, what) for one in of]) for of in (kernel, ours))
        # The standard error of the ratio follows from the delta method, with the deviations of the
        # pairs from the ratio.
        ratio = k.mean() / o.mean()
        error = np.std(k - ratio * o, ddof=1) / len(k) ** 0.5 / o.mean()
        half = stats.t.ppf(0.975, len(k) - 1) * error
        found += [f"{k.mean():.3f}", f"{o.mean():.3f}", f"{ratio:.3f} +- {half:.3f}"]
    return [*found, f"{1e3 * max(one.late_s for one in kernel):.2f}"]


def main() -> None:
    """Runs all downloads and prints a table with one row per case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="100000,10000000")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--controls", default="reno,cubic,bbr")
    parser.add_argument("--cells", default=";".join(CELLS))
    asked = parser.parse_args()
    sizes, seeds = [int(size) for size in asked.sizes.split(",")], range(1, asked.seeds + 1)
    controls = asked.controls.split(",")
    cells = asked.cells.split(";")
    cases = [Case(cell, control, size) for size in sizes for cell in cells for control in controls]
    rows = []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(AT_A_TIME) as pool:
        work = {
            (case, seed): pool.submit(emulated, case, seed, Path(name))
            for case in cases
            for seed in seeds
        }
        for case in cases:
            kernel = [work[case, seed].result() for seed in seeds]
            rows.append(compared(case, kernel, [simulated(case, seed) for seed in seeds]))
            print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    head = ["cell", "control", "size", "kernel, s", "nodeb, s", "ratio"]
    head += ["rtt: kernel, s", "nodeb, s", "ratio", "late p99, ms"]
    print("\n".join(aligned([head, *rows], range(1, len(head)), min_width=0)))


if __name__ == "__main__":
    main()
