"""Simulates the cells of a sweep that are missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from nodeb import _core
from nodeb.replication.engine import Engine, Subject, Tables
from nodeb.replication.replications import Replications
from nodeb.replication.rules import Rates, rule_of
from nodeb.results.summary import ALL, RATED, by_run
from nodeb.stats import Precision
from nodeb.sweep.cells import Cell, identity
from nodeb.sweep.folder import Folder
from nodeb.table import Table
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Filler", "enough"]


def enough(stop: int | Precision, known: Table | None) -> tuple[Table, bool] | None:
    """The replications that count and whether a precision was reached; None if some are missing."""
    cell: Replications[Table] = Replications(rule_of(stop, _rates))
    if known is not None:
        cell.add(0, known, replications(known))
    verdict = cell.judge()
    return (
        None if verdict is None or known is None else (_first(known, verdict.runs), verdict.reached)
    )


def replications(metrics: Table | None) -> int:
    """How many replications a cell has that is kept."""
    return 0 if metrics is None else len(np.unique(metrics["run"]))


def _rates(metrics: Table) -> Rates:
    """The rates that a rule is asked about, means over all users of each replication."""
    everybody = metrics.where(metrics["group"] == ALL)
    application = np.where(everybody[RATED], everybody["application_bps"], math.nan)
    return application, everybody["received_bps"]


def _first(metrics: Table, runs: int) -> Table:
    return metrics.where(metrics["run"] < runs)


class _Missing(Subject[Table]):
    """A cell of which replications may be missing. Only metrics are kept of a replication."""

    def __init__(self, cell: Cell, seed: int, stop: int | Precision, folder: Folder) -> None:
        self._cell, self._folder, self._identity = cell, folder, identity(cell, seed)
        self._compiled: _core.CompiledScenario | None = None
        stored = folder.load(self._identity)
        known = None if stored is None else (stored, replications(stored))
        super().__init__(rule_of(stop, _rates), known, f"{cell.label}: ")

    def simulate(self, seed: int, runs: range, control: _core.Control) -> Tables:
        if self._compiled is None:  # threads that come together may read it twice
            self._compiled = self._cell.compiled()
        return self._compiled.run_many(seed, runs.start, len(runs), control)

    def outcome(self, tables: Tables, runs: range) -> Table:
        del runs
        radio = (Table(tables[name]) if name in tables else None for name in ("channels", "phones"))
        metrics = by_run(Table(tables["flows"]), *radio)
        order = np.argsort(metrics["run"], kind="stable")
        return Table({name: metrics[name][order] for name in metrics.columns})

    def closed(self) -> None:
        if not self.known.finished:
            return
        found = Table.concat({k: one[k] for k in one.columns} for one in self.known.finished)
        if self.stop is not None:
            found = _first(found, self.stop.runs)
        self._folder.save(self._identity, self._cell.scenario, found)


class Filler(Engine[Table]):
    """Fills in the missing cells of a sweep; a cell is saved when it is complete.

    Args:
        cells: all cells.
        seed: seed of all random streams.
        stop: how many replications each cell has, or the rule that decides.
        folder: where cells are kept.
        jobs: replications simulated at a time.
        progress: told of progress about ten times a second.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        seed: int,
        stop: int | Precision,
        folder: Folder,
        jobs: int,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.kept = 0
        """Cells that were there already."""
        self._cells, self._progress = cells, progress
        there = folder.store.identities()
        self._unknown = sum(identity(cell, seed) not in there for cell in cells)
        self._shown = 0.0
        super().__init__(self._missing(seed, stop, folder), seed, jobs)

    @property
    def simulated(self) -> int:
        """Cells that were completed by simulation."""
        return self.completed

    def _missing(
        self, seed: int, stop: int | Precision, folder: Folder
    ) -> Iterator[Subject[Table]]:
        """The missing cells, each looked up when its turn comes."""
        for cell in self._cells:
            one = _Missing(cell, seed, stop, folder)
            if one.judge():
                self.kept += 1
            else:
                yield one

    def report(self) -> None:
        """Tells how many cells are complete."""
        if self._progress is None:
            return
        text = f"{self.completed + self.kept} of {len(self._cells)} cells"
        missing = max(self._unknown, self.opened, 1)
        # More replications may turn out to be needed; a bar that runs backwards would only puzzle.
        self._shown = max(self._shown, min(self.parts() / missing, 1.0))
        self._progress(self._shown, text)
