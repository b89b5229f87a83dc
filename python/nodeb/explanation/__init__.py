"""Why a transfer took as long as it did: its critical path, cause by cause.

`replications` has paths simulated, `causes` what they come to, `text` shows it.
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
    """Explains a transfer: to what cause each nanosecond of it belongs.

    Each replication is the one that `Scenario.run` simulates with the same seed, as far as the
    transfer goes; listening changes nothing.

    Args:
        scenario: what is simulated.
        user: number of the user, from 0.
        transfer: which of the user's transfers, from 0.
        runs: replications; None takes the scenario's.
        seed: seed of the random streams; None takes the scenario's.
        jobs: replications simulated at a time; None takes one per processor; or a `nodeb.Cluster`.
        progress: called with the fraction done and a few words.

    Raises:
        InputError: there is no such user or transfer, or an argument makes no sense.
        ScenarioError: the scenario is wrong.
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
