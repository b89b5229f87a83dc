"""Answer of `nodeb life`: lost and late packets, and the places of losses and delays.

The headline has two parts:

1. how many packets were lost, where and why; or that none was lost; or that there are no packets;
2. how many data packets were late, the place where these spent most of their time, and the longest
   delay; or that none was late; or that none arrived. Without packets, this part is missing.

A data packet is late if its delay exceeds `LATE` times the median of the received data packets of
the same user and origin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodeb.answer.answer import Answer, Bar, Bars, Fact, Mark, Rows
from nodeb.answer.numbers import Shown, number, scale_of, shown
from nodeb.answer.words import counted, joined, percent, sentence
from nodeb.base.units import NS_PER_S

if TYPE_CHECKING:
    from nodeb.base.command_line import Arguments
    from nodeb.life.life import Life

__all__ = ["LifeAnswer", "answer"]

LATE = 2.0
"""Ratio of a data packet's delay to the median delay, above which the packet is late."""
LATE_MEANS = "Late: a delay of more than twice the median of the same user's flow."
DATA = ("data", "external")
"""Purposes of packets that count as data; `external` is that of a real packet other than TCP."""
RECEIVED, LOST, UNDER_WAY = "received", "lost", "under way"
"""Fates of packets; those under way were neither received nor lost by the end of the timeline."""
USERS = 20
"""Maximum number of users for which `--all` shows a table of packets by user."""

Numbers = NDArray[np.float64]
Texts = NDArray[np.str_]
Where = NDArray[np.bool_]


def answer(life: Life, arguments: Arguments | None = None, folder: str = "") -> Answer:
    """Returns the answer of a packet timeline.

    Args:
        life: the timeline.
        arguments: the scenario or recording on the command line, with the options that change
            numbers; None in a notebook.
        folder: folder of the tables; empty if they are not saved.
    """
    return LifeAnswer(life, arguments, folder).answer()


