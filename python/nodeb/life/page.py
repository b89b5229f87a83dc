"""Renders the interactive HTML page of a packet timeline."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nodeb import _core
from nodeb.answer.paints import CAUSES, paint
from nodeb.life.answer import answer
from nodeb.life.columns import code
from nodeb.life.pack import Packed
from nodeb.report.answer import content
from nodeb.report.render import render

if TYPE_CHECKING:
    from nodeb.life.life import Life
    from nodeb.life.path import CriticalPath

__all__ = ["html"]


SENDER = {"window": ("value", "ssthresh"), "round trip": ("value",), "timer": ("value",)}
"""Columns of `events` that the page plots in strips about the sender, by kind of event."""
MOMENTS = ("recovery", "channel", "handover", "transfer", "given up")
"""Kinds of events that the page shows as marks at their times."""
SCRIPTS = (
    "data",
    "view",
    "scene",
    "frame",
    "strips",
    "marks",
    "spans",
    "pick",
    "panel",
    "causes",
    "controls",
    "main",
)
"""Names of the scripts of the page, in the order of loading."""
PAINTS = {cause: {"name": paint(cause), **asdict(one)} for cause, one in CAUSES.items()}
"""Fill of each cause of delay: name of its CSS class, family of the cause, and texture."""


def html(life: Life, path: CriticalPath | None = None) -> str:
    """Returns the page about a packet timeline, a self-contained HTML file.

    Args:
        life: the timeline.
        path: critical paths to draw on the same time axis; None draws none.
    """
    about = life.about
    packed = Packed()
    _packets(packed, life)
    _hops(packed, life)
    _air(packed, life)
    _series(packed, life)
    explained = _path(packed, path)
    scenario = about.scenario
    title, end = scenario.name or "A run", _end_ns(life)
    return render(
        "life/page.html",
        {
            "title": title,
            "answer": content(answer(life)),
            "explained": "" if path is None else path.summary,
            "version": _core.version(),
            "scripts": SCRIPTS,
            "columns": packed.text(),
            "about": {
                "title": title,
                "lanes": about.lanes,
                "places": about.places,
                "nodeB": about.node_b,
                "ttiNs": about.tti_ns,
                "beginNs": about.begin_ns,
                "endNs": end,
                "knownNs": end if about.end_ns is None else min(about.end_ns, end),
                "users": _users(life),
                "path": explained,
                "paints": PAINTS,
                "names": {name: _names(life.packets[name]) for name in ("purpose", "end", "cause")}
                | {"kind": _names(life.events["kind"]), "detail": _names(life.events["detail"])},
                "layout": packed.layout,
            },
        },
    )


def _end_ns(life: Life) -> int:
    """Returns the end of the page's time axis, ns: the last event or end of a packet's stay."""
    last = max(pc.max(life.events["time_ns"]).as_py(), pc.max(life.hops["left_ns"]).as_py() or 0)
    return int(last)


def _users(life: Life) -> list[dict[str, Any]]:
    """Returns for each user with events its index, and the name of its group."""
    groups = [group for group, _, _ in life.about.scenario.compiled().connections]
    found = sorted(pc.unique(life.events["user"]).to_pylist())
    return [{"user": user, "group": groups[user] if user < len(groups) else ""} for user in found]


def _packets(packed: Packed, life: Life) -> None:
    table = life.packets
    for name in ("packet", "user", "seq", "bytes", "again", "blocks", "repeats"):
        values = _numbers(table[name])
        packed.add("packets", name, values)
    for name in ("from_port", "to_port"):
        if name in table.column_names:  # Only timelines of recordings have ports.
            packed.add("packets", name, _numbers(table[name]))
    for name in ("purpose", "origin", "place", "end", "cause"):
        packed.add("packets", name, _codes(table[name]))
    sent, ended, handed = (_numbers(table[name]).astype(np.int64) for name in _TIMES)
    packed.add_times("packets", "sent", sent)
    packed.add("packets", "took", ended - sent)
    packed.add("packets", "handed", np.where(handed > 0, handed - sent, 0))


_TIMES = ("sent_ns", "ended_ns", "handed_ns")


def _hops(packed: Packed, life: Life) -> None:
    """Packs the stays of packets at links and bearers, in the order of `life.hops`.

    The number of stays of each packet is packed too, so that the page finds the rows of a packet.
    """
    table = life.hops
    numbers = _numbers(life.packets["packet"])
    rows = np.searchsorted(numbers, _numbers(table["packet"]))
    sent = _numbers(life.packets["sent_ns"]).astype(np.int64)
    entered, begun, left = (
        _numbers(table[name]).astype(np.int64) for name in ("entered_ns", "begun_ns", "left_ns")
    )
    packed.add("hops", "count", np.bincount(rows, minlength=len(numbers)))
    packed.add("hops", "place", _codes(table["place"]))
    packed.add("hops", "end", _codes(table["end"]))
    packed.add("hops", "entered", entered - sent[rows])
    packed.add("hops", "begun", begun - entered)
    packed.add("hops", "left", left - begun)


def _air(packed: Packed, life: Life) -> None:
    """Packs the transmissions of blocks, and the parts of packets that each block carries."""
    sent = _of_kind(life, "block")
    packed.add_times("air", "time", _numbers(sent["time_ns"]).astype(np.int64))
    for name in ("block", "user", "transmission", "failed"):
        packed.add("air", name, _numbers(sent[name]))
    is_up = _codes(sent["place"]) == code(life.events["place"], "uplink")
    packed.add("air", "up", is_up)
    packed.add("air", "slot", _slots(_numbers(sent["time_ns"]), is_up))
    packed.add("air", "units", _numbers(sent["value"]).astype(np.int64))
    carried = _of_kind(life, "carries")
    rows = np.searchsorted(_numbers(life.packets["packet"]), _numbers(carried["packet"]))
    packed.add("carried", "row", rows)
    packed.add("carried", "block", _numbers(carried["block"]))
    packed.add("carried", "bytes", _numbers(carried["bytes"]))
    packed.add("carried", "offset", _numbers(carried["value"]).astype(np.int64))


def _slots(times: NDArray[Any], is_up: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Numbers the transmissions in a direction that begin at the same time from 0, as 0, 1, 2, 0.

    Args:
        times: begin of each transmission, in increasing order; equal times are adjacent.
        is_up: whether each transmission is in the uplink.
    """
    slots = np.zeros(len(times), np.int64)
    for way in (is_up, ~is_up):
        own = times[way]
        rows = np.arange(len(own))
        begins = np.diff(own, prepend=-1 if own.dtype.kind == "i" else own[:1] + 1) != 0
        slots[way] = rows - np.maximum.accumulate(np.where(begins, rows, 0))
    return slots


