"""One replication, simulated again with recorded series, for the figures of a page.

Recording does not change the simulation, so the figures agree with the measured values. Memory is
bounded: of a long replication, only the first part is simulated.
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
from nodeb.replication.pool import run_with_progress
from nodeb.replication.work import Source
from nodeb.results.provenance import Provenance, utc_now
from nodeb.results.result import Result
from nodeb.scenario_types import Hsdpa
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Recording", "record", "replicated", "replication_name"]

SERIES = ("cwnd", "segments", "rtt", "queue", "transfers")
"""Series that are recorded for every scenario."""
OF_CELLS = ("bandwidth",)
"""Series that are also recorded on `hsdpa`, with at most `MAX_METERED` users."""
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


def replication_name(result: Result, recording: Recording) -> str:
    """Returns the beginning of a sentence: "Replication I (of 0 to N - 1)".

    It is "The replication" if N is 1.
    """
    runs = result.provenance.runs
    return "The replication" if runs == 1 else f"Replication {recording.run} (of 0 to {runs - 1})"


def record(
    result: Result,
    progress: ProgressCallback | None = None,
    max_rows: int = MAX_ROWS,
    run: int = 0,
) -> Recording:
    """Returns one replication of a result, with all series; simulates it again if they are missing.

    Args:
        result: result of the run, used without a new simulation if it has all series.
        progress: callback for the progress of the simulation.
        max_rows: approximate maximum number of rows; a longer replication is cut off.
        run: index of the replication.
    """
    users = len(np.unique(result.flows["user"]))
    has_meter = isinstance(result.scenario.radio, Hsdpa)
    is_metered = has_meter and users <= MAX_METERED
    names = [*SERIES, *(OF_CELLS if is_metered else ())]
    try:
        if all(name in result.tables for name in names):
            return Recording(_only(result, run), run=run)
        scenario = result.scenario.with_(
            **{f"record.{name}": False for name in (*SERIES, *OF_CELLS, "scheduler")}
        )
        looks = LOOKS_PER_S * users if is_metered else 0.0
        until = _until(result, scenario, max_rows, looks, run)
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
    if has_meter and not is_metered:
        note = (
            f"The channel quality of more than {MAX_METERED} users takes long to record: "
            "`record.bandwidth = true` does it."
        )
    return Recording(again, until, is_again=True, note=note, run=run)


def replicated(
    scenario: Scenario, seed: int, run: int, progress: ProgressCallback | None = None
) -> Result:
    """Simulates one replication of a scenario, with any index, and returns its result.

    Raises:
        RunError: the replication failed.
    """
    planned = scenario.planned(runs=1, seed=seed)
    work = ReplicationWork(Source.of(planned))
    begin, started = time.perf_counter(), utc_now()
    try:
        tables = run_with_progress(
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
    """Returns the result reduced to the replication with index `run`."""
    tables = {
        name: table.where(np.asarray(table["run"]) == run) for name, table in result.tables.items()
    }
    return Result(result.scenario, tables, result.provenance)


def _until(
    result: Result, scenario: Scenario, max_rows: int, looks_per_s: float, run: int
) -> float | None:
    """Returns the time, s, at which to cut the replication so that its series have few enough rows.

    The result is `None` if the whole replication has at most `max_rows` rows.

    Raises:
        NodebError: after `TRIES` attempts the part still has too many rows.
    """
    seed, tried, until = result.provenance.seed, _only(result, run), None
    for _ in range(TRIES):
        end = float(np.max(tried.bearers["end_s"]))
        # This is the approximate number of rows in the series of the replication.
        rows = ROWS_PER_PACKET * float(np.sum(tried.flows["packets_sent"])) + looks_per_s * end
        if rows <= max_rows:
            return until
        # If most packets are sent early, a proportional part still has too many rows, so try again.
        until = _rounded(0.95 * end * max_rows / rows)
        tried = replicated(_cut(scenario, result, until, run), seed, run)
    raise NodebError(f"even its first {until:.3g} s have too many packets")


def _rounded(seconds: float) -> float:
    """Returns a time rounded down to two significant digits."""
    power = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    return float(f"{math.floor(seconds / power) * power:.12g}")


def _cut(scenario: Scenario, result: Result, until_s: float, run: int) -> Scenario:
    """Returns the scenario, ended at `until_s`.

    The core rejects a group that starts after the end of the scenario. So a group whose users all
    start later starts just before the end instead.
    """
    flows = _only(result, run).flows
    begins, groups = np.asarray(flows["start_s"]), np.asarray(flows["group"])
    changes = {"duration": f"{until_s:.9f} s"}
    for number, name in enumerate(flows.distinct("group")):
        if not (begins[groups == name] < until_s).any():
            changes |= {f"users.{number}.start": f"{LAST * until_s:.9f} s"}
            changes |= {f"users.{number}.stagger": "0 s"}
    return scenario.with_(**changes)
