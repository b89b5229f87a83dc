"""What if a cause were smaller: the changed scenario is simulated, beside what the path says.

With everything else as it was, a change wins the time on the path that it is aimed at. TCP reacts,
so that what is simulated can be more or less; where they part, the causes that have grown or shrunk
meanwhile say why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from nodeb.answer.numbers import shown
from nodeb.errors import InputError
from nodeb.explanation.causes import Explanation
from nodeb.explanation.changes import CHANGES, Change
from nodeb.explanation.differences import Part, difference
from nodeb.explanation.levers import changed
from nodeb.explanation.pairs import Pairs
from nodeb.explanation.replications import paths
from nodeb.explanation.verdict import effects, verdict
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.stats import Interval, mean_interval, paired_difference
from nodeb.terminal.progress import ProgressCallback

__all__ = ["WhatIf", "what_if"]

UNKNOWN = Interval(math.nan, math.nan, math.nan, math.nan, 0)


@dataclass(frozen=True)
class WhatIf:
    """What a change wins.

    Transfers that the run's end cuts off have no time: a gain is one over the pairs in which both
    are complete, the transfer as it is and the one with the change.
    """

    name: str
    path_s: float
    """The time on the path that the change is aimed at, s, over the pairs of `gain`; NaN where
    there are none. It is no bound of what is won."""
    gain: Interval
    """What the simulation says, s: baseline less changed; NaN where no pair is complete."""
    parts: list[Part]
    """What the difference is made of, in the same pairs; none where there are none."""
    causes: tuple[str, ...]
    """What the change was aimed at."""
    pairs: Pairs
    """In how many pairs of replications which of the two is complete."""
    changed: Interval = UNKNOWN
    """Where no pair is complete, and only with the change transfers are: what these take, s."""
    at_least: Interval = UNKNOWN
    """What they win at the least, s: the time from their end to that of the run."""

    @property
    def won(self) -> Interval:
        """What is won, s, or where only the change completes transfers what is won at the least."""
        return self.gain if self.pairs.both else self.at_least

    @property
    def baseline_s(self) -> float:
        """What the transfer takes without the change, s, in the pairs of `gain`; else NaN."""
        return self.parts[-1].baseline_s if self.parts else math.nan

    @property
    def effects(self) -> list[Part]:
        """Other causes that have surely grown or shrunk, the largest difference first."""
        return effects(self.parts, self.causes)

    @property
    def complete(self) -> bool:
        """Whether the transfer was complete in every replication, with the change and without."""
        return self.pairs.both == self.pairs.all

    @property
    def told(self) -> str:
        """How the two agree, why they part, and of how many pairs that is known."""
        if self.pairs.both:
            agree = verdict(self.gain, self.path_s, self.parts, self.causes)
            return "; ".join(filter(None, [agree, self.pairs.told]))
        if self.at_least.n:
            takes = shown(self.changed.mean, self.changed.low, self.changed.high, "s").around
            gain = f"a gain: with the change it takes {takes}, without it the run ends before"
            return f"{gain}; {self.pairs.of(self.at_least.n)}"
        return self.pairs.unknown


def what_if(
    found: Explanation, jobs: Jobs | None = None, progress: ProgressCallback | None = None
) -> list[WhatIf]:
    """Simulates every change that the scenario allows, in pairs with its own replications.

    Returns:
        What each of them wins, the largest gain first; those of which nothing is known come last.

    Raises:
        RunError: a replication failed.
    """
    tried = []
    for place, change in enumerate(CHANGES):
        other = _changed(found, change, jobs)
        if other is not None:
            tried.append(_compared(found, other, change))
        if progress is not None:
            progress((place + 1) / len(CHANGES), change.name)
    return sorted(tried, key=_rank)


def _rank(one: WhatIf) -> tuple[bool, float]:
    """Returns what puts the largest gain first and what is not known last."""
    return one.won.n == 0, -one.won.mean if one.won.n else 0.0


def _compared(found: Explanation, other: Explanation, change: Change) -> WhatIf:
    """What is won, as far as complete transfers tell."""
    pairs = Pairs.count(found.paths, other.paths)
    if pairs.both:
        base, own = _where(found, other, (True, True))
        parts = difference(base, own)
        gain = paired_difference(base.times, own.times)
        return WhatIf(change.name, change.on_path(base), gain, parts, change.causes, pairs)
    nothing = WhatIf(change.name, math.nan, UNKNOWN, [], change.causes, pairs)
    if not pairs.only_changed or pairs.only_plain:
        return nothing
    base, own = _where(found, other, (False, True))
    at_least = paired_difference(base.times, own.times)
    return replace(
        nothing, changed=mean_interval(own.times).within(0.0, math.inf), at_least=at_least
    )


def _where(
    found: Explanation, other: Explanation, wanted: tuple[bool, bool]
) -> tuple[Explanation, Explanation]:
    """Both in those pairs in which they are complete, or are not, as is wanted."""
    both = zip(found.paths, other.paths, strict=True)
    kept = [pair for pair in both if tuple(path.complete for path in pair) == wanted]
    return replace(found, paths=[one for one, _ in kept]), replace(
        other, paths=[one for _, one in kept]
    )


def _changed(found: Explanation, change: Change, jobs: Jobs | None) -> Explanation | None:
    """The explanation of a changed scenario; None where there is nothing to change.

    It has no paths where the transfer is not begun any more before the run ends.
    """
    scenario = changed(found, change)
    if scenario is None:
        return None
    workers = check_jobs(jobs)
    try:
        own = paths(scenario, found.user, found.transfer, workers, None)
    except InputError:
        own = []
    return Explanation(scenario, found.user, found.transfer, own)
