"""Measurement of this machine's capacity: downloads through a plain link at increasing rates."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodeb.answer.columns import aligned
from nodeb.answer.numbers import number
from nodeb.emulate.endpoint import check_system
from nodeb.emulate.plan import SERVER, make
from nodeb.emulate.session import Options, emulate
from nodeb.inputs.scenario import Scenario

RATES_MBPS = (10, 100, 200, 500, 1000)
SECONDS = 2.0
LATE_S = 0.001
"""Maximum 99th percentile of the lateness at which a rate counts as carried, s."""
MIN_SHARE = 0.85
"""Minimum share of the link rate that the download must reach; TCP's slow start takes some."""

SERVER_PROGRAM = f"""
import socket
s = socket.create_server(("{SERVER.v4}", 5001))
while True:
    c, _ = s.accept()
    try:
        while True:
            c.sendall(bytes(1 << 18))
    except OSError:
        c.close()
"""
PHONE_PROGRAM = f"""
import socket, sys, time
c = socket.create_connection(("{SERVER.v4}", 5001))
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until and c.recv(1 << 18):
    pass
"""
SCENARIO = {
    "wired": {"rate": "10 Gbps", "delay": "5 ms"},
    "uplink": {"rate": "1 Gbps", "delay": "5 ms"},
    "users": [{"name": "phone", "traffic": "external", "count": 1}],
}


@dataclass(frozen=True)
class Carried:
    """Result of the download test at one link rate."""

    rate_mbps: int
    got_mbps: float
    """Rate at which IP packets arrived at the phone; 0 if at most one arrived."""
    lateness: dict[str, Any]
    """Lateness of the deliveries, s: mean, quantiles such as `p99_s`, and maximum `max_s`."""
    cpu: float
    """CPU time of the driver per second of the emulation; 1 is a fully used core."""
    real_time: bool

    @property
    def well(self) -> bool:
        return self.got_mbps >= MIN_SHARE * self.rate_mbps and self.lateness["p99_s"] <= LATE_S


def measure(seconds: float = SECONDS) -> Iterator[Carried]:
    """Tests the link rates in increasing order and yields each result."""
    check_system()
    phone = sys.executable, "-c", PHONE_PROGRAM, str(seconds)
    options = Options(seed=1, server=(sys.executable, "-c", SERVER_PROGRAM), late_s=LATE_S)
    for rate in RATES_MBPS:
        link = {"rate": f"{rate} Mbps", "delay": "0 ms"}
        scenario = Scenario.from_dict(SCENARIO | {"radio": {"link": link}})
        outcome = emulate(make(scenario, [(None, phone)]), options)
        report = outcome.report
        down = report["phones"][0]["down"]
        got = 8e-6 * down["arrived_bytes"] / down["span_s"] if down["span_s"] > 0 else 0.0
        cpu = report["cpu_s"] / max(report["lasted_s"], 1e-9)
        yield Carried(rate, got, report["lateness"], cpu, outcome.real_time)


def text(tests: list[Carried]) -> str:
    """A table of the results, and a line on the highest rate that the machine carries."""
    rows = [["link, Mb/s", "got, Mb/s", "late p50", "p99", "p99.9", "max", "CPU", "carried"]]
    for test in tests:
        times = (test.lateness[key] for key in ("p50_s", "p99_s", "p999_s", "max_s"))
        late = [number(time_s, "s") for time_s in times]
        verdict = "yes" if test.well else "no"
        rows.append(
            [str(test.rate_mbps), f"{test.got_mbps:.0f}", *late, f"{test.cpu:.0%}", verdict]
        )
    highest = max((test.rate_mbps for test in tests if test.well), default=None)
    summary = (
        f"this machine is too busy or too slow: it carries no rate within {LATE_S * 1e3:g} ms"
        if highest is None
        else f"this machine carries {highest} Mb/s, 99 % of it within {LATE_S * 1e3:g} ms"
    )
    if not all(test.real_time for test in tests):
        summary += "; SCHED_FIFO was refused (`ulimit -r 10` allows it), which would help"
    return "\n".join([*aligned(rows, range(len(rows[0])), min_width=0), "", summary])
