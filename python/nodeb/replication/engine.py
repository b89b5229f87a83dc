"""The engine: replications of any number of scenarios, several at a time.

Who simulates them is a pool's matter: threads here, or the workers of a cluster. Short replications
go together in one call of the core. What comes out depends on the scenarios, the seed and the rules
only (`.replications`). A run has one subject, a sweep one for each cell, a reproduction one for
each of its scenarios; what is known of a subject from before is not simulated again.
"""

from __future__ import annotations

import contextlib
import heapq
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from nodeb import _core
from nodeb.errors import RunError
from nodeb.replication.pool import Jobs, Lost, Pool, pool
from nodeb.replication.replications import Replications
from nodeb.replication.rules import Rule
from nodeb.replication.work import Failure, Simulated, Task, Work
from nodeb.stats import Stop
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Engine", "Single", "Subject"]

LARGEST_BATCH = 1000

T = TypeVar("T")


class Subject(Generic[T]):
    """A scenario whose replications are wanted.

    Args:
        work: makes them.
        rule: decides how many.
        known: outcome and number of the first replications, where they are there already.
        where: begins a message about a replication that failed.
    """

    def __init__(
        self, work: Work[T], rule: Rule[T], known: tuple[T, int] | None = None, where: str = ""
    ) -> None:
        self.work = work
        """Makes its replications."""
        self.known = Replications(rule)
        """Its replications."""
        self.where = where
        self.started = 0
        """Replications begun or known."""
        self.stop: Stop | None = None
        """Why there are enough; None while more are needed."""
        self._batch = 1
        if known is not None and known[1] > 0:
            self.known.add(0, *known)
            self.started = known[1]
        self.judge()

    def noted(self, runs: int) -> None:
        """Some more of its replications have finished."""

    def closed(self) -> None:
        """There are enough replications, or no more will come: `known` has what there is."""

    def judge(self) -> bool:
        """Whether there are enough.

        Raises:
            RunError: a replication that is needed failed.
        """
        if self.stop is None:
            self.stop = self.known.judge()
        return self.stop is not None

    def wants(self) -> bool:
        """Whether another replication should start now, as far as is known."""
        return self.started < self.known.rule.ahead()

    def next_runs(self, shares: int) -> range:
        """The replications to start next, of which `shares` threads should get some each."""
        left = self.known.rule.ahead() - self.started
        most = max(1, min(self._batch, left // shares))
        runs = range(self.started, self.started + most)
        self.started = runs.stop
        return runs

    def took(self, runs: int, time_s: float, wanted_s: float) -> None:
        """Notes how long replications took that went together, and how long they should."""
        self._batch = min(max(int(wanted_s * runs / max(time_s, 1e-9)), 1), LARGEST_BATCH)

    def share(self) -> float:
        """The part of it that a replication is, as far as is known."""
        return 1.0 / max(self.known.rule.expected(), self.known.known, 1)


Key = tuple[int, range]
"""Number of a subject, and runs."""


class _Numbers:
    """Numbers of subjects that may want more, each once; the lowest is the first."""

    def __init__(self) -> None:
        self._heap: list[int] = []
        self._there: set[int] = set()

    def add(self, number: int) -> None:
        if number not in self._there:
            self._there.add(number)
            heapq.heappush(self._heap, number)

    def first(self) -> int | None:
        return self._heap[0] if self._heap else None

    def drop_first(self) -> None:
        self._there.remove(heapq.heappop(self._heap))


class Engine(Generic[T]):
    """Replicates subjects until each has enough.

    At any time few subjects are open and few replications under way.

    Args:
        subjects: asked for one after the other, when there is room for it.
        seed: seed of the named random streams, the same for all.
        jobs: replications simulated at a time here, or the cluster that simulates them.
        progress: told of progress about ten times a second.
    """

    def __init__(
        self,
        subjects: Iterable[Subject[T]],
        seed: int,
        jobs: Jobs,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.replications = 0
        """Replications simulated, without those that came too late."""
        self.completed = 0
        """Subjects that have enough."""
        self._waiting: Iterator[Subject[T]] | None = iter(subjects)
        self._seed = seed
        self._opened = 0
        self._open: dict[int, Subject[T]] = {}
        self._eager = _Numbers()
        self._progress, self._shown = progress, 0.0
        self._told = 0.0
        self._pool: Pool[Key, Simulated[T]] = pool(jobs)

    def run(self) -> None:
        """Simulates until no subject wants more.

        Raises:
            KeyboardInterrupt: what had finished was given to the subjects, which were closed.
            Lost: those who simulated went away; as with an interruption.
            RunError: a replication failed.
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

    def so_far(self) -> tuple[float, str]:
        """The part of all that is done, and a few words."""
        return 0.0, ""

    def parts(self) -> float:
        """How many of the subjects are done, with the parts of those under way."""
        known = sum(one.share() * one.known.known for one in self._open.values())
        return self.completed + known + self._pool.progress(self._share)

    @property
    def opened(self) -> int:
        """How many subjects needed replications so far."""
        return self._opened

    def _fill(self) -> bool:
        """Gives the threads work, of the first subject that wants it; whether any is left."""
        while not self._pool.full:
            if (number := self._wanting() or self._next()) is None:
                break
            one = self._open[number]
            shares = 1 if self._waiting else max(1, 2 * self._pool.width // len(self._open))
            runs = one.next_runs(shares)
            self._pool.submit((number, runs), Task(one.work, self._seed, runs))
        return bool(self._open)

    def _wanting(self) -> int | None:
        """The first of the open subjects that wants more."""
        while (number := self._eager.first()) is not None:
            one = self._open.get(number)
            if one is not None and one.wants():
                return number
            self._eager.drop_first()
        return None

    def _next(self) -> int | None:
        """Opens the next subject that needs replications; its number."""
        for one in self._waiting or ():
            if not one.judge():
                self._opened += 1
                self._open[self._opened] = one
                self._eager.add(self._opened)
                return self._opened
        self._waiting = None
        return None

    def _failure(self, one: Subject[T], failed: Failure) -> RunError:
        """What to tell of a replication that failed."""
        text = f"replication {failed.run} (seed {self._seed}) failed: {failed.error}"
        if isinstance(failed.error, _core.InternalError):  # it says everything itself
            text = str(failed.error)
        found = RunError(f"{one.where}{text}")
        found.__cause__ = failed.error
        return found

    def _take(self, done: Mapping[Key, Simulated[T] | Exception]) -> set[int]:
        """Notes what came of replications; those of subjects that are closed are not needed.

        Returns:
            The subjects that they are of.
        """
        for (number, runs), found in done.items():
            if number not in self._open:
                continue
            one = self._open[number]
            if isinstance(found, Exception):
                one.known.fail(runs.start, found)
                continue
            if found.time_s:
                one.took(len(runs), found.time_s, self._pool.batch_s)
            for part, outcome in found.parts:
                one.known.add(part.start, outcome, len(part))
                self.replications += len(part)
                one.noted(len(part))
            if found.failed is not None:
                one.known.fail(found.failed.run, self._failure(one, found.failed))
        return {number for number, _ in done}

    def _close(self, numbers: Iterable[int]) -> None:
        """Closes those subjects that have enough; there may be thousands open, most as before."""
        over = set()
        for number in sorted(numbers):
            if (one := self._open.get(number)) is None:
                continue
            if one.judge():
                one.closed()
                self.completed += 1
                del self._open[number]
                over.add(number)
            else:
                self._eager.add(number)
        if over:
            self._pool.cancel(lambda key: key[0] in over)

    def _tell(self) -> None:
        """Reports, unless that would take a tenth of the time: it asks every open subject."""
        begin = time.monotonic()
        if begin >= self._told:
            self._report()
            self._told = begin + 10 * (time.monotonic() - begin)

    def _report(self) -> None:
        """Tells of progress; a bar that ran backwards, as more are expected, would only puzzle."""
        if self._progress is not None:
            share, text = self.so_far()
            self._shown = max(self._shown, min(share, 1.0))
            self._progress(self._shown, text)

    def _give_up(self) -> None:
        """Closes all subjects with what there is."""
        for one in self._open.values():
            with contextlib.suppress(RunError):
                one.judge()
            if one.stop is None:
                one.known.take_all()
            one.closed()
            self.completed += one.stop is not None

    def _share(self, key: Key) -> float:
        """The part of a subject that replications are."""
        one = self._open.get(key[0])
        return 0.0 if one is None else one.share() * len(key[1])


class Single(Engine[T]):
    """An engine with one subject, which tells how far it is.

    Args:
        only: the subject.
        seed: seed of the named random streams.
        jobs: replications simulated at a time here, or the cluster that simulates them.
        progress: told of progress about ten times a second.
        limit: the largest number of replications, as people read it.
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

    def so_far(self) -> tuple[float, str]:
        """How many replications there are."""
        return self.parts(), f"{self._only.known.done}{self._limit}"
