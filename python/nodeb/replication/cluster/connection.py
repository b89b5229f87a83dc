"""The connection to a cluster: opened, checked, watched, closed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from functools import partial
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, Self

from nodeb.base.signals import STOPPING
from nodeb.errors import InputError, RunError
from nodeb.replication.cluster import remote
from nodeb.replication.pool import Lost

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

    from nodeb.replication.pool import Pool

__all__ = ["Cluster"]

CONNECT_S = 8.0
"""How long, s, a scheduler may take to answer, and the first worker to come."""
PULSE_S = 2.0
"""Seconds between two looks at the cluster's health."""
SILENT_S = 20.0
"""After so long, s, without a word from it a worker's work is given to others."""
LOST_S = 40.0
"""After so long, s, without a word from it a scheduler is given up."""
STUCK_S = 30.0
"""So long, s, workers may be paused for want of memory until nobody waits for them."""
ALONE_S = 300.0
"""So long, s, there may be no worker: others may come."""
CLOSE_S = 2.0
"""How long, s, each step of closing a connection may take."""
END_S = 0.5
"""How long, s, a worker process of this machine may take to end by itself."""
MAX_LOCAL = 1000
KEPT = "what was finished is kept, and the same command goes on from there"


class Cluster:
    """Workers of a Dask cluster, which simulate in place of the threads of this process.

    Give it as `jobs`; results are those of any number of threads. It connects when it is first
    used. Each worker must have the very nodeb that is here.

        with nodeb.Cluster("tcp://10.0.0.1:8786") as cluster:
            scenario.run(runs=1000, jobs=cluster)

    Args:
        address: of a scheduler, as Dask writes it (`tcp://host:8786`), or `local:N` for N worker
            processes on this machine, which end with it. A program that uses `local:N` keeps its
            top level behind `if __name__ == "__main__":`, as Python's `multiprocessing` asks.

    Raises:
        InputError: this is no address.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._local = _local(address)
        self._client: Client | None = None
        self._workers: Any = None
        self._pulse: _Pulse | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def width(self) -> int:
        """Threads of all its workers; each simulates a replication at a time.

        Raises:
            InputError: there is no such cluster.
            RunError: it cannot be used.
        """
        self.client()
        return self._threads

    def client(self) -> Client:
        """The open connection.

        Raises:
            InputError: nobody answers at the address, or Dask is not installed.
            RunError: there is no worker, or one has another nodeb.
        """
        if self._client is None:
            try:
                self._connect()
            except BaseException:
                self.close()
                raise
        assert self._client is not None
        return self._client

    def pool(self) -> Pool[Any, Any]:
        """A pool of its workers, for one experiment.

        Raises:
            InputError: there is no such cluster.
            RunError: it cannot be used.
        """
        from nodeb.replication.cluster.pool import Bundles

        return Bundles(self)

    def check(self) -> None:
        """Looks whether the cluster is there.

        Raises:
            Lost: the scheduler does not answer any more, or no worker can work.
        """
        if self._pulse is None:
            return
        if self._pulse.since() > LOST_S:
            raise self.lost()
        if trouble := self._pulse.trouble():
            raise Lost(f"{trouble.format(self.address)}; {KEPT}")

    def answers(self) -> bool:
        """Whether the scheduler answers now."""
        client = self.client()
        if client.status != "running":
            return False
        try:
            client.run_on_scheduler(remote.same, None)
        except Exception:  # whatever a connection that broke raises
            return False
        return True

    def lost(self) -> Lost:
        """What to tell when the scheduler is gone."""
        return Lost(f"the scheduler at {self.address} went away; {KEPT}")

    def close(self) -> None:
        """Ends the connection, and the workers of `local:N`."""
        if self._pulse is not None:
            self._pulse.stop()
        client, workers, self._client, self._workers = self._client, self._workers, None, None
        self._pulse = None
        for close in (client and client.close, workers and partial(_end, workers)):
            if close is not None:
                try:
                    close(timeout=CLOSE_S)
                except Exception:  # it is gone already
                    logging.getLogger("nodeb").debug("closing a cluster", exc_info=True)

    def _connect(self) -> None:
        try:
            import distributed
        except ModuleNotFoundError:
            raise InputError(
                "a cluster needs the package `distributed`: pip install 'nodeb[cluster]'"
            ) from None
        _hush()
        target: Any = self.address
        if self._local is not None:
            target = self._workers = _started(self._local)
        try:
            if self._local is None:
                _greet(self.address)
            self._client = distributed.Client(target, timeout=CONNECT_S, set_as_default=False)
        except Exception as error:  # whatever else may listen there
            reason = str(error).splitlines()[0] if str(error) else "no answer"
            raise InputError(f"no scheduler answers at {self.address} ({reason})") from None
        try:
            self._threads = _threads(self._client)
            if not self._threads:
                raise RunError(
                    f"the scheduler at {self.address} has no workers; start some with "
                    f"`dask worker {self.address}`"
                )
            _check(self._client)
        except (TimeoutError, OSError):  # Dask's errors of connections are among them
            raise self.lost() from None
        self._pulse = _Pulse(self._client)


def _local(address: str) -> int | None:
    """How many workers `local:N` asks for; None for the address of a scheduler."""
    if not isinstance(address, str):
        raise InputError(
            f"the address of a cluster is {address!r}; expected text such as "
            '"tcp://10.0.0.1:8786" or "local:4"'
        )
    if found := re.fullmatch(r"local:([0-9]+)", address):
        if len(found[1]) <= len(str(MAX_LOCAL)) and 1 <= int(found[1]) <= MAX_LOCAL:
            return int(found[1])
        raise InputError(f"--cluster {address}: expected 1 to {MAX_LOCAL} workers")
    if re.match(r"local\b(?!host)", address, re.IGNORECASE):
        raise InputError(
            f"--cluster {address}: expected local:N with the number of worker processes, such as "
            "local:4"
        )
    if not re.fullmatch(r"(\w+://)?[^\s:/]+:[0-9]+|(\w+://)?\[[0-9a-fA-F:]+\]:[0-9]+", address):
        raise InputError(
            f"--cluster {address} is no address; expected one such as tcp://10.0.0.1:8786, or "
            "local:4 for four worker processes here"
        )
    return None


def _started(workers: int) -> LocalCluster:
    """Worker processes of this machine, with a scheduler.

    Raises:
        RunError: they cannot be started.
    """
    import dask
    import distributed

    quiet = {"distributed.worker.profile.enabled": False}  # looks 100 times a second
    try:
        with _uninterrupted(), dask.config.set(quiet):
            return distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            )
    except (RuntimeError, OSError) as error:  # no folder to write to, no memory, no more processes
        reason = str(error).rstrip(".") or type(error).__name__
        raise RunError(
            f"cannot start {workers} workers here: {reason}; likely reasons are the limit of open "
            "files (`ulimit -n`), of processes or of memory, or a program whose top level is not "
            'behind `if __name__ == "__main__":`'
        ) from None


def _end(cluster: LocalCluster, timeout: float) -> None:
    """Ends worker processes of this machine, also those that simulate: they keep nothing.

    Dask alone lets each finish its bundle first, for 4 s, and then does not wait for it.
    """

    async def close() -> None:
        await asyncio.gather(*(one.close(timeout=END_S) for one in cluster.workers.values()))

    cluster.sync(close, callback_timeout=timeout)
    cluster.close(timeout=timeout)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Signals that stop wait; what is started meanwhile, and what that starts, never hears of them.

    A terminal sends Ctrl-C to the workers, too, as `timeout` and batch systems do SIGTERM, and they
    would write where they were: only this process answers it, and ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        resource_tracker.ensure_running()  # which unblocks some; with the first worker it would too
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _greet(address: str) -> None:
    """Asks who listens at an address: a client of Dask waits for ever when it is no scheduler.

    Raises:
        Exception: whatever comes of it when nobody is there, or somebody else.
    """
    from distributed.core import rpc
    from distributed.utils import LoopRunner

    async def ask() -> None:
        async with rpc(address, timeout=CONNECT_S) as scheduler:
            await asyncio.wait_for(scheduler.identity(), CONNECT_S)

    runner = LoopRunner()
    runner.start()
    try:
        runner.run_sync(ask)
    finally:
        runner.stop()


def _hush() -> None:
    """Keeps Dask from writing to the terminal: what matters is told as an error."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado"):
            logger = logging.getLogger(name)
            logger.handlers[:] = [logging.NullHandler()]
            logger.propagate = False


