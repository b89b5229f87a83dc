"""The engine: runs replications of any number of scenarios, several concurrently.

A pool executes the replications: threads of this process, or the workers of a cluster. Short
replications share one call of the core. Results depend on the scenarios, the seed and the rules
only (`Subject`). A subject is a scenario to be replicated: `nodeb run` has
one, a sweep one per cell, a reproduction one per scenario; stored replications of a subject are not
simulated again.
"""

from __future__ import annotations

import contextlib
import heapq
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from nodeb import _core
from nodeb.errors import NodebError, RunError, ScenarioError
from nodeb.replication.pool import Jobs, Lost, Pool
from nodeb.replication.rules import Rule
from nodeb.replication.work import Failure, Simulated, Task, Work
from nodeb.stats import Stop
from nodeb.terminal.progress import ProgressCallback

MAX_BATCH = 1000

T = TypeVar("T")


class Subject(Generic[T]):
    """Scenario to be replicated, with the outcomes of its replications in order of the run.

    The rule judges the first n runs even if later ones finish earlier, so that the number of
    threads has no influence. A failure counts only when its run is reached in order, so a
    replication that turns out not to be needed cannot fail an experiment.

    Args:
        work: simulates replications.
        rule: decides on the number of replications.
        known: results and number of the first replications if they are stored, else None.
        where: prefix of messages about failed replications.
    """

    def __init__(
        self, work: Work[T], rule: Rule[T], known: tuple[T, int] | None = None, where: str = ""
    ) -> None:
        self.work = work
        """Work that simulates the replications."""
        self.rule = rule
        self.where = where
        self.finished: list[T] = []
        """Outcomes of the first replications, without a gap; one outcome may cover several."""
        self.done = 0
        """Number of replications in `finished`."""
        self.started = 0
        """Number of replications started or stored."""
        self.stop: Stop | None = None
        """End of the experiment, with its reason; None while more replications are needed."""
        self._early: dict[int, tuple[T, int]] = {}
        self._failed: dict[int, Exception] = {}
        self._batch = 1
        if known is not None and known[1] > 0:
            self.add(0, *known)
            self.started = known[1]
        self.judge()

    def add(self, run: int, outcome: T, runs: int = 1) -> None:
        self._early[run] = outcome, runs

    def fail(self, run: int, error: Exception) -> None:
        """Records a failure of a replication: `judge` raises the error when the run is reached."""
        self._failed[run] = error

    def on_progress(self, runs: int) -> None:
        """Called when `runs` more replications have finished; subclasses override it."""

    def on_end(self) -> None:
        """Called when no replications will follow; `finished` has their outcomes."""

    def judge(self) -> bool:
        """Returns true if the rule finds that there are enough replications.

        Raises:
            RunError: a replication that is needed failed.
            ScenarioError: the scenario cannot be simulated.
        """
        while self.stop is None:
            self.stop = self.rule.stop()
            if self.stop is None:
                if self.done in self._failed:
                    raise self._failed[self.done]
                if not self.take():
                    return False
        return True

    def take(self) -> bool:
        """Takes the next outcome in order; returns false if it is not finished."""
        if self.done not in self._early:
            return False
        outcome, runs = self._early.pop(self.done)
        self.finished.append(outcome)
        self.done += runs
        self.rule.take(outcome, runs)
        return True

    @property
    def simulated(self) -> int:
        """Number of replications that are finished, including those that finished out of order."""
        return self.done + sum(runs for _, runs in self._early.values())

    def needs_more(self) -> bool:
        """Returns true if the rule allows another replication to be started now."""
        return self.started < self.rule.ahead()

    def next_runs(self, shares: int) -> range:
        """Returns the range of replications to start next.

        The range is a batch, but at most the fraction `1 / shares` of the replications left to
        start, so that each of `shares` threads gets work. It has at least one replication.
        """
        left = self.rule.ahead() - self.started
        count = max(1, min(self._batch, left // shares))
        runs = range(self.started, self.started + count)
        self.started = runs.stop
        return runs

    def adapt_batch(self, runs: int, time_s: float, wanted_s: float) -> None:
        """Sets the batch size such that a batch takes about `wanted_s` seconds.

        The last batch of `runs` replications took `time_s` seconds.
        """
        self._batch = min(max(int(wanted_s * runs / max(time_s, 1e-9)), 1), MAX_BATCH)

    def share(self) -> float:
        """Returns the fraction of the work that one replication is, for progress reports.

        The fraction is 1 divided by the expected number of replications.
        """
        return 1.0 / max(self.rule.expected(), self.simulated, 1)


Key = tuple[int, range]
"""Index of a subject (scenario), and a range of its replications."""


class Engine(Generic[T]):
    """Replicates subjects (scenarios) until each has enough replications.

    Subjects are opened only when the pool has capacity, so that not all are in memory at once.

    Args:
        subjects: the scenarios to be replicated, read one by one when the pool has capacity.
        seed: seed of the named random streams, common to all subjects.
        jobs: replications simulated at a time here, or the cluster that simulates them.
        progress: called about ten times a second, or more often if replications end.
    """

    def __init__(
        self,
        subjects: Iterable[Subject[T]],
        seed: int,
        jobs: Jobs,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.replications = 0
        """Replications simulated, except those that ended after their subject was closed."""
        self.completed = 0
        """Subjects with enough replications."""
        self._waiting: Iterator[Subject[T]] | None = iter(subjects)
        self._seed = seed
        self._opened = 0
        self._open: dict[int, Subject[T]] = {}
        self._eager: list[int] = []
        """Heap of the indices of subjects that may need replications, maybe repeatedly."""
        self._progress, self._shown = progress, 0.0
        self._told = 0.0
        self._pool: Pool[Key, Simulated[T]] = Pool(jobs)

    def run(self) -> None:
        """Simulates until all subjects (scenarios) have enough replications.

        Raises:
            KeyboardInterrupt: finished replications were given to the subjects, which were closed.
            Lost: the workers disappeared; finished replications were given to the subjects, as
                after an interruption.
            RunError: a replication that is needed failed.
            ScenarioError: the scenario cannot be simulated.
        """
        with contextlib.closing(self._pool) as workers:
            try:
                while self._fill() or len(workers):
                    self._close(self._take(workers.ended()))
                    self._tell()
                self._report()
            except (KeyboardInterrupt, Lost):
                self._take(workers.stop())
                self._give_up()
                raise

    def progress_state(self) -> tuple[float, str]:
        """Returns the fraction of the work that is done (0 to 1), and a short text."""
        return 0.0, ""

    def parts(self) -> float:
        """Returns the number of subjects (scenarios) that have all replications.

        A subject in progress counts as the fraction of its replications that is done.
        """
        known = sum(one.share() * one.simulated for one in self._open.values())
        return self.completed + known + self._pool.progress(self._share)

    @property
    def opened(self) -> int:
        """Number of subjects (scenarios) so far whose stored replications did not suffice."""
        return self._opened

    def _fill(self) -> bool:
        """Submits replications until the pool is full or no subject (scenario) needs any.

        Returns true if a subject is open, that is, has too few finished replications.
        """
        while not self._pool.full:
            if (number := self._wanting() or self._next()) is None:
                break
            one = self._open[number]
            shares = 1 if self._waiting else max(1, 2 * self._pool.width // len(self._open))
            runs = one.next_runs(shares)
            self._pool.submit((number, runs), Task(one.work, self._seed, runs))
        return bool(self._open)

    def _wanting(self) -> int | None:
        """Returns the index of the first open subject (scenario) that needs more replications.

        Returns `None` if no open subject needs any.
        """
        while self._eager:
            one = self._open.get(self._eager[0])
            if one is not None and one.needs_more():
                return self._eager[0]
            heapq.heappop(self._eager)
        return None

    def _next(self) -> int | None:
        """Opens the next subject (scenario) that needs replications.

        Returns its index, or `None` if no further subject needs any.
        """
        for one in self._waiting or ():
            if not one.judge():
                self._opened += 1
                self._open[self._opened] = one
                heapq.heappush(self._eager, self._opened)
                return self._opened
        self._waiting = None
        return None

    def _failure(self, one: Subject[T], failed: Failure) -> NodebError:
        """Returns the error to raise for a failed replication, with its number and seed."""
        # If the scenario is invalid, none of its replications can be simulated. The message need
        # not name the failed one.
        if isinstance(failed.error, _core.ScenarioError):
            return ScenarioError(f"{one.where}{failed.error}")
        text = f"replication {failed.run} (seed {self._seed}) failed: {failed.error}"
        # The message of an internal error already names replication and seed, so it stays as it is.
        if isinstance(failed.error, _core.InternalError):
            text = str(failed.error)
        found = RunError(f"{one.where}{text}")
        found.__cause__ = failed.error
        return found

    def _take(self, done: Mapping[Key, Simulated[T] | Exception]) -> set[int]:
        """Records results of replications, except those of closed subjects (scenarios).

        Returns:
            Indices of the subjects that `done` has results of.
        """
        for (number, runs), found in done.items():
            if number not in self._open:
                continue
            one = self._open[number]
            if isinstance(found, Exception):
                one.fail(runs.start, found)
                continue
            if found.time_s:
                one.adapt_batch(len(runs), found.time_s, self._pool.batch_s)
            for part, outcome in found.parts:
                one.add(part.start, outcome, len(part))
                self.replications += len(part)
                one.on_progress(len(part))
            if found.failed is not None:
                one.fail(found.failed.run, self._failure(one, found.failed))
        return {number for number, _ in done}

    def _close(self, numbers: Iterable[int]) -> None:
        """Closes those of the given subjects (scenarios) that have enough replications.

        Only subjects with new results are given and judged, because thousands may be open.
        """
        over = set()
        for number in sorted(numbers):
            if (one := self._open.get(number)) is None:
                continue
            if one.judge():
                one.on_end()
                self.completed += 1
                del self._open[number]
                over.add(number)
            else:
                heapq.heappush(self._eager, number)
        if over:
            self._pool.cancel(lambda key: key[0] in over)

    def _tell(self) -> None:
        """Reports progress, unless reports would take over a tenth of the time.

        A report visits every open subject, so its duration is measured to decide when the next one
        is due.
        """
        begin = time.monotonic()
        if begin >= self._told:
            self._report()
            self._told = begin + 10 * (time.monotonic() - begin)

    def _report(self) -> None:
        """Reports progress; the fraction never decreases even if it is later estimated lower."""
        if self._progress is not None:
            share, text = self.progress_state()
            self._shown = max(self._shown, min(share, 1.0))
            self._progress(self._shown, text)

    def _give_up(self) -> None:
        """Closes all open subjects after an interruption, with their finished replications."""
        for one in self._open.values():
            with contextlib.suppress(RunError, ScenarioError):
                one.judge()
            while one.stop is None and one.take():
                pass
            one.on_end()
            self.completed += one.stop is not None

    def _share(self, key: Key) -> float:
        """Returns the fraction of its subject's (scenario's) replications that a batch has.

        The fraction is 0 if the subject is closed.
        """
        one = self._open.get(key[0])
        return 0.0 if one is None else one.share() * len(key[1])


class Single(Engine[T]):
    """Engine with one subject, which reports its progress.

    Args:
        only: subject to replicate.
        seed: seed of the named random streams.
        jobs: replications simulated at a time here, or the cluster that simulates them.
        progress: called about ten times a second, or more often if replications end.
        limit: text that follows the number of finished replications in progress reports; it states
            the maximum number.
    """

    def __init__(
        self,
        only: Subject[T],
        seed: int,
        jobs: Jobs,
        progress: ProgressCallback | None,
        limit: str,
    ) -> None:
        super().__init__([only], seed, jobs, progress)
        self._only, self._limit = only, limit

    def progress_state(self) -> tuple[float, str]:
        """Returns the fraction done (0 to 1), and the number of replications with their maximum."""
        return self.parts(), f"{self._only.done}{self._limit}"
