"""Pool of threads that simulate replications, with common progress and cancellation.

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
"""Approximate duration of a batch of replications, s."""
POLL_S = 0.1
"""Maximum time, s, that `ended` waits for a finished task; progress is reported in between."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Workers(Generic[K, T]):
    """Pool of threads of this process.

    Args:
        jobs: replications simulated concurrently.
    """

    def __init__(self, jobs: int) -> None:
        self.width = jobs
        self.batch_s = BATCH_S
        self._executor = ThreadPoolExecutor(jobs, thread_name_prefix="nodeb")
        self._running: dict[Future[T], tuple[K, _core.Control]] = {}

    def __len__(self) -> int:
        """Returns the number of tasks that run or wait for a thread."""
        return len(self._running)

    @property
    def full(self) -> bool:
        """Whether at least twice as many tasks as threads run or wait."""
        return len(self._running) >= 2 * self.width

    def submit(self, key: K, work: Callable[[_core.Control], T]) -> None:
        """Queues `work(control)` for a thread; `ended` returns its result under `key`."""
        control = _core.Control()
        try:
            self._running[self._executor.submit(work, control)] = (key, control)
        except RuntimeError as error:  # The system refuses further threads.
            raise RunError(f"{error}; lower --jobs") from None

    def ended(self) -> dict[K, T | Exception]:
        """Returns results of finished tasks by key, after waiting briefly if there are none."""
        done, _ = wait(self._running, POLL_S, FIRST_COMPLETED)
        outcomes: dict[K, T | Exception] = {}
        # Results are returned in the order of submission.
        for task in [task for task in self._running if task in done]:
            key, _ = self._running.pop(task)
            error = task.exception()
            outcomes[key] = error if isinstance(error, Exception) else task.result()
        return outcomes

    def cancel(self, unwanted: Callable[[K], bool]) -> None:
        """Cancels tasks for whose key `unwanted` returns true; they end soon, with an error."""
        for key, control in self._running.values():
            if unwanted(key):
                control.cancel()

    def progress(self, weight: Callable[[K], float] = lambda _: 1.0) -> float:
        """Returns the sum of the fractions done (0 to 1) of running tasks.

        Each fraction is multiplied by `weight` of the task's key.
        """
        return sum(weight(key) * control.progress() for key, control in self._running.values())

    def stop(self) -> dict[K, T | Exception]:
        """Cancels all tasks. Returns the results that were complete by then."""
        self.close()
        over = {key: task for task, (key, _) in self._running.items() if not task.cancelled()}
        self._running.clear()
        return {key: task.result() for key, task in over.items() if task.exception() is None}

    def close(self) -> None:
        """Cancels all tasks and waits for the threads; a second call does nothing."""
        self.cancel(lambda _: True)
        self._executor.shutdown(wait=True, cancel_futures=True)
