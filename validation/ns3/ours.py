"""Simulation of the comparison's cases in nodeb."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import nodeb
from nodeb import stats

BEGIN_S = 1.0
"""Time at which the measurement of full buffers begins, when all queues are filled."""
SPEED_RUNS = 10
BUFFER = "20 MB"
"""Buffers of TCP, which limit no window."""
WIRED_DELAY = "20 ms"
UPLINK_OFFSET_DB = -3.0
"""SNR of the uplink relative to the downlink: in ns-3 the phone has 7 dB less power than the eNB,
whose noise figure is 4 dB lower than the phone's."""


def simulate(settings: Mapping[str, Any]) -> dict[str, float]:
    if "bytes" in settings:
        scenario = download(settings)
        found = {"download_s": float(run(scenario).flows["download_s"][0])}
    else:
        scenario = full_buffer(settings, BEGIN_S + settings["seconds"])
        found = rates(run(full_buffer(settings, BEGIN_S)), run(scenario), settings["seconds"])
    return found | {"speed": speed(scenario)}


def run(scenario: dict[str, Any], runs: int = 1) -> nodeb.Result:
    """Returns the result of a scenario, simulated in one thread."""
    return nodeb.Scenario.from_dict(scenario).run(runs=runs, jobs=1)


def rates(before: nodeb.Result, after: nodeb.Result, seconds: float) -> dict[str, float]:
    """Returns the rate of IP packets in Mbit/s and Jain's index of the users' rates."""
    ends = [float(sum(result.bearers["bytes_delivered"])) for result in (before, after)]
    payload = after.flows["delivered_bytes"] - before.flows["delivered_bytes"]
    return {
        "rate_mbps": 8e-6 * (ends[1] - ends[0]) / seconds,
        "jain": stats.jain_index([float(octets) for octets in payload]),
    }


def speed(scenario: dict[str, Any]) -> float:
    """Returns the number of seconds simulated per second of CPU time."""
    begun = time.process_time()
    result = run(scenario, SPEED_RUNS)
    spent_s = time.process_time() - begun
    return float(sum(result.bearers["end_s"])) / len(result.bearers["end_s"]) * SPEED_RUNS / spent_s


def full_buffer(settings: Mapping[str, Any], duration_s: float) -> dict[str, Any]:
    """Returns a cell whose phones download without end.

    The initial windows exceed the bandwidth-delay product, so queues are never empty.
    """
    window = 400 if len(settings["snr_db"]) == 1 else 64
    return {
        "name": "full buffers",
        "duration": f"{duration_s} s",
        "wired": {"rate": "1 Gbps", "delay": "5 ms"},
        "uplink": {"rate": "1 Gbps", "delay": "5 ms"},
        "tcp": {"linux": {"initial_window": window, **buffers()}},
        "radio": {"lte": cell(settings)},
        "users": phones(settings, "1 GB"),
    }


def download(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a cell with scheduled uplink whose phone downloads a file.

    Like the phone of ns-3, it acknowledges each segment and has a connection that the server opens.
    """
    uplink = {"scheduled": {"snr_offset_db": UPLINK_OFFSET_DB}}
    tcp = {"opened_by": "server", "delayed_ack": "0 ms", **buffers()}
    return {
        "name": "download",
        "duration": "20 s",
        "wired": {"rate": "1 Gbps", "delay": WIRED_DELAY},
        "tcp": {"linux": tcp},
        "radio": {"lte": {**cell(settings), "uplink": uplink}},
        "users": phones(settings, f"{settings['bytes']} B"),
    }


def cell(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "bandwidth": "20 MHz",
        "scheduler": settings["scheduler"],
        "control_symbols": settings.get("control_symbols", 3),
        "users_per_tti": 20,
        "queue": {"drop_tail": {"limit": 20_000}},
    }


def buffers() -> dict[str, str]:
    return {"send_buffer": BUFFER, "receive_buffer": BUFFER, "initial_receive_buffer": BUFFER}


def phones(settings: Mapping[str, Any], size: str) -> list[dict[str, Any]]:
    return [
        {
            "name": f"phone {number}",
            "traffic": {"ftp": {"size": size}},
            "ue": {"channel": {"constant": {"snr_db": snr_db}}},
        }
        for number, snr_db in enumerate(settings["snr_db"])
    ]
