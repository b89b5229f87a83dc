"""Simulates the cells of a sweep that are missing: cells and replications in one pool."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nodeb import _core
from nodeb.progress import ProgressCallback
from nodeb.replications import Rates, Replications
from nodeb.runner import Batch, failure
from nodeb.stats import Precision
from nodeb.summary import ALL, RATED, by_run
from nodeb.sweep.cells import Cell, identity
from nodeb.sweep.folder import Folder
from nodeb.table import Table
from nodeb.workers import Workers

__all__ = ["Filler", "enough", "replications"]

Key = tuple[int, range]
"""Number of a cell, and runs."""


def replications(stop: int | Precision, known: Sequence[Table]) -> Replications[Table]:
    """The replications of a cell, with those that are known already."""
    cell = Replications(stop, _rates)
    for run, outcome in enumerate(known):
        cell.add(run, outcome)
    return cell


def enough(stop: int | Precision, known: Sequence[Table]) -> tuple[list[Table], bool] | None:
    """The replications that count and whether a precision was reached; None if some are missing."""
    cell = replications(stop, known)
    verdict = cell.judge()
    return None if verdict is None else (cell.finished, verdict.reached)


def _rates(metrics: Table) -> Rates:
    """The rates that a rule is asked about, means over all users of a replication."""
    everybody = metrics.where(metrics["group"] == ALL)
    application, received = (
        float(everybody[name][0]) for name in ("application_bps", "received_bps")
    )
    return application if everybody[RATED][0] else math.nan, received


@dataclass
class _Open:
    """A cell under way."""

    cell: Cell
    known: Replications[Table]
    started: int
    batch: Batch = field(default_factory=Batch)
    _compiled: _core.CompiledScenario | None = None

    def compiled(self) -> _core.CompiledScenario:
        """The scenario, read once; threads that come together may read it twice."""
        if self._compiled is None:
            self._compiled = self.cell.compiled()
        return self._compiled

    def wants(self) -> bool:
        """Whether another replication should start now, as far as is known."""
        rule, done = self.known.stop, len(self.known.finished)
        if isinstance(rule, int):
            return self.started < rule
        likely = self.known.expected() if done >= rule.min_runs else rule.min_runs
        return self.started < min(max(likely, done + 1), rule.max_runs)

    def next_runs(self) -> range:
        """The replications to start next; short ones go together."""
        rule = self.known.stop
        most = 1 if isinstance(rule, Precision) else rule - self.started
        return range(self.started, self.started + self.batch.size(most))

    def share(self) -> float:
        """The part of the cell that a replication is, as far as is known."""
        return 1.0 / max(self.known.expected(), self.known.known, 1)


class Filler:
    """Fills in the missing cells of a sweep.

    At any time few cells are open and few replications under way, and of a replication only its
    metrics are kept, so memory does not grow with the sweep. A cell is saved when it is complete.

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
        self.replications = 0
        """Replications simulated, without those that came too late."""
        self._cells, self._seed, self._stop, self._folder = cells, seed, stop, folder
        self._jobs, self._progress = jobs, progress
        self._missing = self._open_cells()
        self._completed: set[int] = set()
        self._open: dict[int, _Open] = {}
        there = folder.store.identities()
        self._unknown = sum(identity(cell, seed) not in there for cell in cells)
        self._shown = 0.0

    @property
    def simulated(self) -> int:
        """Cells that were completed by simulation."""
        return len(self._completed)

    def run(self) -> None:
        """Simulates until no cell is missing.

        Raises:
            KeyboardInterrupt: Ctrl-C; what had finished is saved.
            RunError: a replication failed.
            OutputError: a cell cannot be saved.
        """
        with Workers[Key, list[Table]](self._jobs) as workers:
            try:
                while self._fill(workers) or len(workers):
                    self._take(workers.ended())
                    self._close(workers)
                    self._report(workers)
            except KeyboardInterrupt:
                self._take(workers.stop())
                self._save_open()
                raise

    def _open_cells(self) -> Iterator[tuple[int, _Open]]:
        """The missing cells, each looked up when its turn comes."""
        for number, cell in enumerate(self._cells):
            stored = self._folder.load(identity(cell, self._seed))
            known = replications(self._stop, stored)
            if known.judge() is None:
                yield number, _Open(cell, known, len(stored))
            else:
                self.kept += 1

    def _fill(self, workers: Workers[Key, list[Table]]) -> bool:
        """Gives the threads work, of the first open cell that wants it; whether any is left."""
        while not workers.full:
            number = next((n for n, one in self._open.items() if one.wants()), None)
            if number is None:
                if (fresh := next(self._missing, None)) is None:
                    break
                number, one = fresh
                self._open[number] = one
            one = self._open[number]
            runs = one.next_runs()
            workers.submit((number, runs), self._replicate)
            one.started = runs.stop
        return bool(self._open)

    def _replicate(self, key: Key, control: _core.Control) -> list[Table]:
        number, runs = key
        one = self._open[number]
        with one.batch.timed(len(runs)):
            tables = one.compiled().run_many(self._seed, runs.start, len(runs), control)
        radio = (Table(tables[name]) if name in tables else None for name in ("channels", "phones"))
        metrics = by_run(Table(tables["flows"]), *radio)
        return [metrics.where(metrics["run"] == run) for run in runs]

    def _take(self, done: Mapping[Key, list[Table] | Exception]) -> None:
        """Notes what came of replications; those of cells that are complete are not needed."""
        for (number, runs), outcome in done.items():
            if number not in self._open:
                continue
            cell = self._open[number]
            if isinstance(outcome, Exception):
                where = f"{cell.cell.label}: "
                cell.known.fail(runs.start, failure(runs, self._seed, outcome, where))
            else:
                for run, metrics in zip(runs, outcome, strict=True):
                    cell.known.add(run, metrics)
                self.replications += len(runs)

    def _close(self, workers: Workers[Key, list[Table]]) -> None:
        """Saves the cells that are complete."""
        over = {n: one for n, one in self._open.items() if one.known.judge() is not None}
        for number, one in over.items():
            self._save(number, one)
            del self._open[number]
        if over:
            workers.cancel(lambda key: key[0] in over)

    def _save_open(self) -> None:
        for number, one in self._open.items():
            if one.known.judge() is None:
                one.known.take_all()
            if one.known.finished:
                self._save(number, one)

    def _save(self, number: int, one: _Open) -> None:
        key = identity(one.cell, self._seed)
        self._folder.save(key, one.cell.scenario, one.known.finished)
        if one.known.judge() is not None:
            self._completed.add(number)

    def _report(self, workers: Workers[Key, list[Table]]) -> None:
        if self._progress is None:
            return
        complete = self.simulated + self.kept
        parts = self.simulated + workers.progress(self._share)
        parts += sum(one.share() * one.known.known for one in self._open.values())
        text = f"{complete} of {len(self._cells)} cells"
        missing = max(self._unknown, self.simulated + len(self._open), 1)
        # More replications may turn out to be needed; a bar that runs backwards would only puzzle.
        self._shown = max(self._shown, min(parts / missing, 1.0))
        self._progress(self._shown, text)

    def _share(self, key: Key) -> float:
        """The part of a cell that replications are."""
        one = self._open.get(key[0])
        return 0.0 if one is None else one.share() * len(key[1])
