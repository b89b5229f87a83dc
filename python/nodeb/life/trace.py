"""Packet timeline as a trace of events, for the viewers of Perfetto and Chrome.

The format is the Trace Event Format, as gzipped JSON. Each user is a process, which has threads for
each place. The time of a packet at a place is a slice in one of these threads. Packets that are at
a place at the same time are in different threads: each gets the lowest thread that is free. Blocks
on the air are slices in the same way. Windows, queues and round trips are counters. Losses, states
of recovery, channel switches, handovers, blocks given up and completed transfers are instants.
Times are microseconds with three decimals, so that nanoseconds are preserved.
"""

from __future__ import annotations

import gzip
import heapq
import io
import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nodeb.life.columns import of_kind

if TYPE_CHECKING:
    from nodeb.life.life import Life

LEVEL = 6
ENCODE = json.JSONEncoder(separators=(",", ":")).encode
PIECE = 1 << 14
"""Maximum number of events of the trace that are written at a time."""
PER_PLACE = 1 << 20
"""Thread numbers that are reserved for a user's packets at a place at the same time."""
COUNTERS = {
    "window": ("congestion window", (("segments", "value"), ("threshold", "ssthresh"))),
    "queue": ("queue", (("packets", "value"), ("bytes", "bytes"))),
    "round trip": ("round trip", (("s", "value"),)),
}
"""Counter for each of these kinds of events: its name, and its values as label and column."""
INSTANTS = ("lost", "recovery", "channel", "handover", "transfer", "given up")
"""Kinds of events that become instants of the trace."""

Row = dict[str, Any]


def trace(life: Life, progress: Callable[[float], None] | None = None) -> bytes:
    """Returns the trace of a packet timeline as gzipped JSON.

    `progress` is called with the fraction done after each `PIECE` events.
    """
    head = {"displayTimeUnit": "ns", "otherData": {"seed": life.about.seed, "run": life.about.run}}
    whole = max(len(life.hops) + len(of_kind(life.events, "block", *COUNTERS, *INSTANTS)), 1)
    events = chain(_packets(life), _blocks(life), _counters(life), _instants(life))
    content, done = io.BytesIO(), 0
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=LEVEL, mtime=0) as file:
        file.write(f'{json.dumps(head)[:-1]}, "traceEvents": [\n'.encode())
        while piece := list(islice(events, PIECE)):
            file.write(((",\n" if done else "") + ",\n".join(piece)).encode())
            done += PIECE
            if progress is not None:
                progress(min(done / whole, 1.0))
        file.write(b"\n]}\n")
    return content.getvalue()


def _packets(life: Life) -> Iterator[str]:
    """Yields a slice for each stay of a packet at a place, then the names of the threads."""
    columns = ("packet", "user", "purpose", "seq", "bytes", "again")
    packets = {row["packet"]: row for row in _rows(life.packets.select(columns))}
    threads = _Threads(life)
    for stay in _rows(life.hops.sort_by("entered_ns")):
        packet = packets[stay["packet"]]
        begin, end = stay["entered_ns"], stay["left_ns"]
        name = f"{packet['purpose']} {packet['seq']}" + (" again" if packet["again"] else "")
        args = {"packet": stay["packet"], "bytes": packet["bytes"], "end": stay["end"]}
        yield threads.slice(name, packet["user"], stay["place"], begin, end, args)
    yield from threads.names()


def _blocks(life: Life) -> Iterator[str]:
    """Yields a slice for each transmission of a block, then the names of the threads."""
    threads, length = _Threads(life), life.about.tti_ns or 0
    for row in _rows(of_kind(life.events, "block")):
        begin, air = row["time_ns"], "air up" if row["place"] == "uplink" else "air"
        name = f"block {row['block']}" + (" failed" if row["failed"] else "")
        args = {"transmission": row["transmission"], "units": round(row["value"])}
        yield threads.slice(name, row["user"], air, begin, begin + length, args)
    yield from threads.names()


def _counters(life: Life) -> Iterator[str]:
    for kind, (name, columns) in COUNTERS.items():
        for row in _rows(of_kind(life.events, kind)):
            finite = {label: row[column] for label, column in columns if row[column] < 1e15}
            yield _event("C", name, row["user"], 0, row["time_ns"], finite)


def _instants(life: Life) -> Iterator[str]:
    for kind in INSTANTS:
        for row in _rows(of_kind(life.events, kind)):
            args = {name: row[name] for name in ("packet", "seq", "block", "bytes") if row[name]}
            args["place"] = row["place"]
            name = f"{kind} {row['detail']}".strip()
            yield _event("i", name, row["user"], 0, row["time_ns"], args, s="p")


class _Threads:
    """Threads of a trace, allocated by user and place so that slices of a thread do not overlap."""

    def __init__(self, life: Life) -> None:
        names = [*(name for name, *_ in life.about.places), "air", "air up"]
        self._base = {name: PER_PLACE * (at + 1) for at, name in enumerate(names)}
        self._ends: dict[tuple[int, str], list[tuple[int, int]]] = {}
        self._free: dict[tuple[int, str], list[int]] = {}

    def slice(self, name: str, user: int, place: str, begin: int, end: int, args: Row) -> str:
        """Returns a slice, ns, in the lowest thread that is free.

        Calls must be in order of `begin`.
        """
        ends = self._ends.setdefault((user, place), [])
        free = self._free.setdefault((user, place), [])
        while ends and ends[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(ends)[1])
        slot = heapq.heappop(free) if free else len(ends)
        heapq.heappush(ends, (end, slot))
        thread = self._base[place] + slot
        return _event("X", name, user, thread, begin, args, dur=_us(end - begin))

    def names(self) -> Iterator[str]:
        """Yields metadata events, by which the viewer names users and threads and sorts threads."""
        for (user, place), ends in self._ends.items():
            yield _event("M", "process_name", user, 0, 0, {"name": f"user {user}"})
            for slot in range(len(ends) + len(self._free[user, place])):
                thread = self._base[place] + slot
                yield _event("M", "thread_name", user, thread, 0, {"name": f"{place} {slot + 1}"})
                yield _event("M", "thread_sort_index", user, thread, 0, {"sort_index": thread})


def _event(
    phase: str, name: str, user: int, thread: int, time_ns: int, args: Row, **more: Any
) -> str:
    """Returns an event as JSON; users are processes."""
    event = {"ph": phase, "name": name, "pid": user, "tid": thread, "ts": _us(time_ns)}
    return ENCODE({**event, **more, "args": args})


def _us(time_ns: int) -> float:
    """Converts ns to microseconds. A double preserves nanoseconds up to 2^53 ns, 104 days."""
    return time_ns / 1000


def _rows(table: pa.Table) -> Iterator[Row]:
    """Yields rows, converted in batches."""
    for batch in table.to_batches(max_chunksize=PIECE):
        yield from batch.to_pylist()
