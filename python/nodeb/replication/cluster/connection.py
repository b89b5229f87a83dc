"""Connection to a Dask cluster: opening, checking, monitoring, closing."""

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
"""Maximum time, s, until a scheduler answers, and until the first worker appears."""
PULSE_S = 2.0
"""Interval between checks of the cluster's health, s."""
SILENT_S = 20.0
"""Time without a message from a worker, s, after which other workers get its work.

With many workers the time is longer, because each sends messages less often.
"""
LOST_S = 40.0
"""Time without a message from the scheduler, s, after which the scheduler counts as lost."""
STUCK_S = 30.0
"""Maximum time, s, for which workers may be paused because of lack of memory.

After this time, a paused worker is removed if others work; if all are paused, an error is raised.
"""
ALONE_S = 300.0
"""Maximum time, s, without any worker, in which new workers may connect."""
CLOSE_S = 2.0
"""Maximum duration, s, of each step of closing a connection."""
END_S = 0.5
"""Maximum time, s, for a worker process of this machine to end by itself."""
MAX_LOCAL = 1000
KEPT = "finished results are kept, and the same command continues from there"


class Cluster:
    """Workers of a Dask cluster, which simulate in place of the threads of this process.

    Pass it as `jobs`; the results are the same as with any number of threads. The connection is
    opened on first use. Each worker must have exactly the nodeb that is installed here.

        with nodeb.Cluster("tcp://10.0.0.1:8786") as cluster:
            scenario.run(runs=1000, jobs=cluster)

    Args:
        address: address of a scheduler, as Dask writes it (`tcp://host:8786`), or `local:N` for N
            worker processes on this machine, which end with this process. A program that uses
            `local:N` keeps its top level behind `if __name__ == "__main__":`, as Python's
            `multiprocessing` requires.

    Raises:
        InputError: the address is invalid.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._local = _local(address)
        self._client: Client | None = None
        self._workers: Any = None
        self._pulse: _Monitor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def width(self) -> int:
        """Number of threads of all workers; each thread simulates one replication at a time.

        Raises:
            InputError: no scheduler answers.
            RunError: the cluster cannot be used.
        """
        self.client()
        return self._threads

    def client(self) -> Client:
        """Returns the open connection, after connecting if necessary.

        Raises:
            InputError: no scheduler answers at the address, or Dask is not installed.
            RunError: there is no worker, or a worker has a different nodeb.
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
        """Returns a pool of the cluster's workers, for one experiment.

        Raises:
            InputError: no scheduler answers.
            RunError: the cluster cannot be used.
        """
        from nodeb.replication.cluster.pool import ClusterPool

        return ClusterPool(self)

    def check(self) -> None:
        """Checks that the cluster still works.

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
        """Returns true if the scheduler answers a request now."""
        client = self.client()
        if client.status != "running":
            return False
        try:
            client.run_on_scheduler(remote.same, None)
        except Exception:  # A broken connection may raise any exception: there is no answer then.
            return False
        return True

    def lost(self) -> Lost:
        """Returns the error to raise if the scheduler no longer answers."""
        return Lost(f"the scheduler at {self.address} went away; {KEPT}")

    def close(self) -> None:
        """Closes the connection, and ends the workers of `local:N`."""
        if self._pulse is not None:
            self._pulse.stop()
        client, workers, self._client, self._workers = self._client, self._workers, None, None
        self._pulse = None
        for close in (client and client.close, workers and partial(_close_local, workers)):
            if close is not None:
                try:
                    close(timeout=CLOSE_S)
                except Exception:  # The connection may be closed already, which does no harm.
                    logging.getLogger("nodeb").debug("closing a cluster", exc_info=True)

    def _connect(self) -> None:
        try:
            import distributed
        except ModuleNotFoundError:
            raise InputError(
                "a cluster needs the package `distributed`: pip install 'nodeb[cluster]'"
            ) from None
        _silence_logs()
        target: Any = self.address
        if self._local is not None:
            target = self._workers = _start_local(self._local)
        try:
            if self._local is None:
                _check_scheduler(self.address)
            self._client = distributed.Client(target, timeout=CONNECT_S, set_as_default=False)
        # Another kind of server may listen at the address, and then any error may be raised.
        except Exception as error:
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
        except (TimeoutError, OSError):  # Dask's connection errors are subclasses of OSError.
            raise self.lost() from None
        self._pulse = _Monitor(self._client)


def _local(address: str) -> int | None:
    """Returns N if the address is `local:N` (N workers), or `None` for a scheduler's address."""
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
            f"--cluster {address} is not an address; expected one such as tcp://10.0.0.1:8786, or "
            "local:4 for four worker processes here"
        )
    return None


