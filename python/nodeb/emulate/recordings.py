"""Recordings of emulations: log files, their headers, and their replay in virtual time."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from nodeb import _core
from nodeb.emulate.plan import Plan
from nodeb.errors import (
    FullError,
    InputError,
    NodebError,
    OutputError,
    RunError,
    error_number,
    is_full,
    os_reason,
    writing,
)
from nodeb.inputs.scenario import Scenario
from nodeb.replication.capture import write_in_place
from nodeb.replication.pool import run_with_progress
from nodeb.results.provenance import core_hash
from nodeb.terminal.progress import ProgressCallback

__all__ = ["CUT_OFF", "Claim", "Recording", "Replay", "claimed", "header", "read"]

Found = TypeVar("Found")
CUT_OFF = "the log was cut off; this is the recording up to there"
"""Note on an incomplete log, for the output of commands."""
_Explained = dict[str, dict[str, Any]]


@dataclass
class Claim:
    """State of a file that an emulation has claimed for its recording; see `claimed`."""

    is_needed: bool = False
    """Whether to keep the file: true from when the phones' commands are started.

    If false, `claimed` removes a file that it has created.
    """


@contextmanager
def claimed(path: Path) -> Iterator[Claim]:
    """Claims the file that an emulation records to, so that no other emulation writes it.

    The file is created unless an empty one exists, and is locked. The lock ends with the process,
    so that the empty file of a killed emulation can be used again. On file systems without locks,
    an existing file is refused. Files that are not regular, such as devices, are not locked.

    Raises:
        OutputError: the file cannot be written, another emulation has claimed it, or it has
            content. A recording is never overwritten, as it cannot be made again.
    """
    with writing(f"record to {path}"):
        file, is_new = _locked(path)
    claim = Claim()
    try:
        yield claim
    finally:
        if is_new and not claim.is_needed:
            path.unlink(missing_ok=True)
        os.close(file)


def _locked(path: Path) -> tuple[int, bool]:
    """Opens and locks a file for a recording. Returns its descriptor, and whether it was created.

    Raises:
        OutputError: another process may be using the file, or it has content.
        OSError: the file cannot be written.
    """
    while True:
        file, is_new = _opened(path)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return file, False
            if not _lock(file, is_new=is_new) or os.fstat(file).st_size:
                hint = "a recording is never overwritten; give another file with --record"
                raise OutputError(f"{path} exists, and {hint}")
            # Another emulation may have removed the file after it was opened here: then the loop
            # opens it again.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), os.stat(path)):
                    return file, is_new
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _opened(path: Path) -> tuple[int, bool]:
    """Opens or creates a file for appending. Returns its descriptor, and whether it was created."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    try:
        return os.open(path, flags | os.O_EXCL, 0o666), True
    except FileExistsError:
        return os.open(path, flags, 0o666), False


def _lock(file: int, *, is_new: bool) -> bool:
    """Locks a file. Returns false if another process may be using it.

    On a file system without locks, this is assumed of every file that is not new.
    """
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # The file system has no locks, so an existing file may be in use.
        return is_new
    return True


def header(scenario: _core.CompiledScenario, plan: Plan, seed: int) -> bytes:
    """Returns the header of a log as JSON: scenario, seed, real phones, and version of nodeb."""
    about = {
        "version": _core.version(),
        "core": core_hash(),
        "seed": seed,
        "phones": [{"name": one.name, "user": one.user} for one in plan.phones],
        "scenario": json.loads(scenario.to_json()),
    }
    return json.dumps(about).encode()


@dataclass(frozen=True)
class Replay:
    """Outcome of a replay: report on the real packets, and result tables."""

    report: dict[str, Any]
    """Counts, delays and losses of real packets.

    `differs` describes the first packet whose fate differs from the recording; None if there is
    none.
    """
    tables: Mapping[str, Mapping[str, Any]]
    """Result tables of all users, links and bearers."""


