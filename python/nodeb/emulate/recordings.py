"""Recordings of emulations: log files, their headers, and their replay in virtual time."""

from __future__ import annotations

import hashlib
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

Output = TypeVar("Output")
CUT_OFF = "the log was cut off; this is the recording up to there"
"""Note on an incomplete log, for the output of commands."""


@dataclass
class Claim:
    """State of a file that is claimed for a recording."""

    is_needed: bool = False
    """Whether to keep a new file: true from when the phones' commands are started."""


@contextmanager
def claimed(path: Path | None) -> Iterator[Claim]:
    """Locks the file that an emulation records to, so that no other emulation writes it.

    The empty file of a killed emulation can be used again. Devices are not locked.

    Raises:
        OutputError: the file cannot be written, another emulation has claimed it, or it has
            content. A recording is never overwritten, as it cannot be made again.
    """
    claim = Claim()
    if path is None:
        yield claim
        return
    is_new = not path.exists()
    with writing(f"record to {path}"):
        file = path.open("ab")
    with file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and (_is_locked(file) or file.tell()):
            hint = "a recording is never overwritten; give another file with --record"
            raise OutputError(f"{path} exists, and {hint}")
        try:
            yield claim
        finally:
            if is_new and not claim.is_needed:
                path.unlink(missing_ok=True)


def _is_locked(file: Any) -> bool:
    """Locks a file, unless another process has done so; the lock ends with the process."""
    import fcntl

    with suppress(OSError):  # A file system without locks.
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def header(scenario: _core.CompiledScenario, plan: Plan, seed: int) -> bytes:
    """The header of a log as JSON: scenario, seed, real phones, and version of nodeb."""
    about = {
        "version": _core.version(),
        "core": core_hash(),
        "seed": seed,
        "phones": [{"name": phone.name, "user": phone.user} for phone in plan.phones],
        "scenario": json.loads(scenario.to_json()),
    }
    return json.dumps(about).encode()


@dataclass(frozen=True)
class Replay:
    """Outcome of a replay."""

    report: dict[str, Any]
    """Counts, delays and losses of real packets.

    `differs` describes the first packet whose fate differs from the recording; None if there is
    none.
    """
    tables: Mapping[str, Mapping[str, Any]]
    """Result tables of all users, links and bearers."""


@dataclass(frozen=True)
class Recording:
    """A recorded emulation, whose log can be replayed."""

    path: str
    about: dict[str, Any]
    """Header of the log: `scenario`, `seed`, `phones`, and `version` and `core` of nodeb."""

    @property
    def is_same_core(self) -> bool:
        """Whether the log was recorded with the installed core (`nodeb._core`)."""
        return bool(self.about["core"] == core_hash())

    @property
    def seed(self) -> int:
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

    @property
    def inputs(self) -> tuple[str, _core.CompiledScenario, int, list[int]]:
        """What the core needs to simulate the recorded packets again."""
        return self.path, self.scenario.compiled(), self.seed, self.users

    def digest(self) -> str:
        with open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def process(
        self,
        work: Callable[[_core.Control], Output],
        progress: ProgressCallback | None = None,
    ) -> Output:
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

        def checked(control: _core.Control) -> Output:
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
            InputError, RunError, FullError: see `process`.
            ScenarioError: this version cannot read the scenario.
        """
        inputs = self.inputs

        def work(control: _core.Control) -> tuple[dict[str, Any], Mapping[str, Mapping[str, Any]]]:
            with nullcontext() if pcap is None else write_in_place(pcap) as path:
                return _core.replay_flight(*inputs, control, path, radio)

        report, tables = self.process(work, progress)
        for phone, recorded in zip(report["phones"], self.about["phones"], strict=True):
            phone["name"] = recorded["name"]
        return Replay(report, tables)

    def explained(
        self, connection: int, progress: ProgressCallback | None = None
    ) -> dict[str, dict[str, Any]]:
        """Replays the log and explains the transfer of the TCP connection with this number.

        Returns the tables of the core by name: among them the transfer, and the spans of its
        critical path.

        Raises:
            InputError: there is no such connection, none of its packets arrived, a packet's fate in
                the replay differs from the recording, or the log is damaged.
            RunError: the log cannot be read.
        """
        inputs = self.inputs
        return self.process(
            lambda control: _core.flight_explain(*inputs, connection, control), progress
        )


def read(path: str | os.PathLike[str]) -> Recording:
    """Reads the header of a log.

    Raises:
        InputError: the file cannot be read, is not a log, or has an incomplete header.
    """
    shown = os.fspath(path)
    if not os.path.exists(shown):
        raise InputError(f"{shown}: there is no such file")
    try:
        about = json.loads(_core.flight_header(shown))
    except OSError as error:
        raise InputError(f"{shown}: {os_reason(error)}") from None
    except ValueError:
        about = None
    if not (isinstance(about, dict) and {"scenario", "seed", "phones", "core"} <= set(about)):
        raise InputError(f"{shown}: the header of the recording is invalid")
    return Recording(shown, about)
