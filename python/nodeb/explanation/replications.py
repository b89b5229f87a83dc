"""The critical paths of a transfer in the replications of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.base.table import Table
from nodeb.base.units import NS_PER_S
from nodeb.errors import InputError, RunError
from nodeb.inputs.scenario import Scenario
from nodeb.replication.engine import Single, Subject
from nodeb.replication.pool import Jobs
from nodeb.replication.rules import Count
from nodeb.replication.work import Source, Work
from nodeb.terminal.progress import ProgressCallback

__all__ = ["CAUSES", "Path", "path_of", "paths"]

CAUSES: dict[str, str] = dict(_core.causes())
"""Every cause and what it means, in the order of the list."""


Columns = Mapping[str, Any]
"""Columns of spans as the core gives them: those of texts as places in a list, and the list."""


@dataclass(frozen=True)
class Path:
    """The critical path of a transfer in one replication."""

    run: int
    begun_s: float
    ended_s: float
    """When the phone had its last byte in order, or the run ended."""
    bytes: int
    complete: bool
    """Whether the phone had all of it when the run ended."""
    causes: Mapping[str, int]
    """Nanoseconds of each cause that there is; they add up to the time exactly."""
    packets: Mapping[str, int]
    """Packets on whose ways they were spent."""
    places: Mapping[str, Mapping[str, int]]
    """Nanoseconds of each cause at each place."""
    steps: Mapping[str, Mapping[str, int]]
    """Nanoseconds of each cause in which each thing was happening."""
    columns: Columns | None = field(default=None, compare=False, repr=False)
    """Its spans as the core gives them; kept of the first replication."""

    @cached_property
    def spans(self) -> Table:
        """Its spans in order of time, where they are kept; see `Explanation.spans`.

        Of large files they are millions: texts are made when somebody asks for them.
        """
        columns = self.columns or {}
        return Table(
            {
                name: np.array(column[1], dtype=str)[column[0]]
                if isinstance(column, tuple)
                else column
                for name, column in columns.items()
            }
        )

    def step_ns(self, step: str) -> int:
        """How long something was happening, whatever for, ns."""
        return sum(of_cause.get(step, 0) for of_cause in self.steps.values())

    @property
    def time_ns(self) -> int:
        """What the transfer took, ns: the sum of all causes."""
        return sum(self.causes.values())


class Explaining(Work[list[Path]]):
    """Replications as far as a transfer goes, explained.

    Args:
        scenario: what is simulated.
        user: number of the user.
        transfer: number of the transfer.
    """

    def __init__(self, scenario: Source, user: int, transfer: int) -> None:
        self.source, self.user, self.transfer = scenario, user, transfer

    def replicate(self, seed: int, runs: range, control: _core.Control) -> list[Path]:
        """Explains the transfer in replications that go together."""
        return [self._path(seed, run, control) for run in runs]

    def _path(self, seed: int, run: int, control: _core.Control) -> Path:
        try:
            found = self.source.compiled().explain(seed, run, self.user, self.transfer, control)
        except ValueError as error:
            raise InputError(str(error)) from None
        return path_of(run, found)


def path_of(run: int, found: Mapping[str, Any]) -> Path:
    """A path as the core gives it."""
    about = {name: column[0] for name, column in found["transfer"].items()}
    columns = found["spans"]
    steps = _by_cause(columns, "step")
    return Path(
        run,
        about["begun_ns"] / NS_PER_S,
        about["ended_ns"] / NS_PER_S,
        int(about["bytes"]),
        bool(about["complete"]),
        {cause: sum(of_cause.values()) for cause, of_cause in steps.items()},
        _packets(columns),
        _by_cause(columns, "place"),
        steps,
        columns if run == 0 else None,
    )


def _by_cause(columns: Columns, name: str) -> dict[str, dict[str, int]]:
    """Nanoseconds of each cause by the texts of a column."""
    (causes, names), (codes, texts) = columns["cause"], columns[name]
    cells = causes.astype(np.int64) * len(texts) + codes
    # Sums of whole nanoseconds are exact up to 104 days, which no run lasts.
    sums = np.bincount(cells, columns["end_ns"] - columns["begin_ns"], len(names) * len(texts))
    rows = sums.astype(np.int64).reshape(len(names), len(texts)).tolist()
    return {
        cause: dict(zip(texts, row, strict=True)) for cause, row in zip(names, rows, strict=True)
    }


def _packets(columns: Columns) -> dict[str, int]:
    """Packets of each cause."""
    codes, names = columns["cause"]
    # Sorted pairs take a tenth of the time of `np.unique`, which hashes.
    pairs = np.sort(columns["packet"] * np.uint64(len(names)) + codes)
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
    found = np.bincount((pairs % np.uint64(len(names))).astype(np.int64), minlength=len(names))
    return dict(zip(names, found.tolist(), strict=True))


def paths(
    planned: Scenario, user: int, transfer: int, jobs: Jobs, progress: ProgressCallback | None
) -> list[Path]:
    """The paths of a transfer in all replications that a resolved scenario asks for.

    Raises:
        InputError: there is no such user or transfer.
        RunError: a replication failed.
    """
    planned.check_user(user)
    work = Explaining(Source.of(planned), user, transfer)
    only = Subject(work, Count(planned.runs))
    try:
        text = f" of {planned.runs} replications"
        Single(only, planned.seed, jobs, progress, text).run()
    except RunError as error:
        if isinstance(error.__cause__, InputError):
            raise error.__cause__ from None
        raise
    return [path for part in only.known.finished for path in part][: planned.runs]
