"""Answer of `nodeb life`: lost and late packets, and the places of losses and delays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodeb.answer.answer import Answer, Bar, Bars, Fact, Mark, Rows
from nodeb.answer.numbers import Shown, number, scale_of, shown
from nodeb.answer.words import counted, joined, percent, sentence
from nodeb.base.units import NS_PER_S
from nodeb.life.columns import texts_of

if TYPE_CHECKING:
    from nodeb.base.command_line import Arguments
    from nodeb.life.life import Life

LATE = 2.0
"""Ratio of a data packet's delay to the median delay, above which the packet is late."""
LATE_MEANS = "Late: a delay of more than twice the median of the same user's flow."
DATA = ("data", "external")
"""Purposes of packets that count as data; `external` is that of a real packet other than TCP."""
RECEIVED, LOST, UNDER_WAY = "received", "lost", "under way"
"""Fates of packets; those under way were neither received nor lost by the end of the timeline."""
MAX_USERS = 20
"""Maximum number of users for which `--all` shows a table of packets by user."""

Values = NDArray[Any]


def answer(life: Life, arguments: Arguments | None = None, folder: str = "") -> Answer:
    """Returns the answer of a packet timeline.

    `arguments` are the file and options of the command line, None in a notebook; `folder` has the
    saved tables, empty if they are not saved.
    """
    packets, about = _Packets(life), life.about
    what = about.flight or f"Replication {about.run}"
    tables = life.tables.items()
    sizes = ", ".join(counted(len(table), name.removesuffix("s")) for name, table in tables)
    late = [LATE_MEANS] if packets.is_late.any() else []
    notes = [*late, f"{what}, seed {about.seed}: {sizes}."]
    return Answer(
        command="nodeb life",
        subject=about.scenario.name or (arguments.file.stem if arguments else ""),
        headline=" ".join([packets.losses(), *packets.lateness()]),
        lead=" ".join([f"{what} under seed {about.seed}: {sizes}.", *late]),
        picture=packets.places(),
        facts=list(packets.facts()),
        marks=list(packets.marks()),
        notes=[*notes, *(_next(life, arguments, folder) if arguments else ())],
        everything=list(packets.everything()),
        folded="packets by purpose and user" if arguments else "",
    )


def _next(life: Life, arguments: Arguments, folder: str) -> Iterator[str]:
    transfer = None
    if folder:
        path = life.critical_path
        transfer = next(iter(path.transfers), 0) or None
        if path.summary:
            yield path.summary
        page = f"{folder}/life.html draws every packet"
        yield f"{page}; {folder} has the tables and a trace for Perfetto."
    yield f"Why it took so long: {arguments.command('explain', transfer=transfer)}"


