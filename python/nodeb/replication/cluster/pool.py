"""Pool of a cluster: sends tasks to the workers in bundles of about a second.

A task may take 20 us or an hour, and a scheduler takes about a millisecond per submission. So tasks
are collected until a bundle should take a second, as estimated from returned bundles. The number of
bundles in progress is limited, so memory does not grow with the number of tasks.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nodeb.errors import RunError
from nodeb.replication.cluster import remote
from nodeb.replication.cluster.connection import Cluster
from nodeb.replication.cluster.packing import Packer, unpacked

if TYPE_CHECKING:
    from distributed import Future

__all__ = ["ClusterPool"]

BUNDLE_S = 1.0
"""Approximate duration of a bundle, s."""
BUNDLES_PER_S = 200
"""Maximum number of bundles per second of a scheduler; with many workers, bundles are longer."""
MAX_BUNDLE = 2000
MAX_TASKS = 20_000
"""Approximate maximum number of tasks in progress, of about 4 kB each."""
GROWTH = 8
"""Maximum ratio of the size of a bundle to the size of the bundle before."""
AHEAD = 2
"""Bundles per thread of a worker: one in progress, one waiting there."""
POLL_S = 0.1
MAX_DEATHS = 4
"""Number of workers killed by one task that makes it faulty: Dask's `allowed-failures` plus one."""

K = TypeVar("K", bound=Hashable)
Piece = tuple[K, Callable[..., Any]]


