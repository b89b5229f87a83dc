"""Replications, several at a time.

The core releases the interpreter lock while it simulates, so threads use every processor. What
comes out depends on the scenario, the seed and the number of runs only (`nodeb.replications`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.errors import InputError, RunError
from nodeb.progress import ProgressCallback
from nodeb.replications import Rates, Replications
from nodeb.stats import Precision, Stop
from nodeb.workers import Workers

__all__ = ["Batch", "Experiment", "Tables", "default_jobs", "failure", "mean_rates"]

BATCH_S = 0.1
"""About so long, s, replications that go together take."""
LARGEST_BATCH = 1000

Tables = Mapping[str, Mapping[str, Any]]
"""Tables of one replication: name -> column -> values."""


def default_jobs() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_jobs(jobs: int | None) -> int:
    """The number of replications to simulate at a time.

    Raises:
        InputError: jobs is below 1.
    """
    if jobs is None:
        return default_jobs()
    if jobs < 1:
        raise InputError(f"jobs is {jobs}; at least one replication must run at a time")
    return jobs


class Batch:
    """How many replications go together, from the time that they took before."""

    def __init__(self) -> None:
        self._size = 1

    def size(self, most: int) -> int:
        """So many, at least one and at most `most`."""
        return max(1, min(self._size, most))

    @contextmanager
    def timed(self, runs: int) -> Iterator[None]:
        """Notes how long this many take."""
        begin = time.perf_counter()
        yield
        each_s = (time.perf_counter() - begin) / runs
        self._size = min(int(BATCH_S / max(each_s, 1e-9)), LARGEST_BATCH)


def failure(runs: range, seed: int, error: Exception, where: str = "") -> RunError:
    """What to tell of replications that failed."""
    if isinstance(error, _core.InternalError):  # it says everything itself
        found = RunError(f"{where}{error}")
    else:
        which = f"replication {runs.start}"
        if len(runs) > 1:
            which = f"one of the replications {runs.start} to {runs.stop - 1}"
        found = RunError(f"{where}{which} (seed {seed}) failed: {error}")
    found.__cause__ = error
    return found


def mean_rates(tables: Tables) -> Rates:
    """The rates that a rule is asked about, means over all users of a replication."""
    flows = tables["flows"]
    application, received = (
        float(np.mean(np.asarray(flows[name], dtype=np.float64)))
        for name in ("application_bps", "received_bps")
    )
    return application, received


@dataclass
class Experiment:
    """Independent replications of one scenario."""

    scenario: _core.CompiledScenario
    """The scenario."""
    seed: int
    """Seed of the named random streams."""
    stop: int | Precision
    """How many replications, or the rule that decides."""
    jobs: int
    """Replications simulated at a time."""
    measure: Callable[[Tables], Rates] = mean_rates
    """What the rule is asked about."""
    progress: ProgressCallback | None = None
    """Told of progress about ten times a second."""

    _replications: Replications[Tables] = field(init=False)
    _batch: Batch = field(default_factory=Batch, init=False)
    _shown: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._replications = Replications(self.stop, self.measure)

    @property
    def finished(self) -> list[Tables]:
        """The tables of the first replications, in order of the run, without a gap.

        A table may be that of several replications, one after the other.
        """
        return self._replications.finished

    @property
    def replications(self) -> int:
        """How many replications these are."""
        return self._replications.done

    @property
    def limit(self) -> int:
        """The largest number of replications."""
        return self._replications.limit

    def run(self) -> Stop:
        """Simulates until the stopping rule is content; the outcome is in `finished`.

        Raises:
            KeyboardInterrupt: Ctrl-C; what was running is cancelled, `finished` stays.
            RunError: a replication failed.
        """
        submitted = 0
        with Workers[range, Tables](self.jobs) as workers:
            try:
                while (stop := self._replications.judge()) is None:
                    while submitted < self.limit and not workers.full:
                        runs = range(submitted, submitted + self._size(self.limit - submitted))
                        workers.submit(runs, self._timed)
                        submitted = runs.stop
                    self._collect(workers.ended())
                    self._report(workers)
                return stop
            except KeyboardInterrupt:
                self._collect(workers.stop())
                self._replications.take_all()
                raise

    def _size(self, left: int) -> int:
        """How many of the replications that are left go together.

        Short ones do, as handing each over would cost as much as it; all threads get a share. A
        rule that decides is asked after each.
        """
        if isinstance(self.stop, Precision):
            return 1
        return self._batch.size(left // (2 * self.jobs))

    def _timed(self, runs: range, control: _core.Control) -> Tables:
        with self._batch.timed(len(runs)):
            return self._replicate(runs, control)

    def _replicate(self, runs: range, control: _core.Control) -> Tables:
        return self.scenario.run_many(self.seed, runs.start, len(runs), control)

    def _collect(self, done: Mapping[range, Tables | Exception]) -> None:
        for runs, tables in done.items():
            if isinstance(tables, Exception):
                self._replications.fail(runs.start, failure(runs, self.seed, tables))
            else:
                self._replications.add(runs.start, tables, len(runs))

    def _report(self, workers: Workers[range, Tables]) -> None:
        if self.progress is None:
            return
        done = self.replications
        parts = self._replications.known + workers.progress(len)
        text = f"{done} of {self.limit} replications"
        if isinstance(self.stop, Precision):
            text = f"{done} replications, at most {self.limit}"
        # The expected number may grow; a bar that runs backwards would only puzzle.
        self._shown = max(self._shown, min(parts / self._replications.expected(), 1.0))
        self.progress(self._shown, text)
