"""Renders the interactive HTML page of a packet timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodeb.answer.paints import CAUSES, paint
from nodeb.life.columns import Packed, names_of, of_kind, values_of
from nodeb.life.path import CriticalPath, Span
from nodeb.report.render import render

if TYPE_CHECKING:
    from nodeb.life.life import Life

SENDER = {"window": ("value", "ssthresh"), "round trip": ("value",), "timer": ("value",)}
"""Columns of `events` that the page plots in strips about the sender, by kind of event."""
MOMENTS = ("recovery", "channel", "handover", "transfer", "given up")
"""Kinds of events that the page shows as marks at their times."""
PAINTS = {cause: {"name": paint(cause), **asdict(one)} for cause, one in CAUSES.items()}
"""Fill of each cause of delay: name of its CSS class, family of the cause, and texture."""


def html(life: Life) -> str:
    """Returns the page of a packet timeline, with critical paths on the same time axis."""
    about, packed, path = life.about, Packed(), life.critical_path
    for pack in (_pack_packets, _pack_hops, _pack_air, _pack_series):
        pack(packed, life)
    explained = _pack_path(packed, path) if path.spans else None
    title = about.scenario.name or "A run"
    groups = [group for group, _, _ in about.scenario.compiled().connections]
    users = np.unique(life.events["user"]).tolist()
    # The time axis ends with the last event or end of a packet's stay.
    last = max(int(np.max(life.events["time_ns"])), int(np.max(life.hops["left_ns"], initial=0)))
    columns = {name: life.packets[name] for name in ("purpose", "end", "cause")}
    columns |= {name: life.events[name] for name in ("kind", "detail")}
    data = {
        "title": title,
        "lanes": about.lanes,
        "places": about.places,
        "nodeB": about.node_b,
        "ttiNs": about.tti_ns,
        "beginNs": about.begin_ns,
        "endNs": last,
        "knownNs": last if about.end_ns is None else min(about.end_ns, last),
        "users": [{"user": n, "group": groups[n] if n < len(groups) else ""} for n in users],
        "path": explained,
        "paints": PAINTS,
        "names": {name: names_of(column) for name, column in columns.items()},
        "layout": packed.layout,
    }
    return render(
        "life/page.html",
        {
            "title": title,
            "answer": life.answer,
            "explained": path.summary,
            "columns": packed.text(),
            "about": data,
        },
    )


def _pack_packets(packed: Packed, life: Life) -> None:
    table = life.packets
    ports = [name for name in ("from_port", "to_port") if name in table.column_names]
    numbers = ("packet", "user", "seq", "bytes", "again", "blocks", "repeats", *ports)
    for name in (*numbers, "purpose", "origin", "place", "end", "cause"):
        packed.add("packets", name, table[name])
    sent, ended, handed = (_ns(table[name]) for name in ("sent_ns", "ended_ns", "handed_ns"))
    packed.add_times("packets", "sent", sent)
    packed.add("packets", "took", ended - sent)
    packed.add("packets", "handed", np.where(handed > 0, handed - sent, 0))


def _pack_hops(packed: Packed, life: Life) -> None:
    """Packs the stays of packets at links and bearers, and how many each packet has."""
    table, rows = life.hops, _rows(life, life.hops)
    entered, begun, left = (_ns(table[name]) for name in ("entered_ns", "begun_ns", "left_ns"))
    packed.add("hops", "count", np.bincount(rows, minlength=len(life.packets)))
    packed.add("hops", "place", table["place"])
    packed.add("hops", "end", table["end"])
    packed.add("hops", "entered", entered - _ns(life.packets["sent_ns"])[rows])
    packed.add("hops", "begun", begun - entered)
    packed.add("hops", "left", left - begun)


def _pack_air(packed: Packed, life: Life) -> None:
    """Packs the transmissions of blocks, and the parts of packets that each block carries."""
    sent, carried = of_kind(life.events, "block"), of_kind(life.events, "carries")
    packed.add_times("air", "time", sent["time_ns"])
    for name in ("block", "user", "transmission", "failed"):
        packed.add("air", name, sent[name])
    places = names_of(life.events["place"])
    is_up = values_of(sent["place"]) == (places.index("uplink") if "uplink" in places else -1)
    packed.add("air", "up", is_up)
    packed.add("air", "slot", _slots(np.asarray(sent["time_ns"]), is_up))
    packed.add("air", "units", _ns(sent["value"]))
    packed.add("carried", "row", _rows(life, carried))
    packed.add("carried", "block", carried["block"])
    packed.add("carried", "bytes", carried["bytes"])
    packed.add("carried", "offset", _ns(carried["value"]))


def _slots(times: NDArray[Any], is_up: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Numbers the transmissions in a direction that begin at the same time from 0, as 0, 1, 2, 0.

    Args:
        times: begin of each transmission, in increasing order; equal times are adjacent.
        is_up: whether each transmission is in the uplink.
    """
    slots = np.zeros(len(times), np.int64)
    for way in (is_up, ~is_up):
        rows = np.arange(way.sum())
        begins = np.r_[True, np.diff(times[way]) != 0][: len(rows)]
        slots[way] = rows - np.maximum.accumulate(np.where(begins, rows, 0))
    return slots


def _pack_series(packed: Packed, life: Life) -> None:
    """Packs the time series of the page (windows, round trips, timers, queues) and its marks."""
    names: tuple[str, ...]
    for kind, names in SENDER.items():
        _pack_rows(packed, kind.replace(" ", "_"), of_kind(life.events, kind), names)
    queue = of_kind(life.events, "queue")
    _pack_rows(packed, "queue", queue, ())
    packed.add("queue", "value", _ns(queue["value"]))
    packed.add("queue", "bytes", queue["bytes"])
    names = ("kind", "detail", "block", "bytes", "value")
    _pack_rows(packed, "moments", of_kind(life.events, *MOMENTS), names)


def _pack_rows(packed: Packed, table: str, rows: pa.Table, names: Sequence[str]) -> None:
    packed.add_times(table, "time", rows["time_ns"])
    for name in ("user", *names):
        packed.add(table, name, rows[name])


def _pack_path(packed: Packed, path: CriticalPath) -> dict[str, Any]:
    """Packs the spans of critical paths; returns the user, and names of causes and places."""
    columns = {
        field.name: np.array([getattr(span, field.name) for span in path.spans])
        for field in fields(Span)
    }
    packed.add_times("path", "begin", columns["begin"])
    packed.add("path", "lasts", columns["end"] - columns["begin"])
    for name in ("packet", "seq", "transfer"):
        packed.add("path", name, columns[name])
    names: dict[str, Any] = {"user": path.user}
    for name in ("cause", "place"):
        texts, codes = np.unique(columns[name], return_inverse=True)
        packed.add("path", name, codes)
        names[name] = texts.tolist()
    return names


def _rows(life: Life, table: pa.Table) -> NDArray[np.intp]:
    """Returns the row in `packets` of each row's packet."""
    return np.searchsorted(np.asarray(life.packets["packet"]), np.asarray(table["packet"]))


def _ns(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray(column).astype(np.int64)
