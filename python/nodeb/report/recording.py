"""One replication, simulated again with recorded series, for the figures of a page.

Recording does not change the simulation, so the figures agree with the measured values. Memory is
bounded: of a long replication, only the first part is simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nodeb import _core
from nodeb.errors import NodebError, RunError
from nodeb.inputs.scenario import Scenario
from nodeb.replication.cells import ReplicationWork
from nodeb.replication.pool import run_with_progress
from nodeb.replication.work import Source
from nodeb.results.provenance import Provenance
from nodeb.results.result import Result
from nodeb.scenario_types import Hsdpa
from nodeb.terminal.progress import ProgressCallback

SERIES = ("cwnd", "segments", "rtt", "queue", "transfers")
"""Series that are recorded for every scenario."""
MAX_METERED = 50
"""Largest number of users whose bandwidth is recorded: the effort grows with their square."""
MAX_ROWS = 1_500_000
"""Approximate maximum number of rows of all series together, which take about 150 MB."""
ROWS_PER_PACKET = 6.5
"""Approximate number of rows of all series per packet sent.

These are: sent, arrived, acknowledged, queued, dequeued, window, and some retransmissions.
"""
LOOKS_PER_S = 50.0
"""Rows of the series `bandwidth` per user and second."""
LAST = 1 - 1e-6
"""Start of groups that would start only after the simulated part, as a fraction of that part."""
TRIES = 12
"""Largest number of attempts to find a part of the replication that has few enough rows."""


@dataclass(frozen=True)
class Recording:
    """A replication with its series, or the reason why it is missing."""

    result: Result | None
    """Result of the replication; None if `problem` states why it is missing."""
    until_s: float | None = None
    """Time at which the replication was cut off, s; None if it is complete."""
    problem: str = ""
    """Reason for a missing result, a sentence."""
    is_again: bool = False
    """True if the replication was simulated again."""
    note: str = ""
    """Sentence on series that were not recorded."""
    run: int = 0
    """Index of the replication, from 0."""

    @property
    def summary(self) -> str:
        """Sentences on what the figures omit; "" if the whole replication is recorded."""
        if self.until_s is None:
            return self.note
        part = f"Shown are the first {self.until_s:g} s, as the whole is too long to record."
        return f"{part} {self.note}".strip()


def record(
    result: Result,
    progress: ProgressCallback | None = None,
    max_rows: int = MAX_ROWS,
    run: int = 0,
) -> Recording:
    """Returns one replication of a result, with all series; simulates it again if they are missing.

    A replication with more rows than about `max_rows` is cut off.
    """
    users = len(np.unique(result.flows["user"]))
    is_hsdpa = isinstance(result.scenario.radio, Hsdpa)
    is_metered = is_hsdpa and users <= MAX_METERED
    names = [*SERIES, *(["bandwidth"] if is_metered else [])]
    if all(name in result.tables for name in names):
        return Recording(_only(result, run), run=run)
    try:
        rows_per_s = LOOKS_PER_S * users if is_metered else 0.0
        until, scenario = _within(result, max_rows, rows_per_s, run)
        recorded = scenario.with_(**{f"record.{name}": True for name in names})
        again = replicated(recorded, result.provenance.seed, run, progress)
    except NodebError as error:
        return Recording(None, problem=f"Replication {run} cannot be recorded: {error}.")
    except MemoryError:
        return Recording(None, problem="There is not enough memory to record the series.")
    if not len(again.segments):
        part = "The replication" if until is None else "The part that fits in memory"
        return Recording(None, problem=f"{part} is too short to show anything.")
    note = (
        f"The channel quality of more than {MAX_METERED} users takes long to record: "
        "`record.bandwidth = true` does it."
    )
    return Recording(again, until, "", True, note if is_hsdpa and not is_metered else "", run)


def replicated(
    scenario: Scenario, seed: int, run: int, progress: ProgressCallback | None = None
) -> Result:
    """Simulates one replication of a scenario, with any index, and returns its result."""
    planned = scenario.planned(runs=1, seed=seed)
    work = ReplicationWork(Source.of(planned))
    try:
        tables = run_with_progress(
            lambda control: work.replicate(planned.seed, range(run, run + 1), control), progress
        )
    except _core.InternalError as error:
        raise RunError(str(error)) from None
    about = {"stopping": "as asked", "precision_reached": None, "wall_time_s": 0.0, "jobs": 1}
    return Result(planned, tables, Provenance.now(seed=planned.seed, runs=1, **about))


def _only(result: Result, run: int) -> Result:
    tables = {
        name: table.where(np.asarray(table["run"]) == run) for name, table in result.tables.items()
    }
    return Result(result.scenario, tables, result.provenance)


def _within(
    result: Result, max_rows: int, rows_per_s: float, run: int
) -> tuple[float | None, Scenario]:
    """Returns the scenario of a part of the replication with few enough rows, and the part's end.

    The end, s, is `None` if the whole replication has at most `max_rows` rows.
    """
    whole = part = result.scenario.with_(record={"bandwidth": False})
    tried, until = _only(result, run), None
    flows = tried.flows
    begins, groups = np.asarray(flows["start_s"]), np.asarray(flows["group"])
    for _ in range(TRIES):
        end = float(np.max(tried.bearers["end_s"]))
        rows = ROWS_PER_PACKET * float(np.sum(tried.flows["packets_sent"])) + rows_per_s * end
        if rows <= max_rows:
            return until, part
        # If most packets are sent early, a proportional part still has too many rows, so try again.
        until = 0.95 * end * max_rows / rows
        power = 10.0 ** (math.floor(math.log10(until)) - 1)
        until = float(f"{math.floor(until / power) * power:.12g}")
        changes = {"duration": f"{until:.9f} s"}
        # The core rejects a group that starts after the end of the scenario. So a group whose users
        # all start later starts just before the end instead.
        for number, name in enumerate(flows.distinct("group")):
            if not (begins[groups == name] < until).any():
                changes[f"users.{number}.start"] = f"{LAST * until:.9f} s"
                changes[f"users.{number}.stagger"] = "0 s"
        part = whole.with_(**changes)
        tried = replicated(part, result.provenance.seed, run)
    raise NodebError(f"even its first {until:.3g} s have too many packets")
