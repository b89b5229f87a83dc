"""Measurement of this machine's capacity: downloads through a plain link at increasing rates."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodeb import _core
from nodeb.emulate.addresses import SERVER
from nodeb.emulate.plan import Plan, make
from nodeb.emulate.problems import check_system
from nodeb.emulate.session import Options, Outcome, emulate, start_endpoint
from nodeb.errors import NodebError
from nodeb.inputs.scenario import Scenario

__all__ = ["RATES_MBPS", "Carried", "allowed", "measure", "text"]

RATES_MBPS = (10, 100, 200, 500, 1000)
SECONDS = 2.0
LATE_S = 0.001
"""Maximum 99th percentile of the lateness at which a rate counts as carried, seconds."""
MIN_SHARE = 0.85
"""Minimum share of the link rate that the download must reach for the rate to count as carried.

The remaining 15 % allow for TCP, for example for slow start.
"""

SERVER_PROGRAM = """
import socket
s = socket.create_server(("{server}", 5001))
while True:
    c, _ = s.accept()
    try:
        while True:
            c.sendall(bytes(1 << 18))
    except OSError:
        c.close()
"""

PHONE_PROGRAM = """
import socket, sys, time
c = socket.create_connection(("{server}", 5001))
until = time.monotonic() + {seconds}
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
    """Result of the download test at one link rate: bit rate, lateness and load."""

    rate_mbps: int
    got_mbps: float
    """Rate at which IP packets arrived at the phone, Mbit/s; 0 if at most one arrived."""
    lateness: dict[str, Any]
    """Lateness of the deliveries, seconds: mean, quantiles such as `p99_s`, and maximum `max_s`."""
    cpu: float
    """CPU time of the driver per second of the emulation; 1 is a fully used core."""
    real_time: bool

    @property
    def well(self) -> bool:
        """Whether the machine carries the rate.

        This requires that at least `MIN_SHARE` of the rate arrives, and that the 99th percentile of
        the lateness is at most `LATE_S`.
        """
        return self.got_mbps >= MIN_SHARE * self.rate_mbps and self.lateness["p99_s"] <= LATE_S


def allowed() -> str | None:
    try:
        check_system()
        emulation = _core.Emulation()
        with start_endpoint(emulation.fileno(), Options(seed=1), 0, "server", SERVER) as end:
            end.await_ready()
    except NodebError as error:
        return str(error)
    return None


def measure(seconds: float = SECONDS) -> Iterator[Carried]:
    """Tests the link rates in increasing order and yields each result."""
    check_system()
    for rate in RATES_MBPS:
        outcome = emulate(_plan(rate, seconds), _options())
        yield _carried(rate, outcome)


def _plan(rate: int, seconds: float) -> Plan:
    program = PHONE_PROGRAM.format(server=SERVER.v4, seconds=seconds)
    link = {"rate": f"{rate} Mbps", "delay": "0 ms"}
    scenario = Scenario.from_dict(SCENARIO | {"radio": {"link": link}})
    return make(scenario, [(None, (sys.executable, "-c", program))])


def _options() -> Options:
    program = SERVER_PROGRAM.format(server=SERVER.v4)
    return Options(seed=1, server=(sys.executable, "-c", program), late_s=LATE_S)


def _carried(rate: int, outcome: Outcome) -> Carried:
    report = outcome.report
    down = report["phones"][0]["down"]
    got = 8e-6 * down["arrived_bytes"] / down["span_s"] if down["span_s"] > 0 else 0.0
    cpu = report["cpu_s"] / max(report["lasted_s"], 1e-9)
    return Carried(rate, got, report["lateness"], cpu, outcome.real_time)


def text(found: list[Carried]) -> str:
    """Returns a table of the results, and a line on the highest rate that the machine carries."""
    from nodeb.answer.columns import aligned
    from nodeb.emulate.labels import in_words

    late = ("p50_s", "p99_s", "p999_s", "max_s")
    rows = [
        [
            str(one.rate_mbps),
            f"{one.got_mbps:.0f}",
            *(in_words(one.lateness[key]) for key in late),
            f"{one.cpu:.0%}",
            "yes" if one.well else "no",
        ]
        for one in found
    ]
    head = ["link, Mb/s", "got, Mb/s", "late p50", "p99", "p99.9", "max", "CPU", "carried"]
    carried = [one.rate_mbps for one in found if one.well]
    verdict = (
        f"this machine carries {max(carried)} Mb/s, 99 % of it within {LATE_S * 1e3:g} ms"
        if carried
        else f"this machine is too busy or too slow: it carries no rate within {LATE_S * 1e3:g} ms"
    )
    if not all(one.real_time for one in found):
        verdict += "; SCHED_FIFO was refused (`ulimit -r 10` allows it), which would help"
    table = aligned([head, *rows], range(len(head)), min_width=0)
    return "\n".join([*table, "", verdict])
