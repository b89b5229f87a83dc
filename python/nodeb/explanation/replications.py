"""The critical paths of a transfer in the replications of a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from nodeb import _core
from nodeb.answer.words import counted
from nodeb.base.table import Table
from nodeb.base.units import NS_PER_S
from nodeb.errors import InputError, RunError
from nodeb.inputs.scenario import Scenario
from nodeb.replication.engine import Single, Subject
from nodeb.replication.pool import Jobs, run_with_progress
from nodeb.replication.rules import count
from nodeb.replication.work import Source, Work
from nodeb.terminal.progress import ProgressCallback

__all__ = ["CAUSES", "Path", "path_of", "paths", "simulate_path"]

CAUSES: dict[str, str] = dict(_core.causes())
"""Meaning of every cause by name, in the order of the core."""


REPAIRS = ("recovery", "timeout")
"""Causes whose time is spent on the repair of a loss, or on the wait for it."""
LOST = ("lost_on_links", "lost_in_queues", "lost_on_radio", "cut_by_marks")
"""Columns of a transfer that count losses and window reductions, in the order of `Lost`."""

Columns = Mapping[str, Any]
"""Columns of spans from the core: arrays of numbers or, for texts, pairs.

A pair has an array of indices and the list of texts to which they refer.
"""


class Share(NamedTuple):
    """Attributes that the spans of one group have in common.

    The spans of a critical path are grouped by these attributes. Each group is a share of its time.
    """

    cause: str
    step: str = ""
    """Activity at `place`, such as `propagates`."""
    place: str = ""
    round: str = ""
    """Cause of the round trip that the span is part of; empty after the last round trip."""
    after_loss: bool = False
    """True for spans from the first repair of a loss on the path, inclusive, to the path's end."""


class Lost(NamedTuple):
    """Packets of a connection that were lost during a transfer, by reason, and effects of marks."""

    links: int = 0
    queues: int = 0
    radio: int = 0
    marks: int = 0
    """Number of window reductions because of packets that queues marked (ECN), not of losses."""


NOTHING_LOST = Lost()


@dataclass(frozen=True)
class Path:
    """Critical path of a transfer in one replication, with the time of each share (`Share`)."""

    run: int
    begun_s: float
    ended_s: float
    """Time in the run, s, at which the receiver had its last byte in order.

    If the transfer is incomplete, it is the time at which the run ended.
    """
    bytes: int
    complete: bool
    """True if the receiver had everything at the end of the run."""
    shares: Mapping[Share, int]
    """Time of each share of the path, ns; the times add up to the duration exactly."""
    packets: Mapping[str, int]
    """Number of packets delayed by each cause."""
    lost: Lost = NOTHING_LOST
    """Packets of the connection that were lost during the transfer, by reason."""
    busy: Mapping[str, int] = field(default_factory=dict)
    """Time in which each link or channel was sending packets of the connection, ns, by its name."""
    columns: Columns | None = field(default=None, compare=False, repr=False)
    """Spans as returned by the core; None if they are not kept, see `Explanation.typical`."""

    @cached_property
    def spans(self) -> Table:
        """Spans in order of time; an empty table if they are not kept. See `Explanation.spans`.

        Large files have millions of spans, so texts are only created on access.
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

    @cached_property
    def causes(self) -> dict[str, int]:
        """Time of each cause that occurs, ns; the times add up to the duration exactly."""
        return _sums((share.cause, ns) for share, ns in self.shares.items())

    def places(self, cause: str) -> dict[str, int]:
        """Returns the time, ns, of a cause at each place, such as a link, by name of the place."""
        own = [(share.place, ns) for share, ns in self.shares.items() if share.cause == cause]
        return _sums(own)

    def steps(self, cause: str) -> dict[str, int]:
        """Returns the time, ns, of a cause in each step, by name of the step: `propagates` etc."""
        own = [(share.step, ns) for share, ns in self.shares.items() if share.cause == cause]
        return _sums(own)

    @property
    def time_ns(self) -> int:
        """Duration of the transfer, ns: the sum of all causes."""
        return sum(self.shares.values())


class Explaining(Work[list[Path]]):
    """Work that simulates replications up to the end of a transfer and returns its paths.

    Args:
        scenario: the scenario to simulate.
        user: index of the user.
        transfer: index of the transfer.
    """

    def __init__(self, scenario: Source, user: int, transfer: int) -> None:
        self.source, self.user, self.transfer = scenario, user, transfer

    def replicate(self, seed: int, runs: range, control: _core.Control) -> list[Path]:
        """Simulates the replications `runs`. Returns the critical path of the transfer in each.

        Only the path of replication 0 keeps its spans.
        """
        return [self._path(seed, run, control) for run in runs]

    def _path(self, seed: int, run: int, control: _core.Control) -> Path:
        return path_of(run, self.found(seed, run, control), has_spans=run == 0)

    def found(self, seed: int, run: int, control: _core.Control) -> dict[str, Any]:
        """Simulates one replication. Returns the tables of the path, as returned by the core.

        Raises:
            InputError: there is no such user or transfer.
        """
        try:
            return self.source.compiled().explain(seed, run, self.user, self.transfer, control)
        except ValueError as error:
            raise InputError(str(error)) from None


def simulate_path(scenario: Scenario, user: int, transfer: int, run: int) -> Path:
    """Simulates one replication again. Returns the path of a transfer, with its spans."""
    planned = scenario.planned()
    work = Explaining(Source.of(planned), user, transfer)
    found = run_with_progress(lambda control: work.found(planned.seed, run, control))
    return path_of(run, found)


def path_of(run: int, found: Mapping[str, Any], *, has_spans: bool = True) -> Path:
    """Returns a path from the core's result; `has_spans` keeps its spans, which may be many."""
    about = {name: column[0] for name, column in found["transfer"].items()}
    columns = found["spans"]
    return Path(
        run,
        about["begun_ns"] / NS_PER_S,
        about["ended_ns"] / NS_PER_S,
        int(about["bytes"]),
        bool(about["complete"]),
        _shares(columns),
        _packets(columns),
        Lost(*(int(about[name]) for name in LOST)),
        dict(zip(found["busy"]["place"], found["busy"]["busy_ns"].tolist(), strict=True)),
        columns if has_spans else None,
    )


