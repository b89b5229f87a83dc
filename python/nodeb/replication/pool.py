"""Worker pools: local threads or a Dask cluster."""

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
    "RemoteWorkers",
    "check_jobs",
    "check_threads",
    "pool",
    "threads",
    "width",
]

MAX_JOBS = 1000
"""Maximum number of threads; larger values are rejected as probable typing errors."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Lost(RunError):
    """Error: the workers of a cluster disappeared; results finished before are available."""


class Pool(Protocol[K, T]):
    """Interface of worker pools, which execute several tasks concurrently."""

    width: int
    """Number of tasks executed concurrently."""
    batch_s: float
    """Approximate duration, s, that a task should have."""

    def __len__(self) -> int:
        """Returns the number of tasks that run or wait."""
        ...

    @property
    def full(self) -> bool:
        """Whether enough tasks run or wait, so that the caller should submit none now."""
        ...

    def submit(self, key: K, work: Callable[[_core.Control], T]) -> None:
        """Starts `work(control)`, or queues it; `ended` returns its result under `key`.

        Raises:
            RunError: the task cannot be started, for instance because threads are limited.
        """
        ...

    def ended(self) -> dict[K, T | Exception]:
        """Returns results of finished tasks by key, after waiting briefly if there are none.

        Raises:
            Lost: the workers of a cluster have disappeared or cannot work.
        """
        ...

    def cancel(self, unwanted: Callable[[K], bool]) -> None:
        """Cancels each task for whose key the function `unwanted` returns true."""
        ...

    def progress(self, weight: Callable[[K], float]) -> float:
        """Returns the sum of the fractions done (0 to 1) of pending tasks.

        Each fraction is multiplied by `weight` of the task's key.
        """
        ...

    def stop(self) -> dict[K, T | Exception]:
        """Cancels all tasks. Returns the results that were complete by then."""
        ...

    def close(self) -> None:
        """Cancels unfinished tasks; a second call does nothing."""
        ...


class RemoteWorkers(Protocol):
    """Workers outside this process that simulate replications (`nodeb.replication.cluster`)."""

    @property
    def width(self) -> int:
        """Number of replications that the workers simulate concurrently."""
        ...

    def pool(self) -> Pool[Any, Any]:
        """Returns a pool that executes tasks on these workers."""
        ...


Jobs = int | RemoteWorkers
"""Number of replications simulated concurrently in this process, or workers outside it."""


def pool(jobs: Jobs) -> Pool[Any, Any]:
    """Returns a pool of `jobs` threads, or the pool of the remote workers."""
    if not isinstance(jobs, int):
        return jobs.pool()
    from nodeb.replication.workers import Workers

    return Workers(jobs)


def width(jobs: Jobs) -> int:
    """Returns the number of replications simulated concurrently."""
    return jobs if isinstance(jobs, int) else jobs.width


def threads(jobs: Jobs) -> int:
    """Returns the number of threads that this process may use for work other than replications.

    The number is one per processor if a cluster simulates the replications, otherwise `jobs`.
    """
    return jobs if isinstance(jobs, int) else default_jobs()


def default_jobs() -> int:
    """Returns the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_jobs(jobs: Jobs | None) -> Jobs:
    """Checks `jobs` and returns it, or one thread per processor if it is None.

    Raises:
        InputError: `jobs` is neither a cluster nor a valid number of threads.
    """
    _refuse_unmade(jobs)
    if jobs is None or isinstance(jobs, int) or not hasattr(jobs, "pool"):
        return check_threads(jobs)
    return jobs


def _refuse_unmade(jobs: Any) -> None:
    """Raises `InputError` if `jobs` is an address or a class instead of a `nodeb.Cluster`."""
    if isinstance(jobs, str | type):
        such_as = jobs if isinstance(jobs, str) and ":" in jobs else "local:2"
        raise InputError(
            f"jobs is {jobs!r}; expected a whole number, or a cluster such as "
            f'`nodeb.Cluster("{such_as}")`'
        )


def check_threads(jobs: Any) -> int:
    """Checks a number of threads and returns it, or one per processor if it is None.

    Raises:
        InputError: the number is not whole, is below 1, or is above `MAX_JOBS`.
    """
    if jobs is None:
        return default_jobs()
    if as_whole(jobs, "jobs") < 1:
        raise InputError(f"jobs is {jobs}; expected at least 1 replication at a time")
    if jobs > MAX_JOBS:
        raise InputError(
            f"jobs is {jobs}; expected at most {MAX_JOBS}: each is a thread, and more than the "
            f"{default_jobs()} processors here do not help"
        )
    return int(jobs)
