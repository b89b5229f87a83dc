"""Threads that simulate replications, watched and stopped together.

The core releases the interpreter lock while it simulates, so threads use every processor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

from nodeb import _core
from nodeb.errors import RunError

__all__ = ["Workers"]

BATCH_S = 0.1
"""About so long, s, replications that go together take."""
POLL_S = 0.1
"""Seconds between two looks at the progress of running replications."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Workers(Generic[K, T]):
    """A pool of threads.

    Args:
        jobs: replications simulated at a time.
    """

    def __init__(self, jobs: int) -> None:
        self.width = jobs
        self.batch_s = BATCH_S
        self._executor = ThreadPoolExecutor(jobs, thread_name_prefix="nodeb")
        self._running: dict[Future[T], tuple[K, _core.Control]] = {}

    def __len__(self) -> int:
        """How many replications run or wait for a thread."""
        return len(self._running)

    @property
    def full(self) -> bool:
        """Whether there is work for every thread, and for the next look at them as well."""
        return len(self._running) >= 2 * self.width

    def submit(self, key: K, work: Callable[[_core.Control], T]) -> None:
        """Have a thread do `work(control)`."""
        control = _core.Control()
        try:
            self._running[self._executor.submit(work, control)] = (key, control)
        except RuntimeError as error:  # the system lets no more threads start
            raise RunError(f"{error}; fewer at a time (--jobs) may do") from None

    def ended(self) -> dict[K, T | Exception]:
        """What came of the work that ended, waiting a moment for the first."""
        done, _ = wait(self._running, POLL_S, FIRST_COMPLETED)
        outcomes: dict[K, T | Exception] = {}
        for task in [task for task in self._running if task in done]:  # in order
            key, _ = self._running.pop(task)
            error = task.exception()
            outcomes[key] = error if isinstance(error, Exception) else task.result()
        return outcomes

    def cancel(self, unwanted: Callable[[K], bool]) -> None:
        """Gives up on work whose result is not wanted any more; it ends soon, with an error."""
        for key, control in self._running.values():
            if unwanted(key):
                control.cancel()

    def progress(self, weight: Callable[[K], float] = lambda _: 1.0) -> float:
        """How much of the running work is done: the weighted sum of its parts, each 0 to 1."""
        return sum(weight(key) * control.progress() for key, control in self._running.values())

    def stop(self) -> dict[K, T | Exception]:
        """Cancels everything; returns what had been completed all the same."""
        self.close()
        over = {key: task for task, (key, _) in self._running.items() if not task.cancelled()}
        self._running.clear()
        return {key: task.result() for key, task in over.items() if task.exception() is None}

    def close(self) -> None:
        """Cancels what still runs and waits for the threads; does nothing the second time."""
        self.cancel(lambda _: True)
        self._executor.shutdown(wait=True, cancel_futures=True)
