"""Replications, several at a time.

The core releases the interpreter lock while it simulates, so threads use every processor. What
comes out depends on the scenario, the seed and the number of runs only: results are ordered by
run, and a sequential experiment is judged on the first n runs whatever finished earlier.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.errors import InputError, RunError
from nodeb.progress import ProgressCallback
from nodeb.stats import Precision, Stop

__all__ = ["Experiment", "Tables", "default_jobs", "mean_application_bps"]

Tables = Mapping[str, Mapping[str, Any]]
"""Tables of one replication: name -> column -> values."""

Running = dict[Future[Tables], tuple[int, _core.Control]]
"""Replication under way -> its run and its control."""

POLL_S = 0.1
"""Seconds between two looks at the progress of running replications."""


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

    finished: list[Tables] = field(default_factory=list, init=False)
    """The first replications, in order of the run, without a gap."""
    _early: dict[int, Tables] = field(default_factory=dict, init=False)
    _values: list[float] = field(default_factory=list, init=False)
    _shown: float = field(default=0.0, init=False)

    @property
    def limit(self) -> int:
        """The largest number of replications."""
        return self.stop.max_runs if isinstance(self.stop, Precision) else self.stop

    def run(self) -> Stop:
        """Simulates until the stopping rule is content; the outcome is in `finished`.

        Raises:
            KeyboardInterrupt: Ctrl-C; what was running is cancelled, `finished` stays.
            RunError: a replication failed.
        """
        running: Running = {}
        executor = ThreadPoolExecutor(self.jobs, thread_name_prefix="nodeb")
        try:
            submitted = 0
            while (stop := self._judge()) is None:
                # A few more than jobs, so that no thread waits for this one to look.
                while submitted < self.limit and len(running) < 2 * self.jobs:
                    control = _core.Control()
                    task = executor.submit(self._replicate, submitted, control)
                    running[task] = (submitted, control)
                    submitted += 1
                done, _ = wait(running, POLL_S, FIRST_COMPLETED)
                self._collect({running.pop(task)[0]: task for task in done})
                self._report([control for _, control in running.values()])
            return stop
        except KeyboardInterrupt:
            self._end(executor, running)
            over = {r: t for t, (r, _) in running.items() if not t.cancelled()}
            self._collect({r: t for r, t in over.items() if t.exception() is None})
            while self._take():
                pass
            raise
        finally:
            self._end(executor, running)

    def _end(self, executor: ThreadPoolExecutor, running: Running) -> None:
        """Stops what is running; does nothing the second time."""
        for _, control in running.values():
            control.cancel()
        executor.shutdown(wait=True, cancel_futures=True)

    def _replicate(self, run: int, control: _core.Control) -> Tables:
        return _core.run(self.scenario, self.seed, run, control)

    def _collect(self, done: Mapping[int, Future[Tables]]) -> None:
        for run, task in done.items():
            error = task.exception()
            if error is not None:
                message = f"replication {run} (seed {self.seed}) failed: {error}"
                raise RunError(message) from error
            self._early[run] = task.result()

    def _judge(self) -> Stop | None:
        """Takes replications in order; says whether they are enough."""
        while True:
            n = len(self.finished)
            if isinstance(self.stop, int):
                if n == self.stop:
                    noun = "replication" if n == 1 else "replications"
                    return Stop(n, True, f"{n} {noun}, as asked")
            elif (found := self.stop.judge(self._values)) is not None:
                return found
            if not self._take():
                return None

    def _take(self) -> bool:
        """Takes the next replication in order, if it is there."""
        tables = self._early.pop(len(self.finished), None)
        if tables is None:
            return False
        self.finished.append(tables)
        self._values.append(self.measure(tables))
        return True

    def _report(self, running: list[_core.Control]) -> None:
        if self.progress is None:
            return
        done = len(self.finished)
        parts = done + len(self._early) + sum(control.progress() for control in running)
        text = f"{done} of {self.limit} replications"
        expected = self.limit
        if isinstance(self.stop, Precision):
            text = f"{done} replications, at most {self.limit}"
            expected = self.stop.expected_runs(self._values)
        # The expected number may grow; a bar that runs backwards would only puzzle.
        self._shown = max(self._shown, min(parts / expected, 1.0))
        self.progress(self._shown, text)
