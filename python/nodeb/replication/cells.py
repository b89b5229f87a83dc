"""Cells: scenarios whose replications are kept, and simulated where they are missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.base.table import Table
from nodeb.errors import Interrupted, RunError
from nodeb.inputs.columns import RecordingColumns
from nodeb.inputs.scenario import PLAN
from nodeb.replication.engine import Engine, Subject
from nodeb.replication.pool import Jobs
from nodeb.replication.reduction import Reduction
from nodeb.replication.rules import Rule, rule_of
from nodeb.replication.work import Source, Work
from nodeb.results.provenance import core_hash
from nodeb.stats import Precision
from nodeb.storage.store import Store, Tables, name_of
from nodeb.terminal.progress import ProgressCallback

__all__ = [
    "ASIDE",
    "Cell",
    "Filler",
    "Replicated",
    "Replicating",
    "Stored",
    "identity",
    "kept",
    "simulated",
    "source",
    "warnings",
]

ASIDE = (*PLAN, "record")
"""Keys of a scenario that change no replication that is kept."""


@dataclass(frozen=True)
class Cell:
    """A scenario among others."""

    label: str
    """What a person calls it."""
    scenario: str
    """What is simulated, as JSON: resolved, without name, seed, and how often."""
    recorded: Sequence[RecordingColumns] = ()
    """What it has of recordings, which stays beside its text."""


def simulated(scenario: Mapping[str, Any]) -> str:
    """What of a resolved scenario is simulated, as JSON."""
    return json.dumps({k: v for k, v in scenario.items() if k not in ASIDE}, sort_keys=True)


def warnings(cells: Sequence[Cell], called: str) -> list[str]:
    """What is allowed and still doubtful, each with the number of cells that it is about."""
    found = Counter(text for cell in cells for text in source(cell).compiled().warnings())
    return [f"{text} ({called}: {n} of {len(cells)})" for text, n in found.items()]


def source(cell: Cell) -> Source:
    """The scenario of a cell, to be simulated."""
    return Source(cell.scenario, cell.label, cell.recorded)


def identity(cell: Cell, seed: int, reduce: Reduction | None = None) -> str:
    """What tells a cell's results from all others: a hash of scenario, seed and core.

    The core is told by a hash too, as it changes between versions while somebody works on it. What
    is made of its tables is not part of it: that is made when they are read, unless it is what is
    kept in place of series.
    """
    parts = {"scenario": cell.scenario, "seed": seed, "core": core_hash()}
    if cell.recorded:
        parts["recorded"] = [one.digest() for one in cell.recorded]
    if reduce is not None:
        parts["series"] = reduce.identity()
    return name_of(parts)


def replications(tables: Tables) -> int:
    """How many replications there are."""
    return len(np.unique(tables["flows"]["run"]))


def _first(tables: Tables, runs: int) -> Tables:
    return {name: table.first_runs(runs) for name, table in tables.items()}


class Replicating(Work[Tables]):
    """Replications as tables.

    Args:
        source: the scenario.
        reduce: what is kept in place of series; None keeps everything.
    """

    def __init__(self, source: Source, reduce: Reduction | None = None) -> None:
        self.source, self._reduce = source, reduce

    def replicate(self, seed: int, runs: range, control: _core.Control) -> Tables:
        """Simulates replications that go together."""
        found = self.source.compiled().run_many(seed, runs.start, len(runs), control)
        if self._reduce is not None:
            return self._reduce(found, runs)
        return {name: Table(columns) for name, columns in found.items()}


class Replicated(Subject[Tables]):
    """A scenario with the tables of its replications."""

    @property
    def runs(self) -> int:
        """How many replications count."""
        return self.known.done if self.stop is None else self.stop.runs

    def parts(self) -> list[Tables]:
        """The tables of those that count, in order of the run: each of one or of several."""
        parts = self.known.finished
        if self.known.done > self.runs:  # of those that went together not all are needed
            parts[-1] = {name: table.first_runs(self.runs) for name, table in parts[-1].items()}
        return parts

    def tables(self) -> Tables:
        """The tables of those that count, of which there must be some."""
        parts = self.parts()
        if len(parts) == 1:
            return parts[0]
        return {name: Table.concat(part[name] for part in parts) for name in parts[0]}


class Stored(Replicated):
    """A cell, of which replications may be missing; they are kept when there are enough.

    Args:
        cell: what is simulated.
        seed: seed of all random streams.
        rule: decides how many replications it has.
        store: where it is kept.
        reduce: what is kept in place of series; None keeps everything.
        where: begins a message about a replication that failed; None names the cell.
    """

    def __init__(
        self,
        cell: Cell,
        seed: int,
        rule: Rule[Tables],
        store: Store,
        reduce: Reduction | None = None,
        where: str | None = None,
    ) -> None:
        self.cell, self._store = cell, store
        self._identity = identity(cell, seed, reduce)
        stored = store.load(self._identity)
        known = None if stored is None else (stored, len(np.unique(stored["flows"]["run"])))
        self._stored = 0 if known is None else known[1]
        work = Replicating(source(cell), reduce)
        super().__init__(work, rule, known, f"{cell.label}: " if where is None else where)

    def closed(self) -> None:
        """Keeps what is more than was kept."""
        if self.runs > self._stored:
            self._store.save(self._identity, self.cell.scenario, self.tables())


def kept(cell: Cell, seed: int, stop: int | Precision, store: Store) -> tuple[Tables, bool]:
    """The replications of a complete cell that count, and whether a precision was reached.

    Raises:
        RunError: it is not complete any more.
    """
    one = Stored(cell, seed, rule_of(stop), store)
    if one.stop is None:
        gone = f"what was kept of {cell.label} was removed meanwhile"
        raise RunError(f"{store.folder.parent}: {gone}")
    return one.tables(), one.stop.reached


class Filler(Engine[Tables]):
    """Fills in the cells that are missing; a cell is saved when it is complete.

    Args:
        cells: all cells.
        seed: seed of all random streams.
        stop: how many replications each cell has, or the rule that decides.
        store: where cells are kept.
        jobs: replications simulated at a time, or who simulates them.
        progress: told of progress about ten times a second.
        called: what cells are to whoever reads of progress.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        seed: int,
        stop: int | Precision,
        store: Store,
        jobs: Jobs,
        progress: ProgressCallback | None = None,
        called: str = "cells",
    ) -> None:
        self._called = called
        self.kept = 0
        """Cells that were there already."""
        self._cells, self._store = cells, store
        self._unknown = store.missing(identity(cell, seed) for cell in cells)
        super().__init__(self._missing(seed, stop), seed, jobs, progress)

    def run(self) -> None:
        """Simulates until no cell wants more.

        Raises:
            Interrupted: Ctrl-C; what had finished is kept.
            RunError: a replication failed.
        """
        try:
            super().run()
        except KeyboardInterrupt:
            done = f"{self.completed + self.kept} of {len(self._cells)} {self._called} complete"
            where = f"what had finished is kept in {self._store.folder.parent}"
            text = f"interrupted with {done}; {where}, and the same command goes on from there"
            raise Interrupted(text) from None

    def _missing(self, seed: int, stop: int | Precision) -> Iterator[Subject[Tables]]:
        """The missing cells, each looked up when its turn comes."""
        for cell in self._cells:
            one = Stored(cell, seed, rule_of(stop), self._store)
            if one.judge():
                self.kept += 1
            else:
                yield one

    def so_far(self) -> tuple[float, str]:
        """How many cells are complete."""
        text = f"{self.completed + self.kept} of {len(self._cells)} {self._called}"
        return self.parts() / max(self._unknown, self.opened, 1), text