class ClusterPool(Generic[K]):
    """Pool of the workers of a cluster.

    Args:
        cluster: cluster to use.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._client = cluster, cluster.client()
        self.width = cluster.width
        self.batch_s = max(BUNDLE_S, self.width / BUNDLES_PER_S)
        self._largest = min(MAX_BUNDLE, max(1, MAX_TASKS // (AHEAD * self.width)))
        self._size = 1
        self._waiting: list[Piece[K]] = []
        self._sent: dict[Future[Any], list[Piece[K]]] = {}
        self._arrays: dict[str, Future[Any]] = {}
        self._packer = Packer()
        self._over: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()

    def __len__(self) -> int:
        """Returns the number of tasks that wait to be sent or are in progress."""
        return len(self._waiting) + sum(map(len, self._sent.values()))

    @property
    def full(self) -> bool:
        """Whether a whole bundle of tasks waits and the limit of bundles in progress is reached."""
        return len(self._waiting) >= self._size and not self._room

    @property
    def _room(self) -> bool:
        return len(self._sent) < AHEAD * self.width

    def submit(self, key: K, work: Callable[..., Any]) -> None:
        """Queues `work(control)` for a worker; tasks are sent once they fill a bundle."""
        self._waiting.append((key, work))
        if len(self._waiting) >= self._size and self._room:
            self._send_waiting()

    def ended(self) -> dict[K, Any]:
        """Returns results of finished tasks, waiting briefly if there are none.

        The result of a task is an error if the task, sent alone, has killed `MAX_DEATHS` workers.

        Raises:
            Lost: the scheduler does not answer, or no worker can work.
            RunError: a worker has a different nodeb, or failed for another reason.
        """
        while self._waiting and self._room:
            self._send_waiting()
        found: dict[K, Any] = {}
        for bundle in self._arrived():
            pieces = self._sent.pop(bundle, None)
            if pieces is not None:
                found |= self._opened(bundle, pieces)
        self._cluster.check()
        return found

    def cancel(self, unwanted: Callable[[K], bool]) -> None:
        """Cancels the waiting tasks for which `unwanted` returns true.

        A bundle in progress is cancelled if all of its tasks are unwanted.
        """
        self._waiting = [piece for piece in self._waiting if not unwanted(piece[0])]
        for bundle, pieces in list(self._sent.items()):
            if all(unwanted(key) for key, _ in pieces):
                del self._sent[bundle]
                bundle.cancel(force=True)

    def progress(self, weight: Callable[[K], float]) -> float:
        """Returns 0: a worker's progress with a bundle is unknown until it is done."""
        del weight
        return 0.0

    def stop(self) -> dict[K, Any]:
        """Cancels all tasks. Returns the results that were complete by then."""
        found: dict[K, Any] = {}
        for bundle, pieces in list(self._sent.items()):
            if bundle.status == "finished":
                del self._sent[bundle]
                try:
                    found |= self._opened(bundle, pieces)
                except RunError:  # The results of this bundle were lost with a worker or scheduler.
                    continue
        self.close()
        return found

    def _send_waiting(self) -> None:
        pieces, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
        self._send(pieces)

    def _send(self, pieces: list[Piece[K]]) -> None:
        data, arrays = self._packer.pack([work for _, work in pieces])
        for name, array in arrays.items():
            if name not in self._arrays:
                self._arrays[name] = self._client.submit(remote.same, array, key=name)
        lacks = {name: self._arrays[name] for name in arrays}
        bundle = self._client.submit(
            remote.simulate, data, remote.fingerprint(), lacks, pure=False, fifo_timeout=0
        )
        self._sent[bundle] = pieces
        bundle.add_done_callback(self._over.put)

    def _arrived(self) -> list[Future[Any]]:
        """Returns the bundles that came back, waiting briefly if there are none."""
        found = []
        try:
            found.append(self._over.get(timeout=POLL_S if self._sent else 0))
            while True:
                found.append(self._over.get_nowait())
        except queue.Empty:
            return found

    def _opened(self, bundle: Future[Any], pieces: list[Piece[K]]) -> dict[K, Any]:
        """Returns the results of a bundle by key; resends the tasks if a worker was lost."""
        from distributed.scheduler import KilledWorker

        if bundle.status in ("cancelled", "lost"):  # A worker was lost with the bundle's results.
            return self._again(pieces)
        try:
            data, took_s = bundle.result(timeout=60)
        except KilledWorker as error:
            if len(pieces) == 1:
                return {pieces[0][0]: _deadly(str(error.last_worker.name))}
            # Each task is sent alone, to find the one that kills workers.
            return self._again(*([piece] for piece in pieces))
        except remote.VersionMismatch as error:
            raise RunError(f"a worker of {self._cluster.address} {error}") from None
        except TimeoutError:
            raise self._cluster.lost() from None
        except Exception as error:
            raise RunError(f"a worker of {self._cluster.address} failed: {error!r}") from error
        self._learn(len(pieces), took_s)
        found = unpacked(data)
        return {key: one for (key, _), one in zip(pieces, found, strict=True)}

    def _again(self, *bundles: list[Piece[K]]) -> dict[K, Any]:
        """Sends lost tasks again, each list as one bundle. Returns no results.

        Raises:
            Lost: the scheduler does not answer.
        """
        if not self._cluster.answers():
            raise self._cluster.lost()
        for pieces in bundles:
            self._send(pieces)
        return {}

    def _learn(self, tasks: int, took_s: float) -> None:
        """Adapts the number of tasks in a bundle, so that a bundle takes about `batch_s`."""
        wanted = int(self.batch_s * tasks / max(took_s, 1e-6))
        self._size = max(1, min(wanted, self._size * GROWTH, self._largest))

    def close(self) -> None:
        """Cancels all tasks without returning results, and does not wait for their end."""
        sent, self._sent, self._waiting = list(self._sent), {}, []
        if sent:  # Cancelling blocks if the scheduler is lost, so a daemon thread does it.
            threading.Thread(target=self._cancel, args=(sent,), daemon=True).start()
        self._arrays.clear()

    def _cancel(self, sent: list[Future[Any]]) -> None:
        # Cancelling fails if the scheduler is lost: then its tasks are lost as well.
        with contextlib.suppress(Exception):
            self._client.cancel(sent)


def _deadly(worker: str) -> RunError:
    """Returns the error for a task that kills workers."""
    return RunError(
        f"{MAX_DEATHS} workers died of one task, one after another, the last one {worker}; check "
        "that they have enough memory"
    )
