"""Critical paths of a transfer, aggregated over replications."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.answer.answering import Answering
from nodeb.base.table import Table, read_only
from nodeb.base.units import NS_PER_S
from nodeb.errors import InputError, nearest
from nodeb.explanation.replications import CAUSES, Path, Share, simulate_path
from nodeb.inputs.scenario import Scenario
from nodeb.replication.pool import Jobs
from nodeb.stats import Interval, mean_interval
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    from nodeb.answer import Answer
    from nodeb.explanation.differences import Part
    from nodeb.explanation.what_if import WhatIf


@dataclass(frozen=True)
class Lever:
    """A change that the scenario allows, and the time on the path that it targets."""

    name: str
    path_s: float
    """The change may save more or less."""
    causes: tuple[str, ...]
    """Targeted causes of waiting; empty if the change targets steps or places of the path."""


@dataclass(frozen=True)
class Explanation(Answering):
    """An explained transfer: print it, or use its `table` and its `spans`."""

    scenario: Scenario
    """Resolved scenario: with all defaults, the seed and the number of replications."""
    user: int
    transfer: int
    paths: list[Path]
    """Critical path of the transfer in each replication, in order."""
    what: str = ""
    """Description of a recorded transfer; empty for a transfer of a simulated user."""

    @property
    def named(self) -> str:
        """Transfer in words: `what`, or user and index, such as `user 0, transfer 1`."""
        return self.what or f"user {self.user}, transfer {self.transfer}"

    @cached_property
    def core(self) -> _core.Paths:
        """The paths as the core holds them."""
        shares = list({share: None for path in self.paths for share in path.shares})
        times = [[path.shares.get(share, 0) for share in shares] for path in self.paths]
        ns = np.array(times, np.uint64).reshape(len(times), len(shares))
        places = list({place: None for path in self.paths for place in path.busy})
        busy = [
            (place, float(np.mean([path.busy.get(place, 0) / NS_PER_S for path in self.paths])))
            for place in places
        ]
        packets = np.mean([[path.packets.get(one, 0) for one in CAUSES] for path in self.paths], 0)
        lost = tuple(map(sum, zip(*(path.lost for path in self.paths), strict=True)))
        scenario = self.scenario.compiled()
        return _core.Paths(scenario, shares, ns, busy, lost, packets)

    @property
    def complete(self) -> bool:
        """True if the transfer was completed in every replication."""
        return all(path.complete for path in self.paths)

    @cached_property
    def time(self) -> Interval:
        """Mean of `times` over replications, s, with its 95 % interval."""
        return mean_interval(self.times)

    def seconds(self, cause: str) -> NDArray[np.float64]:
        """Returns the time of a cause in each replication, s; 0 where it does not occur.

        Raises:
            InputError: there is no such cause.
        """
        if cause not in CAUSES:
            raise InputError(f"there is no cause {cause!r}{nearest(str(cause), CAUSES)}")
        return self.core.seconds(cause)

    @cached_property
    def times(self) -> NDArray[np.float64]:
        """Duration of the transfer in each replication, s; until the run's end if incomplete."""
        return read_only(self.core.times())

    def mean_s(self, of: Callable[[Share], bool]) -> float:
        """Returns the time, s, of those shares of the path for which `of` returns true.

        The time is the mean over the replications. It is 0 if there is no such share.
        """
        sums = (sum(ns for share, ns in path.shares.items() if of(share)) for path in self.paths)
        return float(np.mean([ns / NS_PER_S for ns in sums]))

    def place(self, cause: str) -> str:
        """Returns the place, such as a link, where a cause takes most of its time.

        Returns "" if the cause does not occur, or has no place.
        """
        return self.core.place(cause)

    def step(self, cause: str) -> str:
        """Returns the step that takes most of a cause's time, such as `others served`.

        Returns "" if the cause does not occur.
        """
        return self.core.step(cause)

    @cached_property
    def causes(self) -> list[str]:
        """Names of the causes that occur in a replication, by decreasing mean time."""
        return self.core.causes()

    @cached_property
    def table(self) -> Table:
        """One row per cause, by decreasing time.

        Columns: `cause`; `share` of the duration; `mean_s` with `ci95_low` and `ci95_high` over the
        replications (Student t; NaN for one replication); `packets`, the mean number of packets
        that the cause delayed.
        """
        return Table(self.core.table())

    @property
    def spans(self) -> Table:
        """Spans of the first replication, in order of time.

        They are contiguous and add up to the duration exactly. Columns: `begin_ns`, `end_ns`,
        `cause`, `layer`, `place`, `step` (activity at that place), `round` (cause of the round
        trip; empty after the last one), `packet`, `seq`.
        """
        return self.paths[0].spans

    @cached_property
    def typical(self) -> Path:
        """Path of the replication whose duration is nearest the median, with its spans.

        It is the first one if several are equally near. Only replication 0 keeps its spans; another
        one is simulated again to get them.
        """
        middle = float(np.median(self.times))
        gaps = np.abs(self.times - middle)
        path = self.paths[int(np.argmin(gaps))]
        if path.columns is not None:
            return path
        return simulate_path(self.scenario, self.user, self.transfer, path.run)

    def what_if(
        self, jobs: Jobs | None = None, progress: ProgressCallback | None = None
    ) -> list[WhatIf]:
        """Simulates the changes that remove or reduce causes, and compares each with the path.

        Args:
            jobs: number of replications simulated in parallel, None for one per processor; or a
                `concurrent.futures.Executor`.
            progress: called with the fraction done and a short text.

        Raises:
            RunError: a replication failed.
        """
        from nodeb.explanation.what_if import what_if

        return what_if(self, jobs, progress)

    def levers(self) -> list[Lever]:
        """Returns the changes of the scenario that target time on the path, by decreasing time.

        The changes are not simulated; see `what_if`. Returns [] for a recorded transfer.
        """
        aimed = [
            Lever(remedy.name, sum(remedy.targets(self.core).values()), remedy.causes)
            for remedy in self.remedies()
        ]
        return sorted((one for one in aimed if one.path_s > 0), key=lambda one: -one.path_s)

    def remedies(self) -> list[_core.Remedy]:
        """Returns the changes of the scenario that may have an effect."""
        if self.what:
            return []  # A real connection cannot be repeated with a changed scenario.
        remedies = self.scenario.compiled().remedies(self.user)
        return [remedy for remedy in remedies if remedy.is_possible(self.core)]

    def difference(self, other: Explanation) -> list[Part]:
        """Returns the difference, `other` minus this explanation, by cause, and its sum.

        The sum is the last part.

        Args:
            other: an explanation with the same seed and number of replications.

        Raises:
            InputError: seed or number of replications differ.
        """
        from nodeb.explanation.differences import difference

        if not isinstance(other, Explanation):
            raise InputError(f"difference: {other!r} is no explanation")
        return difference(self, other)

    @property
    def answer(self) -> Answer:
        """Answer that printing shows: the duration of the transfer, and its largest causes."""
        from nodeb.explanation.answer import answer

        return answer(self)
