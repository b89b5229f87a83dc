"""Dask schedulers and workers as separate processes, and sweeps that run on them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SWEEP = """
name = "many"
runs = {runs}
[[users]]
traffic.ftp.size = "{size}"
[sweep]
radio.dch.bler = {{ from = 0.0, to = 0.4, steps = {steps} }}
wired.delay = ["20 ms", "80 ms", "200 ms"]
"""


class Processes:
    """Dask scheduler and workers as processes that tests can kill one by one.

    Args:
        folder: working directory of the processes.
        workers: number of workers at the start.
    """

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        self._address = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            "dask_scheduler", "--port", "0", "--scheduler-file", str(self._address)
        )
        end = time.monotonic() + 60
        while not self._address.exists():
            assert time.monotonic() < end, "no scheduler"
            time.sleep(0.05)
        for _ in range(workers):
            self.add()
        if workers:
            self.wait(workers)

    def wait(self, workers: int) -> None:
        """Waits until `workers` workers are connected to the scheduler. Fails after 60 s."""
        from distributed import Client

        with Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)

    @property
    def address(self) -> str:
        """Address at which the scheduler listens."""
        found: str = json.loads(self._address.read_text())["address"]
        return found

    def add(
        self, path: Path | None = None, options: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        """Starts another worker.

        If `path` is given, the worker uses the nodeb package in `path`.
        """
        always = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        worker = self._start("dask_worker", self.address, *always, *options, path=path)
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        """Kills the scheduler and all workers, and waits until they have ended."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(
        self, module: str, *options: str, path: Path | None = None
    ) -> subprocess.Popen[bytes]:
        paths = [str(path)] if path else []
        environ = os.environ | {
            "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]),
            "TMPDIR": str(self.folder),  # Killed processes leave temporary files there.
        }
        with contextlib.ExitStack() as stack:
            log = stack.enter_context((self.folder / f"{module}.log").open("ab"))
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *options],
                cwd=self.folder,
                env=environ,
                stdout=log,
                stderr=log,
            )


def executables(folder: Path) -> Path:
    """Creates a folder with scripts `dask`, `nodeb` and `python3` for this interpreter."""
    folder.mkdir()
    for name, module in (("dask", "dask"), ("nodeb", "nodeb"), ("python3", "")):
        run = f'-m {module} "$@"' if module else '"$@"'
        (folder / name).write_text(f'#!/bin/bash\nexec "{sys.executable}" {run}\n')
        (folder / name).chmod(0o755)
    return folder


def start_sweep(file: Path, out: Path, address: str) -> subprocess.Popen[str]:
    """Starts `nodeb sweep` on the cluster at `address`, and returns the process."""
    command = [sys.executable, "-m", "nodeb", "sweep", str(file), "--out", str(out)]
    return subprocess.Popen(
        [*command, "--cluster", address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def local_workers() -> list[int]:
    """Returns the process ids of the workers started by this process for `local:N`."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(child) for child in children if _is_worker(int(child))]


def wait_until(condition: Callable[[], bool], limit_s: float = 60.0) -> None:
    """Waits until `condition()` returns true. Fails after `limit_s` seconds."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "the condition did not become true in time"
        time.sleep(0.02)


def _is_worker(pid: int) -> bool:
    try:
        return "spawn" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
