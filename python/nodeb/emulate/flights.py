"""Recorded flights: what a log says of itself, and flying one again in virtual time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from nodeb import _core
from nodeb.emulate.plan import Plan
from nodeb.errors import (
    FullError,
    InputError,
    OutputError,
    RunError,
    is_full,
    os_reason,
    writing,
)
from nodeb.inputs.scenario import Scenario
from nodeb.replication.capture import write_in_place
from nodeb.replication.threaded import run_with_progress
from nodeb.results.provenance import core_hash
from nodeb.terminal.progress import ProgressCallback

__all__ = ["CUT_OFF", "Flight", "Flown", "check_place", "header", "read"]

Found = TypeVar("Found")
CUT_OFF = "the log was cut off; this is the flight up to there"
"""What is said of a log without its end, by every command that reads one."""
_Told = dict[str, dict[str, Any]]


def check_place(path: Path) -> None:
    """Complains about a log that cannot be written, before anything begins.

    Raises:
        OutputError: it cannot, or there is a file already: no flight can be repeated.
    """
    was_there = path.exists()
    if path.is_file() and path.stat().st_size:
        hint = "nothing is recorded over it; give another file with --record"
        raise OutputError(f"{path} is there already, and {hint}")
    with writing(f"record to {path}"), open(path, "ab"):
        pass
    if not was_there:
        path.unlink()


def header(scenario: _core.CompiledScenario, plan: Plan, seed: int) -> bytes:
    """What a log says of its flight: all that it takes to fly it again."""
    told = {
        "version": _core.version(),
        "core": core_hash(),
        "seed": seed,
        "phones": [{"name": one.name, "user": one.user} for one in plan.phones],
        "scenario": json.loads(scenario.to_json()),
    }
    return json.dumps(told).encode()


@dataclass(frozen=True)
class Flown:
    """What came of flying again."""

    report: dict[str, Any]
    """What became of real packets; `differs` says what first was not as in the flight."""
    tables: Mapping[str, Mapping[str, Any]]
    """The tables of the whole world."""


@dataclass(frozen=True)
class Flight:
    """A recorded flight."""

    path: str
    """Its log."""
    about: dict[str, Any]
    """What the log says of it."""

    @property
    def is_of_this_core(self) -> bool:
        """Whether it was recorded with the very core that is here."""
        return bool(self.about["core"] == core_hash())

    @property
    def seed(self) -> int:
        """Seed of the random streams."""
        return int(self.about["seed"])

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario that was emulated.

        Raises:
            ScenarioError: it is none that this version knows.
        """
        return Scenario.from_dict(self.about["scenario"] | {"seed": self.seed})

    @property
    def users(self) -> list[int]:
        """The users of the real phones."""
        return [phone["user"] for phone in self.about["phones"]]

    def look(
        self,
        work: Callable[[_core.Control], Found],
        progress: ProgressCallback | None = None,
    ) -> Found:
        """Does something with the log in a thread, so that Ctrl-C ends it.

        Args:
            work: what is done; it is watched by what it is given.
            progress: called with the fraction done and a few words.

        Raises:
            InputError: what was asked for is not there.
            RunError: the log is damaged, or does not fit.
        """

        def told(control: _core.Control) -> Found:
            try:
                return work(control)
            except OSError as error:
                kind = FullError if is_full(error) else RunError
                raise kind(f"{self.path}: {os_reason(error)}") from None
            except ValueError as error:
                raise InputError(f"{self.path}: {error}") from None
            except _core.InternalError as error:
                raise RunError(str(error)) from None

        return run_with_progress(told, progress)

    def fly(
        self,
        pcap: Path | None = None,
        *,
        radio: bool = False,
        progress: ProgressCallback | None = None,
    ) -> Flown:
        """Offers the same packets at the same times.

        Args:
            pcap: packets that pass the interfaces go here (pcapng).
            radio: capture at the RNC and the Node B too, with comments on packets.
            progress: called with the fraction done and a few words.

        Raises:
            RunError: the log is damaged, or the capture cannot be written.
            FullError: there is no room for the capture; the error has what flying it came to.
            ScenarioError: its scenario is none that this version knows.
        """
        compiled = self.scenario.compiled()

        def work(control: _core.Control) -> tuple[dict[str, Any], Mapping[str, Mapping[str, Any]]]:
            with nullcontext() if pcap is None else write_in_place(pcap) as path:
                return _core.replay_flight(
                    self.path, compiled, self.seed, self.users, control, path, radio
                )

        try:
            report, tables = self.look(work, progress)
        except FullError as full:
            full.outcome = self.fly(progress=progress)
            raise
        for phone, told in zip(report["phones"], self.about["phones"], strict=True):
            phone["name"] = told["name"]
        return Flown(report, tables)

    def explained(self, connection: int, progress: ProgressCallback | None = None) -> _Told:
        """The transfer of a TCP connection by its number, and the spans of its path.

        Raises:
            InputError: there is none, nothing of it arrived, or the cell is another.
            RunError: the log cannot be flown again.
        """
        compiled = self.scenario.compiled()

        def work(control: _core.Control) -> _Told:
            return _core.flight_explain(
                self.path, compiled, self.seed, self.users, connection, control
            )

        return self.look(work, progress)


def read(path: str | os.PathLike[str]) -> Flight:
    """A recorded flight.

    Raises:
        InputError: the log cannot be read, or is none.
    """
    shown = os.fspath(path)
    try:
        about = json.loads(_core.flight_header(shown))
    except OSError as error:
        raise InputError(f"{shown}: {os_reason(error)}") from None
    except ValueError:
        about = None
    if not (isinstance(about, dict) and {"scenario", "seed", "phones", "core"} <= set(about)):
        raise InputError(f"{shown}: what it says of its flight cannot be understood")
    return Flight(shown, about)
