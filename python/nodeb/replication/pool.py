"""Where replications are simulated: threads of this process, or any `concurrent.futures.Executor`.

The core releases the interpreter lock while it simulates, so threads use every processor. An
executor of other processes or machines (`ProcessPoolExecutor`, Dask's `Client.get_executor()`) gets
pickled tasks, and itself replaces lost workers.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from functools import cache
from typing import Any, Generic, TypeVar

from nodeb import _core
from nodeb.base.arguments import as_whole
from nodeb.errors import InputError, RunError
from nodeb.terminal.progress import ProgressCallback

MAX_JOBS = 1000
"""Maximum number of threads; larger values are rejected as probable typing errors."""
HERE_S, AWAY_S = 0.1, 1.0
"""Approximate duration of a task in a thread here, and in an executor, s."""
POLL_S = 0.1
CONNECT_S, WORKERS_S = 8, 60
"""Maximum time to connect to a scheduler, and until it has a worker, s."""
KEPT = "finished results are kept, and the same command continues from there"

Jobs = int | Executor
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Work = Callable[[_core.Control], T]


class Lost(RunError):
    """An executor gave up a task; results finished before are available."""


class Pool(Generic[K, T]):
    """Executes tasks concurrently; `ended` returns their results by key."""

    def __init__(self, jobs: Jobs) -> None:
        self._is_here = isinstance(jobs, int)
        own = ThreadPoolExecutor(jobs, "nodeb") if isinstance(jobs, int) else None
        self._executor: Executor = own or jobs  # type: ignore[assignment]
        self.width = width(jobs)
        self.batch_s = HERE_S if self._is_here else AWAY_S
        self._running: dict[Future[T], tuple[K, _core.Control]] = {}

    def __len__(self) -> int:
        return len(self._running)

    @property
    def full(self) -> bool:
        return len(self._running) >= 2 * self.width

    def submit(self, key: K, work: Work[T]) -> None:
        control = _core.Control()
        try:
            here = (work, control) if self._is_here else (_away, work, fingerprint())
            task = self._executor.submit(*here)
        except RuntimeError as error:  # No more threads, or a broken executor.
            raise Lost(f"{error}; {KEPT}") from None
        self._running[task] = (key, control)

    def ended(self) -> dict[K, T | Exception]:
        """Results in the order of submission, after waiting briefly if there are none.

        Raises:
            Lost: the executor gave up a task.
        """
        done, _ = wait(self._running, POLL_S, FIRST_COMPLETED)
        found: dict[K, T | Exception] = {}
        for task in [task for task in self._running if task in done]:
            key, _ = self._running.pop(task)
            found[key] = self._result(task)
        return found

    def _result(self, task: Future[T]) -> T | Exception:
        try:
            return task.result()
        except _core.Cancelled as error:
            return error
        except (Exception, CancelledError) as error:
            if self._is_here and isinstance(error, Exception):
                return error
            why = str(error) or type(error).__name__
            raise Lost(f"the executor gave up a task: {why}; {KEPT}") from error

    def cancel(self, unwanted: Callable[[K], bool]) -> None:
        for task, (key, control) in list(self._running.items()):
            if unwanted(key):
                control.cancel()
                if task.cancel():  # It had not begun, or is elsewhere.
                    del self._running[task]

    def progress(self, weight: Callable[[K], float]) -> float:
        """The weighted sum of the fractions done (0 to 1) of running tasks; 0 for an executor."""
        return sum(weight(key) * control.progress() for key, control in self._running.values())

    def stop(self) -> dict[K, T | Exception]:
        """Cancels all tasks. Returns the results that were complete by then."""
        self.close()
        over = {key: task for task, (key, _) in self._running.items() if task.done()}
        self._running.clear()
        return {
            key: task.result()
            for key, task in over.items()
            if not task.cancelled() and task.exception() is None
        }

    def close(self) -> None:
        self.cancel(lambda _: True)
        if self._is_here:
            self._executor.shutdown(cancel_futures=True)


@cache
def fingerprint() -> str:
    """Hash of the compiled core, which must be the same everywhere."""
    from nodeb.results.provenance import core_hash

    return core_hash()


def _away(work: Work[T], expected: str) -> T:
    if fingerprint() != expected:
        raise RunError(f"a worker has another nodeb (version {_core.version()}); install the same")
    return work(_core.Control())


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Connects to a Dask scheduler, and yields it as an executor.

    Raises:
        InputError: no scheduler answers.
        RunError: it has no workers.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise InputError("a cluster needs Dask: pip install 'nodeb[cluster]'") from None
    problem = ""
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        problem = f"no Dask scheduler answers: {error}"
    if problem:
        # A client whose constructor failed closes itself when it is collected. While the next
        # client starts, it would wait for a lock that this start holds.
        gc.collect()
        raise InputError(f"--cluster {address}: {problem}")
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKERS_S)
        except TimeoutError:
            hint = f"start some with `dask worker {address}`"
            raise RunError(f"--cluster {address}: it has no workers; {hint}") from None
        yield client.get_executor(pure=False)


def width(jobs: Jobs) -> int:
    """The number of replications simulated concurrently."""
    if isinstance(jobs, int):
        return jobs
    if client := getattr(jobs, "_client", None):  # Dask's executor.
        return max(1, int(sum(client.nthreads().values())))
    return int(getattr(jobs, "_max_workers", default_jobs()))


def threads(jobs: Jobs) -> int:
    """The number of threads that this process may use for work other than replications."""
    return jobs if isinstance(jobs, int) else default_jobs()


def default_jobs() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_jobs(jobs: Jobs | None) -> Jobs:
    """Returns `jobs`, or one thread per processor if it is None."""
    return jobs if isinstance(jobs, Executor) else check_threads(jobs)


def check_threads(jobs: Any) -> int:
    if jobs is None:
        return default_jobs()
    if not 1 <= as_whole(jobs, "jobs") <= MAX_JOBS:
        raise InputError(f"jobs is {jobs}; expected 1 to {MAX_JOBS} threads, or an executor")
    return int(jobs)


def run_with_progress(work: Work[T], progress: ProgressCallback | None = None) -> T:
    """Runs `work` in a thread, so that Ctrl-C cancels it and progress is reported."""
    control = _core.Control()
    with ThreadPoolExecutor(1) as executor:
        task = executor.submit(work, control)
        try:
            while not wait([task], POLL_S).done:
                if progress is not None:
                    progress(control.progress(), "")
        finally:
            control.cancel()
        return task.result()