@dataclass(frozen=True)
class LifeAnswer:
    """Builder of the answer about a packet timeline; the fields are the arguments of `answer`."""

    life: Life
    arguments: Arguments | None
    folder: str

    def answer(self) -> Answer:
        """Returns the complete answer: headline, picture, key figures, marks, notes and tables."""
        return Answer(
            command="nodeb life",
            subject=self.life.about.scenario.name or self._file(),
            headline=" ".join([self._losses(), *self._lateness()]),
            lead=" ".join(self.lead()),
            picture=self.picture(),
            facts=list(self.facts()),
            marks=list(self.marks()),
            notes=list(self.notes()),
            everything=list(self.everything()),
            folded="packets by purpose and user" if self.arguments else "",
        )

    def _file(self) -> str:
        """Returns the scenario's or recording's file name without extension; "" in a notebook."""
        return self.arguments.file.stem if self.arguments else ""

    # Properties with the fates and the delays of packets.

    @cached_property
    def ends(self) -> Texts:
        """Fate of each packet in the order of `Life.packets`: `received`, `lost` or `under way`."""
        return _texts(self.life.packets, "end")

    @cached_property
    def took_s(self) -> Numbers:
        """Time from the transmission of each packet to its arrival or loss, s.

        For packets that are under way, it is the time to their last event.
        """
        sent, ended = (_numbers(self.life.packets, name) for name in ("sent_ns", "ended_ns"))
        took: Numbers = (ended - sent) / NS_PER_S
        return took

    @cached_property
    def is_data(self) -> Where:
        """Mask of the received packets whose purpose is one of `DATA`."""
        found: Where = np.isin(_texts(self.life.packets, "purpose"), DATA)
        found &= self.ends == RECEIVED
        return found

    @cached_property
    def is_late(self) -> Where:
        """Mask of the late data packets.

        A packet is late if its delay exceeds `LATE` times the median of the received data packets
        of the same user and origin.
        """
        packets = self.life.packets
        found = np.zeros(len(packets), dtype=bool)
        if self.is_data.any():
            flows = np.char.add(_texts(packets, "origin"), _numbers(packets, "user").astype(str))
            _, flow = np.unique(flows[self.is_data], return_inverse=True)
            took = self.took_s[self.is_data]
            order = np.argsort(flow, kind="stable")
            parts = np.split(took[order], np.cumsum(np.bincount(flow))[:-1])
            medians = np.array([np.median(part) for part in parts])
            found[self.is_data] = took > LATE * medians[flow]
        return found

    @cached_property
    def median_s(self) -> float:
        """Median delay of the received data packets, s; NaN if there are none."""
        return float(np.median(self.took_s[self.is_data]))

    def stays(self, which: Where) -> dict[str, float]:
        """Returns the mean time of packets at each place, s, by place in decreasing order of time.

        A packet that did not pass a place counts there with a time of 0.

        Args:
            which: mask that selects the packets, at least one.
        """
        hops, numbers = self.life.hops, _numbers(self.life.packets, "packet")
        rows = np.searchsorted(numbers, _numbers(hops, "packet"))
        mine = which[rows]
        stay = (_numbers(hops, "left_ns") - _numbers(hops, "entered_ns"))[mine] / NS_PER_S
        places, at = np.unique(_texts(hops, "place")[mine], return_inverse=True)
        sums = np.bincount(at, stay, len(places)) / which.sum()
        found = {str(place): float(time) for place, time in zip(places, sums, strict=True)}
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    # Methods that write the sentences of the headline.

    def _losses(self) -> str:
        packets, lost = self.life.packets, self.ends == LOST
        if not len(packets):
            return "no packet was sent."
        if not lost.any():
            return f"none of {counted(len(packets), 'packet')} was lost."
        pairs = zip(_texts(packets, "place")[lost], _texts(packets, "cause")[lost], strict=True)
        where = [
            f"{count} at {place}{f' ({cause})' if cause else ''}"
            for (place, cause), count in Counter(pairs).most_common()
        ]
        were = "was" if lost.sum() == 1 else "were"
        return f"{lost.sum()} of {counted(len(packets), 'packet')} {were} lost: {joined(where)}."

    def _lateness(self) -> Iterator[str]:
        if not len(self.life.packets):
            return
        count = int(self.is_data.sum())
        if not count:
            yield "No data packet arrived."
            return
        late = int(self.is_late.sum())
        longest = number(float(self.took_s[self.is_data].max()), "s")
        if not late:
            median = number(self.median_s, "s")
            yield f"No data packet was late: half took {median} or less, none more than twice that."
            return
        place = next(iter(self.stays(self.is_late)))
        were = "was" if late == 1 else "were"
        yield (
            f"{late} of {counted(count, 'data packet')} {were} late, mostly at {place}; the median "
            f"took {number(self.median_s, 's')}, the longest {longest}."
        )

    # Methods that write the table, the marks and the notes.

    def lead(self) -> Iterator[str]:
        """Yields the sentences below the headline of a page.

        They state the replication, the seed and the sizes of the tables. If packets were late, a
        last one defines "late".
        """
        about = self.life.about
        what = about.flight or f"Replication {about.run}"
        yield f"{what} under seed {about.seed}: {self._sizes()}."
        if self.is_late.any():
            yield LATE_MEANS

    def _sizes(self) -> str:
        """Returns the number of rows of each table as text, such as "9 events, 3 packets, ..."."""
        tables = self.life.tables.items()
        return ", ".join(counted(len(table), name.removesuffix("s")) for name, table in tables)

    def picture(self) -> Bars | None:
        """Returns bars of the mean time of received data packets at each place, such as a link.

        Returns None if no data packet was received, or if no place took any time.
        """
        if not self.is_data.any():
            return None
        stays = {place: time for place, time in self.stays(self.is_data).items() if time > 0}
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
        """Yields the key figures: delays, retransmissions, losses and the share of failed blocks.

        Figures about received data packets, packets or blocks are omitted if there are none.
        """
        packets, blocks = self.life.packets, self.life.blocks
        if self.is_data.any():
            yield Fact("data packets, median delay", _plain(self.median_s, "s"))
            yield Fact("longest", _plain(float(self.took_s[self.is_data].max()), "s"))
        if len(packets):
            yield Fact("sent again", _count(int(_numbers(packets, "again").sum())))
            yield Fact("lost", _count(int((self.ends == LOST).sum())))
        is_up = np.equal(_texts(blocks, "place"), "uplink")
        for name, of in ((self._failed, ~is_up), ("uplink blocks that failed", is_up)):
            sent, failed = (_numbers(blocks, key)[of].sum() for key in ("transmissions", "failed"))
            if sent:
                yield Fact(name, shown(failed / sent, unit="1", percent=True))

    @property
    def _failed(self) -> str:
        """Label of the share of failed blocks.

        With the radio `wcdma`, a block is a slot with several frames. `nodeb run` counts the failed
        frames instead, so that its share differs.
        """
        is_wcdma = "wcdma" in self.life.about.scenario.to_dict()["radio"]
        return "slots with failed frames" if is_wcdma else "blocks that failed"

    def marks(self) -> Iterator[Mark]:
        """Yields warnings: one if a recording's log was cut off, one if packets are under way."""
        if cut := self.life.about.cut:
            yield Mark("!", f"{sentence(cut)}.")
        count = int((self.ends == UNDER_WAY).sum())
        if count:
            were = "packet was" if count == 1 else "packets were"
            yield Mark("!", f"{count} {were} still under way when this ended.")

    def notes(self) -> Iterator[str]:
        """Yields the notes: definition of late packets, replication, seed, and sizes of tables.

        Unless in a notebook, the explained transfers, the saved files and the next command follow.
        """
        about = self.life.about
        if self.is_late.any():
            yield LATE_MEANS
        yield f"{about.flight or f'Replication {about.run}'}, seed {about.seed}: {self._sizes()}."
        if not self.arguments:
            return
        transfers: list[int] = []
        if self.folder:
            path = self.life.critical_path
            transfers = path.transfers
            if path.summary:
                yield path.summary
            page = f"{self.folder}/life.html draws every packet"
            yield f"{page}; {self.folder} has the tables and a trace for Perfetto."
        which = transfers[0] if transfers and transfers[0] else None
        yield f"Why it took so long: {self.arguments.command('explain', transfer=which)}"

    def everything(self) -> Iterator[Rows]:
        """Yields a table of packets by purpose, and one by user if there are 2 to `USERS` users."""
        packets = self.life.packets
        yield self._counts("Packets by purpose", _texts(packets, "purpose"))
        users = _numbers(packets, "user").astype(int).astype(str)
        if 1 < len(np.unique(users)) <= USERS:
            yield self._counts("Packets by user", users)

    def _counts(self, title: str, keys: Texts) -> Rows:
        """Returns a table with a row for each key: packets by fate, and delays of received packets.

        Args:
            title: title of the table.
            keys: key of each packet, such as its purpose or user.
        """
        rows: list[list[str | Shown]] = []
        largest = float(self.took_s.max(initial=0.0))
        for key in sorted(set(keys.tolist()), key=lambda one: (len(one), one)):
            mine = keys == key
            ends = [str(int((self.ends[mine] == end).sum())) for end in (RECEIVED, LOST, UNDER_WAY)]
            took = self.took_s[mine & (self.ends == RECEIVED)]
            times = [
                shown(float(of(took)), unit="s", scale=scale_of(largest, "s")) if took.size else ""
                for of in (np.median, np.max)
            ]
            rows.append([key, *(Shown(one, "") for one in ends), *times])
        return Rows(["", RECEIVED, LOST, UNDER_WAY, "median delay", "longest"], rows, title)


def _count(packets: int) -> Shown:
    return Shown(*counted(packets, "packet").split())


def _plain(value: float, unit: str) -> Shown:
    return shown(value, unit=unit)


def _numbers(table: pa.Table, name: str) -> NDArray[Any]:
    found: NDArray[Any] = table[name].to_numpy().astype(np.float64)
    return found


def _texts(table: pa.Table, name: str) -> Texts:
    """Returns a column of names (dictionary encoding) as an array of texts."""
    column = table[name]
    parts = []
    for chunk in column.chunks:
        names = np.array(chunk.dictionary.to_pylist(), dtype=str)
        parts.append(names[chunk.indices.to_numpy()])
    return np.concatenate(parts) if parts else np.zeros(0, dtype=str)
