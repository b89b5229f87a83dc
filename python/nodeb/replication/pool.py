"""Who simulates: threads of this process, or the workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from nodeb import _core
from nodeb.base.arguments import as_whole
from nodeb.errors import InputError, RunError

__all__ = [
    "Jobs",
    "Lost",
    "Pool",
    "Workplace",
    "check_jobs",
    "check_threads",
    "pool",
    "threads",
    "width",
]

MAX_JOBS = 1000
"""More threads are a typing error."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Lost(RunError):
    """Those who simulated went away; what they had finished is there."""


class Pool(Protocol[K, T]):
    """Does work, several pieces at a time."""

    width: int
    """Pieces that are done at a time."""
    batch_s: float
    """About so long, s, a piece should take."""

    def __len__(self) -> int:
        """How many pieces are under way or wait."""
        ...

    @property
    def full(self) -> bool:
        """Whether there is enough work for now."""
        ...

    def submit(self, key: K, work: Callable[[_core.Control], T]) -> None:
        """Have `work(control)` done.

        Raises:
            RunError: nobody can do it.
        """
        ...

    def ended(self) -> dict[K, T | Exception]:
        """What came of the work that ended, waiting a moment for the first.

        Raises:
            Lost: nobody is there any more.
        """
        ...

    def cancel(self, unwanted: Callable[[K], bool]) -> None:
        """Gives up on work whose result is not wanted any more."""
        ...

    def progress(self, weight: Callable[[K], float]) -> float:
        """How much of the work under way is done: the weighted sum of its parts, each 0 to 1."""
        ...

    def stop(self) -> dict[K, T | Exception]:
        """Gives up on everything; what had been completed all the same."""
        ...

    def close(self) -> None:
        """Gives up on what is not done; does nothing the second time."""
        ...


class Workplace(Protocol):
    """Where replications can be simulated that is not here (`nodeb.replication.cluster`)."""

    @property
    def width(self) -> int:
        """How many at a time."""
        ...

    def pool(self) -> Pool[Any, Any]:
        """A pool of those who simulate there."""
        ...


Jobs = int | Workplace
"""How many replications are simulated at a time here, or who simulates them."""


def pool(jobs: Jobs) -> Pool[Any, Any]:
    """The pool of so many threads, or of a workplace."""
    if not isinstance(jobs, int):
        return jobs.pool()
    from nodeb.replication.workers import Workers

    return Workers(jobs)


def width(jobs: Jobs) -> int:
    """How many replications are simulated at a time."""
    return jobs if isinstance(jobs, int) else jobs.width


def threads(jobs: Jobs) -> int:
    """Threads of this process for what is no replication: all, where others replicate."""
    return jobs if isinstance(jobs, int) else default_jobs()


def default_jobs() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_jobs(jobs: Jobs | None) -> Jobs:
    """Who simulates, checked.

    Raises:
        InputError: it is neither a workplace nor a number of threads that makes sense.
    """
    _refuse_unmade(jobs)
    if jobs is None or isinstance(jobs, int) or not hasattr(jobs, "pool"):
        return check_threads(jobs)
    return jobs


def _refuse_unmade(jobs: Any) -> None:
    """Complains about what a cluster is made of in place of one: an address, or the class."""
    if isinstance(jobs, str | type):
        such_as = jobs if isinstance(jobs, str) and ":" in jobs else "local:2"
        raise InputError(
            f"jobs is {jobs!r}; expected a whole number, or a cluster such as "
            f'`nodeb.Cluster("{such_as}")`'
        )


def check_threads(jobs: Any) -> int:
    """A number of threads; one per processor where it is None.

    Raises:
        InputError: it is no whole number, below 1, or absurd.
    """
    if jobs is None:
        return default_jobs()
    if as_whole(jobs, "jobs") < 1:
        raise InputError(f"jobs is {jobs}; at least one replication must run at a time")
    if jobs > MAX_JOBS:
        raise InputError(
            f"jobs is {jobs}; each is a thread, of which more than the {default_jobs()} processors "
            f"here gain nothing; expected at most {MAX_JOBS}"
        )
    return int(jobs)
