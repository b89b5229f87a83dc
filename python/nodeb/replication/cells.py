"""Cells: scenarios whose replications are stored, and simulated if they are missing."""

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
from nodeb.storage.cells import Store, Tables, name_of
from nodeb.terminal.progress import ProgressCallback

NOT_SIMULATED = (*PLAN, "record")
"""Keys of a scenario that do not change a stored replication."""


@dataclass(frozen=True)
class Cell:
    """One of several scenarios whose results are stored separately, such as a point of a sweep."""

    label: str
    """Name of the cell in messages."""
    scenario: str
    """The simulated scenario as JSON: resolved, without name, seed and number of runs."""
    recorded: Sequence[RecordingColumns] = ()
    """Columns of the scenario's recordings, which are not part of its text."""


def simulated(scenario: Mapping[str, Any]) -> str:
    """Returns the keys of a resolved scenario that affect its simulation, with values, as JSON."""
    return json.dumps({k: v for k, v in scenario.items() if k not in NOT_SIMULATED}, sort_keys=True)


def warnings(cells: Sequence[Cell], called: str) -> list[str]:
    """Returns warnings about valid but doubtful values, each with the number of cells concerned.

    `called` is the word for cells in the warnings.
    """
    found = Counter(text for cell in cells for text in source(cell).compiled().warnings())
    return [f"{text} ({called}: {n} of {len(cells)})" for text, n in found.items()]


def source(cell: Cell) -> Source:
    """Returns the source from which the replications of a cell are simulated."""
    return Source(cell.scenario, cell.label, cell.recorded)


def identity(cell: Cell, seed: int, reduce: Reduction | None = None) -> str:
    """Returns a hash of scenario, seed and core (compiled simulator): the key of a cell's results.

    The hash covers the file of the core, because development builds of one version may differ. A
    reduction's options and code are included if its numbers are stored in place of series.
    """
    parts = {"scenario": cell.scenario, "seed": seed, "core": core_hash()}
    if cell.recorded:
        parts["recorded"] = [one.digest() for one in cell.recorded]
    if reduce is not None:
        parts["series"] = reduce.identity()
    return name_of(parts)


def replications(tables: Tables) -> int:
    """Returns the number of replications in the tables, counted by the column `run` of `flows`."""
    return len(np.unique(tables["flows"]["run"]))


class ReplicationWork(Work[Tables]):
    """Simulates replications of one scenario and keeps their tables.

    Args:
        source: scenario to simulate.
        reduce: replaces series by a few numbers; None keeps everything.
    """

    def __init__(self, source: Source, reduce: Reduction | None = None) -> None:
        self.source, self._reduce = source, reduce

    def replicate(self, seed: int, runs: range, control: _core.Control) -> Tables:
        """Simulates the replications `runs` in one call of the core and returns their tables."""
        found = self.source.compiled().run_many(seed, runs.start, len(runs), control)
        if self._reduce is not None:
            return self._reduce(found, runs)
        return {name: Table(columns) for name, columns in found.items()}


class Replicated(Subject[Tables]):
    """Scenario to be replicated, with the tables of its replications."""

    @property
    def runs(self) -> int:
        """Number of replications that count as results.

        Those that were simulated beyond the number at which the rule stops do not count.
        """
        return self.done if self.stop is None else self.stop.runs

    def parts(self) -> list[Tables]:
        """Returns the tables of the replications that count as results, in their order.

        Each item of the list has the tables of a batch of one or more replications.
        """
        parts = self.finished
        # The last batch may have more replications than the rule requires; its tables are cut.
        if self.done > self.runs:
            parts[-1] = {name: table.first_runs(self.runs) for name, table in parts[-1].items()}
        return parts

    def tables(self) -> Tables:
        """Returns the joined tables of the replications that count as results; needs at least 1."""
        parts = self.parts()
        if len(parts) == 1:
            return parts[0]
        return {name: Table.concat(part[name] for part in parts) for name in parts[0]}


class StoredCell(Replicated):
    """Cell (scenario) whose replications may be missing in the store.

    Its replications are stored when no more will follow.

    Args:
        cell: cell to simulate.
        seed: seed of all random streams.
        rule: decides on the number of replications.
        store: store of the cells.
        reduce: replaces series by a few numbers; None keeps everything.
        where: prefix of messages about failed replications; None names the cell.
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
        work = ReplicationWork(source(cell), reduce)
        super().__init__(work, rule, known, f"{cell.label}: " if where is None else where)

    def on_end(self) -> None:
        """Stores the tables if there are more replications than the store had before.

        An interruption ends the cell too.
        """
        if self.runs > self._stored:
            self._store.save(self._identity, self.cell.scenario, self.tables())


def load_complete(
    cell: Cell, seed: int, stop: int | Precision, store: Store
) -> tuple[Tables, bool]:
    """Returns the tables of a complete cell from the store.

    The second value is true if the precision, or the number of replications, was reached.

    Raises:
        RunError: the cell is no longer complete.
    """
    one = StoredCell(cell, seed, rule_of(stop), store)
    if one.stop is None:
        gone = f"the stored results of {cell.label} were removed meanwhile"
        raise RunError(f"{store.folder}: {gone}")
    return one.tables(), one.stop.reached


class CellSimulator(Engine[Tables]):
    """Simulates the cells (scenarios) missing in the store; stores each when it is complete.

    Args:
        cells: all cells.
        seed: seed of all random streams.
        stop: number of replications of each cell, or the precision that determines it.
        store: store of the cells.
        jobs: replications simulated at a time, or the cluster that simulates them.
        progress: called about ten times a second, or more often if replications end.
        called: word for cells in progress reports.
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
        """Number of cells that were complete before the simulation."""
        self._cells, self._store = cells, store
        self._unknown = store.missing(identity(cell, seed) for cell in cells)
        super().__init__(self._missing(seed, stop), seed, jobs, progress)

    def run(self) -> None:
        """Simulates until all cells are complete.

        Raises:
            Interrupted: Ctrl-C; finished replications are stored.
            RunError: a replication failed.
        """
        try:
            super().run()
        except KeyboardInterrupt:
            complete = self.completed + self.kept
            text = f"interrupted with {complete} of {len(self._cells)} {self._called} complete"
            if complete:
                where = f"finished cells are stored in {self._store.folder}"
                text = f"{text}; {where}, and the same command continues from there"
            raise Interrupted(text) from None

    def _missing(self, seed: int, stop: int | Precision) -> Iterator[Subject[Tables]]:
        """Yields the incomplete cells; looks up each cell only when the engine asks for it."""
        for cell in self._cells:
            one = StoredCell(cell, seed, rule_of(stop), self._store)
            if one.judge():
                self.kept += 1
            else:
                yield one

    def progress_state(self) -> tuple[float, str]:
        """Returns the fraction done of the cells that were missing, and a text for the user.

        The text states how many of all cells are complete.
        """
        text = f"{self.completed + self.kept} of {len(self._cells)} {self._called}"
        return self.parts() / max(self._unknown, self.opened, 1), text