class _Packets:
    """Fates and delays of the packets of a timeline, in the order of `Life.packets`."""

    def __init__(self, life: Life) -> None:
        self.life, packets = life, life.packets
        self.end = texts_of(packets["end"])
        self.took_s = (_numbers(packets, "ended_ns") - _numbers(packets, "sent_ns")) / NS_PER_S
        is_data = np.isin(texts_of(packets["purpose"]), DATA)
        self.is_data: Values = is_data & (self.end == RECEIVED)
        self.data_s = self.took_s[self.is_data]

    @cached_property
    def is_late(self) -> Values:
        """Mask of the data packets whose delay exceeds `LATE` times the median of their flow.

        A flow is the received data packets of a user and an origin.
        """
        packets, is_late = self.life.packets, np.zeros(len(self.end), dtype=bool)
        origins, of_origin = np.unique(texts_of(packets["origin"]), return_inverse=True)
        flow = (_numbers(packets, "user") * len(origins) + of_origin)[self.is_data]
        for one in np.unique(flow):
            took = self.data_s[flow == one]
            is_late[np.flatnonzero(self.is_data)[flow == one]] = took > LATE * np.median(took)
        return is_late

    def stays(self, which: Values) -> dict[str, float]:
        """Returns the mean time of packets at each place, s, the longest first.

        A packet that did not pass a place counts there with a time of 0.
        """
        hops = self.life.hops
        rows = np.searchsorted(_numbers(self.life.packets, "packet"), _numbers(hops, "packet"))
        mine = which[rows]
        stay = (_numbers(hops, "left_ns") - _numbers(hops, "entered_ns"))[mine] / NS_PER_S
        places, at = np.unique(texts_of(hops["place"])[mine], return_inverse=True)
        means = np.bincount(at, stay, len(places)) / which.sum()
        pairs = zip(places.tolist(), means.tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: -pair[1]))

    def losses(self) -> str:
        packets, lost = self.life.packets, self.end == LOST
        if not len(packets):
            return "no packet was sent."
        if not lost.any():
            return f"none of {counted(len(packets), 'packet')} was lost."
        pairs = zip(*(texts_of(packets[name])[lost] for name in ("place", "cause")), strict=True)
        where = [
            f"{count} at {place}{f' ({cause})' if cause else ''}"
            for (place, cause), count in Counter(pairs).most_common()
        ]
        were = "was" if lost.sum() == 1 else "were"
        return f"{lost.sum()} of {counted(len(packets), 'packet')} {were} lost: {joined(where)}."

    def lateness(self) -> Iterator[str]:
        late, count = int(self.is_late.sum()), len(self.data_s)
        median = number(float(np.median(self.data_s)), "s") if count else ""
        if late:
            place = next(iter(self.stays(self.is_late)))
            yield (
                f"{late} of {counted(count, 'data packet')} {'was' if late == 1 else 'were'} late, "
                f"mostly at {place}; the median took {median}, the longest "
                f"{number(float(self.data_s.max()), 's')}."
            )
        elif count:
            yield f"No data packet was late: half took {median} or less, none more than twice that."
        elif len(self.end):
            yield "No data packet arrived."

    def places(self) -> Bars | None:
        stays = self.stays(self.is_data) if len(self.data_s) else {}
        stays = {place: time for place, time in stays.items() if time > 0}
        if not stays:
            return None
        whole, scale = sum(stays.values()), scale_of(max(stays.values()), "s")
        bars = [
            Bar(place, shown(time, unit="s", scale=scale).value, time, "", percent(time / whole))
            for place, time in stays.items()
        ]
        mean = shown(whole, unit="s", scale=scale).value
        head = f"mean time of a data packet at each place, {mean} in all"
        return Bars("Where data packets were, on average", bars, head)

    def facts(self) -> Iterator[Fact]:
        packets, blocks = self.life.packets, self.life.blocks
        if len(self.data_s):
            yield Fact("data packets, median delay", shown(float(np.median(self.data_s)), unit="s"))
            yield Fact("longest", shown(float(self.data_s.max()), unit="s"))
        if len(packets):
            counts = ("sent again", _numbers(packets, "again")), ("lost", self.end == LOST)
            for name, marks in counts:
                yield Fact(name, Shown(*counted(int(marks.sum()), "packet").split()))
        # With `wcdma`, a block is a slot with several frames; `nodeb run` counts failed frames.
        is_wcdma = "wcdma" in self.life.about.scenario.to_dict()["radio"]
        down = "slots with failed frames" if is_wcdma else "blocks that failed"
        is_up = texts_of(blocks["place"]) == "uplink"
        for name, mask in ((down, ~is_up), ("uplink blocks that failed", is_up)):
            sent, failed = (
                _numbers(blocks, key)[mask].sum() for key in ("transmissions", "failed")
            )
            if sent:
                yield Fact(name, shown(failed / sent, unit="1", percent=True))

    def marks(self) -> Iterator[Mark]:
        if cut := self.life.about.cut:
            yield Mark("!", f"{sentence(cut)}.")
        if count := int((self.end == UNDER_WAY).sum()):
            were = "packet was" if count == 1 else "packets were"
            yield Mark("!", f"{count} {were} still under way when this ended.")

    def everything(self) -> Iterator[Rows]:
        packets = self.life.packets
        yield self._table("Packets by purpose", texts_of(packets["purpose"]))
        users = np.asarray(packets["user"]).astype(str)
        if 1 < len(np.unique(users)) <= MAX_USERS:
            yield self._table("Packets by user", users)

    def _table(self, title: str, keys: Values) -> Rows:
        """Packets of each key by fate, and the delays of those received."""
        rows: list[list[str | Shown]] = []
        scale = scale_of(float(self.took_s.max(initial=0.0)), "s")
        for key in sorted(set(keys.tolist()), key=lambda key: (len(key), key)):
            end, took = self.end[keys == key], self.took_s[keys == key]
            counts = [
                Shown(str(int((end == one).sum())), "") for one in (RECEIVED, LOST, UNDER_WAY)
            ]
            took = took[end == RECEIVED]
            delays = [float(np.median(took)), float(took.max())] if len(took) else []
            times = [shown(delay, unit="s", scale=scale) for delay in delays]
            rows.append([key, *counts, *times, *[""] * (2 - len(times))])
        return Rows(["", RECEIVED, LOST, UNDER_WAY, "median delay", "longest"], rows, title)


def _numbers(table: pa.Table, name: str) -> NDArray[np.float64]:
    return np.asarray(table[name]).astype(np.float64)
