"""What the differences between compared scenarios are made of, in a user's first transfer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from nodeb.errors import NodebError
from nodeb.explanation.differences import difference
from nodeb.explanation.text import difference_text

if TYPE_CHECKING:
    from nodeb.comparison.differences import Tables
    from nodeb.comparison.experiment import Experiment
    from nodeb.explanation.causes import Explanation
    from nodeb.replication.pool import Jobs
    from nodeb.table import Table
    from nodeb.terminal.progress import ProgressCallback

__all__ = ["differences_text", "short_text"]

SHORT_RUNS = 5
"""Replications that the short form simulates again."""
SHORT_CAUSES = 6
"""Its rows but for the sum."""
SHORT_BYTES = 2_000_000
"""A longer transfer is not explained by the way."""


def differences_text(
    plan: Experiment, user: int, jobs: Jobs | None = None, progress: ProgressCallback | None = None
) -> str:
    """The differences in a user's first transfer, over all pairs of replications.

    Raises:
        InputError: there is no such user, or no transfer of his.
        RunError: a replication failed.
    """
    found = _explained(plan, user, plan.runs, jobs, progress)
    return _text(found, f"Why user {user}'s first transfer takes longer or shorter", None)


def short_text(
    plan: Experiment,
    tables: Mapping[str, Tables],
    jobs: Jobs | None = None,
    progress: ProgressCallback | None = None,
) -> str:
    """The same for user 0 in the first few pairs, in a few rows.

    Empty where a first transfer did not end in every replication, is long, or cannot be explained.
    """
    if not all(_is_short(one["flows"]) for one in tables.values()):
        return ""
    runs = min(plan.runs, SHORT_RUNS)
    try:
        found = _explained(plan, 0, runs, jobs, progress)
    except NodebError:
        return ""
    pairs = "the first pair" if runs == 1 else f"the first {runs} pairs"
    title = f"Why user 0's first transfer takes longer or shorter, in {pairs}"
    return _text(found, title, SHORT_CAUSES)


def _is_short(flows: Table) -> bool:
    """Whether user 0 has ended a transfer in every replication, and not a long one."""
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
        cell.label: explain(cell.to_scenario(), user, 0, runs, plan.seed, jobs, progress)
        for cell in plan.cells
    }


def _text(found: Mapping[str, Explanation], title: str, most: int | None) -> str:
    (first, base), *others = found.items()
    tables = [difference_text(difference(base, one, most), first, name) for name, one in others]
    return "\n\n".join(f"{title}:\n\n{table}" for table in tables)
