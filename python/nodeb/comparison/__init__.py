"""Comparisons of scenarios, paired by common random numbers.

`differences` has the statistics, `verdict` judges, `experiment` simulates, `text` shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nodeb.comparison.differences import MARGIN, Comparison, Difference, Tried
from nodeb.comparison.differences import compare as _compare
from nodeb.comparison.verdict import MoreRuns, Verdict
from nodeb.errors import InputError
from nodeb.results.result import Result

__all__ = ["Comparison", "Difference", "MoreRuns", "Tried", "Verdict", "compare"]


def compare(
    results: Mapping[str, Result], margin: float = MARGIN, metrics: Sequence[str] = ()
) -> Comparison:
    """Compares results, replication by replication, with the first of them.

    Args:
        results: by what they are called, made with the same seed; the first is the baseline.
        margin: share of the baseline's mean within which two are the same, 0 or more.
        metrics: only these; empty for all.

    Returns:
        What differs, with intervals and verdicts: print it, or take its `table`.

    Raises:
        InputError: the seeds differ, there is nothing to compare, or an argument makes no sense.
    """
    if not isinstance(results, Mapping):
        raise InputError(f"compare: {results!r} is no table of results by name")

    for name, one in results.items():
        if not isinstance(one, Result):
            raise InputError(f"compare: {name} is {one!r}, which is no result; run the scenario")
    seeds = {result.provenance.seed for result in results.values()}
    if len(seeds) > 1:
        listed = ", ".join(f"{one.provenance.seed} ({name})" for name, one in results.items())
        raise InputError(
            f"these results have different seeds, {listed}, and cannot be paired; run them with "
            "the same seed"
        )
    tables = {name: result.tables for name, result in results.items()}
    return _compare(tables, min(seeds, default=0), margin, metrics)
