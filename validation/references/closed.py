"""Comparisons with closed forms: slow start, and the binomial distribution of block errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import nodeb
from nodeb.formulas import analytics
from references.row import Row

COMMAND = "python validation/trust.py"
PACKET_BITS, ACK_BITS = 1500 * 8, 40 * 8
SIZES = (1, 3, 10, 30, 100, 300)
BLERS = (0.01, 0.1, 0.3)


def rows() -> Iterator[Row]:
    """Yields one row for slow start over a wire and one for the rate of block errors."""
    worst = max(abs(slow_start(packets)) for packets in SIZES)
    what = f"transfers of {SIZES[0]} to {SIZES[-1]} packets over a wire without loss"
    distance = f"at most {1e9 * worst:.1f} ns"
    yield Row("slow start, packet by packet", what, len(SIZES), distance, "", COMMAND)
    scores = [block_errors(bler) for bler in BLERS]
    distance = f"at most {max(map(abs, scores)):.1f} standard deviations"
    what = f"shares of blocks in error at {', '.join(f'{100 * one:g} %' for one in BLERS)}"
    yield Row("the binomial law", what, len(scores), distance, "", COMMAND)


def slow_start(packets: int) -> float:
    """Returns the simulated duration of a transfer minus that of the closed form, in seconds."""
    wire, back = 1e9, 1e9
    rate, delay_s, back_s = 384e3, 0.1, 0.05
    scenario = {
        "name": "slow start",
        "runs": 1,
        "duration": "1000 s",
        "wired": {"rate": f"{wire:.0f} bps", "delay": f"{1e3 * delay_s:g} ms"},
        "radio": {"link": {"rate": f"{rate:.0f} bps", "delay": "0 ms"}},
        "uplink": {"rate": f"{back:.0f} bps", "delay": f"{1e3 * back_s:g} ms"},
        "tcp": {
            "classic": {
                "opened_by": "server",
                "initial_window": 1,
                "max_window": 1000,
                "delayed_ack": "0 ms",
            }
        },
        "users": [{"traffic": {"ftp": {"size": f"{1460 * packets} B"}}}],
    }
    found = float(nodeb.Scenario.from_dict(scenario).run(jobs=1).flows["transfer_s"][0])
    # Propagation: a packet crosses the wire, and its ACK crosses the uplink and the wire.
    both_ways_s = 2 * delay_s + back_s
    # Transmission adds the packet's time on the wire, and the ACK's on the uplink and the wire.
    round_trip_s = both_ways_s + PACKET_BITS / wire + ACK_BITS / back + ACK_BITS / wire
    opening_s = both_ways_s + ACK_BITS / rate + ACK_BITS / back + 2 * ACK_BITS / wire
    theory = analytics.slow_start_transfer_time(packets, round_trip_s, PACKET_BITS / rate, 1)
    return found - opening_s - theory


def block_errors(bler: float) -> float:
    """Returns the deviation of the simulated block error rate from `bler`, in standard errors."""
    scenario = {
        "name": "block errors",
        "runs": 4,
        "duration": "200 s",
        "radio": {"dch": {"bler": bler}},
        "tcp": {"linux": {}},
        "users": [{"traffic": {"ftp": {"size": "1 GB"}}}],
    }
    bearers = nodeb.Scenario.from_dict(scenario).run().bearers
    blocks, failed = (int(np.sum(bearers[name])) for name in ("blocks", "blocks_failed"))
    return float((failed / blocks - bler) / np.sqrt(bler * (1 - bler) / blocks))