def _threads(client: Client) -> int:
    """Threads of all workers, waiting for the first of these."""
    end = time.monotonic() + CONNECT_S
    while True:
        found: Mapping[str, int] = client.nthreads()
        if found or time.monotonic() > end:
            return sum(found.values())
        time.sleep(0.05)


def _check(client: Client) -> None:
    """Looks whether the workers have the nodeb that is here.

    Raises:
        RunError: one has not.
    """
    here = remote.fingerprint()
    for worker, found in client.run(remote.fingerprint, on_error="return").items():
        if isinstance(found, OSError):  # it went away; if it comes back its tasks check it
            continue
        if isinstance(found, BaseException):
            raise RunError(f"worker {worker} cannot load nodeb: {found}")
        if tuple(found) != here:
            raise RunError(
                f"worker {worker} has {remote.called(tuple(found))}, but here is "
                f"{remote.called(here)}: install the same nodeb there"
            )


class _Pulse(threading.Thread):
    """Feels the scheduler's pulse, and has it forget workers that do nothing any more."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True, name="nodeb-pulse")
        self._client, self._over = client, threading.Event()
        self._last = self._worked = time.monotonic()
        self._workers, self._stuck = 1, dict[str, float]()
        self.start()

    def since(self) -> float:
        """How long ago, s, the scheduler was heard of."""
        return time.monotonic() - self._last

    def trouble(self) -> str | None:
        """Why nobody has worked for too long, of the scheduler `{}`; None while somebody can."""
        idle_s = time.monotonic() - self._worked
        if self._stuck and idle_s > STUCK_S:
            return (
                "the workers of {} are paused, because they have used up their memory without any "
                "work; give them more (`dask worker --memory-limit`)"
            )
        if not self._workers and idle_s > ALONE_S:
            return f"there has been no worker of {{}} for {ALONE_S:.0f} s"
        return None

    def stop(self) -> None:
        """Ends it, some time."""
        self._over.set()

    def run(self) -> None:
        """Looks again and again."""
        while not self._over.wait(PULSE_S):
            try:
                self._workers, self._stuck = self._client.run_on_scheduler(
                    remote.look_after, SILENT_S, STUCK_S, self._stuck
                )
                self._last = time.monotonic()
                if self._workers > len(self._stuck):
                    self._worked = self._last
            except Exception:  # it may come back; `since` tells when it does not
                logging.getLogger("nodeb").debug("no pulse", exc_info=True)
