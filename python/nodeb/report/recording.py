"""One replication again, with its series recorded, for the pictures of a page.

Recording changes no table, so that what is seen is what was measured. Memory is bounded: of a long
replication the first part is simulated.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from nodeb import _core
from nodeb.errors import NodebError, RunError
from nodeb.inputs.scenario import Scenario
from nodeb.replication.cells import ReplicationWork
from nodeb.replication.watched import watched
from nodeb.replication.work import Source
from nodeb.results.provenance import Provenance, utc_now
from nodeb.results.result import Result
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Recording", "record", "replicated", "told_of"]

SERIES = ("cwnd", "segments", "rtt", "queue", "transfers")
"""What is recorded of every scenario."""
OF_CELLS = ("bandwidth",)
"""What is recorded on `hsdpa` too."""
MAX_METERED = 50
"""Users whose bandwidth is recorded at most: each is weighed against all others in every TTI."""
MAX_ROWS = 1_500_000
"""So many rows of series are kept, about 150 MB."""
ROWS_PER_PACKET = 6.5
"""Sent, arrived, acknowledged; into the queue and out; the window; and some that go again."""
LOOKS_PER_S = 50.0
"""Rows of `bandwidth` for each user."""
LAST = 1 - 1e-6
"""When those begin who would begin after a part, as a share of it."""
TRIES = 12
"""Attempts at a part that is short enough."""


@dataclass(frozen=True)
class Recording:
    """A replication with its series, or why there is none."""

    result: Result | None
    """A result of one replication."""
    until_s: float | None = None
    """Where it was cut off, s; None if it is whole."""
    problem: str = ""
    """Why there is nothing, a sentence."""
    is_again: bool = False
    """Whether it was simulated again."""
    note: str = ""
    """What is left out, a sentence."""
    run: int = 0
    """Number of the replication."""

    @property
    def told(self) -> str:
        """What is shown and what is not, in sentences; nothing where it is all."""
        if self.until_s is None:
            return self.note
        part = f"Shown are the first {self.until_s:g} s, as the whole is too long to record."
        return f"{part} {self.note}".strip()


def told_of(result: Result, recording: Recording) -> str:
    """Which replication it is of how many, at the beginning of a sentence."""
    runs = result.provenance.runs
    return "The replication" if runs == 1 else f"Replication {recording.run} of {runs}"


def record(
    result: Result,
    progress: ProgressCallback | None = None,
    most_rows: int = MAX_ROWS,
    run: int = 0,
) -> Recording:
    """A replication of a result with all of its series.

    Args:
        result: it is used as it is if its scenario has recorded everything.
        progress: told how far the simulation is.
        most_rows: about so many rows are kept at most.
        run: which replication.
    """
    users = len(np.unique(result.flows["user"]))
    has_cell = "phones" in result.tables
    is_metered = has_cell and users <= MAX_METERED
    names = [*SERIES, *(OF_CELLS if is_metered else ())]
    try:
        if all(name in result.tables for name in names):
            return Recording(_only(result, run), run=run)
        scenario = result.scenario.with_(
            **{f"record.{name}": False for name in (*SERIES, *OF_CELLS, "scheduler")}
        )
        looks = LOOKS_PER_S * users if is_metered else 0.0
        until = _until(result, scenario, most_rows, looks, run)
        if until is not None:
            scenario = _cut(scenario, result, until, run)
        recorded = scenario.with_(**{f"record.{name}": True for name in names})
        again = replicated(recorded, result.provenance.seed, run, progress)
    except NodebError as error:
        return Recording(None, problem=f"Replication {run} cannot be recorded: {error}.")
    except MemoryError:
        return Recording(None, problem="There is not enough memory to record the series.")
    if not len(again.segments):
        part = "The replication" if until is None else "The part that fits in memory"
        return Recording(None, problem=f"{part} is too short to show anything.")
    note = ""
    if has_cell and not is_metered:
        note = (
            f"The channel quality of more than {MAX_METERED} users takes long to record: "
            "`record.bandwidth = true` does it."
        )
    return Recording(again, until, is_again=True, note=note, run=run)


def replicated(
    scenario: Scenario, seed: int, run: int, progress: ProgressCallback | None = None
) -> Result:
    """One replication of a scenario, whatever its number.

    Raises:
        RunError: it failed.
    """
    planned = scenario.planned(runs=1, seed=seed)
    work = ReplicationWork(Source.of(planned))
    begin, started = time.perf_counter(), utc_now()
    try:
        tables = watched(
            lambda control: work.replicate(planned.seed, range(run, run + 1), control), progress
        )
    except _core.InternalError as error:
        raise RunError(str(error)) from None
    about = Provenance.now(
        seed=planned.seed,
        runs=1,
        stopping="as asked",
        precision_reached=None,
        wall_time_s=round(time.perf_counter() - begin, 6),
        jobs=1,
        started=started,
    )
    return Result(planned, tables, about)


def _only(result: Result, run: int) -> Result:
    """One replication of a result."""
    tables = {
        name: table.where(np.asarray(table["run"]) == run) for name, table in result.tables.items()
    }
    return Result(result.scenario, tables, result.provenance)


def _until(
    result: Result, scenario: Scenario, most_rows: int, looks_per_s: float, run: int
) -> float | None:
    """How long a part of the replication has few enough rows, s; None for all of it."""
    seed, tried, until = result.provenance.seed, _only(result, run), None
    for _ in range(TRIES):
        end = float(np.max(tried.bearers["end_s"]))
        # About how many rows the series of the replication have.
        rows = ROWS_PER_PACKET * float(np.sum(tried.flows["packets_sent"])) + looks_per_s * end
        if rows <= most_rows:
            return until
        # Where most happens early, a part in proportion has still too much in it.
        until = _rounded(0.95 * end * most_rows / rows)
        tried = replicated(_cut(scenario, result, until, run), seed, run)
    raise NodebError(f"even its first {until:.3g} s have too many packets")


def _rounded(seconds: float) -> float:
    """A time of two digits, not longer."""
    power = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    return float(f"{math.floor(seconds / power) * power:.12g}")


def _cut(scenario: Scenario, result: Result, until_s: float, run: int) -> Scenario:
    """The scenario until some time; who begins later begins, and has no time for more, at its end.

    A group that would still begin is refused in a scenario.
    """
    flows = _only(result, run).flows
    begins, groups = np.asarray(flows["start_s"]), np.asarray(flows["group"])
    changes = {"duration": f"{until_s:.9f} s"}
    for number, name in enumerate(flows.distinct("group")):
        if not (begins[groups == name] < until_s).any():
            changes |= {f"users.{number}.start": f"{LAST * until_s:.9f} s"}
            changes |= {f"users.{number}.stagger": "0 s"}
    return scenario.with_(**changes)
