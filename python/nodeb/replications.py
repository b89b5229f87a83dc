"""The replications of one scenario, in order, and when there are enough of them.

Results are ordered by run, and a stopping rule is asked about the first n runs whatever finished
earlier: the number of threads changes nothing. What failed counts when its turn comes, so a
replication that turns out not to be needed cannot fail an experiment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, TypeVar

from nodeb.stats import Precision, Stop

__all__ = ["RATES", "Rates", "Replications"]

T = TypeVar("T")

RATES = (
    "mean application bit rate",
    "mean bit rate received (not every transfer was completed)",
)
"""What a rule is asked about: the application bit rate as long as every user of every replication
has one. Those who do not complete in time have none; to leave them out would be to ask survivors.
"""
Rates = tuple[float, float]
"""These means over the users of a replication, bit/s; NaN where a user has none."""


class Replications(Generic[T]):
    """What became of each replication, in order of the run.

    Args:
        stop: how many replications, or the rule that decides.
        measure: the rates of a replication, in the order of `RATES`.
    """

    def __init__(self, stop: int | Precision, measure: Callable[[T], Rates]) -> None:
        self.stop = stop
        self.finished: list[T] = []
        """What came of the first replications that count, without a gap."""
        self.done = 0
        """How many replications these are."""
        self._measure = measure
        self._early: dict[int, tuple[T, int]] = {}
        self._failed: dict[int, Exception] = {}
        self._rates: list[Rates] = []

    @property
    def limit(self) -> int:
        """The largest number of replications."""
        return self.stop.max_runs if isinstance(self.stop, Precision) else self.stop

    @property
    def known(self) -> int:
        """How many replications are there, in whatever order."""
        return self.done + sum(runs for _, runs in self._early.values())

    def add(self, run: int, outcome: T, runs: int = 1) -> None:
        """Notes what became of a replication, or of several from number `run` on.

        Where a rule decides they come one by one.
        """
        self._early[run] = outcome, runs

    def fail(self, run: int, error: Exception) -> None:
        """Notes that a replication failed: `judge` raises the error when its turn comes."""
        self._failed[run] = error

    def judge(self) -> Stop | None:
        """Takes replications in order until they are enough; None when more are needed.

        Raises:
            Exception: the error of a replication that is needed.
        """
        while True:
            n = self.done
            if isinstance(self.stop, int):
                if n == self.stop:
                    noun = "replication" if n == 1 else "replications"
                    return Stop(n, True, f"{n} {noun}, as asked")
            elif (found := self.stop.judge(*self._judged())) is not None:
                return found
            if n in self._failed:
                raise self._failed[n]
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
        return self.stop.expected_runs(self._judged()[0])

    def _judged(self) -> tuple[list[float], str]:
        """What the rule is asked about: the first of the rates that all replications have."""
        columns = list(zip(*self._rates, strict=True)) or [()] * len(RATES)
        known = (n for n, values in enumerate(columns) if all(map(math.isfinite, values)))
        first = next(known, len(RATES) - 1)
        return list(columns[first]), RATES[first]

    def _take(self) -> bool:
        """Takes the next replication in order, if it is there."""
        if self.done not in self._early:
            return False
        outcome, runs = self._early.pop(self.done)
        self.finished.append(outcome)
        self.done += runs
        if isinstance(self.stop, Precision):
            self._rates.append(self._measure(outcome))
        return True
