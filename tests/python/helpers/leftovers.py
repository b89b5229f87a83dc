"""Fails a run of tests that leaves something behind: a process, namespace, device, mount or file.

A plugin of pytest (`tests/conftest.py` loads it). Everything that tests start inherits their
environment, in which stands whose it is: `NODEB_TESTS`, one value for the whole run, and
`PYTEST_CURRENT_TEST`, by which pytest says what runs. So what is left is named with its test, and
other people's processes are not looked at. Temporary files of the tests go to a folder that must be
empty in the end. Namespaces, devices and mounts are compared by name with those from before: what
others make at the same time and keep is named, too.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

RUN, TEST = "NODEB_TESTS", "PYTEST_CURRENT_TEST"
GRACE_S = 5.0
"""How long what ends by itself may take."""
ROOT = Path(__file__).parents[3]
CACHES = {
    *(".git", ".venv", "target", "site", "dist", "__pycache__", ".hypothesis"),
    *(".pytest_cache", ".ruff_cache", ".mypy_cache"),
}
"""Folders of the repository in which tools keep what they like."""

Found = dict[str, str]
"""What is there, and what more is known of it."""


def owned_by(run: str) -> dict[int, tuple[str, str]]:
    """Processes that have a run in their environment: their command lines, and their tests."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                pairs = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
                environment = dict(pair.partition("=")[::2] for pair in pairs)
                if environment.get(RUN) == run:
                    line = (
                        (entry / "cmdline")
                        .read_bytes()
                        .replace(b"\0", b" ")
                        .decode(errors="replace")
                        .strip()
                    )
                    test = environment.get(TEST, "").rpartition(" (")[0]
                    found[int(entry.name)] = line, test
    return found


def processes(run: str) -> Found:
    """Processes that tests of a run have started, with the test."""
    return {
        f"process {pid}: {line[:200]}": f"started by {test}"
        for pid, (line, test) in owned_by(run).items()
        if test  # else it is a worker of pytest
    }


def devices() -> Found:
    """Network devices of nodeb's and named namespaces."""
    names = [f"device {name}" for name in _names("/sys/class/net") if name.startswith("nodeb")]
    names += [f"network namespace {name}" for name in _names("/run/netns")]
    return dict.fromkeys(names, "")


def mounts() -> Found:
    """Places where something is mounted."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {f"mount {line.split()[4]}": "" for line in lines}


def files() -> Found:
    """Files of the repository, without those of tools."""
    found = {}
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in CACHES]
        for name in names:
            found[f"file {Path(folder, name).relative_to(ROOT)}"] = ""
    return found


def temporary(folder: Path) -> Found:
    """Temporary files, without the locks of Dask, which it keeps for all who come later."""
    paths = [folder / name for name in _names(str(folder))]
    of_dask = folder / "dask-scratch-space"
    paths += [of_dask / name for name in _names(str(of_dask)) if not name.endswith(".lock")]
    names = [path.relative_to(folder) for path in paths if path != of_dask]
    return {f"temporary file {name}": "" for name in names}


def _names(folder: str) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(folder)
    return []


class Leftovers:
    """What was there before the tests, and what is there afterwards.

    Args:
        run: the value of `NODEB_TESTS`.
        scratch: the folder of temporary files.
    """

    def __init__(self, run: str, scratch: Path) -> None:
        self.run, self.scratch = run, scratch
        self._looks: list[Callable[[], Found]] = [devices, mounts, files]
        self._before = self._there()

    def _there(self) -> Found:
        return {name: why for look in self._looks for name, why in look().items()}

    def _new(self) -> Found:
        there = {name: why for name, why in self._there().items() if name not in self._before}
        return processes(self.run) | there | temporary(self.scratch)

    def found(self) -> Found:
        """What is left, after a moment to end in."""
        until = time.monotonic() + GRACE_S
        while (found := self._new()) and time.monotonic() < until:
            time.sleep(0.1)
        return found

    def end(self) -> None:
        """Ends the processes that are left, and removes the temporary files."""
        for name in processes(self.run):
            with contextlib.suppress(OSError):
                os.kill(int(name.split()[1].rstrip(":")), signal.SIGKILL)
        shutil.rmtree(self.scratch, ignore_errors=True)


def pytest_configure(config: pytest.Config) -> None:
    """Begins a run, or is a worker's part of one."""
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # pytest's own stay there
    scratch = Path(tempfile.mkdtemp(prefix="nodeb-tests-"))
    os.environ["TMPDIR"] = str(scratch)
    tempfile.tempdir = None  # it was asked before
    os.environ[RUN] = f"{os.getpid()}-{time.time_ns()}"
    config.stash[KEY] = Leftovers(os.environ[RUN], scratch)


KEY = pytest.StashKey[Leftovers]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Tells what is left when all workers have ended, and fails the run for it."""
    yield
    leftovers = session.config.stash.get(KEY, None)
    if leftovers is None:
        return
    found = leftovers.found()
    leftovers.end()
    if found:
        terminal = session.config.get_terminal_writer()
        terminal.line()
        terminal.sep("=", "left behind by tests", red=True)
        for name, why in found.items():
            terminal.line(f"{name}  {why}".rstrip())
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
