"""Functions that run on workers and on the scheduler of a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Scheduler

    from nodeb.replication.work import Simulated, Task

__all__ = ["VersionMismatch", "fingerprint", "remove_stuck_workers", "same", "simulate"]


MISSED = 3
"""Number of missed heartbeats after which a worker counts as silent.

If there are many workers, heartbeats are so rare that this limit exceeds the limit in seconds.
"""


class VersionMismatch(Exception):
    """Error: a worker's nodeb differs from the client's."""


@cache
def fingerprint() -> tuple[str, str]:
    """Returns the version of this nodeb, and a hash of its code.

    The hash covers the compiled core and all Python files, because the package determines which
    data are kept of a replication.
    """
    import hashlib
    from pathlib import Path

    import nodeb
    from nodeb import _core
    from nodeb.results.provenance import core_hash

    found, package = hashlib.sha256(core_hash().encode()), Path(nodeb.__file__).parent
    for file in sorted(package.rglob("*.py")):
        found.update(str(file.relative_to(package)).encode() + file.read_bytes())
    return _core.version(), found.hexdigest()[:12]


def simulate(data: bytes, wanted: tuple[str, str], arrays: dict[str, Any]) -> tuple[bytes, float]:
    """Simulates a bundle of tasks on a worker. Returns packed results and the time taken, s.

    Args:
        data: packed tasks.
        wanted: fingerprint of the client's nodeb.
        arrays: arrays missing in the packed tasks.

    Raises:
        VersionMismatch: the worker has a different nodeb, which would give different numbers.
    """
    from nodeb import _core
    from nodeb.replication.cluster.packing import packed, unpacked

    begin = time.perf_counter()
    if fingerprint() != wanted:
        raise VersionMismatch(f"has {describe(fingerprint())}, but {describe(wanted)} is asked for")
    tasks: Sequence[Task[Any]] = unpacked(data, arrays)
    found: list[Simulated[Any]] = [task(_core.Control()) for task in tasks]
    return packed(found), time.perf_counter() - begin


def same(thing: Any) -> Any:
    """Returns its argument, so that Dask stores the array on each worker whose tasks need it."""
    return thing


def describe(known: tuple[str, str]) -> str:
    """Returns a fingerprint (version, hash of the code) as text for a message."""
    return f"nodeb {known[0]} ({known[1]})"


async def remove_stuck_workers(
    silent_s: float, stuck_s: float, known: dict[str, float], dask_scheduler: Scheduler
) -> tuple[int, dict[str, float]]:
    """Has the scheduler reassign the work of workers that make no progress.

    Runs on the scheduler. A worker that hangs keeps its connection, so Dask does not notice it. A
    worker that Dask paused for lack of memory while it executes nothing will not continue by
    itself.

    Args:
        silent_s: minimum time, s, without a message after which a worker is removed.
        stuck_s: minimum time, s, that a worker must have been stuck while others work.
        known: address of each worker that was stuck at the last call, with the time at which it
            was first found stuck.
        dask_scheduler: given by Dask.

    Returns:
        Number of workers; address of each worker that is stuck now, with the time at which it was
        first found stuck, s on the scheduler's clock.
    """
    from distributed.scheduler import heartbeat_interval

    now = time.time()
    workers = list(dask_scheduler.workers.values())
    # Dask's workers report less often if there are many: for 16,000 workers this limit is 243 s.
    silent_s = max(silent_s, MISSED * heartbeat_interval(len(workers)))
    for worker in workers:
        if now - worker.last_seen > silent_s:
            await _forget(dask_scheduler, worker.address)
    workers = list(dask_scheduler.workers.values())
    held = [w.address for w in workers if w.status.name == "paused" and not w.executing]
    stuck = {address: known.get(address, now) for address in held}
    if len(stuck) < len(workers):
        for address, since in list(stuck.items()):
            if now - since > stuck_s:
                await _forget(dask_scheduler, address)
                del stuck[address]
    return len(dask_scheduler.workers), stuck


async def _forget(scheduler: Scheduler, address: str) -> None:
    await scheduler.remove_worker(address, stimulus_id=f"nodeb-{time.time()}", close=False)
