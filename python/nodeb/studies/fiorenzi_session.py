"""What is kept of the reference phone's session over time: bytes and windows in bins of 0.5 s.

The scenario records `bandwidth`, `segments` and `cwnd`. Bytes are those of packets with headers, as
the bandwidth is that of packets.
"""

import numpy as np

from nodeb.results.timeseries import delivered_bytes, held_values

REFERENCE = 0
"""The number of the phone that is watched."""
BIN_S = 0.5
PACKET_BYTES, DATA_BYTES = 1500, 1460
"""A packet with headers and without."""


def reduce(tables):
    """The numbers of one session, from the tables of its replication.

    By bin: `bin_received_bytes`, `bin_available_bytes` and `bin_window`, at its end. Of all:
    `session_s`; `gap_square`, the mean square of the difference of the first two; `window_step`,
    the mean size of the change of the window from bin to bin; and behind a proxy, which ends the
    server's connections, what they suffered, `server_timeouts`.
    """
    edges = bins(tables)
    delivered, available = received(tables, edges), offered(tables, edges)
    window = windows(tables, edges[1:])
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
        found["server_timeouts"] = timeouts[[REFERENCE]]
    return found


def bins(tables):
    """Edges of the bins, s: as many whole ones as the run has."""
    end_s = float(np.asarray(tables["bearers"]["end_s"])[0])
    return np.arange(round(end_s / BIN_S) + 1) * BIN_S


def received(tables, edges):
    """Bytes that arrived at the phone in each bin."""
    data = float(np.asarray(tables["flows"]["delivered_bytes"])[REFERENCE])
    packets = data * PACKET_BYTES / DATA_BYTES
    return delivered_bytes(rows(tables, "segments"), packets, edges)


def offered(tables, edges):
    """Bytes that the radio had room for in each bin."""
    series = rows(tables, "bandwidth")
    times = np.concatenate([[0.0], series["t_s"]])
    counted = np.concatenate([[0.0], series["available_bytes"]])
    return np.diff(np.interp(edges, times, counted))


def windows(tables, at):
    """Congestion window at some times, packets."""
    series = rows(tables, "cwnd")
    return held_values(series["t_s"], series["cwnd_packets"], at)


def rows(tables, name):
    """The rows of the phone in a series."""
    mine = np.asarray(tables[name]["user"]) == REFERENCE
    return {key: np.asarray(column)[mine] for key, column in tables[name].items()}
