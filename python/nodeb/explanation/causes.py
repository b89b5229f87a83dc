"""What the critical paths of a transfer come to over replications."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.answering import Answering
from nodeb.base.table import Table, read_only
from nodeb.base.units import NS_PER_S
from nodeb.errors import InputError, nearest
from nodeb.explanation.replications import CAUSES, Path, Share, path_again
from nodeb.inputs.scenario import Scenario
from nodeb.replication.pool import Jobs
from nodeb.stats import Interval, mean_interval
from nodeb.terminal.progress import ProgressCallback

if TYPE_CHECKING:
    from nodeb.answer import Answer
    from nodeb.explanation.differences import Part
    from nodeb.explanation.levers import Lever
    from nodeb.explanation.what_if import WhatIf

__all__ = ["Explanation"]


@dataclass(frozen=True)
class Explanation(Answering):
    """A transfer, explained: print it, or take its `table` and its `spans`."""

    scenario: Scenario
    """The resolved scenario."""
    user: int
    transfer: int
    paths: list[Path]
    """One of each replication, in order."""
    what: str = ""
    """What it is, where it is no transfer of a simulated user."""

    @property
    def named(self) -> str:
        """Whose transfer it is, in words."""
        return self.what or f"user {self.user}, transfer {self.transfer}"

    @property
    def complete(self) -> bool:
        """Whether the transfer was complete in every replication."""
        return all(path.complete for path in self.paths)

    @cached_property
    def time(self) -> Interval:
        """What the transfer took, s."""
        return mean_interval(self.times)

    def seconds(self, cause: str) -> NDArray[np.float64]:
        """What a cause took in each replication, s.

        Raises:
            InputError: there is no such cause.
        """
        if cause not in CAUSES:
            raise InputError(f"there is no cause {cause!r}{nearest(str(cause), CAUSES)}")
        return np.array([path.causes.get(cause, 0) / NS_PER_S for path in self.paths])

    @cached_property
    def times(self) -> NDArray[np.float64]:
        """What the transfer took in each replication, s."""
        return read_only([path.time_ns / NS_PER_S for path in self.paths])

    def mean_s(self, of: Callable[[Share], bool]) -> float:
        """The mean time of those shares of the paths that are of a kind, s."""
        sums = (sum(ns for share, ns in path.shares.items() if of(share)) for path in self.paths)
        return float(np.mean([ns / NS_PER_S for ns in sums]))

    def place(self, cause: str) -> str:
        """The place at which a cause takes most of its time; empty where it takes none."""
        return _most(path.places(cause) for path in self.paths)

    def step(self, cause: str) -> str:
        """What happens in most of a cause's time, as `others served`; empty where it takes none."""
        return _most(path.steps(cause) for path in self.paths)

    @cached_property
    def causes(self) -> list[str]:
        """The causes that there are, the one that takes most first."""
        known = [name for name in CAUSES if any(name in path.causes for path in self.paths)]
        return sorted(known, key=lambda name: -float(self.seconds(name).mean()))

    @cached_property
    def table(self) -> Table:
        """One row per cause, the one that takes most first.

        Columns: `cause`; `share` of the time; `mean_s` with `ci95_low` and `ci95_high` over the
        replications (Student t; NaN for one); `packets`, how many were concerned, on average.
        """
        rows = [(cause, mean_interval(self.seconds(cause))) for cause in self.causes]
        packets = [
            float(np.mean([path.packets.get(cause, 0) for path in self.paths]))
            for cause in self.causes
        ]
        whole = self.time.mean
        return Table(
            {
                "cause": [cause for cause, _ in rows],
                "share": [one.mean / whole for _, one in rows],
                "mean_s": [one.mean for _, one in rows],
                "ci95_low": [max(one.low, 0.0) for _, one in rows],
                "ci95_high": [one.high for _, one in rows],
                "packets": packets,
            }
        )

    @property
    def spans(self) -> Table:
        """The spans of the first replication, in order of time.

        They follow each other without gaps and add up to the time exactly. Columns: `begin_ns`,
        `end_ns`, `cause`, `layer`, `place`, `step` (what was happening there), `round` (why the
        path went round; empty on the last flight), `packet`, `seq`.
        """
        return self.paths[0].spans

    @cached_property
    def typical(self) -> Path:
        """The replication whose time is nearest the median, with its spans.

        Spans are kept of the first one; another is simulated again.
        """
        middle = float(np.median(self.times))
        gaps = np.abs(self.times - middle)
        path = self.paths[int(np.argmin(gaps))]
        if path.columns is not None:
            return path
        return path_again(self.scenario, self.user, self.transfer, path.run)

    def what_if(
        self, jobs: Jobs | None = None, progress: ProgressCallback | None = None
    ) -> list[WhatIf]:
        """What changes that take causes away would win, simulated, beside what the path says.

        Args:
            jobs: replications simulated at a time; None takes one per processor; or a
                `nodeb.Cluster`.
            progress: called with the fraction done and a few words.

        Raises:
            RunError: a replication failed.
        """
        from nodeb.explanation.what_if import what_if

        return what_if(self, jobs, progress)

    def levers(self) -> list[Lever]:
        """What changes are aimed at on the path, without simulating any; the most time first."""
        from nodeb.explanation.levers import levers

        return levers(self)

    def difference(self, other: Explanation) -> list[Part]:
        """What the difference to another explanation is made of, cause by cause.

        Args:
            other: of the same seed and the same number of replications.

        Raises:
            InputError: it is of others.
        """
        from nodeb.explanation.differences import difference

        if not isinstance(other, Explanation):
            raise InputError(f"difference: {other!r} is no explanation")
        return difference(self, other)

    @property
    def answer(self) -> Answer:
        """What it says first: how long the transfer took, and its largest causes."""
        from nodeb.explanation.answer import answer

        return answer(self)


def _most(times: Iterable[Mapping[str, int]]) -> str:
    """What takes most time of all."""
    sums: dict[str, int] = {}
    for one in times:
        for name, ns in one.items():
            sums[name] = sums.get(name, 0) + ns
    return max(sums, key=lambda name: sums[name], default="")
