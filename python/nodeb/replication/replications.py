"""The replications of one scenario, in order.

Results are ordered by run, and a rule is asked about the first n runs whatever finished earlier:
the number of threads changes nothing. What failed counts when its turn comes, so a replication that
turns out not to be needed cannot fail an experiment.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from nodeb.replication.rules import Rule
from nodeb.stats import Stop

__all__ = ["Replications"]

T = TypeVar("T")


class Replications(Generic[T]):
    """What became of each replication, in order of the run.

    Args:
        rule: decides how many there are.
    """

    def __init__(self, rule: Rule[T]) -> None:
        self.rule = rule
        self.finished: list[T] = []
        """What came of the first replications, without a gap; each of one or of several."""
        self.done = 0
        """How many replications these are."""
        self._early: dict[int, tuple[T, int]] = {}
        self._failed: dict[int, Exception] = {}

    @property
    def known(self) -> int:
        """How many replications are there, in whatever order."""
        return self.done + sum(runs for _, runs in self._early.values())

    def add(self, run: int, outcome: T, runs: int = 1) -> None:
        """Notes what became of a replication, or of several from number `run` on."""
        self._early[run] = outcome, runs

    def fail(self, run: int, error: Exception) -> None:
        """Notes that a replication failed: `judge` raises the error when its turn comes."""
        self._failed[run] = error

    def judge(self) -> Stop | None:
        """Takes replications in order until they are enough; None when more are needed.

        Raises:
            Exception: the error of a replication that is needed.
        """
        while (stop := self.rule.stop()) is None:
            if self.done in self._failed:
                raise self._failed[self.done]
            if not self._take():
                return None
        return stop

    def take_all(self) -> None:
        """Takes what is there without asking the rule, for an experiment that is cut short."""
        while self._take():
            pass

    def _take(self) -> bool:
        """Takes the next replications in order, if they are there."""
        if self.done not in self._early:
            return False
        outcome, runs = self._early.pop(self.done)
        self.finished.append(outcome)
        self.done += runs
        self.rule.take(outcome, runs)
        return True
