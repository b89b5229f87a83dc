"""What is kept of the series of a replication: a long run's are too large to keep as they are.

A series is a table that `[record]` in the scenario asks for, with a row for each event.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from nodeb.reproduce.arrays import Array, Tables


def recorded(scenario: str) -> frozenset[str]:
    """Names of the series that a resolved scenario, as JSON, asks for."""
    wanted: Mapping[str, bool] = json.loads(scenario).get("record", {})
    return frozenset(name for name, is_wanted in wanted.items() if is_wanted)


def reduce(tables: Tables, warm_up_s: float) -> dict[str, Array]:
    """A few numbers for all the series of a replication.

    Args:
        tables: as the simulation core returns them.
        warm_up_s: bursts count if they end later than this.
    """
    return bursts(tables, warm_up_s)


def bursts(tables: Tables, warm_up_s: float) -> dict[str, Array]:
    """Sums over each user's bursts that end after the warm-up; nothing without a record.

    The end decides, not the beginning: bursts that both begin and end in a window would be too
    short a sample of them.
    """
    if "transfers" not in tables:
        return {}
    transfers, users = tables["transfers"], len(tables["flows"]["user"])
    user = np.asarray(transfers["user"], dtype=np.int64)
    delay = np.asarray(transfers["delay_s"], dtype=float)
    download = np.asarray(transfers["download_s"], dtype=float)
    size = np.asarray(transfers["bytes"], dtype=float)
    kept = np.asarray(transfers["begin_s"], dtype=float) + delay > warm_up_s

    def per_user(values: Array) -> Array:
        return np.bincount(user[kept], values[kept], users).astype(np.float64)

    return {
        "all_bursts": np.bincount(user, minlength=users).astype(float),
        "bursts": per_user(np.ones_like(delay)),
        "burst_delay_s": per_user(delay),
        "burst_download_s": per_user(download),
        "burst_bytes": per_user(size),
        "burst_rate": per_user(size / delay),
    }