def _start_local(workers: int) -> LocalCluster:
    """Starts a scheduler and worker processes on this machine.

    Raises:
        RunError: the processes cannot be started.
    """
    import dask
    import distributed

    # Dask's profiler is switched off: it would sample each worker 100 times a second.
    quiet = {"distributed.worker.profile.enabled": False}
    try:
        with _uninterrupted(), dask.config.set(quiet):
            return distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            )
    except (RuntimeError, OSError) as error:
        # The processes cannot be started without a folder to write to, or if memory or the number
        # of processes runs out.
        reason = str(error).rstrip(".") or type(error).__name__
        raise RunError(
            f"cannot start {workers} workers here: {reason}; check the limits of open "
            "files (`ulimit -n`), of processes and of memory, and that the program's top level is "
            'behind `if __name__ == "__main__":`'
        ) from None


def _close_local(cluster: LocalCluster, timeout: float) -> None:
    """Ends the worker processes of this machine, including busy workers, which hold no state.

    Dask's own `close` lets each worker finish its bundle, waits up to 4 s, and then leaves the
    process running.
    """

    async def close() -> None:
        await asyncio.gather(*(one.close(timeout=END_S) for one in cluster.workers.values()))

    cluster.sync(close, callback_timeout=timeout)
    cluster.close(timeout=timeout)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Blocks stop signals in the `with` block, so that processes started in it never receive them.

    A terminal sends Ctrl-C not only to this process but also to the workers, and `timeout` and
    batch systems send SIGTERM to all; the workers would print tracebacks. This process alone
    handles the signal, and ends the workers.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        # Starting the resource tracker unblocks some signals, so it is started now and not with a
        # worker.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _check_scheduler(address: str) -> None:
    """Checks that a scheduler answers: a Dask client would wait forever for another kind of server.

    Raises:
        Exception: any error of a failed connection, or of another kind of server.
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


def _silence_logs() -> None:
    """Keeps Dask from writing to the terminal: nodeb reports relevant problems as errors."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado"):
            logger = logging.getLogger(name)
            logger.handlers[:] = [logging.NullHandler()]
            logger.propagate = False


def _threads(client: Client) -> int:
    """Returns the number of threads of all workers; 0 if none appears within `CONNECT_S`."""
    end = time.monotonic() + CONNECT_S
    while True:
        found: Mapping[str, int] = client.nthreads()
        if found or time.monotonic() > end:
            return sum(found.values())
        time.sleep(0.05)


def _check(client: Client) -> None:
    """Checks that the workers have the nodeb that is installed here.

    Raises:
        RunError: a worker has a different nodeb.
    """
    here = remote.fingerprint()
    for worker, found in client.run(remote.fingerprint, on_error="return").items():
        # After an `OSError` the worker has disappeared, so its version is not checked here. If it
        # reconnects, each bundle that is sent to it checks the version.
        if isinstance(found, OSError):
            continue
        if isinstance(found, BaseException):
            raise RunError(f"worker {worker} cannot load nodeb: {found}")
        if tuple(found) != here:
            raise RunError(
                f"worker {worker} has {remote.describe(tuple(found))}, but here is "
                f"{remote.describe(here)}: install the same nodeb there"
            )


class _Monitor(threading.Thread):
    """Thread that monitors the scheduler and has it remove workers that no longer work."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True, name="nodeb-pulse")
        self._client, self._over = client, threading.Event()
        self._last = self._worked = time.monotonic()
        self._workers, self._stuck = 1, dict[str, float]()
        self.start()

    def since(self) -> float:
        """Returns the time in s since the scheduler last answered."""
        return time.monotonic() - self._last

    def trouble(self) -> str | None:
        """Returns the reason if no worker has worked for too long, otherwise `None`.

        The reason is a text with `{}` in place of the scheduler's address.
        """
        idle_s = time.monotonic() - self._worked
        if self._stuck and idle_s > STUCK_S:
            return (
                "the workers of {} are paused, because their memory is full without any work; "
                "give them more (`dask worker --memory-limit`)"
            )
        if not self._workers and idle_s > ALONE_S:
            return f"there has been no worker of {{}} for {ALONE_S:.0f} s"
        return None

    def stop(self) -> None:
        """Makes the monitoring thread end at its next check; does not wait for that."""
        self._over.set()

    def run(self) -> None:
        """Has the scheduler remove stuck workers, every `PULSE_S` seconds."""
        while not self._over.wait(PULSE_S):
            try:
                self._workers, self._stuck = self._client.run_on_scheduler(
                    remote.remove_stuck_workers, SILENT_S, STUCK_S, self._stuck
                )
                self._last = time.monotonic()
                if self._workers > len(self._stuck):
                    self._worked = self._last
            except Exception:
                # The scheduler may recover, so this is no error yet. The caller decides by `since`,
                # the time since its last answer.
                logging.getLogger("nodeb").debug("no pulse", exc_info=True)
