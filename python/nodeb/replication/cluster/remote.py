"""What runs far away: on workers, and on the scheduler."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Scheduler

    from nodeb.replication.work import Simulated, Task

__all__ = ["Other", "fingerprint", "look_after", "same", "simulate"]


MISSED = 3
"""A worker that missed so many heartbeats is silent; the more there are, the rarer they are."""


class Other(Exception):
    """A worker's nodeb is not the client's."""


@cache
def fingerprint() -> tuple[str, str]:
    """Version of the nodeb here, and a hash of its code.

    That of the package counts as well, which decides what is kept of replications.
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
    """Simulates a bundle of tasks on a worker; what came of each, packed, and how long all took.

    Args:
        data: the tasks, packed.
        wanted: fingerprint of the nodeb that asks.
        arrays: those that the tasks lack.

    Raises:
        Other: the worker has another nodeb, which would give other numbers.
    """
    from nodeb import _core
    from nodeb.replication.cluster.packing import packed, unpacked

    begin = time.perf_counter()
    if fingerprint() != wanted:
        raise Other(f"has {called(fingerprint())}, but {called(wanted)} is asked for")
    tasks: Sequence[Task[Any]] = unpacked(data, arrays)
    found: list[Simulated[Any]] = [task(_core.Control()) for task in tasks]
    return packed(found), time.perf_counter() - begin


def same(thing: Any) -> Any:
    """The thing: a task that puts it where tasks that depend on it run."""
    return thing


def called(known: tuple[str, str]) -> str:
    """A fingerprint for a person."""
    return f"nodeb {known[0]} ({known[1]})"


async def look_after(
    silent_s: float, stuck_s: float, known: dict[str, float], dask_scheduler: Scheduler
) -> tuple[int, dict[str, float]]:
    """Has the scheduler give the work of workers that do none to others.

    Runs on the scheduler. A worker that hangs keeps its connection, so that nothing else tells. One
    that paused for want of memory without working at anything will not go on by itself.

    Args:
        silent_s: how long, s, a worker must not have been heard of, at least.
        stuck_s: how long, s, one must have been stuck while others work.
        known: which were stuck the last time, and for how long.
        dask_scheduler: given by Dask.

    Returns:
        How many workers there are; which are stuck now, and since when, by the scheduler's clock.
    """
    from distributed.scheduler import heartbeat_interval

    now = time.time()
    workers = list(dask_scheduler.workers.values())
    silent_s = max(silent_s, MISSED * heartbeat_interval(len(workers)))  # 243 s where 16,000 are
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
