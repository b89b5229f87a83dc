"""A scheduler and workers as processes of their own, as on many machines."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path


class Processes:
    """A scheduler and workers that can be killed one by one.

    Args:
        folder: they may write there.
        workers: how many there are at first.
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
        """Waits until so many workers are there, which takes long on a busy machine."""
        from distributed import Client

        with Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        found: str = json.loads(self._address.read_text())["address"]
        return found

    def add(
        self, path: Path | None = None, options: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        """Starts another worker, perhaps with a nodeb from elsewhere, or options of its own."""
        always = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        worker = self._start("dask_worker", self.address, *always, *options, path=path)
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        """Kills all."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(
        self, module: str, *options: str, path: Path | None = None
    ) -> subprocess.Popen[bytes]:
        paths = [str(path)] if path else []
        environ = os.environ | {
            "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]),
            "TMPDIR": str(self.folder),  # who is killed leaves something there
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
    """A folder with the commands `dask` and `nodeb` of this Python."""
    folder.mkdir()
    for name, module in (("dask", "dask"), ("nodeb", "nodeb"), ("python3", "")):
        run = f'-m {module} "$@"' if module else '"$@"'
        (folder / name).write_text(f'#!/bin/bash\nexec "{sys.executable}" {run}\n')
        (folder / name).chmod(0o755)
    return folder
