"""Simulation of a replication of which the packet timeline is recorded."""

from __future__ import annotations

import math
from typing import Any

from nodeb import _core
from nodeb.base.arguments import as_number, as_whole
from nodeb.base.units import NS_PER_S
from nodeb.errors import InputError, RunError
from nodeb.inputs.scenario import Scenario
from nodeb.life.columns import arrow
from nodeb.life.life import About, Life
from nodeb.replication.pool import run_with_progress
from nodeb.terminal.progress import ProgressCallback

__all__ = ["MAX_EVENTS", "check_limits", "watch"]

MAX_EVENTS = 4_000_000
"""Default maximum number of events in a packet timeline; more are an error."""
LATEST_S = 2**63 / NS_PER_S
"""Exclusive upper limit of the times of a window, s: about 292 years."""


def watch(
    scenario: Scenario,
    run: int = 0,
    user: int | None = None,
    begin_s: float = 0.0,
    end_s: float | None = None,
    *,
    seed: int | None = None,
    most: int = MAX_EVENTS,
    progress: ProgressCallback | None = None,
) -> Life:
    """Simulates a replication and returns its packet timeline.

    `nodeb.Scenario.life` describes the arguments.
    """
    planned = scenario.planned(seed=seed)
    compiled = planned.compiled()
    window = (
        _nanoseconds(begin_s, "begin_s"),
        None if end_s is None else _nanoseconds(end_s, "end_s"),
    )
    number = as_whole(run, "run")
    if number < 0:
        raise InputError(f"run is {run}; replications count from 0")
    check_limits(user, most)

    def work(control: _core.Control) -> dict[str, Any]:
        return _core.timeline(compiled, planned.seed, number, control, *window, user, most)

    try:
        found = run_with_progress(work, progress)
    # The core raises this error if there is no such user, or there are no or too many events.
    except ValueError as error:
        raise InputError(_hint(str(error))) from None
    except _core.InternalError as error:
        raise RunError(str(error)) from None
    known = {"scenario": planned, "seed": planned.seed, "run": number, "user": user}
    about = About.of(found, window, **known)
    kept = {"nodeb": _core.version(), "seed": str(planned.seed), "run": str(number)}
    tables = {name: arrow(table, found["names"], kept) for name, table in found["tables"].items()}
    return Life(about, tables)


def check_limits(user: int | None, most: int) -> None:
    """Checks the user to follow and the maximum number of events.

    Raises:
        InputError: `user` is neither None nor a whole number from 0 to 2^32 - 1, or `most` is not a
            whole number of at least 1.
    """
    if user is not None and not 0 <= as_whole(user, "user") < 2**32:
        raise InputError(f"user is {user}; users count from 0")
    if as_whole(most, "most") < 1:
        raise InputError(f"most is {most}; at least one event is needed")


def _nanoseconds(seconds: float, name: str) -> int:
    value = as_number(seconds, name)
    if not (math.isfinite(value) and 0 <= value < LATEST_S):
        raise InputError(f"{name} is {seconds}; expected seconds from the beginning of the run")
    return round(value * NS_PER_S)


def _hint(message: str) -> str:
    if "events, more than the maximum" in message:
        return f"{message}; give that window (--from, --to), one user (--user), or more (--most)"
    return message
