"""Comparisons of scenarios, paired by common random numbers.

The module `differences` has the statistics, `experiment` the simulation, and `answer` the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nodeb.base.units import in_s
from nodeb.comparison.differences import (
    MARGIN,
    Comparison,
    Difference,
    MoreRuns,
    Tried,
    Verdict,
)
from nodeb.comparison.differences import compare as _compare
from nodeb.comparison.experiment import DEFAULT_RUNS
from nodeb.errors import InputError
from nodeb.inputs.scenario import Scenario
from nodeb.replication.pool import Jobs
from nodeb.results.result import Result

__all__ = ["Comparison", "Difference", "MoreRuns", "Tried", "Verdict", "compare"]


def compare(
    results: Mapping[str, Result | Scenario],
    margin: float = MARGIN,
    metrics: Sequence[str] = (),
    *,
    runs: int = DEFAULT_RUNS,
    jobs: Jobs | None = None,
) -> Comparison:
    """Compares results or scenarios, replication by replication, with the first of them.

    Args:
        results: at least two results by name, simulated with the same seed, or scenarios, which are
            simulated; the first is the baseline. If the numbers of replications differ, only those
            that all have are compared.
        margin: equivalence margin, as a share of the baseline's mean, in [0, 1).
        metrics: names of metrics to compare; empty for all.
        runs: number of replications of each scenario.
        jobs: number of replications simulated in parallel; see `Scenario.run`.

    Returns:
        The differences, with intervals and verdicts. It can be printed, and has a `table`.

    Raises:
        InputError: the seeds differ, there is nothing to compare, or an argument is invalid.
    """
    if not isinstance(results, Mapping):
        raise InputError(
            "compare: expected results by name, such as "
            f"{{'dch': one, 'hs-dsch': other}}, not {results!r}"
        )

    simulated: dict[str, Result] = {}
    for name, one in results.items():
        if isinstance(one, Scenario):
            simulated[name] = one.run(runs, jobs=jobs)
            continue
        if not isinstance(one, Result):
            raise InputError(f"compare: {name} is {one!r}; expected a result or a scenario")
        simulated[name] = one
    seeds = {result.provenance.seed for result in simulated.values()}
    if len(seeds) > 1:
        listed = ", ".join(f"{one.provenance.seed} ({name})" for name, one in simulated.items())
        raise InputError(
            f"these results have different seeds, {listed}, and cannot be paired; run them with "
            "the same seed"
        )
    tables = {name: result.tables for name, result in simulated.items()}
    lasting = {name: in_s(one.scenario.duration) for name, one in simulated.items()}
    return _compare(tables, min(seeds, default=0), margin, metrics, lasting)
