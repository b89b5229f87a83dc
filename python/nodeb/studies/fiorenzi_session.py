"""Reduction of the reference phone's session over time: bytes and windows in bins of 0.5 s.

The scenario records `bandwidth`, `segments` and `cwnd`. Bytes include packet headers, as
`available_bytes` of the series `bandwidth` does.
"""

import numpy as np

from nodeb.results.timeseries import delivered_bytes, held_values

REFERENCE = 0
"""Index of the phone that is measured."""
BIN_S = 0.5
PACKET_BYTES, DATA_BYTES = 1500, 1460
"""Bytes of a packet with and without headers."""


def reduce(tables):
    """Returns the numbers of a session, from the tables of its replication.

    By bin: `bin_received_bytes`, `bin_available_bytes`, and `bin_window` at the end of the bin. For
    the whole session: `session_s`; `gap_square`, the mean square of received minus available bytes;
    `window_step`, the mean absolute change of the window from bin to bin; and `server_timeouts`,
    the timeouts of the server's connection, if a proxy terminates it.
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
    """Returns the edges of the bins of `BIN_S` that make up a run, s."""
    end_s = float(np.asarray(tables["bearers"]["end_s"])[0])
    return np.arange(round(end_s / BIN_S) + 1) * BIN_S


def received(tables, edges):
    """Returns the bytes that arrived at the phone in each bin."""
    data = float(np.asarray(tables["flows"]["delivered_bytes"])[REFERENCE])
    packets = data * PACKET_BYTES / DATA_BYTES
    return delivered_bytes(rows(tables, "segments"), packets, edges)


def offered(tables, edges):
    """Returns the bytes that the radio could have carried to the phone in each bin."""
    series = rows(tables, "bandwidth")
    times = np.concatenate([[0.0], series["t_s"]])
    counted = np.concatenate([[0.0], series["available_bytes"]])
    return np.diff(np.interp(edges, times, counted))


def windows(tables, at):
    """Returns the congestion window at the given times, packets."""
    series = rows(tables, "cwnd")
    return held_values(series["t_s"], series["cwnd_packets"], at)


def rows(tables, name):
    """Returns the rows of a series that belong to the reference phone."""
    mine = np.asarray(tables[name]["user"]) == REFERENCE
    return {key: np.asarray(column)[mine] for key, column in tables[name].items()}