@dataclass(frozen=True)
class Recording:
    """A recorded emulation: path and header of its log, with functions that replay the log."""

    path: str
    """Path of the log file."""
    about: dict[str, Any]
    """Header of the log: `scenario`, `seed`, `phones`, and `version` and `core` of nodeb."""

    @property
    def is_same_core(self) -> bool:
        """Whether the log was recorded with the installed core (`nodeb._core`)."""
        return bool(self.about["core"] == core_hash())

    @property
    def seed(self) -> int:
        """Seed of the emulation's random streams."""
        return int(self.about["seed"])

    @cached_property
    def scenario(self) -> Scenario:
        """Scenario that was emulated.

        Raises:
            ScenarioError: this version cannot read the scenario.
        """
        return Scenario.from_dict(self.about["scenario"] | {"seed": self.seed})

    @property
    def users(self) -> list[int]:
        """Indices, in the scenario, of the users that were real phones, in the phones' order."""
        return [phone["user"] for phone in self.about["phones"]]

    def process(
        self,
        work: Callable[[_core.Control], Found],
        progress: ProgressCallback | None = None,
    ) -> Found:
        """Processes the log with a function of the core, in a thread, so that Ctrl-C can stop it.

        Args:
            work: function that calls the core; its argument reports the progress and can cancel it.
            progress: called with the fraction done and a short text.

        Raises:
            InputError: the log is damaged or does not match its scenario, or `work` refuses its
                arguments, such as the number of a connection that does not exist.
            RunError: the system cannot read the log or write the output, or nodeb itself failed.
            FullError: there is no space for the output.
        """

        def checked(control: _core.Control) -> Found:
            try:
                return work(control)
            except OSError as error:
                kind: type[NodebError] = InputError if error_number(error) is None else RunError
                if is_full(error):
                    kind = FullError
                raise kind(f"{self.path}: {os_reason(error)}") from None
            except ValueError as error:
                raise InputError(f"{self.path}: {error}") from None
            except _core.InternalError as error:
                raise RunError(str(error)) from None

        return run_with_progress(checked, progress)

    def replay(
        self,
        pcap: Path | None = None,
        *,
        radio: bool = False,
        progress: ProgressCallback | None = None,
    ) -> Replay:
        """Simulates the recorded packets again: each enters the cell at its recorded time.

        Args:
            pcap: file for a capture of the packets (pcapng); None for no capture.
            radio: whether to capture at the interfaces of the radio network too, with comments on
                packets.
            progress: called with the fraction done and a short text.

        Raises:
            InputError: the log is damaged or does not match its scenario.
            RunError: the log cannot be read, or the capture cannot be written.
            FullError: there is no space for the capture; its `outcome` is the replay without it.
            ScenarioError: this version cannot read the scenario.
        """
        compiled = self.scenario.compiled()

        def work(control: _core.Control) -> tuple[dict[str, Any], Mapping[str, Mapping[str, Any]]]:
            with nullcontext() if pcap is None else write_in_place(pcap) as path:
                return _core.replay_flight(
                    self.path, compiled, self.seed, self.users, control, path, radio
                )

        report, tables = self.process(work, progress)
        for phone, recorded in zip(report["phones"], self.about["phones"], strict=True):
            phone["name"] = recorded["name"]
        return Replay(report, tables)

    def explained(self, connection: int, progress: ProgressCallback | None = None) -> _Explained:
        """Replays the log and explains the transfer of a TCP connection.

        Returns the tables of the core by name: among them the transfer, and the spans of its
        critical path.

        Args:
            connection: number of the connection, from 0.
            progress: called with the fraction done and a short text.

        Raises:
            InputError: there is no such connection, none of its packets arrived, a packet's fate in
                the replay differs from the recording, or the log is damaged.
            RunError: the log cannot be read.
        """
        compiled = self.scenario.compiled()

        def work(control: _core.Control) -> _Explained:
            return _core.flight_explain(
                self.path, compiled, self.seed, self.users, connection, control
            )

        return self.process(work, progress)


def read(path: str | os.PathLike[str]) -> Recording:
    """Reads the header of a log.

    Raises:
        InputError: the file cannot be read, is not a log, or has an incomplete header.
    """
    shown = os.fspath(path)
    try:
        about = json.loads(_core.flight_header(shown))
    except OSError as error:
        raise InputError(f"{shown}: {os_reason(error)}") from None
    except ValueError:
        about = None
    if not (isinstance(about, dict) and {"scenario", "seed", "phones", "core"} <= set(about)):
        raise InputError(f"{shown}: the header of the recording is invalid")
    return Recording(shown, about)
