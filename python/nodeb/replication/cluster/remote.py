"""What runs far away: on workers, and on the scheduler."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Scheduler

    from nodeb.replication.work import Simulated, Task

__all__ = ["Other", "fingerprint", "forget_silent", "same", "simulate"]


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


def simulate(
    data: bytes, wanted: tuple[str, str], arrays: dict[str, Any]
) -> tuple[bytes, float]:
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


async def forget_silent(after_s: float, dask_scheduler: Scheduler) -> list[str]:
    """Has the scheduler give the work of workers that went silent to others.

    Runs on the scheduler. A worker that hangs keeps its connection, so that nothing else tells.

    Args:
        after_s: how long, s, one must not have been heard of.
        dask_scheduler: given by Dask.

    Returns:
        Names of these workers.
    """
    now = time.time()
    silent = [w for w in dask_scheduler.workers.values() if now - w.last_seen > after_s]
    for worker in silent:
        await dask_scheduler.remove_worker(
            worker.address, stimulus_id=f"nodeb-silent-{now}", close=False
        )
    return [str(worker.name) for worker in silent]
