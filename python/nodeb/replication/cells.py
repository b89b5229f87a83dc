"""Cells: scenarios whose replications are kept, and simulated where they are missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.table import Table
from nodeb.replication.engine import Engine, Subject
from nodeb.replication.pool import Jobs
from nodeb.replication.reduction import Reduction
from nodeb.replication.replications import Replications
from nodeb.replication.rules import Rule, rule_of
from nodeb.replication.runner import mean_rates
from nodeb.replication.work import Source, Work
from nodeb.results.provenance import core_hash
from nodeb.stats import Precision
from nodeb.storage.store import Store, Tables, name_of
from nodeb.terminal.progress import ProgressCallback

__all__ = [
    "ASIDE",
    "Cell",
    "Filler",
    "Filling",
    "Stored",
    "enough",
    "identity",
    "simulated",
    "source",
    "warnings",
]

ASIDE = ("name", "seed", "runs", "max_runs", "precision", "record")
"""Keys of a scenario that change no replication that is kept."""


class Recorded(Protocol):
    """Long lists of a recording that a scenario names, which stay beside its text."""

    def arrays(self) -> tuple[int | str, dict[str, NDArray[Any]]]:
        """The group of users or the way, and the numbers by key."""
        ...

    def digest(self) -> str:
        """A hash of them."""
        ...


class Cell(Protocol):
    """A scenario among others."""

    @property
    def scenario(self) -> str:
        """What is simulated, as JSON: resolved, without name, seed, and how often."""
        ...

    @property
    def recorded(self) -> Sequence[Recorded]:
        """What it has of recordings."""
        ...

    @property
    def label(self) -> str:
        """What a person calls it."""
        ...


def simulated(scenario: Mapping[str, Any]) -> str:
    """What of a resolved scenario is simulated, as JSON."""
    return json.dumps({k: v for k, v in scenario.items() if k not in ASIDE}, sort_keys=True)


def warnings(cells: Sequence[Cell], called: str) -> list[str]:
    """What is allowed and still doubtful, each with the number of cells that it is about."""
    found = Counter(text for cell in cells for text in source(cell).compiled().warnings())
    return [f"{text} ({called}: {n} of {len(cells)})" for text, n in found.items()]


def source(cell: Cell) -> Source:
    """The scenario of a cell, to be simulated."""
    return Source(cell.scenario, cell.label, [one.arrays() for one in cell.recorded])


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


def enough(stop: int | Precision, known: Tables | None) -> tuple[Tables, bool] | None:
    """The replications that count and whether a precision was reached; None if some are missing."""
    if known is None:
        return None
    cell: Replications[Tables] = Replications(rule_of(stop, mean_rates))
    cell.add(0, known, replications(known))
    verdict = cell.judge()
    return None if verdict is None else (_first(known, verdict.runs), verdict.reached)


def replications(tables: Tables) -> int:
    """How many replications there are."""
    return len(np.unique(tables["flows"]["run"]))


def _first(tables: Tables, runs: int) -> Tables:
    return {name: table.first_runs(runs) for name, table in tables.items()}


class Filling(Work[Tables]):
    """Replications of a cell, as they are kept.

    Args:
        source: the scenario.
        reduce: what is kept in place of series; None keeps everything.
    """

    def __init__(self, source: Source, reduce: Reduction | None = None) -> None:
        self._source, self._reduce = source, reduce

    def replicate(self, seed: int, runs: range, control: _core.Control) -> Tables:
        """Simulates replications that go together."""
        found = self._source.compiled().run_many(seed, runs.start, len(runs), control)
        if self._reduce is not None:
            return self._reduce(found, runs)
        return {name: Table(columns) for name, columns in found.items()}


class Stored(Subject[Tables]):
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
        known = None if stored is None else (stored, replications(stored))
        self._stored = 0 if known is None else known[1]
        work = Filling(source(cell), reduce)
        super().__init__(work, rule, known, f"{cell.label}: " if where is None else where)

    @property
    def runs(self) -> int:
        """How many replications count."""
        return self.known.done if self.stop is None else self.stop.runs

    def tables(self) -> Tables:
        """The tables of the replications that count, of which there must be some."""
        parts = self.known.finished
        found: Tables = {
            name: Table.concat({k: part[name][k] for k in part[name].columns} for part in parts)
            for name in parts[0]
        }
        return _first(found, self.runs)

    def closed(self) -> None:
        """Keeps what is more than was kept."""
        if self.runs > self._stored:
            self._store.save(self._identity, self.cell.scenario, self.tables())


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
        self._cells, self._progress = cells, progress
        self._unknown = store.missing(identity(cell, seed) for cell in cells)
        self._shown = 0.0
        super().__init__(self._missing(seed, stop, store), seed, jobs)

    @property
    def simulated(self) -> int:
        """Cells that were completed by simulation."""
        return self.completed

    def _missing(self, seed: int, stop: int | Precision, store: Store) -> Iterator[Subject[Tables]]:
        """The missing cells, each looked up when its turn comes."""
        for cell in self._cells:
            one = Stored(cell, seed, rule_of(stop, mean_rates), store)
            if one.judge():
                self.kept += 1
            else:
                yield one

    def report(self) -> None:
        """Tells how many cells are complete."""
        if self._progress is None:
            return
        text = f"{self.completed + self.kept} of {len(self._cells)} {self._called}"
        missing = max(self._unknown, self.opened, 1)
        # More replications may turn out to be needed; a bar that runs backwards would only puzzle.
        self._shown = max(self._shown, min(self.parts() / missing, 1.0))
        self._progress(self._shown, text)
