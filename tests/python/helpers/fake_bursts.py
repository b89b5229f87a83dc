"""A stand-in for the simulation core where phones switch channels: bursts from a formula."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from fake_core import joined

GAIN = {"threshold": 1.0, "preemptive": 0.95, "non_preemptive": 0.8, "longest_queue": 0.75}
STATES = ("pch", "paging", "setting_up", "dch", "releasing")
BURSTS = 50
ACK_S = 0.035


def delay_s(connections: int, high: int, policy: str) -> float:
    """A delay that rises with the connections and is least at a threshold of 4."""
    return connections * GAIN[policy] * (1 + 0.02 * (high - 4) ** 2)


def _normal(*words: object) -> float:
    digest = hashlib.sha256(" ".join(map(str, words)).encode()).digest()
    return float(np.random.default_rng(int.from_bytes(digest[:8], "little")).standard_normal())


class FakeBursts:
    """Every burst of a replication has the same delay.

    Args:
        noise: relative deviation of the delay, common to all scenarios of a replication.
        own_noise: relative deviation that each scenario has of its own.
    """

    def __init__(self, noise: float = 0.01, own_noise: float = 0.0) -> None:
        self.noise, self.own_noise = noise, own_noise
        self.calls: list[tuple[str, int, int]] = []

    def resolve(self, text: str) -> str:
        return json.dumps(json.loads(text), sort_keys=True)

    def compile(self, text: str, label: str) -> str:
        return text

    def run_many(
        self, text: str, seed: int, first: int, runs: int, control: Any
    ) -> dict[str, dict[str, Any]]:
        return joined(self.run(text, seed, run, control) for run in range(first, first + runs))

    def run(self, text: str, seed: int, run: int, control: Any) -> dict[str, dict[str, Any]]:
        self.calls.append((text, seed, run))
        scenario = json.loads(text)
        count = scenario["users"][0]["count"]
        ((policy, params),) = scenario["radio"]["fach_dch"]["policy"].items()
        delay = delay_s(count, params["high"], policy)
        delay *= np.exp(self.noise * _normal(seed, run))
        delay *= np.exp(self.own_noise * _normal(seed, run, text))
        duration = float(scenario["duration"].split()[0])
        user = np.repeat(np.arange(count), BURSTS)
        end = duration - 1.0 - np.arange(len(user)) / len(user)
        flows = {
            name: np.full(count, np.nan) for name in ("transfer_s", "download_s", "rtt_mean_s")
        } | {
            name: np.zeros(count)
            for name in ("start_s", "app_bytes", "ip_bytes", "packets_sent", "timeouts")
        }
        flows |= {name: np.zeros(count) for name in ("packets_retransmitted", "fast_retransmits")}
        flows |= {"user": np.arange(count), "complete": np.zeros(count, dtype=bool)}
        spent = {f"{state}_s": np.zeros(count) for state in STATES}
        set_ups = np.full(count, BURSTS * GAIN[policy])
        tables: dict[str, dict[str, Any]] = {
            "flows": flows,
            "bearers": {"bler": np.zeros(1), "channel_rate_bps": np.array([384_000.0])},
            "transfers": {
                "user": user,
                "begin_s": end - delay,
                "delay_s": np.full(len(user), delay),
                "download_s": np.full(len(user), delay - ACK_S),
                "bytes": np.full(len(user), 30_000),
            },
            "channels": {**spent, "fach_s": np.full(count, duration), "set_ups": set_ups},
        }
        for table in tables.values():
            table["run"] = np.full(len(next(iter(table.values()))), run)
        return tables
