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
    """Description of a packet timeline: scenario, window, and the places that packets pass."""

    scenario: Scenario
    """Scenario that was simulated."""
    seed: int
    """Seed of the random streams."""
    run: int
    """Index of the replication, from 0; 0 for a recording."""
    user: int | None
    """Index of the only user in the timeline; None for all users."""
    begin_ns: int
    """Begin of the window, ns."""
    end_ns: int | None
    """End of the window, ns; None for the end of the run."""
    until_ns: int
    """Time up to which packets were followed, ns: that of the last event of the simulation."""
    lanes: tuple[str, ...]
    """Names of the lanes, from the server to the application.

    A lane is a box of the network, such as the gateway, that has its own height on the page.
    """
    places: tuple[tuple[str, int, int], ...]
    """Places that packets pass (nodes, links and bearers).

    Each has a name, and the indices of the lanes at which packets enter and leave the place.
    """
    node_b: int
    """Index of the Node B's lane."""
    tti_ns: int | None
    """Duration of a block on the air, ns; None if there are no blocks."""
    flight: str = ""
    """Words for a replayed recording at the beginning of a sentence; empty for a replication."""
    cut: str = ""
    """Note on a truncated log; empty for a complete one, and for a replication."""

    @classmethod
    def of(cls, found: Mapping[str, Any], window: tuple[int, int | None], **known: Any) -> Self:
        """Creates a description.

        Args:
            found: result of the core.
            window: begin and end of the window, ns; an end of None is the end of the run.
            known: the fields that are not in `found`: `scenario`, `seed`, `run`, `user`.
        """
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
        """Table with one row per event in the window, in order of time."""
        return self.tables["events"]

    @property
    def packets(self) -> pa.Table:
        """Table with one row per packet in flight in the window, in order of transmission."""
        return self.tables["packets"]

    @property
    def hops(self) -> pa.Table:
        """Table with one row per stay of a packet at a link or bearer, with its begin and end."""
        return self.tables["hops"]

    @property
    def blocks(self) -> pa.Table:
        """Table with one row per transport block whose first transmission is in the window."""
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
        """Critical paths of a user's transfers in the window, computed as by `nodeb.explain`.

        The user is the only one in the timeline, or else the first one with events. At most 20
        transfers are explained; each is simulated again, up to its end. If a transfer cannot be
        explained, it and the later ones are omitted, and `note` has the reason.
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
            folder: results folder, created if necessary. An earlier timeline of the same packets in
                it is replaced.
            force: whether to replace other results of nodeb too.

        Returns:
            The folder: `events.parquet`, `packets.parquet`, `hops.parquet`, `blocks.parquet`,
            `life.html`, `trace.json.gz`, `scenario.toml`, `provenance.json`.

        Raises:
            InputError: `folder` is not a path.
            OutputError: the folder has other results or files, or cannot be written.
        """
        about = self.about
        more = {"run": about.run, "user": about.user, "window": [about.begin_ns, about.end_ns]}
        settled = results_hash(about.scenario, about.seed, flight=about.flight, **more)
        name = about.scenario.name or "a scenario without name"
        owner = Owner("life", name, made_of=settled)
        with claim(as_path(folder, "folder"), owner, force=force) as place:
            return self.put(place)

    def put(self, place: Place, progress: ProgressCallback | None = None) -> Path:
        """Writes the files of `save` to a claimed folder, completely or not at all.

        Args:
            place: claimed folder.
            progress: called with the fraction done and a short text.

        Raises:
            KeyboardInterrupt: a signal interrupted the writing. If `place.is_put` is false, the
                earlier content of the folder is unchanged.
        """
        from nodeb.life.saving import write

        about = self.about
        window = {"begin_ns": about.begin_ns, "end_ns": about.end_ns}
        log = {"log": {"complete": not about.cut}} if about.flight else {}
        return place.put(
            lambda part: write(self, part, progress),
            {"seed": about.seed, "run": about.run, "user": about.user, **window, **log, **origin()},
        )

    @cached_property
    def answer(self) -> Answer:
        """Answer that printing shows: numbers and places of lost and late packets."""
        from nodeb.life.answer import answer

        return answer(self)

    def _repr_html_(self) -> str:
        from html import escape

        title, style = "The life of every packet", "width:100%;height:46rem;border:0"
        return f'<iframe title="{title}" style="{style}" srcdoc="{escape(self.html())}"></iframe>'

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(table)} {name}" for name, table in self.tables.items())
        return f"<Life of {self.about.scenario.name!r}, run {self.about.run}: {sizes}>"
