"""What a life answers: what was lost or late, and where.

The headline has two parts:

1. how many packets were lost, where and why; that none was; or that there was none at all;
2. how many data packets were late, at which place most of their time went, and the slowest of
   them; that none was; or that none has arrived.

A data packet is late if it took more than `LATE` times the median of those that the same user's
flow sent from the same end.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodeb.answer.answer import Answer, Bar, Bars, Fact, Mark, Rows
from nodeb.answer.numbers import Shown, number, scale_of, shown
from nodeb.answer.words import counted, joined, percent, sentence
from nodeb.base.units import NS_PER_S

if TYPE_CHECKING:
    from nodeb.life.life import Life

__all__ = ["LifeAnswer", "answer"]

LATE = 2.0
"""A late packet took more than so many times the median."""
DATA = ("data", "external")
"""Purposes of packets that carry what is waited for; those of real packets may be unknown."""
RECEIVED, LOST, UNDER_WAY = "received", "lost", "under way"
"""How packets end."""
USERS = 20
"""Users that have rows of their own at most."""

Numbers = NDArray[np.float64]
Texts = NDArray[np.str_]
Where = NDArray[np.bool_]


def answer(life: Life, named: str = "", folder: str = "") -> Answer:
    """What a life answers.

    Args:
        life: what happened.
        named: how its scenario or log is called on the command line; empty in a notebook.
        folder: where the tables are; empty where they are not saved.
    """
    return LifeAnswer(life, named, folder).answer()


@dataclass(frozen=True)
class LifeAnswer:
    """What is said of the packets of a replication."""

    life: Life
    named: str
    folder: str

    def answer(self) -> Answer:
        """The whole."""
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
            folded="packets by purpose and user" if self.named else "",
        )

    def _file(self) -> str:
        """What the scenario's file is called."""
        return Path(shlex.split(self.named)[0]).stem if self.named else ""

    # --- the packets ---

    @cached_property
    def ends(self) -> Texts:
        """How each packet ended."""
        return _texts(self.life.packets, "end")

    @cached_property
    def took_s(self) -> Numbers:
        """How long each was on its way, s."""
        sent, ended = (_numbers(self.life.packets, name) for name in ("sent_ns", "ended_ns"))
        took: Numbers = (ended - sent) / NS_PER_S
        return took

    @cached_property
    def is_data(self) -> Where:
        """Which data packets were received."""
        found: Where = np.isin(_texts(self.life.packets, "purpose"), DATA)
        found &= self.ends == RECEIVED
        return found

    @cached_property
    def is_late(self) -> Where:
        """Which of these were late."""
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
        """Median time of data packets, s."""
        return float(np.median(self.took_s[self.is_data]))

    def stays(self, which: Where) -> dict[str, float]:
        """Time that packets spent at each place on average, s, the longest first.

        Args:
            which: which packets; some.
        """
        hops, numbers = self.life.hops, _numbers(self.life.packets, "packet")
        rows = np.searchsorted(numbers, _numbers(hops, "packet"))
        mine = which[rows]
        stay = (_numbers(hops, "left_ns") - _numbers(hops, "entered_ns"))[mine] / NS_PER_S
        places, at = np.unique(_texts(hops, "place")[mine], return_inverse=True)
        sums = np.bincount(at, stay, len(places)) / which.sum()
        found = {str(place): float(time) for place, time in zip(places, sums, strict=True)}
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    # --- the headline ---

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

    # --- what stands below it ---

    def lead(self) -> Iterator[str]:
        """Sentences below a page's headline."""
        about = self.life.about
        what = about.flight or f"Replication {about.run}"
        yield f"{what} under seed {about.seed}: {self._sizes()}."
        if self.is_late.any():
            yield "Late is more than twice the median of the same flow."

    def _sizes(self) -> str:
        """How much there is of everything."""
        tables = self.life.tables.items()
        return ", ".join(counted(len(table), name.removesuffix("s")) for name, table in tables)

    def picture(self) -> Bars | None:
        """Where data packets spent their time."""
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
        return Bars("Where data packets were, on average", bars)

    def facts(self) -> Iterator[Fact]:
        """Delays, losses and repetitions."""
        packets, blocks = self.life.packets, self.life.blocks
        if self.is_data.any():
            yield Fact("data packets, median delay", _plain(self.median_s, "s"))
            yield Fact("longest", _plain(float(self.took_s[self.is_data].max()), "s"))
        if len(packets):
            yield Fact("sent again", _count(int(_numbers(packets, "again").sum())))
            yield Fact("lost", _count(int((self.ends == LOST).sum())))
        if len(blocks):
            sent, failed = (_numbers(blocks, name).sum() for name in ("transmissions", "failed"))
            yield Fact(self._failed, shown(failed / sent, unit="1", percent=True))

    @property
    def _failed(self) -> str:
        """What fails: on WCDMA a slot has several frames, which `nodeb run` counts one by one."""
        is_wcdma = "wcdma" in self.life.about.scenario.to_dict()["radio"]
        return "slots with failed frames" if is_wcdma else "blocks that failed"

    def marks(self) -> Iterator[Mark]:
        """What was not over, and a log without its end."""
        if cut := self.life.about.cut:
            yield Mark("!", f"{sentence(cut)}.")
        count = int((self.ends == UNDER_WAY).sum())
        if count:
            were = "packet was" if count == 1 else "packets were"
            yield Mark("!", f"{count} {were} still under way when this ended.")

    def notes(self) -> Iterator[str]:
        """Provenance, what is explained, and what to ask next."""
        about = self.life.about
        yield f"{about.flight or f'Replication {about.run}'}, seed {about.seed}: {self._sizes()}."
        if not self.named:
            return
        if self.folder:
            if path := self.life.critical_path.told:
                yield path
            page = f"{self.folder}/life.html draws every packet"
            yield f"{page}; {self.folder} has the tables and a trace for Perfetto."
        yield f"Why it took so long: nodeb explain {self.named}"

    def everything(self) -> Iterator[Rows]:
        """Packets by purpose, and by user where there are several."""
        packets = self.life.packets
        yield self._counts("Packets by purpose", _texts(packets, "purpose"))
        users = _numbers(packets, "user").astype(int).astype(str)
        if 1 < len(np.unique(users)) <= USERS:
            yield self._counts("Packets by user", users)

    def _counts(self, title: str, keys: Texts) -> Rows:
        """How packets ended, by something that they have."""
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
    """A column of names; each is looked up once."""
    column = table[name]
    parts = []
    for chunk in column.chunks:
        names = np.array(chunk.dictionary.to_pylist(), dtype=str)
        parts.append(names[chunk.indices.to_numpy()])
    return np.concatenate(parts) if parts else np.zeros(0, dtype=str)
