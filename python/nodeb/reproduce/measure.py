"""What is measured from the replications of one scenario, and how sure it is.

A metric is a function of *mean* quantities over the replications. A rate is therefore the
data divided by the mean download time, as the study defines it, and the spread among users is that
of their mean rates. The 95 % interval of such a function is the jackknife's: leave out one
replication at a time (Efron and Tibshirani 1993, ch. 11), with Student's t. For a plain mean this
is the usual interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nodeb.reproduce.arrays import Array
from nodeb.reproduce.log import Log
from nodeb.reproduce.metrics import Metric
from nodeb.stats import Estimate, jackknife


@dataclass(frozen=True)
class Sample:
    """A value and what it becomes without each replication in turn."""

    value: float
    left_out: Array

    def estimate(self) -> Estimate:
        """Value with its jackknife interval."""
        return jackknife(self.value, self.left_out)


class Quantity(Protocol):
    """Something whose value follows from replications: a metric of a scenario, or a combination."""

    def runs(self) -> int:
        """Replications at hand."""
        ...

    def sample(self, n: int) -> Sample:
        """Value from the first `n` replications."""
        ...

    def singles(self) -> Array:
        """Value from each replication by itself."""
        ...


def estimate(quantity: Quantity) -> Estimate:
    """Value and interval of a quantity from all its replications."""
    return quantity.sample(quantity.runs()).estimate()


@dataclass(frozen=True)
class Measured:
    """A metric of one scenario."""

    log: Log
    metric: Metric
    params: Mapping[str, Any]

    def runs(self) -> int:
        """Replications of the scenario."""
        return len(self.log)

    def sample(self, n: int) -> Sample:
        """Metric from the first `n` replications."""
        columns = {key: values[:n] for key, values in self.log.stacked().items()}
        means = {key: values.mean(axis=0) for key, values in columns.items()}
        value = float(self.metric.of(means, self.params))
        if n < 2:
            return Sample(value, np.full(n, value))
        rest = {key: (n * means[key] - values) / (n - 1) for key, values in columns.items()}
        return Sample(value, np.broadcast_to(self.metric.of(rest, self.params), (n,)))

    def singles(self) -> Array:
        """Metric from each replication by itself."""
        values = self.metric.of(self.log.stacked(), self.params)
        return np.broadcast_to(values, (self.runs(),))


@dataclass(frozen=True)
class Combined:
    """Two quantities under common random numbers: replication i of both met the same radio."""

    operation: str
    left: Quantity
    right: Quantity

    def runs(self) -> int:
        """Replications that both have."""
        return min(n for n in (self.left.runs(), self.right.runs()) if n) if self._random() else 0

    def _random(self) -> bool:
        return self.left.runs() > 0 or self.right.runs() > 0

    def sample(self, n: int) -> Sample:
        """The combination of the first `n` replications."""
        left, right = self.left.sample(n), self.right.sample(n)
        operate = OPERATIONS[self.operation]
        return Sample(
            float(operate(np.asarray(left.value), np.asarray(right.value))),
            np.asarray(operate(left.left_out, right.left_out)),
        )

    def singles(self) -> Array:
        """The combination of each replication by itself."""
        n, operate = self.runs(), OPERATIONS[self.operation]
        return np.asarray(operate(self.left.singles()[:n], self.right.singles()[:n]))


@dataclass(frozen=True)
class Constant:
    """A calculated number."""

    value: float

    def runs(self) -> int:
        """None: nothing was simulated."""
        return 0

    def sample(self, n: int) -> Sample:
        """The number itself."""
        return Sample(self.value, np.full(n, self.value))

    def singles(self) -> Array:
        """Nothing was simulated."""
        return np.empty(0)


def _ratio(left: Array, right: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return left / right


OPERATIONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "difference": lambda left, right: left - right,
    "relative": lambda left, right: 100 * (_ratio(left, right) - 1),
    "ratio": _ratio,
}
