"""Stopping rules: when a scenario has enough replications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from nodeb._core import StoppingRule
from nodeb.stats import Precision, Stop

T = TypeVar("T")


class Rule(Generic[T]):
    """Stopping rule, which decides on the number of replications of a scenario.

    It receives batches of replications in order. Its decision depends on the first n replications
    only, not on batches or on replications beyond n, so the number of threads has no influence.

    Args:
        rule: the rule, which judges columns of the replications.
        columns: returns these columns of a batch.
    """

    def __init__(self, rule: StoppingRule, columns: Callable[[T], Sequence[Any]]) -> None:
        self._rule, self._columns = rule, columns

    def take(self, outcome: T, runs: int) -> None:
        """Receives the results of the next `runs` replications, in order."""
        columns = self._columns(outcome)
        self._rule.take(runs, *(np.ascontiguousarray(one, dtype=np.float64) for one in columns))

    def stop(self) -> Stop | None:
        """Returns the end of the experiment, or `None` if it needs more replications."""
        end = self._rule.stop()
        return None if end is None else Stop(*end)

    def ahead(self) -> int:
        """Returns how many replications may be started in total, judging by the results so far."""
        return self._rule.ahead()

    def expected(self) -> int:
        """Returns the probable number of replications in total, for the progress report."""
        return self._rule.expected()


def count(runs: int) -> Rule[Any]:
    """Returns a rule with a fixed number of replications, whatever their results are."""
    return Rule(StoppingRule.count(runs), lambda _: ())


def rounds(
    runs: int, max_runs: int, relative: float | None, measure: Callable[[T], Any]
) -> Rule[T]:
    """Returns a rule of rounds; the last interval determines how many replications the next has.

    `measure` returns one value of each replication of a batch.
    """
    return Rule(StoppingRule.rounds(runs, max_runs, relative), lambda outcome: (measure(outcome),))


def rule_of(stop: int | Precision) -> Rule[Any]:
    """Returns a rule with a number of replications, or for the precision of the mean bit rate."""
    if not isinstance(stop, Precision):
        return count(stop)
    rule = StoppingRule.sequential(stop.relative, stop.min_runs, stop.max_runs)
    rates = ("application_bps", "received_bps")
    return Rule(rule, lambda tables: [tables["flows"][name] for name in rates])
