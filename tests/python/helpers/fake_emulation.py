"""Artificial results of an emulation, for machines that cannot carry real packets."""

from __future__ import annotations

import numpy as np

import nodeb
from nodeb.emulate import plan as plans
from nodeb.emulate.session import Options, Outcome

SCENARIO = """
name = "a made-up emulation"
duration = "5 s"
[radio.hsdpa]
[[users]]
name = "phone"
traffic.ftp.size = "100 kB"
[[users]]
name = "tablet"
traffic.ftp.size = "100 kB"
[[users]]
name = "others"
count = 3
traffic.ftp.size = "100 kB"
"""
INTERVALS = 120
WIDTH_S = 0.1
LATE_S = 0.002


def plan() -> plans.Plan:
    """Returns a plan for an emulation with two real phones and three simulated users."""
    wanted = [("phone", ("curl", "http://10.64.0.1/a file")), ("tablet", ("ping", "10.64.0.1"))]
    return plans.make(nodeb.Scenario.from_toml(SCENARIO, "made-up.toml"), wanted)


def options() -> Options:
    return Options(seed=7, server=("python3", "-m", "http.server"), duration_s=30.0)


def outcome(*, late_share: float = 0.0, empty: bool = False) -> Outcome:
    """Returns an artificial outcome of an emulation, without any packet if `empty` is true."""
    # The tables of the simulator are those of a simulation, as their contents do not matter.
    world = nodeb.Scenario.from_toml(SCENARIO, "made-up.toml").run(runs=1, jobs=1).tables
    tables = {name: {c: table[c] for c in table.columns} for name, table in world.items()}
    random = np.random.default_rng(3)
    tables |= {"emulation": _phones(random, empty), "emulation_cell": _cell(random, empty)}
    delays = {"user": [0, 0, 1], "way": ["down", "down", "up"], "up_to_s": [0.05, 0.4, 0.07]}
    delays |= {"packets": [900, 100, 40]}
    late = {"up_to_s": [1e-5, 2e-5, 1e-3], "deliveries": [900, 80, 20]}
    few = slice(0, 0) if empty else slice(None)
    for name, columns in (("emulation_delays", delays), ("emulation_lateness", late)):
        columns = {"run": np.zeros(len(columns["up_to_s"]), int), **columns}
        tables[name] = {key: np.asarray(column)[few] for key, column in columns.items()}
    return Outcome(
        _report(late_share, empty),
        tables,
        {"phone": 0, "tablet": 1},
        {},
        "command",
        True,
        INTERVALS * WIDTH_S,
    )


def _spans() -> dict[str, np.ndarray]:
    begins = np.arange(INTERVALS) * WIDTH_S
    ends = np.minimum(begins + WIDTH_S, INTERVALS * WIDTH_S - 0.03)
    return {"run": np.zeros(INTERVALS, int), "begin_s": begins, "end_s": ends}


def _phones(random: np.random.Generator, empty: bool) -> dict[str, np.ndarray]:
    parts = []
    for user in (0, 1):
        for way in ("down", "up"):
            packets = random.poisson(0 if empty else 20 if way == "down" else 4, INTERVALS)
            none = packets == 0
            p50 = np.where(none, np.nan, 0.08 + 0.05 * random.random(INTERVALS))
            part = _spans() | {
                "user": np.full(INTERVALS, user),
                "way": np.full(INTERVALS, way),
                "arrived_packets": packets,
                "arrived_bytes": packets * 1400,
                "lost_link": np.zeros(INTERVALS, int),
                "lost_overflow": random.poisson(0 if empty else 0.2, INTERVALS),
                "lost_early_drop": np.zeros(INTERVALS, int),
                "lost_radio": random.poisson(0 if empty else 0.02, INTERVALS),
                "delay_p50_s": p50,
                "delay_p99_s": 1.8 * p50,
                "queue_packets": 1.0 * packets,
                "cqi": random.normal(15, 1, INTERVALS) if way == "down" else np.full(120, np.nan),
            }
            parts.append(part)
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _cell(random: np.random.Generator, empty: bool) -> dict[str, np.ndarray]:
    none = np.full(INTERVALS, np.nan)
    return _spans() | {
        "simulated_down_bytes": random.poisson(30_000, INTERVALS),
        "simulated_up_bytes": random.poisson(900, INTERVALS),
        "deliveries": np.full(INTERVALS, 0 if empty else 50),
        "late_mean_s": none if empty else random.exponential(2e-5, INTERVALS),
        "late_max_s": none if empty else random.exponential(3e-4, INTERVALS),
    }


def _times(count: int, unit: float) -> dict[str, float]:
    factors = {"mean_s": 2, "p50_s": 1, "p99_s": 9, "p999_s": 20, "max_s": 30}
    return {"count": count} | {name: by * unit * bool(count) for name, by in factors.items()}


def _report(late_share: float, empty: bool) -> dict:
    some = not empty

    def way(packets: int) -> dict:
        packets *= some
        lost = {"lost_link": 0, "lost_overflow": 3 * some, "lost_early_drop": 0, "lost_radio": 0}
        arrived = {"arrived_packets": packets, "arrived_bytes": 1400 * packets}
        offered = {"offered_packets": packets + 3 * some}
        return offered | arrived | lost | {"delay": _times(packets, 0.05), "span_s": 11.0}

    phones = [
        {"user": user, "name": name, "down": way(2400), "up": way(480), "device": {"dropped": 0}}
        for user, name in enumerate(("phone", "tablet"))
    ]
    zero = dict.fromkeys(("malformed", "too_long", "no_memory", "unwritten", "slept_s"), 0)
    late = _times(1000 * some, 1e-5) | {"limit_s": LATE_S, "share_beyond": late_share}
    return zero | {
        "phones": phones,
        "lasted_s": 12.0,
        "lateness": late,
        "late_share": 0.01,
        "busy": _times(1000, 1e-5),
        "stray": 2,
        "cpu_s": 0.4,
        "memory_bytes": 393_216,
        "server_device": {"dropped": 0},
    }
