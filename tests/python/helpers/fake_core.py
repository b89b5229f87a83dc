"""A stand-in for the simulation core: tables of the right form from a formula and seeded noise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from nodeb.formulas.analytics import slow_start_transfer_time

SIZES = {"kB": 1000, "MB": 1_000_000}


def number(quantity: str) -> float:
    """The number of a quantity such as "9.5 ms"."""
    return float(str(quantity).split()[0])


def size_bytes(quantity: str) -> int:
    value, unit = quantity.split()
    return int(float(value) * SIZES[unit])


def joined(replications: Iterable[dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The tables of several replications, one after the other."""
    found = list(replications)
    return {
        name: {key: np.concatenate([one[name][key] for one in found]) for key in table}
        for name, table in found[0].items()
    }


class FakeSimulator:
    """Utilization falls with block errors on DCH and rises on HS-DSCH, roughly as in the study."""

    def __init__(self, noise: float = 0.01, never_ends: bool = False) -> None:
        self.noise = noise
        self.never_ends = never_ends
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
        ((kind, radio),) = scenario["radio"].items()
        digest = hashlib.sha256(f"{seed} {run}".encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "little"))
        groups = [(u["name"], u) for u in scenario["users"] for _ in range(u.get("count", 1))]
        flows = [self._flow(scenario, kind, radio, user, len(groups), rng) for _, user in groups]
        columns = {key: np.array([flow[key] for flow in flows]) for key in flows[0]}
        columns |= {
            "run": np.full(len(groups), run),
            "user": np.arange(len(groups)),
            "start_s": np.zeros(len(groups)),
        }
        tti_s = number(radio["tti"]) / 1000
        rate = radio["channels"] * number(radio["pdu_size"]) * 8 / tti_s
        bearers = {
            "run": np.array([run]),
            "bler": np.array([radio["bler"]]),
            "channel_rate_bps": np.array([rate]),
        }
        return {"flows": {**columns, "group": [n for n, _ in groups]}, "bearers": bearers}

    def _flow(
        self, scenario: Any, kind: str, radio: Any, user: Any, users: int, rng: Any
    ) -> dict[str, Any]:
        bler, delay_s = radio["bler"], number(radio["retransmission_delay"]) / 1000
        size = size_bytes(user["traffic"]["ftp"]["size"])
        packets = -(-size // 1460)
        rate = radio["channels"] * number(radio["pdu_size"]) * 8 / number(radio["tti"]) * 1000
        value = sum((v + 1) * p for v, p in enumerate(user.get("ci", [1.0])))
        scheduler = radio.get("scheduler", "round_robin")
        bonus = {"round_robin": 1.0, "max_ci": 1.0 + 0.2 * value, "proportional_fair": 1.2}
        rate *= value * bonus[scheduler] / (users if kind == "hs_dsch" else 1)
        packet_s = 12_000 / rate / (1 - bler)
        rtt = 0.25 + 3 * bler * delay_s * 3
        time = slow_start_transfer_time(packets, rtt, packet_s)
        time *= 1 + 20 * scenario["wired"]["loss"]
        time *= 1 + self.noise * rng.standard_normal()
        return {
            "complete": not self.never_ends,
            "transfer_s": np.nan if self.never_ends else time,
            "download_s": time,
            "app_bytes": size,
            "ip_bytes": size + 40 * packets,
            "packets_sent": packets,
            "packets_retransmitted": 0,
            "timeouts": 0,
            "fast_retransmits": 0,
            "rtt_mean_s": rtt + packet_s,
        }
