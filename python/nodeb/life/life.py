"""Packet timeline of a replication, and its files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nodeb.answer.answering import Answering
from nodeb.base.arguments import as_path, as_whole
from nodeb.errors import InputError
from nodeb.inputs.scenario import Scenario
from nodeb.results.provenance import origin, results_hash
from nodeb.storage.folders import Owner, Place, claim
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    import pyarrow as pa

    from nodeb.answer import Answer
    from nodeb.life.path import CriticalPath

__all__ = ["About", "Life"]


@dataclass(frozen=True)
class About:
    """Description of a recorded replication: scenario, window, and the places of its packets."""

    scenario: Scenario
    """The resolved scenario."""
    seed: int
    """Seed of the random streams."""
    run: int
    """Index of the replication."""
    user: int | None
    """Index of the only recorded user; None for all users."""
    begin_ns: int
    """Begin of the window, ns."""
    end_ns: int | None
    """End of the window, ns; None for the end of the run."""
    until_ns: int
    """Time until which packets were recorded, ns."""
    lanes: tuple[str, ...]
    """Names of the lanes (positions on the path), from the server to the application."""
    places: tuple[tuple[str, int, int], ...]
    """Links, bearers and ends: name, and indices of the lanes at which packets arrive and leave."""
    node_b: int
    """Index of the Node B's lane."""
    tti_ns: int | None
    """Duration of a block on the air, ns; None if there are no blocks."""
    flight: str = ""
    """Name of the replayed recording in messages; empty for a replication."""
    cut: str = ""
    """Note on a truncated log; empty for a complete one, and for a replication."""

    @classmethod
    def of(cls, found: Mapping[str, Any], window: tuple[int, int | None], **known: Any) -> Self:
        """Creates a description from the core's result, the window and the remaining fields."""
        return cls(
            begin_ns=window[0],
            end_ns=window[1],
            until_ns=found["until_ns"],
            lanes=tuple(found["lanes"]),
            places=tuple(found["places"]),
            node_b=found["node_b"],
            tti_ns=found["tti_ns"],
            **known,
        )


class Life(Answering):
    """Packet timeline of a replication.

    Attributes:
        about: description of the replication.
        tables: `events`, `packets`, `hops` and `blocks`, each a `pyarrow.Table`.
    """

    def __init__(self, about: About, tables: Mapping[str, pa.Table]) -> None:
        self.about = about
        self.tables = dict(tables)

    @property
    def events(self) -> pa.Table:
        """One row per event, in order of time."""
        return self.tables["events"]

    @property
    def packets(self) -> pa.Table:
        """One row per packet, in order of transmission."""
        return self.tables["packets"]

    @property
    def hops(self) -> pa.Table:
        """One row per packet and link or bearer that it passed, with its arrival and departure."""
        return self.tables["hops"]

    @property
    def blocks(self) -> pa.Table:
        """One row per transport block sent on the air, with the number of its transmissions."""
        return self.tables["blocks"]

    def packet(self, number: int) -> pa.Table:
        """Returns all events of a packet in order of time: its own, and those of its blocks.

        Args:
            number: number of the packet, from 1, as in `packets`.

        Raises:
            InputError: the packet has no events.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        events = self.events
        if not 1 <= as_whole(number, "number") < 2**32:  # In `events`, 0 stands for no packet.
            raise InputError(f"there is no packet {number}; `packets` has their numbers")
        own = pc.equal(events["packet"], pa.scalar(number, pa.uint32()))
        if not pc.any(own).as_py():
            raise InputError(f"no events for packet {number}; `packets` has their numbers")
        carried = pc.and_(own, pc.equal(events["kind"].cast(pa.string()), "carries"))
        blocks = pc.unique(events.filter(carried)["block"])
        theirs = pc.and_(pc.is_in(events["block"], blocks), pc.equal(events["packet"], 0))
        return events.filter(pc.or_(own, theirs))

    @cached_property
    def critical_path(self) -> CriticalPath:
        """Critical paths of the user's transfers in the window: `nodeb.explain` of each.

        The user is the only recorded one, or the first if all users are recorded. At most 20
        transfers are simulated again, each up to its end. A transfer that cannot be explained is
        omitted, and `note` says so.
        """
        from nodeb.life.path import critical_path

        return critical_path(self)

    def html(self) -> str:
        """Returns the interactive page of the timeline, a self-contained HTML file."""
        from nodeb.life.page import html

        return html(self, self.critical_path)

    def trace(self) -> bytes:
        """Returns the timeline in the Trace Event Format, gzipped, for Perfetto and Chrome."""
        from nodeb.life.trace import trace

        return trace(self)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes tables, page and trace to a folder, completely or not at all.

        Args:
            folder: results folder, created if necessary; an earlier timeline of the same packets is
                replaced.
            force: also replace other results.

        Returns:
            The folder: `events.parquet`, `packets.parquet`, `hops.parquet`, `blocks.parquet`,
            `life.html`, `trace.json.gz`, `scenario.toml`, `provenance.json`.

        Raises:
            InputError: `folder` is not a path.
            OutputError: the folder belongs to another owner, or cannot be written.
        """
        about = self.about
        more = {"run": about.run, "user": about.user, "window": [about.begin_ns, about.end_ns]}
        settled = results_hash(about.scenario, about.seed, flight=about.flight, **more)
        name = about.scenario.name or "a scenario without name"
        owner = Owner("life", name, made_of=settled)
        with claim(as_path(folder, "folder"), owner, force=force) as place:
            return self.put(place)

    def put(self, place: Place, progress: ProgressCallback | None = None) -> Path:
        """Writes the files of `save` to a claimed folder.

        Args:
            place: claimed folder.
            progress: called with the fraction done and a short text.

        Raises:
            KeyboardInterrupt: a signal interrupted the writing; unless `place.is_put`, the earlier
                content of the folder is unchanged.
        """
        from nodeb.life.saving import write

        about = self.about
        window = {"begin_ns": about.begin_ns, "end_ns": about.end_ns}
        log = {"log": {"complete": not about.cut}} if about.flight else {}
        return place.put(
            lambda part: write(self, part, progress),
            {"seed": about.seed, "run": about.run, "user": about.user, **window, **log, **origin()},
            stoppable=True,
        )

    @cached_property
    def answer(self) -> Answer:
        """Answer that printing shows: lost and late packets, and where."""
        from nodeb.life.answer import answer

        return answer(self)

    def _repr_html_(self) -> str:
        from html import escape

        title, style = "The life of every packet", "width:100%;height:46rem;border:0"
        return f'<iframe title="{title}" style="{style}" srcdoc="{escape(self.html())}"></iframe>'

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(table)} {name}" for name, table in self.tables.items())
        return f"<Life of {self.about.scenario.name!r}, run {self.about.run}: {sizes}>"
