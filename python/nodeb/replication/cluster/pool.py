"""Tasks in bundles of about a second, sent to the workers of a cluster.

A task may take 20 us or an hour, and a scheduler takes about a millisecond for each thing that it
is given. So tasks wait until those that are together should take a second, as measured from what
came back. Few bundles are under way, so that memory stays flat however many tasks there will be.
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

__all__ = ["Bundles"]

BUNDLE_S = 1.0
"""About so long, s, a bundle takes."""
BUNDLES_PER_S = 200
"""A scheduler gets no more than these, however many workers it has: bundles are longer then."""
LARGEST_BUNDLE = 2000
MAX_TASKS = 20_000
"""About so many tasks, of 4 kB or so, are under way at most."""
GROWTH = 8
"""A bundle has at most so many times the tasks of the one before."""
AHEAD = 2
"""Bundles for each thread of a worker: one that it works on, one that waits there."""
POLL_S = 0.1
DEATHS = 4
"""So many workers may die of one task until it is to blame (Dask's `allowed-failures` and one)."""

K = TypeVar("K", bound=Hashable)
Piece = tuple[K, Callable[..., Any]]


class Bundles(Generic[K]):
    """The workers of a cluster as a pool.

    Args:
        cluster: whose.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._client = cluster, cluster.client()
        self.width = cluster.width
        self.batch_s = max(BUNDLE_S, self.width / BUNDLES_PER_S)
        self._largest = min(LARGEST_BUNDLE, max(1, MAX_TASKS // (AHEAD * self.width)))
        self._size = 1
        self._waiting: list[Piece[K]] = []
        self._sent: dict[Future[Any], list[Piece[K]]] = {}
        self._arrays: dict[str, Future[Any]] = {}
        self._packer = Packer()
        self._over: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()

    def __len__(self) -> int:
        """How many tasks wait or are under way."""
        return len(self._waiting) + sum(map(len, self._sent.values()))

    @property
    def full(self) -> bool:
        """Whether there is a bundle more than can be sent."""
        return len(self._waiting) >= self._size and not self._room

    @property
    def _room(self) -> bool:
        return len(self._sent) < AHEAD * self.width

    def submit(self, key: K, work: Callable[..., Any]) -> None:
        """Have a worker do `work(control)`, with others of its size."""
        self._waiting.append((key, work))
        if len(self._waiting) >= self._size and self._room:
            self._send_waiting()

    def ended(self) -> dict[K, Any]:
        """What came of the tasks that ended, waiting a moment for the first.

        Raises:
            Lost: the scheduler went away.
            RunError: a worker cannot simulate, or died of a task again and again.
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
        """Gives up on tasks whose result is not wanted any more."""
        self._waiting = [piece for piece in self._waiting if not unwanted(piece[0])]
        for bundle, pieces in list(self._sent.items()):
            if all(unwanted(key) for key, _ in pieces):
                del self._sent[bundle]
                bundle.cancel(force=True)

    def progress(self, weight: Callable[[K], float]) -> float:
        """Nothing: how far a worker is with a bundle is known when it is done."""
        del weight
        return 0.0

    def stop(self) -> dict[K, Any]:
        """Gives up on everything; what had been completed all the same."""
        found: dict[K, Any] = {}
        for bundle, pieces in list(self._sent.items()):
            if bundle.status == "finished":
                del self._sent[bundle]
                try:
                    found |= self._opened(bundle, pieces)
                except RunError:  # it is gone with its worker, or the scheduler
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
        """The bundles that came back, waiting a moment for the first."""
        found = []
        try:
            found.append(self._over.get(timeout=POLL_S if self._sent else 0))
            while True:
                found.append(self._over.get_nowait())
        except queue.Empty:
            return found

    def _opened(self, bundle: Future[Any], pieces: list[Piece[K]]) -> dict[K, Any]:
        """What came of the tasks of a bundle."""
        from distributed.scheduler import KilledWorker

        if bundle.status in ("cancelled", "lost"):  # its result went with a worker
            return self._again(pieces)
        try:
            data, took_s = bundle.result(timeout=60)
        except KilledWorker as error:
            if len(pieces) == 1:
                return {pieces[0][0]: _deadly(str(error.last_worker.name))}
            return self._again(*([piece] for piece in pieces))  # each alone, to find which
        except remote.Other as error:
            raise RunError(f"a worker of {self._cluster.address} {error}") from None
        except TimeoutError:
            raise self._cluster.lost() from None
        except Exception as error:
            raise RunError(f"a worker of {self._cluster.address} failed: {error!r}") from error
        self._learn(len(pieces), took_s)
        found = unpacked(data)
        return {key: one for (key, _), one in zip(pieces, found, strict=True)}

    def _again(self, *bundles: list[Piece[K]]) -> dict[K, Any]:
        """Sends tasks again, as these bundles.

        Raises:
            Lost: there is nobody to send them to.
        """
        if not self._cluster.answers():
            raise self._cluster.lost()
        for pieces in bundles:
            self._send(pieces)
        return {}

    def _learn(self, tasks: int, took_s: float) -> None:
        """Notes how long a bundle took, so that the next takes as long as it should."""
        wanted = int(self.batch_s * tasks / max(took_s, 1e-6))
        self._size = max(1, min(wanted, self._size * GROWTH, self._largest))

    def close(self) -> None:
        """Gives up on what is under way."""
        sent, self._sent, self._waiting = list(self._sent), {}, []
        if sent:  # a scheduler that is gone would keep it waiting
            threading.Thread(target=self._cancel, args=(sent,), daemon=True).start()
        self._arrays.clear()

    def _cancel(self, sent: list[Future[Any]]) -> None:
        with contextlib.suppress(Exception):  # the scheduler is gone, and what was sent with it
            self._client.cancel(sent)


def _deadly(worker: str) -> RunError:
    """What to tell of a task that kills workers."""
    return RunError(
        f"{DEATHS} workers died of this one after the other, the last of which was {worker}; have "
        "they enough memory?"
    )
