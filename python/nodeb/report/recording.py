"""One replication again, with its series recorded, for the pictures of a page.

Recording changes no table, so that what is seen is what was measured. Memory is bounded: of a long
replication the first part is simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nodeb.errors import NodebError
from nodeb.inputs.scenario import Scenario
from nodeb.results.result import Result
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Recording", "record"]

SERIES = ("cwnd", "segments", "rtt", "queue", "transfers")
"""What is recorded of every scenario."""
OF_CELLS = ("bandwidth",)
"""What is recorded on `hsdpa` too."""
MOST_METERED = 50
"""Users whose bandwidth is recorded at most: each is weighed against all others in every TTI."""
MOST_ROWS = 1_500_000
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
    """A result of one replication, number 0."""
    until_s: float | None = None
    """Where it was cut off, s; None if it is whole."""
    problem: str = ""
    """Why there is nothing, a sentence."""
    is_again: bool = False
    """Whether it was simulated again."""
    note: str = ""
    """What is left out, a sentence."""

    @property
    def told(self) -> str:
        """What is shown and what is not, in sentences; nothing where it is all."""
        if self.until_s is None:
            return self.note
        part = f"Shown are the first {self.until_s:g} s, as the whole is too long to record."
        return f"{part} {self.note}".strip()


def record(
    result: Result, progress: ProgressCallback | None = None, most_rows: int = MOST_ROWS
) -> Recording:
    """The first replication of a result with all of its series.

    Args:
        result: it is used as it is if its scenario has recorded everything.
        progress: told how far the simulation is.
        most_rows: about so many rows are kept at most.
    """
    users = len(np.unique(result.flows["user"]))
    has_cell = "phones" in result.tables
    is_metered = has_cell and users <= MOST_METERED
    names = [*SERIES, *(OF_CELLS if is_metered else ())]
    try:
        if all(name in result.tables for name in names):
            return Recording(_first(result))
        scenario = result.scenario.with_(
            **{f"record.{name}": False for name in (*SERIES, *OF_CELLS, "scheduler")}
        )
        looks = LOOKS_PER_S * users if is_metered else 0.0
        until = _until(result, scenario, most_rows, looks)
        if until is not None:
            scenario = _cut(scenario, result, until)
        recorded = scenario.with_(**{f"record.{name}": True for name in names})
        again = recorded.run(runs=1, jobs=1, seed=result.provenance.seed, progress=progress)
    except NodebError as error:
        return Recording(None, problem=f"The first replication cannot be recorded: {error}.")
    except MemoryError:
        return Recording(None, problem="There is not enough memory to record the series.")
    if not len(again.segments):
        part = "The replication" if until is None else "The part that fits in memory"
        return Recording(None, problem=f"{part} is too short to show anything.")
    note = ""
    if has_cell and not is_metered:
        note = (
            f"The channel quality of more than {MOST_METERED} users takes long to record: "
            "`record.bandwidth = true` does it."
        )
    return Recording(again, until, is_again=True, note=note)


def _first(result: Result) -> Result:
    """The first replication of a result."""
    tables = {name: table.first_runs(1) for name, table in result.tables.items()}
    return Result(result.scenario, tables, result.provenance)


def _until(result: Result, scenario: Scenario, most_rows: int, looks_per_s: float) -> float | None:
    """How long a part of the replication has few enough rows, s; None for all of it."""
    seed, tried, until = result.provenance.seed, _first(result), None
    for _ in range(TRIES):
        end = float(np.max(tried.bearers["end_s"]))
        # About how many rows the series of the replication have.
        rows = ROWS_PER_PACKET * float(np.sum(tried.flows["packets_sent"])) + looks_per_s * end
        if rows <= most_rows:
            return until
        # Where most happens early, a part in proportion has still too much in it.
        until = _rounded(0.95 * end * most_rows / rows)
        tried = _cut(scenario, result, until).run(runs=1, jobs=1, seed=seed)
    raise NodebError(f"even its first {until:.3g} s have too many packets")


def _rounded(seconds: float) -> float:
    """A time of two digits, not longer."""
    power = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    return float(f"{math.floor(seconds / power) * power:.12g}")


def _cut(scenario: Scenario, result: Result, until_s: float) -> Scenario:
    """The scenario until some time; who begins later begins, and has no time for more, at its end.

    A group that would still begin is refused in a scenario.
    """
    flows = _first(result).flows
    begins, groups = np.asarray(flows["start_s"]), np.asarray(flows["group"])
    changes = {"duration": f"{until_s:.9f} s"}
    for number, name in enumerate(flows.distinct("group")):
        if not (begins[groups == name] < until_s).any():
            changes |= {f"users.{number}.start": f"{LAST * until_s:.9f} s"}
            changes |= {f"users.{number}.stagger": "0 s"}
    return scenario.with_(**changes)
