"""What this machine can carry: a download through a plain link, at one rate after the other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodeb import _core
from nodeb.emulate.addresses import SERVER
from nodeb.emulate.plan import Plan, make
from nodeb.emulate.problems import check_system
from nodeb.emulate.session import Options, Outcome, emulate, make_end
from nodeb.errors import NodebError
from nodeb.inputs.scenario import Scenario

__all__ = ["RATES_MBPS", "Carried", "allowed", "measure", "text"]

RATES_MBPS = (10, 100, 200, 500, 1000)
"""Rates of the link, one after the other."""
SECONDS = 2.0
"""How long each is tried."""
LATE_S = 0.001
"""A rate is carried if 99 % of its packets are not later than this."""
ENOUGH = 0.85
"""A rate is carried if the download gets so much of it, headers and TCP's own ways taken off."""

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
    """How a rate was carried."""

    rate_mbps: int
    """Of the link."""
    got_mbps: float
    """What arrived at the phone, IP."""
    lateness: dict[str, Any]
    """How late deliveries were."""
    cpu: float
    """Share of a core that the driver took."""
    real_time: bool
    """Whether the driver went before everything else."""

    @property
    def well(self) -> bool:
        """Whether the machine carries the rate."""
        return self.got_mbps >= ENOUGH * self.rate_mbps and self.lateness["p99_s"] <= LATE_S


def allowed() -> str | None:
    """Tries to make a namespace and a device: why that is refused; None if it is not."""
    try:
        check_system()
        emulation = _core.Emulation()
        with make_end(emulation.fileno(), Options(seed=1), 0, "server", SERVER) as end:
            end.await_ready()
    except NodebError as error:
        return str(error)
    return None


def measure(seconds: float = SECONDS) -> Iterator[Carried]:
    """Tries one rate after the other.

    Args:
        seconds: how long each is tried.

    Raises:
        RunError: the machine does not let real packets through.
    """
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
    got = 8e-6 * down["arrived_bytes"] / max(down["span_s"], 1e-9)
    cpu = report["cpu_s"] / max(down["span_s"], 1e-9)
    return Carried(rate, got, report["lateness"], cpu, outcome.real_time)


def text(found: list[Carried]) -> str:
    """What was found, and what it comes to."""
    from nodeb.answer.columns import aligned
    from nodeb.emulate.told import in_words

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
