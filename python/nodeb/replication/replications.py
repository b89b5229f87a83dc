"""The replications of one scenario, in order.

Results are ordered by run, and a rule judges the first n runs even if later ones finish earlier, so
that the number of threads has no influence. A failure counts only when its run is reached in order,
so a replication that turns out not to be needed cannot fail an experiment.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from nodeb.replication.rules import Rule
from nodeb.stats import Stop

__all__ = ["Replications"]

T = TypeVar("T")


class Replications(Generic[T]):
    """Outcome of each replication, in order of the run."""

    def __init__(self, rule: Rule[T]) -> None:
        self.rule = rule
        self.finished: list[T] = []
        """Outcomes of the first replications, without a gap; one outcome may cover several."""
        self.done = 0
        """Number of replications in `finished`."""
        self._early: dict[int, tuple[T, int]] = {}
        self._failed: dict[int, Exception] = {}

    @property
    def known(self) -> int:
        """Number of replications that are finished, including those that finished out of order."""
        return self.done + sum(runs for _, runs in self._early.values())

    def add(self, run: int, outcome: T, runs: int = 1) -> None:
        self._early[run] = outcome, runs

    def fail(self, run: int, error: Exception) -> None:
        """Records a failure of a replication: `judge` raises the error when the run is reached."""
        self._failed[run] = error

    def judge(self) -> Stop | None:
        while (stop := self.rule.stop()) is None:
            if self.done in self._failed:
                raise self._failed[self.done]
            if not self._take():
                return None
        return stop

    def take_all(self) -> None:
        """Takes the finished replications up to the first gap, whatever the rule says.

        Called after an interruption.
        """
        while self._take():
            pass

    def _take(self) -> bool:
        """Returns false if it is not finished."""
        if self.done not in self._early:
            return False
        outcome, runs = self._early.pop(self.done)
        self.finished.append(outcome)
        self.done += runs
        self.rule.take(outcome, runs)
        return True
