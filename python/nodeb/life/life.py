"""Packet timeline of a replication: its simulation, its tables, and its files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nodeb import _core
from nodeb.answer.answering import Answering
from nodeb.base.arguments import as_number, as_path, as_whole
from nodeb.base.units import NS_PER_S
from nodeb.errors import InputError, RunError
from nodeb.inputs.scenario import Scenario
from nodeb.life.columns import arrow, of_kind
from nodeb.replication.pool import run_with_progress
from nodeb.results.provenance import origin, results_hash
from nodeb.storage.files import PARQUET, replace, write_bytes
from nodeb.storage.folders import Owner, Place, claim
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    from nodeb.answer import Answer
    from nodeb.life.path import CriticalPath

MAX_EVENTS = 4_000_000
"""Default maximum number of events in a packet timeline; more are an error."""
LATEST_S = 2**63 / NS_PER_S
"""Exclusive upper limit of the times of a window, s: about 292 years."""
PAGE_AT, TRACE_AT = 0.1, 0.2
"""Progress, 0 to 1, that is reported when the page and when the trace are begun."""


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
    lanes: list[str]
    """Names of the lanes, from the server to the application.

    A lane is a box of the network, such as the gateway, that has its own height on the page.
    """
    places: list[tuple[str, int, int]]
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
    def of(cls, core: Mapping[str, Any], window: tuple[int, int | None], **more: Any) -> Self:
        """`core` is the core's result; `window` is in ns, with None for the end of the run."""
        places = {name: core[name] for name in ("lanes", "places", "node_b", "tti_ns")}
        return cls(begin_ns=window[0], end_ns=window[1], **places, **more)


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
        events, numbers = self.events, np.asarray(self.events["packet"])
        # In `events`, 0 stands for no packet.
        own = numbers == number if as_whole(number, "number") else np.zeros(len(events), bool)
        if not own.any():
            raise InputError(f"no events for packet {number}; `packets` has their numbers")
        carried = of_kind(events.filter(pa.array(own)), "carries")["block"]
        theirs = np.isin(np.asarray(events["block"]), np.asarray(carried)) & (numbers == 0)
        return events.filter(pa.array(own | theirs))

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

        return html(self)

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
        about = self.about
        window = {"begin_ns": about.begin_ns, "end_ns": about.end_ns}
        log = {"log": {"complete": not about.cut}} if about.flight else {}
        return place.put(
            lambda part: self._write(part, progress or (lambda *_: None)),
            {"seed": about.seed, "run": about.run, "user": about.user, **window, **log, **origin()},
        )

    def _write(self, folder: Path, report: ProgressCallback) -> None:
        from nodeb.life.trace import trace

        write_bytes(folder / "scenario.toml", self.about.scenario.to_toml().encode())
        for number, (name, table) in enumerate(self.tables.items()):
            report(PAGE_AT * number / len(self.tables), f"saving {name}")
            replace(folder / f"{name}.parquet", partial(pq.write_table, table, **PARQUET))
        report(PAGE_AT, "making the page")
        write_bytes(folder / "life.html", self.html().encode())

        def report_trace(share: float) -> None:
            report(TRACE_AT + (1 - TRACE_AT) * share, "making the trace")

        report_trace(0.0)
        write_bytes(folder / "trace.json.gz", trace(self, report_trace))
        report_trace(1.0)

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


def watch(
    scenario: Scenario,
    run: int,
    user: int | None,
    begin_s: float,
    end_s: float | None,
    *,
    seed: int | None,
    most: int | None,
    progress: ProgressCallback | None,
) -> Life:
    """Simulates a replication; `nodeb.Scenario.life` describes the arguments."""
    most = MAX_EVENTS if most is None else most
    planned = scenario.planned(seed=seed)
    compiled = planned.compiled()
    window = _ns(begin_s, "begin_s"), None if end_s is None else _ns(end_s, "end_s")
    number = as_whole(run, "run")
    if number < 0:
        raise InputError(f"run is {run}; replications count from 0")
    check_limits(user, most)

    def work(control: _core.Control) -> dict[str, Any]:
        return _core.timeline(compiled, planned.seed, number, control, *window, user, most)

    try:
        core = run_with_progress(work, progress)
    # The core raises this error if there is no such user, or there are no or too many events.
    except ValueError as error:
        hint = "; give that window (--from, --to), one user (--user), or more (--most)"
        is_long = "events, more than the maximum" in str(error)
        raise InputError(f"{error}{hint if is_long else ''}") from None
    except _core.InternalError as error:
        raise RunError(str(error)) from None
    about = About.of(core, window, scenario=planned, seed=planned.seed, run=number, user=user)
    return Life(about, arrows(core, about))


def arrows(core: Mapping[str, Any], about: About) -> dict[str, pa.Table]:
    """Converts the core's tables; their schemas name nodeb's version, seed and run."""
    kept = {"nodeb": _core.version(), "seed": str(about.seed), "run": str(about.run)}
    return {name: arrow(table, core["names"], kept) for name, table in core["tables"].items()}


def check_limits(user: int | None, most: int) -> None:
    """Checks the user to follow and the maximum number of events."""
    if user is not None and not 0 <= as_whole(user, "user") < 2**32:
        raise InputError(f"user is {user}; users count from 0")
    if as_whole(most, "most") < 1:
        raise InputError(f"most is {most}; at least one event is needed")


def _ns(seconds: float, name: str) -> int:
    value = as_number(seconds, name)
    if not (math.isfinite(value) and 0 <= value < LATEST_S):
        raise InputError(f"{name} is {seconds}; expected seconds from the beginning of the run")
    return round(value * NS_PER_S)