def _series(packed: Packed, life: Life) -> None:
    """Packs the time series of the page (windows, round trips, timers, queues) and its marks."""
    for kind, names in SENDER.items():
        rows = _of_kind(life, kind)
        table = kind.replace(" ", "_")
        _when(packed, table, rows)
        for name in names:
            packed.add(table, name, _numbers(rows[name]))
    queue = _of_kind(life, "queue")
    _when(packed, "queue", queue)
    packed.add("queue", "value", _numbers(queue["value"]).astype(np.int64))
    packed.add("queue", "bytes", _numbers(queue["bytes"]))
    marks = life.events.filter(
        pc.is_in(_codes_of(life, "kind"), pa.array([_kind(life, k) for k in MOMENTS], pa.int16()))
    )
    _when(packed, "moments", marks)
    packed.add("moments", "kind", _codes(marks["kind"]))
    packed.add("moments", "detail", _codes(marks["detail"]))
    packed.add("moments", "block", _numbers(marks["block"]))
    packed.add("moments", "bytes", _numbers(marks["bytes"]))
    packed.add("moments", "value", _numbers(marks["value"]))


def _path(packed: Packed, path: CriticalPath | None) -> dict[str, Any] | None:
    """Packs the spans of critical paths as columns.

    Returns the index of the user, and the names of causes and places by index; `None` if there are
    no spans.
    """
    if path is None or not path.spans:
        return None
    spans = path.spans
    begins = np.array([span.begin for span in spans], np.int64)
    packed.add_times("path", "begin", begins)
    packed.add("path", "lasts", np.array([span.end for span in spans], np.int64) - begins)
    for name in ("packet", "seq", "transfer"):
        packed.add("path", name, np.array([getattr(span, name) for span in spans]))
    names = {}
    for name in ("cause", "place"):
        texts, codes = np.unique([getattr(span, name) for span in spans], return_inverse=True)
        packed.add("path", name, codes)
        names[name] = texts.tolist()
    return {"user": path.user, **names}


def _when(packed: Packed, table: str, rows: pa.Table) -> None:
    packed.add_times(table, "time", _numbers(rows["time_ns"]).astype(np.int64))
    packed.add(table, "user", _numbers(rows["user"]))


def _of_kind(life: Life, kind: str) -> pa.Table:
    wanted = pa.scalar(_kind(life, kind), pa.int16())
    return life.events.filter(pc.equal(_codes_of(life, "kind"), wanted))


def _kind(life: Life, kind: str) -> int:
    return code(life.events["kind"], kind)


def _codes_of(life: Life, name: str) -> pa.ChunkedArray:
    column = life.events[name]
    return pa.chunked_array([chunk.indices for chunk in column.chunks], pa.int16())


def _numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    found: NDArray[Any] = column.to_numpy()
    return found


def _codes(column: pa.ChunkedArray) -> NDArray[Any]:
    parts = [chunk.indices.to_numpy() for chunk in column.chunks]
    return np.concatenate(parts) if parts else np.zeros(0, np.int16)


def _names(column: pa.ChunkedArray) -> list[str]:
    names: list[str] = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
    return names
