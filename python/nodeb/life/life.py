"""What happened in a replication, and what can be made of it."""

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
    """Which replication it is, and what its places are."""

    scenario: Scenario
    """The resolved scenario."""
    seed: int
    """Seed of the random streams."""
    run: int
    """Number of the replication."""
    user: int | None
    """The only user that was followed; None for all."""
    begin_ns: int
    """Where the window begins, ns."""
    end_ns: int | None
    """Where it ends; None for the end of the run."""
    until_ns: int
    """Until when packets were followed."""
    lanes: tuple[str, ...]
    """What stands on the path, from the server to the application."""
    places: tuple[tuple[str, int, int], ...]
    """Links, bearers and ends: name, and the lanes at which packets come and leave."""
    node_b: int
    """The lane of the Node B."""
    tti_ns: int | None
    """How long a block is on the air, ns; None where there are none."""
    flight: str = ""
    """The recorded flight that was flown again, as messages call it; empty for a replication."""
    cut: str = ""
    """What is said of a log that was cut off; empty for a whole one, and for a replication."""

    @classmethod
    def of(cls, found: Mapping[str, Any], window: tuple[int, int | None], **known: Any) -> Self:
        """What the core says of what it has looked at, and what was known before."""
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
    """What happened in a replication.

    Attributes:
        about: which replication.
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
        """One row per packet, in the order in which they were sent."""
        return self.tables["packets"]

    @property
    def hops(self) -> pa.Table:
        """One row per stay of a packet at a link or bearer."""
        return self.tables["hops"]

    @property
    def blocks(self) -> pa.Table:
        """One row per block on the air."""
        return self.tables["blocks"]

    def packet(self, number: int) -> pa.Table:
        """All that happened to one packet, in order of time: its own events and its blocks'.

        Args:
            number: its number, as in `packets`.

        Raises:
            InputError: nothing happened to a packet of that number.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        events = self.events
        if not 1 <= as_whole(number, "number") < 2**32:  # 0 stands for none
            raise InputError(f"there is no packet {number}; `packets` has their numbers")
        own = pc.equal(events["packet"], pa.scalar(number, pa.uint32()))
        if not pc.any(own).as_py():
            raise InputError(f"nothing is known of a packet {number}; `packets` has their numbers")
        carried = pc.and_(own, pc.equal(events["kind"].cast(pa.string()), "carries"))
        blocks = pc.unique(events.filter(carried)["block"])
        theirs = pc.and_(pc.is_in(events["block"], blocks), pc.equal(events["packet"], 0))
        return events.filter(pc.or_(own, theirs))

    @cached_property
    def critical_path(self) -> CriticalPath:
        """Why the user's transfers in the window took so long: `nodeb.explain` of each.

        The user is the one that was followed, or else the first. At most 20 transfers are simulated
        again, as far as each goes; one that cannot be explained is left out, and the note says so.
        """
        from nodeb.life.path import critical_path

        return critical_path(self)

    def html(self) -> str:
        """The interactive page, one self-contained file."""
        from nodeb.life.page import html

        return html(self, self.critical_path)

    def trace(self) -> bytes:
        """The same in the Trace Event Format, gzipped, which Perfetto and Chrome open."""
        from nodeb.life.trace import trace

        return trace(self)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes tables, page and trace to a folder, as a whole or not at all.

        Args:
            folder: made if need be; an earlier life of the same packets is replaced.
            force: replace other results too.

        Returns:
            The folder: `events.parquet`, `packets.parquet`, `hops.parquet`, `blocks.parquet`,
            `life.html`, `trace.json.gz`, `scenario.toml`, `provenance.json`.

        Raises:
            InputError: `folder` is no path.
            OutputError: the folder is not nodeb's, belongs to something else, or cannot be written.
        """
        about = self.about
        more = {"run": about.run, "user": about.user, "window": [about.begin_ns, about.end_ns]}
        settled = results_hash(about.scenario, about.seed, flight=about.flight, **more)
        name = about.scenario.name or "a scenario without name"
        owner = Owner("life", name, made_of=settled)
        with claim(as_path(folder, "folder"), owner, force=force) as place:
            return self.put(place)

    def put(self, place: Place, progress: ProgressCallback | None = None) -> Path:
        """Writes them to a folder that was claimed; see `save`.

        Args:
            place: the folder.
            progress: called with the fraction done and a few words.

        Raises:
            KeyboardInterrupt: it was interrupted; unless `place.is_put`, what was there stays.
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
        """What it says first: what was lost or late, and where."""
        from nodeb.life.answer import answer

        return answer(self)

    def _repr_html_(self) -> str:
        from html import escape

        title, style = "The life of every packet", "width:100%;height:46rem;border:0"
        return f'<iframe title="{title}" style="{style}" srcdoc="{escape(self.html())}"></iframe>'

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(table)} {name}" for name, table in self.tables.items())
        return f"<Life of {self.about.scenario.name!r}, run {self.about.run}: {sizes}>"
