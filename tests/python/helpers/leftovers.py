"""Fails a run of tests that leaves something behind: a process, namespace, device, mount or file.

This pytest plugin is loaded by `tests/conftest.py`. Processes started by tests inherit two
environment variables: `NODEB_TESTS`, one value for the whole run, and `PYTEST_CURRENT_TEST`, the
name of the test. Remaining processes are therefore reported with their test, and processes of other
users are ignored. Temporary files of the tests go to a folder that must be empty in the end.
Namespaces, devices and mounts are compared by name with those before the run, so that those created
by other programs in the meantime are reported, too.
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
"""Maximum time in which processes end by themselves, in seconds."""
ROOT = Path(__file__).parents[3]
CACHES = {
    *(".git", ".venv", "target", "site", "dist", "__pycache__", ".hypothesis"),
    *(".pytest_cache", ".ruff_cache", ".mypy_cache"),
}
"""Folders of the repository in which tools keep caches."""

Found = dict[str, str]
"""Processes, devices, mounts or files that exist, by name, with further information."""


def owned_by(run: str) -> dict[int, tuple[str, str]]:
    """Returns the command line and test, by process ID, of each process of a test run.

    Such a process has the value `run` in its environment variable `NODEB_TESTS`. The calling
    process is left out.
    """
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
    """Returns the processes that a test run has started and that still run, with their tests."""
    return {
        f"process {pid}: {line[:200]}": f"started by {test}"
        for pid, (line, test) in owned_by(run).items()
        if test  # The workers of pytest have no test, so they are not reported.
    }


def devices() -> Found:
    """Returns the network devices of nodeb and the named network namespaces of the machine."""
    names = [f"device {name}" for name in _names("/sys/class/net") if name.startswith("nodeb")]
    names += [f"network namespace {name}" for name in _names("/run/netns")]
    return dict.fromkeys(names, "")


def mounts() -> Found:
    """Returns the mount points of the machine."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {f"mount {line.split()[4]}": "" for line in lines}


def files() -> Found:
    """Returns all files in the repository, except those in the caches of tools."""
    found = {}
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in CACHES]
        for name in names:
            found[f"file {Path(folder, name).relative_to(ROOT)}"] = ""
    return found


def temporary(folder: Path) -> Found:
    """Returns the temporary files in a folder.

    The locks of Dask are excluded, as it keeps them for later processes.
    """
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
    """Comparison of the state of the machine before the tests with the state after them.

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
        """Returns things that are new since the start of the tests.

        Things that disappear within `GRACE_S` are excluded.
        """
        until = time.monotonic() + GRACE_S
        while (found := self._new()) and time.monotonic() < until:
            time.sleep(0.1)
        return found

    def end(self) -> None:
        """Kills the remaining processes and removes the temporary files."""
        for name in processes(self.run):
            with contextlib.suppress(OSError):
                os.kill(int(name.split()[1].rstrip(":")), signal.SIGKILL)
        shutil.rmtree(self.scratch, ignore_errors=True)


def pytest_configure(config: pytest.Config) -> None:
    """Records the state of the machine before a run of tests.

    Does nothing in the workers of pytest.
    """
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    # pytest itself continues to use the previous temporary folder.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    scratch = Path(tempfile.mkdtemp(prefix="nodeb-tests-"))
    os.environ["TMPDIR"] = str(scratch)
    tempfile.tempdir = None  # With `None`, Python reads TMPDIR again.
    os.environ[RUN] = f"{os.getpid()}-{time.time_ns()}"
    config.stash[KEY] = Leftovers(os.environ[RUN], scratch)


KEY = pytest.StashKey[Leftovers]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Reports what the tests have left behind, after all workers have ended.

    Fails the run if there is anything.
    """
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
