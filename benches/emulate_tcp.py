"""A Linux kernel's downloads through `nodeb emulate` beside the `linux` family in `nodeb run`.

    python benches/emulate_tcp.py [--sizes 100000,1000000] [--seeds 10] [--cells 'A;B'] [--md]

Each download has its seed and namespaces of its own, and beside it the simulation of the same
scenario and seed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from nodeb.emulate.addresses import SERVER
from nodeb.emulate.plan import make
from nodeb.emulate.session import Options, emulate
from nodeb.inputs.reading import parsed
from nodeb.inputs.scenario import Scenario
from nodeb.terminal.text import align

AT_A_TIME = 4
"""Emulations side by side: each needs a few per cent of a core."""
FIRST = ("chrt", "-f", "5")
"""Both ends go before all but the driver: what else the machine does is not measured."""

COMMON = """
duration = "600 s"
[tcp.linux]
control = "{control}"
pacing = {pacing}
[wired]
rate = "100 Mbps"
delay = "30 ms"
queue.drop_tail.limit = 1000
[uplink]
rate = "384 kbps"
delay = "20 ms"
[record]
rtt = true
"""

PHONE = """
[[users]]
name = "phone"
traffic.ftp = {{ size = "{size} B", request = "100 B" }}
"""

CELLS = {
    "link, 2 Mb/s": '[radio.link]\nrate = "2 Mbps"\ndelay = "20 ms"\nqueue.drop_tail.limit = 50',
    "dch, BLER 1 %": "[radio.dch]\nbler = 0.01",
    "dch, BLER 10 %": "[radio.dch]\nbler = 0.1",
    "hs_dsch, BLER 10 %": "[radio.hs_dsch]\nchannels = 5\nbler = 0.1",
    "hsdpa, 10 simulated": '[radio.hsdpa]\nscheduler = "proportional_fair"',
}
OTHERS = '[[users]]\nname = "others"\ncount = 10\ntraffic.ftp.size = "20 MB"\n'

SERVER_PROGRAM = f"""
import socket
s = socket.create_server(("{SERVER.v4}", 5001))
c, _ = s.accept()
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{{control}}")
want = {{size}}
got = 0
while got < 100:
    got += len(c.recv(100))
c.sendall(bytes(want))
c.shutdown(socket.SHUT_WR)
c.recv(1)
"""

PHONE_PROGRAM = f"""
import socket, sys, time
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
"""


@dataclass(frozen=True)
class Case:
    """A cell, a congestion control, a size."""

    cell: str
    control: str
    size: int

    def text(self) -> str:
        """Its scenario."""
        pacing = "true" if self.control == "bbr" else "false"
        common = COMMON.format(control=self.control, pacing=pacing)
        others = OTHERS if "simulated" in self.cell else ""
        return f"{common}{CELLS[self.cell]}\n{PHONE.format(size=self.size)}{others}"


def emulated(case: Case, seed: int, folder: Path) -> tuple[float, float]:
    """How long the kernel took, and the 99 % quantile of lateness."""
    told = folder / f"{abs(hash((case, seed)))}"
    program = PHONE_PROGRAM.format(size=case.size)
    data = parsed(case.text(), case.cell)
    plan = make(data, [("phone", (*FIRST, sys.executable, "-c", program, str(told)))])
    serving = SERVER_PROGRAM.format(control=case.control, size=case.size)
    server = (*FIRST, sys.executable, "-c", serving)
    outcome = emulate(plan, Options(seed=seed, server=server, duration_s=500))
    return float(told.read_text()), outcome.report["lateness"]["p99_s"]


def simulated(case: Case, seed: int) -> float:
    """How long it takes in `nodeb run`."""
    scenario = Scenario.from_dict(parsed(case.text(), case.cell))
    flows = scenario.run(runs=1, seed=seed, jobs=1).flows
    return float(flows["download_s"][0])


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--controls", default="reno,cubic,bbr")
    parser.add_argument("--cells", default=";".join(CELLS))
    parser.add_argument("--md", action="store_true")
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
            kernel, late = zip(*(work[case, seed].result() for seed in seeds), strict=True)
            ours = [simulated(case, seed) for seed in seeds]
            pairs = [k / o for k, o in zip(kernel, ours, strict=True)]
            ratio = statistics.fmean(kernel) / statistics.fmean(ours)
            rows.append(
                [
                    case.cell,
                    case.control,
                    f"{case.size / 1000:.0f} kB",
                    f"{statistics.fmean(kernel):.3f}",
                    f"{statistics.fmean(ours):.3f}",
                    f"{ratio:.3f}",
                    f"{min(pairs):.3f} .. {max(pairs):.3f}",
                    f"{max(late) * 1e3:.2f}",
                ]
            )
            print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    head = ["cell", "control", "size", "kernel, s", "nodeb, s", "ratio", "of pairs", "late p99, ms"]
    if asked.md:
        for row in (head, ["---"] * len(head), *rows):
            print("|", " | ".join(row), "|")
    else:
        print(align(head, rows))


if __name__ == "__main__":
    main()
