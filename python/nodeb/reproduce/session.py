"""What is kept of one user's session over time: bins of delivered and available bytes, windows.

A study with a table `session` has them: `user`, its number; `bin_s`, the length of a bin, s; and
`packet_bytes` and `data_bytes`, a packet with headers and without, as bandwidth is that of packets.
Its base scenario records `bandwidth`, `segments` and `cwnd`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nodeb.reproduce.arrays import Array, Tables
from nodeb.results.timeseries import delivered_bytes, held_values


def reduce(tables: Tables, spec: Mapping[str, Any]) -> dict[str, Array]:
    """A user's session in bins of equal length.

    Args:
        tables: as the simulation core returns them.
        spec: the study's table `session`.

    Returns:
        By bin: `bin_received_bytes`, `bin_available_bytes` and `bin_window` (at its end, packets).
        Of all: `session_s`; `gap_square`, the mean square of the difference of the first two;
        `window_step`, the mean size of the change of the window from bin to bin; and where a proxy
        ends the server's connections what they suffered, `server_timeouts`.
    """
    edges = bins(tables, spec)
    delivered, available = received(tables, spec, edges), offered(tables, spec, edges)
    window = windows(tables, spec, edges[1:])
    found = {
        "session_s": edges[-1:],
        "bin_received_bytes": delivered,
        "bin_available_bytes": available,
        "bin_window": window,
        "gap_square": np.array([np.mean((delivered - available) ** 2)]),
        "window_step": np.array([np.mean(np.abs(np.diff(window)))]),
    }
    if "proxies" in tables:
        timeouts = np.asarray(tables["proxies"]["server_timeouts"], dtype=float)
        found["server_timeouts"] = timeouts[[spec["user"]]]
    return found


def bins(tables: Tables, spec: Mapping[str, Any]) -> Array:
    """Edges of the bins, s: as many whole ones as the run has."""
    end_s, bin_s = float(np.asarray(tables["bearers"]["end_s"])[0]), float(spec["bin_s"])
    return np.asarray(np.arange(round(end_s / bin_s) + 1) * bin_s)


def received(tables: Tables, spec: Mapping[str, Any], edges: Array) -> Array:
    """Bytes of packets that arrived at the user's phone in each bin."""
    data = np.asarray(tables["flows"]["delivered_bytes"], dtype=float)[spec["user"]]
    packets = float(data) * spec["packet_bytes"] / spec["data_bytes"]
    return delivered_bytes(rows(tables, "segments", spec["user"]), packets, edges)


def offered(tables: Tables, spec: Mapping[str, Any], edges: Array) -> Array:
    """Bytes of packets that the radio had room for in each bin."""
    series = rows(tables, "bandwidth", spec["user"])
    times = np.concatenate([[0.0], series["t_s"]])
    counted = np.concatenate([[0.0], series["available_bytes"]])
    return np.diff(np.interp(edges, times, counted))


def windows(tables: Tables, spec: Mapping[str, Any], at: Array) -> Array:
    """Congestion window at some times, packets."""
    series = rows(tables, "cwnd", spec["user"])
    return held_values(series["t_s"], series["cwnd_packets"], at)


def rows(tables: Tables, name: str, user: int) -> dict[str, Any]:
    """The rows of one user of a series."""
    mine = np.asarray(tables[name]["user"]) == user
    return {key: np.asarray(column)[mine] for key, column in tables[name].items()}
