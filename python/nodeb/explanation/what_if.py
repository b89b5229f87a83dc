"""What if a cause were smaller: the changed scenario is simulated, beside what the path says.

With everything else as it was, a cause removed wins at most the time that it has on the path. TCP
reacts, so that what is simulated can be more or less; where they part, the causes that have grown
or shrunk meanwhile say why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodeb.errors import InputError, ScenarioError
from nodeb.explanation.causes import Explanation
from nodeb.explanation.changes import CHANGES, Change
from nodeb.explanation.differences import Part, difference
from nodeb.explanation.replications import paths
from nodeb.replication.pool import check_jobs
from nodeb.stats import Interval

if TYPE_CHECKING:
    from nodeb.replication.pool import Jobs
    from nodeb.terminal.progress import ProgressCallback

__all__ = ["WhatIf", "what_if"]

SHARP, WHOLE = 0.25, 0.02
"""An interval is sharp whose half is at most this share of what the path says, or of the whole."""
UNKNOWN = Interval(math.nan, math.nan, math.nan, math.nan, 0)


@dataclass(frozen=True)
class WhatIf:
    """What a change wins."""

    name: str
    path_s: float
    """What the path says, s, at most, with all else as it was."""
    gain: Interval
    """What the simulation says, s: baseline less changed, over the pairs."""
    parts: list[Part]
    """What the difference is made of."""
    causes: tuple[str, ...]
    """What the change was aimed at."""
    complete: bool = True
    """Whether the transfer was complete in every replication, with the change and without."""

    @property
    def told(self) -> str:
        """How the two agree, and why they part."""
        if not self.complete:
            return "unknown: the run ends before the transfer"
        if not self.parts:
            return "unknown: with the change the transfer is not begun before the run ends"
        if self.gain.low == self.gain.high == 0:
            return "as the path says" if self.path_s == 0 else "it changes nothing here"
        slack = max(0.02 * abs(self.path_s), 1e-6)
        if self.gain.low - slack <= self.path_s <= self.gain.high + slack:
            return "as the path says" if self._is_sharp else "undecided: more replications tell"
        if abs(self.gain.mean - self.path_s) <= slack:
            return "as the path says"
        less = self.gain.mean < self.path_s
        moved = [p for p in self.parts if p.cause and p.cause not in self.causes]
        found = [p for p in moved if (p.difference.mean > 0) == less and p.difference.mean]
        why = max(found, key=lambda p: abs(p.difference.mean), default=None)
        if why is None:
            return "less: it goes only in part" if less else "more: it goes twice"
        way = "grows" if less else "shrinks"
        return (
            f"{'less' if less else 'more'}: {why.cause} {way} by {abs(why.difference.mean):.3g} s"
        )

    @property
    def _is_sharp(self) -> bool:
        """Whether the interval tells more than the path: against its time, or the transfer's."""
        enough = max(SHARP * abs(self.path_s), WHOLE * self.parts[-1].baseline_s)
        return self.gain.half_width <= enough


def what_if(
    found: Explanation, jobs: Jobs | None = None, progress: ProgressCallback | None = None
) -> list[WhatIf]:
    """Simulates every change that the scenario allows, in pairs with its own replications.

    Raises:
        RunError: a replication failed.
    """
    tried = []
    for place, change in enumerate(CHANGES):
        other = _changed(found, change, jobs)
        if other is not None:
            path_s = _path_s(found, change)
            if not other.paths:
                tried.append(WhatIf(change.name, path_s, UNKNOWN, [], change.causes))
                continue
            parts = difference(found, other)
            whole = parts[-1].difference
            gain = Interval(
                0.0 - whole.mean, 0.0 - whole.high, 0.0 - whole.low, whole.stdev, whole.n
            )
            complete = found.complete and other.complete
            tried.append(WhatIf(change.name, path_s, gain, parts, change.causes, complete))
        if progress is not None:
            progress((place + 1) / len(CHANGES), change.name)
    return tried


def _changed(found: Explanation, change: Change, jobs: Jobs | None) -> Explanation | None:
    """The explanation of a changed scenario; None where there is nothing to change.

    It has no paths where the transfer is not begun any more before the run ends.
    """
    data = found.scenario.to_dict()
    if not change.apply(data, found.user):
        return None
    try:
        scenario = type(found.scenario).from_dict(data).resolved()
    except (InputError, ScenarioError):
        return None
    scenario.runs = len(found.paths)
    workers = check_jobs(jobs)
    try:
        own = paths(scenario, found.user, found.transfer, workers, None)
    except InputError:
        own = []
    return Explanation(scenario, found.user, found.transfer, own)


def _path_s(found: Explanation, change: Change) -> float:
    """What the path says that a change wins at most, s."""
    if change.only_steps:
        return change.factor * sum(found.step_s(step) for step in change.only_steps)
    return change.factor * sum(float(found.seconds(cause).mean()) for cause in change.causes)
