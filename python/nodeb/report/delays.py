"""Distributions of the delays of transfers, round trips and packets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.plot.shares import shares
from nodeb.plot.style import NARROW
from nodeb.report.recording import Recording, replication_name
from nodeb.report.render import Content, figure
from nodeb.results.result import Result

__all__ = ["delays", "packet_delays"]

MAX_EVENTS = 3_000_000
"""Number of rows of a series above which only one replication is used."""

Samples = Mapping[str, NDArray[np.float64]]


def delays(result: Result, recording: Recording) -> Iterator[Content]:
    yield from _transfers(result, recording)
    table, whose = _series(result, recording, "rtt")
    if table is not None:
        note = f"Every round trip that TCP measured in {whose}."
        yield from _drawn("rtts", "Round trips", "rtt_s", _by_group(result, table, "rtt_s"), note)
    if result.provenance.runs > 1:
        title = "Mean round-trip time of each user"
        note = f"A value for each user and replication, of {_all(result)}."
        samples = _by_group(result, result.flows, "rtt_mean_s")
        yield from _drawn("mean-rtt", title, "rtt_mean_s", samples, note)
    table, whose = _series(result, recording, "segments")
    if table is not None:
        note = (
            f"From the sender to the receiver, of the packets of {whose} that were sent only once: "
            "for the others it is unknown which copy arrived."
        )
        samples = _by_group(result, packet_delays(table), "delay_s")
        yield from _drawn("packet-delays", "Delay of packets", "delay_s", samples, note)


def packet_delays(segments: Table) -> Table:
    event = np.asarray(segments["event"])
    sent = segments.where((event == "send") | (event == "resend"))
    arrived = segments.where(event == "deliver")
    codes = _codes(sent, arrived)
    once, first, count = np.unique(codes[0], return_index=True, return_counts=True)
    once, first = once[count == 1], first[count == 1]
    reached, earliest = np.unique(codes[1], return_index=True)
    _, of_sent, of_arrived = np.intersect1d(once, reached, True, return_indices=True)
    begin, end = first[of_sent], earliest[of_arrived]
    return Table({"user": sent["user"][begin], "delay_s": arrived["t_s"][end] - sent["t_s"][begin]})


def _codes(*tables: Table) -> list[NDArray[np.int64]]:
    """Returns, for each table, one number per row; rows about the same packet have the same
    number."""
    columns = [
        np.concatenate([np.asarray(table[name], dtype=np.int64) for table in tables])
        for name in ("run", "user", "seq")
    ]
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        code = code * (int(column.max(initial=0)) + 1) + column
    return np.split(code, np.cumsum([len(table) for table in tables])[:-1])


def _transfers(result: Result, recording: Recording) -> Iterator[Content]:
    """Yields figures of the delays of transfers, and of their means by user.

    If no user has more than one transfer, the delays are those in the table `flows`; otherwise they
    are those in the series `transfers`.
    """
    flows = result.flows
    means = _by_group(result, flows, "transfer_delay_mean_s")
    column = "transfer_delay_mean_s"
    if int(np.max(flows["transfers"], initial=0)) <= 1:
        note = f"From the beginning until the sender has the last ACK, of {_all(result)}."
        yield from _drawn("transfers", "Delay of transfers", "delay_s", means, note)
        return
    table, whose = _series(result, recording, "transfers")
    if table is not None:
        samples = _by_group(result, table, "delay_s")
        note = f"From the beginning until the sender has the last ACK, of {whose}."
        yield from _drawn("transfers", "Delay of transfers", "delay_s", samples, note)
    if result.provenance.runs > 1:
        note = f"A value for each user and replication, of {_all(result)}."
        yield from _drawn("mean-transfer", "Mean delay of each user", column, means, note)


def _series(result: Result, recording: Recording, name: str) -> tuple[Table | None, str]:
    """Returns the table of a series, and a text that names the replications it covers.

    If the result has the series with at most `MAX_EVENTS` rows, this table with all replications is
    returned. Otherwise the table covers only the replication of `recording`; it is `None` if
    `recording` has no result.
    """
    table = result.tables.get(name)
    if table is not None and len(table) <= MAX_EVENTS:
        return table, _all(result)
    if recording.result is None:
        return None, ""
    whose = replication_name(result, recording).lower()
    if recording.until_s is not None:
        whose = f"the first {recording.until_s:g} s of {whose}"
    return recording.result.tables[name], whose


def _all(result: Result) -> str:
    runs = result.provenance.runs
    return "the replication" if runs == 1 else f"all {runs} replications"


def _by_group(result: Result, table: Table, column: str) -> Samples:
    flows = result.flows
    users, at = np.unique(flows["user"], return_index=True)
    groups = np.asarray(flows["group"])[at]
    values = np.asarray(table[column], dtype=np.float64)
    mine = groups[np.searchsorted(users, np.asarray(table["user"]))]
    finite = np.isfinite(values)
    return {name: values[(mine == name) & finite] for name in flows.distinct("group")}


def _drawn(anchor: str, title: str, column: str, samples: Samples, note: str) -> Iterator[Content]:
    """Yields a figure of the distribution of each group, or nothing if there are no values."""
    sizes = [len(values) for values in samples.values() if len(values)]
    # The number of values is stated here for a single sample; otherwise the legend shows it.
    if len(sizes) == 1:
        note = f"{note} Values: {sizes[0]}."
    if sizes:
        yield figure(anchor, title, shares(title, column, samples, NARROW), note)