def _shares(columns: Columns) -> dict[Share, int]:
    """Shares without time are left out."""
    found = [columns[name] for name in ("cause", "step", "place", "round")]
    shape = [len(names) for _, names in found] + [2]
    cells = np.ravel_multi_index((*(codes for codes, _ in found), _after_loss(columns)), shape)
    # Sums of whole nanoseconds are exact up to 104 days; a run lasts at most 93 days.
    sums = np.bincount(cells, columns["end_ns"] - columns["begin_ns"]).astype(np.int64)
    shares = {}
    for cell in np.flatnonzero(sums):
        *codes, after = np.unravel_index(cell, shape)
        texts = [names[code] for (_, names), code in zip(found, codes, strict=True)]
        cause, step, place, why = texts
        shares[Share(cause, step, place, why, bool(after))] = int(sums[cell])
    return shares


def _after_loss(columns: Columns) -> np.ndarray:
    """Returns an array with one element per span: true from the first repair of a loss on."""
    codes, names = columns["cause"]
    repairs = np.isin(codes, [names.index(cause) for cause in REPAIRS if cause in names])
    return np.cumsum(repairs) > 0


def _sums(parts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Returns the sum of the times, ns, that belong to each name, by name."""
    sums: dict[str, int] = {}
    for name, ns in parts:
        sums[name] = sums.get(name, 0) + ns
    return sums


def _packets(columns: Columns) -> dict[str, int]:
    codes, names = columns["cause"]
    # Sorting finds distinct pairs of packet and cause in a tenth of the time of `np.unique`.
    pairs = np.sort(columns["packet"] * np.uint64(len(names)) + codes)
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
    found = np.bincount((pairs % np.uint64(len(names))).astype(np.int64), minlength=len(names))
    return dict(zip(names, found.tolist(), strict=True))


def paths(
    planned: Scenario, user: int, transfer: int, jobs: Jobs, progress: ProgressCallback | None
) -> list[Path]:
    """Returns the paths of a transfer in all replications of a resolved scenario.

    Raises:
        InputError: there is no such user or transfer.
        RunError: a replication failed.
    """
    planned.check_user(user)
    work = Explaining(Source.of(planned), user, transfer)
    only = Subject(work, count(planned.runs))
    try:
        text = f" of {counted(planned.runs, 'replication')}"
        Single(only, planned.seed, jobs, progress, text).run()
    except RunError as error:
        if isinstance(error.__cause__, InputError):
            raise error.__cause__ from None
        raise
    return [path for part in only.finished for path in part][: planned.runs]
