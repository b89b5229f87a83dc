"""Simulates changed scenarios and compares the saving with the time on the critical path.

If everything else stayed as it was, a change would save the time on the path that it targets. TCP
reacts, so the simulated saving can be larger or smaller.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING

from nodeb import _core
from nodeb.errors import InputError
from nodeb.explanation.causes import Explanation
from nodeb.explanation.differences import Part, difference
from nodeb.explanation.replications import paths
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.stats import Interval, mean_interval, paired_difference
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    from nodeb.explanation.replications import Path

__all__ = ["Pairs", "WhatIf", "what_if"]


@dataclass(frozen=True)
class Pairs:
    """Numbers of pairs, by whether the transfer is complete without and with a change.

    `all` counts every pair, `both` those in which both transfers are complete.
    """

    all: int
    both: int
    only_plain: int
    """Pairs in which only the unchanged transfer is complete."""
    only_changed: int
    """Pairs in which only the changed transfer is complete."""
    begun: bool = True
    """True if, with the change, the transfer starts in every replication."""

    @classmethod
    def count(cls, plain: Sequence[Path], changed: Sequence[Path]) -> Pairs:
        """Counts pairs of paths, without and with the change, by whether the transfer is complete.

        If `changed` is empty, the transfer did not start in some replication with the change.
        """
        if not changed:
            return cls(len(plain), 0, 0, 0, begun=False)
        pairs = [(a.complete, b.complete) for a, b in zip(plain, changed, strict=True)]
        both, only_plain, only_changed = (
            pairs.count(kind) for kind in ((True, True), (True, False), (False, True))
        )
        return cls(len(pairs), both, only_plain, only_changed)

    def of(self, some: int) -> str:
        """Returns `some` pairs in words, such as `3 of 20 pairs` or `all 20 pairs`."""
        return self.core.of(some)

    @property
    def core(self) -> _core.Pairs:
        """The numbers as the core holds them."""
        return _core.Pairs(self.all, self.both, self.only_plain, self.only_changed, self.begun)

    @property
    def more(self) -> int:
        """Number of complete transfers with the change minus the number without it."""
        return self.only_changed - self.only_plain

    @property
    def summary(self) -> str:
        """Sentence part on the number of pairs in which transfers are complete.

        It is "" if there are several pairs and in every pair both transfers are complete.
        """
        return self.core.summary()

    @property
    def unknown(self) -> str:
        """Text on the effect of the change if there is no pair with two complete transfers.

        The effect is a loss if only unchanged transfers are complete, otherwise it is unknown.
        """
        return self.core.unknown()


UNKNOWN = Interval(math.nan, math.nan, math.nan, math.nan, 0)


@dataclass(frozen=True)
class WhatIf:
    """Simulated effect of a change of the scenario on a transfer.

    Transfers that the end of the run cuts off have no duration. So the gain refers only to pairs of
    replications in which the transfer is complete both with and without the change.
    """

    name: str
    gain: Interval
    """Simulated saving, s: baseline minus changed; NaN if no pair has two complete transfers."""
    parts: list[Part]
    """Parts of the difference by cause, over the pairs of `gain`; empty without pairs."""
    causes: tuple[str, ...]
    """Targeted causes; empty if the change targets steps or places of the path."""
    pairs: Pairs
    """Numbers of pairs, by whether the transfer is complete without and with the change."""
    targets: Mapping[str, float] = field(default_factory=dict)
    """Time on the path that the change targets, s, by cause; the change may save more or less.

    Each is the mean over the pairs of `gain`; empty without pairs.
    """
    changed: Interval = UNKNOWN
    """Mean duration with the change, s, in pairs in which only the changed transfer is complete.

    NaN if there are no such pairs, or any pair in which the unchanged transfer is complete.
    """
    at_least: Interval = UNKNOWN
    """Lower limit of the saving in the pairs of `changed`, s; NaN if `changed` is NaN.

    It is the time from the beginning of the unchanged transfer to the end of the run, minus the
    duration with the change.
    """

    @property
    def won(self) -> Interval:
        """Mean saving of the change, s, with its interval.

        If there is no pair in which both transfers are complete, it is the lower limit of the
        saving.
        """
        return self.gain if self.pairs.both else self.at_least

    @property
    def baseline_s(self) -> float:
        """Mean duration without the change, s, over the pairs in which both transfers are complete.

        NaN if there is no such pair.
        """
        return self.parts[-1].baseline_s if self.parts else math.nan

    @property
    def path_s(self) -> float:
        """Time on the path that the change targets, s; NaN without a pair of complete transfers."""
        return sum(self.targets.values()) if self.pairs.both else math.nan

    @property
    def why(self) -> str:
        """Cause that makes the saving differ from the time on the path, with its change of time.

        It is "" if they agree, or if no cause differs significantly.
        """
        return self.core.why()

    @property
    def complete(self) -> bool:
        """True if the transfer was completed in every replication, with and without the change."""
        return self.pairs.both == self.pairs.all

    @property
    def outcome(self) -> str:
        """Text on the simulated saving.

        If some pair has two complete transfers, the text compares the saving with the time on the
        path. It states the number of such pairs unless all of several pairs are complete. If
        transfers are complete only with the change, the text states their mean duration. Otherwise,
        it says that the gain is unknown, or a loss.
        """
        return self.core.outcome()

    @property
    def core(self) -> _core.Tried:
        """The effect as the core holds it."""
        return _core.Tried(
            self.name,
            astuple(self.gain),
            self.baseline_s,
            [(part.cause, astuple(part.difference)) for part in self.parts[:-1]],
            dict(self.targets),
            self.pairs.core,
            astuple(self.changed),
            astuple(self.at_least),
        )


def what_if(
    found: Explanation, jobs: Jobs | None = None, progress: ProgressCallback | None = None
) -> list[WhatIf]:
    """Simulates every change that the scenario allows, in pairs with the existing replications.

    Args:
        found: explanation of the unchanged transfer.
        jobs: number of replications simulated in parallel, None for one per processor; or a
            `concurrent.futures.Executor`.
        progress: called after each change with the fraction done and the name of the change.

    Returns:
        The effect of each change, by decreasing gain; those with an unknown gain come last.

    Raises:
        RunError: a replication failed.
    """
    tried = []
    remedies = found.remedies()
    for number, remedy in enumerate(remedies, 1):
        tried.append(_compared(found, _changed(found, remedy, jobs), remedy))
        if progress is not None:
            progress(number / len(remedies), remedy.name)
    return sorted(tried, key=_rank)


def _rank(one: WhatIf) -> tuple[bool, float]:
    """Returns a sort key that puts the largest gain first and unknown gains last."""
    return one.won.n == 0, -one.won.mean if one.won.n else 0.0


def _compared(found: Explanation, other: Explanation, remedy: _core.Remedy) -> WhatIf:
    """Returns the effect of a change, by comparing explanations without and with it.

    Only pairs in which the transfer is complete both without and with the change are used. If there
    are none, those in which only the changed transfer is complete give a lower limit.
    """
    pairs = Pairs.count(found.paths, other.paths)
    if pairs.both:
        base, own = _where(found, other, (True, True))
        parts = difference(base, own)
        gain = paired_difference(base.times, own.times)
        return WhatIf(remedy.name, gain, parts, remedy.causes, pairs, remedy.targets(base.core))
    nothing = WhatIf(remedy.name, UNKNOWN, [], remedy.causes, pairs)
    if not pairs.only_changed or pairs.only_plain:
        return nothing
    base, own = _where(found, other, (False, True))
    at_least = paired_difference(base.times, own.times).within(0.0, math.inf)
    return replace(
        nothing, changed=mean_interval(own.times).within(0.0, math.inf), at_least=at_least
    )


def _where(
    found: Explanation, other: Explanation, wanted: tuple[bool, bool]
) -> tuple[Explanation, Explanation]:
    both = zip(found.paths, other.paths, strict=True)
    kept = [pair for pair in both if tuple(path.complete for path in pair) == wanted]
    return replace(found, paths=[one for one, _ in kept]), replace(
        other, paths=[one for _, one in kept]
    )


def _changed(found: Explanation, remedy: _core.Remedy, jobs: Jobs | None) -> Explanation:
    """The explanation has no paths if, with the change, the transfer does not start in one of
    the replications before the run ends."""
    scenario = type(found.scenario).of(remedy.scenario).planned(len(found.paths))
    workers = check_jobs(jobs)
    try:
        own = paths(scenario, found.user, found.transfer, workers, None)
    except InputError:
        own = []
    return Explanation(scenario, found.user, found.transfer, own)
