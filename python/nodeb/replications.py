"""The replications of one scenario, in order, and when there are enough of them.

Results are ordered by run, and a stopping rule is asked about the first n runs whatever finished
earlier: the number of threads changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from nodeb.stats import Precision, Stop

__all__ = ["Replications"]

T = TypeVar("T")


class Replications(Generic[T]):
    """What became of each replication, in order of the run.

    Args:
        stop: how many replications, or the rule that decides.
        measure: the value of a replication that the rule is asked about.
    """

    def __init__(self, stop: int | Precision, measure: Callable[[T], float]) -> None:
        self.stop = stop
        self.finished: list[T] = []
        """The first replications that count, without a gap."""
        self._measure = measure
        self._early: dict[int, T] = {}
        self._values: list[float] = []

    @property
    def limit(self) -> int:
        """The largest number of replications."""
        return self.stop.max_runs if isinstance(self.stop, Precision) else self.stop

    @property
    def known(self) -> int:
        """How many replications are there, in whatever order."""
        return len(self.finished) + len(self._early)

    def add(self, run: int, outcome: T) -> None:
        """Notes what became of a replication."""
        self._early[run] = outcome

    def judge(self) -> Stop | None:
        """Takes replications in order until they are enough; None when more are needed."""
        while True:
            n = len(self.finished)
            if isinstance(self.stop, int):
                if n == self.stop:
                    noun = "replication" if n == 1 else "replications"
                    return Stop(n, True, f"{n} {noun}, as asked")
            elif (found := self.stop.judge(self._values)) is not None:
                return found
            if not self._take():
                return None

    def take_all(self) -> None:
        """Takes what is there without asking the rule, for an experiment that is cut short."""
        while self._take():
            pass

    def expected(self) -> int:
        """How many replications it will probably take, as far as is known now."""
        if isinstance(self.stop, int):
            return self.stop
        return self.stop.expected_runs(self._values)

    def _take(self) -> bool:
        """Takes the next replication in order, if it is there."""
        n = len(self.finished)
        if n not in self._early:
            return False
        outcome = self._early.pop(n)
        self.finished.append(outcome)
        self._values.append(self._measure(outcome))
        return True
