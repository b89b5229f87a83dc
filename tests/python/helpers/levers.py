"""Compares the levers that are named from the critical path alone with simulated gains.

A lever is a change of the scenario that shortens a transfer.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import nodeb
from nodeb.explanation import Explanation
from nodeb.explanation.levers import levers
from nodeb.explanation.what_if import what_if

RUNS = 4
LITTLE = 0.02
"""Gains that differ by at most this fraction of the transfer time count as equal."""


@dataclass(frozen=True)
class Judged:
    """Random scenario with the change that its explanation suggests, the lever.

    The gains are those of all changes, including the lever.
    """

    scenario: nodeb.Scenario
    lever: str
    """Name of the change that the explanation suggests; empty if it suggests none."""
    gains: dict[str, float]
    """Gains in seconds by change, the largest first."""
    time_s: float

    @property
    def best_s(self) -> float:
        return next(iter(self.gains.values()))

    @property
    def gain_s(self) -> float:
        return self.gains.get(self.lever, 0.0)

    @property
    def is_among_best(self) -> bool:
        """True if at most one change gains significantly more than the suggested change."""
        slack = LITTLE * self.time_s
        return sum(gain > self.gain_s + slack for gain in self.gains.values()) < 2

    @property
    def wins_half(self) -> bool:
        return self.gain_s >= self.best_s / 2 - LITTLE * self.time_s

    @property
    def is_good(self) -> bool:
        return self.is_among_best and self.wins_half


def judged(number: int) -> Judged | None:
    """Compares the lever of random scenario `number` with all other changes by simulation.

    Returns None if a transfer does not end, or if no change gains more than `LITTLE`.
    """
    found = nodeb.explain(random_scenario(number), runs=RUNS, jobs=1)
    if not found.complete:
        return None
    gains = {one.name: one.gain.mean for one in what_if(found, jobs=1) if one.pairs.both == RUNS}
    gains = dict(sorted(gains.items(), key=lambda one: -one[1]))
    time_s = found.time.mean
    if not gains or max(gains.values()) <= LITTLE * time_s:
        return None
    return Judged(found.scenario, lever(found), gains, time_s)


def lever(found: Explanation) -> str:
    """Returns the name of the lever for the largest part of the critical path, "" if none."""
    return next((one.name for one in levers(found)), "")


def random_scenario(number: int) -> nodeb.Scenario:
    """Returns a random scenario in which one to four users download a file each."""
    rng = random.Random(number)
    draw = rng.choice
    data = {
        "seed": rng.randrange(1, 2**31),
        "duration": "600 s",
        "radio": _radio(rng),
        "tcp": _tcp(rng),
        "wired": {
            "rate": draw(["300 kbps", "2 Mbps", "10 Mbps", "10 Mbps"]),
            "delay": draw(["5 ms", "30 ms", "110 ms", "300 ms"]),
            "loss": draw([0.0, 0.0, 0.0, 0.01, 0.03]),
            "queue": {"drop_tail": {"limit": draw([10, 50, 1000])}},
        },
        "uplink": {"rate": draw(["64 kbps", "384 kbps"]), "delay": draw(["0 s", "20 ms", "60 ms"])},
        "users": [_users(rng)],
    }
    return nodeb.Scenario.from_dict(data)


def _radio(rng: random.Random) -> dict[str, object]:
    draw = rng.choice
    bler, buffer = draw([0.0, 0.01, 0.1, 0.3]), draw([10, 50, 1000])
    iub = {"room": draw(["2 kB", "10 kB"]), "delay": draw(["5 ms", "15 ms", "40 ms"])}
    rate = draw(["64 kbps", "384 kbps", "2 Mbps", "10 Mbps"])
    return draw(
        [
            {"dch": {"bler": bler, "buffer": buffer}},
            {"dch": {"bler": bler, "buffer": buffer, "rlc": {"am": {}}}},
            {"hs_dsch": {"bler": bler, "buffer": buffer}},
            {"hsdpa": {"buffer": buffer}},
            {"hsdpa": {"buffer": buffer, "iub": iub}},
            {"fach_dch": {"dch_channels": draw([1, 2]), "switch_time": draw(["250 ms", "1 s"])}},
            {"wcdma": {"eb_n0_db": draw([8.0, 20.0])}},
            {"link": {"rate": rate, "loss": draw([0.0, 0.0, 0.01])}},
        ]
    )


def _tcp(rng: random.Random) -> dict[str, object]:
    draw = rng.choice
    classic = {"delayed_ack": draw(["0 s", "100 ms"]), "max_window": draw([8, 42, 100])}
    linux = {"control": draw(["cubic", "reno"]), "pacing": draw([False, False, True])}
    return draw([{"classic": classic}, {"linux": linux}])


def _users(rng: random.Random) -> dict[str, object]:
    draw = rng.choice
    size = draw(["5 kB", "20 kB", "50 kB", "150 kB", "400 kB"])
    ftp = {"size": size, "server_delay": draw(["0 s", "0 s", "0 s", "500 ms"])}
    return {"count": draw([1, 1, 1, 2, 4]), "stagger": "50 ms", "traffic": {"ftp": ftp}}


def least_good(of: int) -> int:
    """Returns the 0.1 % quantile of the number of good levers in `of` scenarios.

    The number is binomial, with a probability of 90 % that a lever is good.
    """
    count = below = 0
    while 1000 * (below + math.comb(of, count) * 9**count) < 10**of:
        below += math.comb(of, count) * 9**count
        count += 1
    return count
