"""Explanation of the duration of a transfer: its critical path, by cause.

The module `replications` simulates the paths, `causes` aggregates them, `what_if` simulates
changes, and `answer` presents them.
"""

from __future__ import annotations

from nodeb.base.arguments import as_whole
from nodeb.errors import InputError
from nodeb.explanation.causes import Explanation
from nodeb.explanation.replications import paths
from nodeb.inputs.scenario import Scenario
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Explanation", "explain"]


def explain(
    scenario: Scenario,
    user: int = 0,
    transfer: int = 0,
    runs: int | None = None,
    seed: int | None = None,
    jobs: Jobs | None = None,
    progress: ProgressCallback | None = None,
) -> Explanation:
    """Explains a transfer: attributes each nanosecond of its duration to one cause.

    Each replication is identical to the one that `Scenario.run` simulates with the same seed, up to
    the end of the transfer: recording it changes nothing.

    Args:
        scenario: the scenario to simulate.
        user: index of the user, from 0.
        transfer: index of the user's transfer, from 0.
        runs: number of replications; None for the scenario's.
        seed: seed of the random streams; None for the scenario's.
        jobs: number of replications simulated in parallel, None for one per processor; or a
            `concurrent.futures.Executor`.
        progress: called with the fraction done and a short text.

    Raises:
        InputError: there is no such user or transfer, or an argument is invalid.
        ScenarioError: the scenario is invalid.
        RunError: a replication failed.
    """
    if not hasattr(scenario, "planned"):
        raise InputError(f"explain: {scenario!r} is no scenario; load one with `nodeb.load`")
    for name, value in {"user": user, "transfer": transfer}.items():
        if not 0 <= as_whole(value, name) < 2**32:
            raise InputError(f"{name} is {value}; expected a number from 0 to {2**32 - 1}")
    planned = scenario.planned(runs, None, seed)
    found = paths(planned, user, transfer, check_jobs(jobs), progress)
    return Explanation(planned, user, transfer, found)
