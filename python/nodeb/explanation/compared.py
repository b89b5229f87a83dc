"""Differences between scenarios in the time of a user's first transfer, by cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from nodeb.answer.answer import Bars, Rows
from nodeb.answer.numbers import scale_of, shown
from nodeb.answer.terminal import block
from nodeb.answer.words import sentence
from nodeb.base.table import Table
from nodeb.comparison.differences import Tables
from nodeb.comparison.experiment import Experiment
from nodeb.errors import NodebError
from nodeb.explanation.answer import incomplete
from nodeb.explanation.differences import (
    difference,
    difference_bars,
    difference_rows,
    difference_table,
)
from nodeb.replication.pool import Jobs
from nodeb.stats import Interval, paired_difference
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    from nodeb.explanation.causes import Explanation

SHORT_BYTES = 2_000_000
"""Largest mean size of a transfer that `nodeb compare` explains without a request, bytes."""


@dataclass(frozen=True)
class Differences:
    """A user's first transfer, explained in several scenarios; the first one is the baseline."""

    user: int
    runs: int
    found: Mapping[str, Explanation]

    @property
    def table(self) -> Table:
        """Difference from the baseline: one row per other scenario and cause.

        For each scenario, the causes are in order of decreasing absolute difference; the sum is
        last.
        """
        (_, base), *others = self.found.items()
        parts: list[dict[str, ArrayLike]] = []
        for name, one in others:
            table = difference_table(difference(base, one))
            complete = base.complete and one.complete
            about = {"scenario": name, "user": self.user, "runs": self.runs, "complete": complete}
            columns = {key: np.full(len(table), value) for key, value in about.items()}
            parts.append({**columns, **{key: table[key] for key in table.columns}})
        return Table.concat(parts)

    @property
    def bars(self) -> list[Bars]:
        """Bars for each scenario but the baseline: its difference in transfer time, by cause."""
        (_, base), *others = self.found.items()
        return [difference_bars(difference(base, one), self._title(base, one)) for _, one in others]

    def _title(self, base: Explanation, other: Explanation) -> str:
        whose = f"user {self.user}'s first transfer"
        gap = paired_difference(other.times, base.times)
        if gap.mean == 0:
            return f"{sentence(whose)} is as long; what differs"
        scale = scale_of(max(float(np.mean(one.times)) for one in (base, other)), "s")
        time = shown(abs(gap.mean), *_turned(gap), scale=scale).value
        return f"Why {whose} is {time} {'faster' if gap.mean < 0 else 'slower'}"

    @property
    def notes(self) -> list[str]:
        """Notes on incomplete transfers: one for each scenario that has any."""
        notes = (incomplete(one, name) for name, one in self.found.items())
        return [f"note: {note}" for note in notes if note]

    @property
    def rows(self) -> list[Rows]:
        """Table for each scenario but the baseline: its difference in transfer time, by cause."""
        (first, base), *others = self.found.items()
        return [
            difference_rows(
                difference(base, one), first, name, f"{self._title(base, one)} with {name}:"
            )
            for name, one in others
        ]

    def __str__(self) -> str:
        return "\n\n".join([*map(block, self.rows), *self.notes])


def _turned(gap: Interval) -> tuple[float, float]:
    """Returns the ends of the interval of a difference's size, lower end first.

    These are the ends of `gap` if its mean is above 0.
    """
    ends = gap.low, gap.high
    return ends if gap.mean > 0 else (-gap.high, -gap.low)


def all_differences(
    plan: Experiment, user: int, jobs: Jobs | None = None, progress: ProgressCallback | None = None
) -> Differences:
    """Returns the differences in a user's first transfer, over all pairs of replications."""
    return Differences(user, plan.runs, _explained(plan, user, plan.runs, jobs, progress))


def short_differences(
    plan: Experiment,
    tables: Mapping[str, Tables],
    jobs: Jobs | None = None,
    progress: ProgressCallback | None = None,
) -> Differences | None:
    """Returns the differences in user 0's first transfer over all pairs.

    Returns None in these cases:

    - User 0 completed no transfer in some replication.
    - Its transfers have more than `SHORT_BYTES` on average in some replication.
    - They are uploads in some scenarios and downloads in others.
    - They cannot be explained, because of any error of nodeb.
    """
    if len({_direction(one["flows"]) for one in tables.values()}) > 1:
        return None
    if not all(_is_short(one["flows"]) for one in tables.values()):
        return None
    try:
        found = _explained(plan, 0, plan.runs, jobs, progress)
    except NodebError:
        return None
    return Differences(0, plan.runs, found)


def _direction(flows: Table) -> str:
    if "direction" not in flows.columns:
        return "down"
    return str(flows["direction"][np.asarray(flows["user"]) == 0][0])


def _is_short(flows: Table) -> bool:
    """Returns true if user 0 completed transfers in every replication, and these were short.

    In each replication, the bytes of the transfers that have begun, divided by the number of
    completed ones, must be at most `SHORT_BYTES`.
    """
    own = np.asarray(flows["user"]) == 0
    transfers = np.asarray(flows["transfers"])[own]
    if len(transfers) == 0 or not (transfers > 0).all():
        return False
    return bool((np.asarray(flows["app_bytes"])[own] <= SHORT_BYTES * transfers).all())


def _explained(
    plan: Experiment, user: int, runs: int, jobs: Jobs | None, progress: ProgressCallback | None
) -> dict[str, Explanation]:
    from nodeb.explanation import explain

    return {
        cell.label: explain(scenario, user, 0, runs, plan.seed, jobs, progress)
        for cell, scenario in zip(plan.cells, plan.scenarios, strict=True)
    }
