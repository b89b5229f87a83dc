"""Replications, several at a time.

The core releases the interpreter lock while it simulates, so threads use every processor. What
comes out depends on the scenario, the seed and the number of runs only (`nodeb.replications`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.errors import InputError, RunError
from nodeb.progress import ProgressCallback
from nodeb.replications import Replications
from nodeb.stats import Precision, Stop
from nodeb.workers import Workers

__all__ = ["Experiment", "Tables", "default_jobs", "mean_application_bps"]

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


def mean_application_bps(tables: Tables) -> float:
    """Mean application bit rate over the users that completed, bit/s; NaN when nobody did."""
    rates = np.asarray(tables["flows"]["application_bps"], dtype=np.float64)
    rates = rates[np.isfinite(rates)]
    return float(rates.mean()) if rates.size else float("nan")


@dataclass
class Experiment:
    """Independent replications of one scenario."""

    scenario: str
    """The resolved scenario, as JSON."""
    seed: int
    """Seed of the named random streams."""
    stop: int | Precision
    """How many replications, or the rule that decides."""
    jobs: int
    """Replications simulated at a time."""
    measure: Callable[[Tables], float] = mean_application_bps
    """What the rule is asked about."""
    progress: ProgressCallback | None = None
    """Told of progress about ten times a second."""

    _replications: Replications[Tables] = field(init=False)
    _shown: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._replications = Replications(self.stop, self.measure)

    @property
    def finished(self) -> list[Tables]:
        """The first replications, in order of the run, without a gap."""
        return self._replications.finished

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
        with Workers[int, Tables](self.jobs) as workers:
            try:
                while (stop := self._replications.judge()) is None:
                    while submitted < self.limit and not workers.full:
                        workers.submit(submitted, self._replicate)
                        submitted += 1
                    self._collect(workers.ended())
                    self._report(workers)
                return stop
            except KeyboardInterrupt:
                self._collect(workers.stop())
                self._replications.take_all()
                raise

    def _replicate(self, run: int, control: _core.Control) -> Tables:
        return _core.run(self.scenario, self.seed, run, control)

    def _collect(self, done: Mapping[int, Tables | Exception]) -> None:
        for run, tables in done.items():
            if isinstance(tables, Exception):
                message = f"replication {run} (seed {self.seed}) failed: {tables}"
                raise RunError(message) from tables
            self._replications.add(run, tables)

    def _report(self, workers: Workers[int, Tables]) -> None:
        if self.progress is None:
            return
        done = len(self.finished)
        parts = self._replications.known + workers.progress()
        text = f"{done} of {self.limit} replications"
        if isinstance(self.stop, Precision):
            text = f"{done} replications, at most {self.limit}"
        # The expected number may grow; a bar that runs backwards would only puzzle.
        self._shown = max(self._shown, min(parts / self._replications.expected(), 1.0))
        self.progress(self._shown, text)
