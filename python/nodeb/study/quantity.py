"""Quantities: values measured from the replications of cases, with their uncertainty.

A metric is a function of *means* over the replications: a rate is the data divided by the mean
time. The 95 % interval of such a function is the jackknife's (`nodeb.stats.jackknife`). A quantity
is lazy: it names its cases, and has a value once they are simulated.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.arguments import as_number
from nodeb.errors import InputError, nearest
from nodeb.stats import Estimate, jackknife
from nodeb.study.case import Case, Change, ScenarioFunction

if TYPE_CHECKING:
    from nodeb.study.campaign import Campaign

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """A value from n replications, and n leave-one-out values.

    Each leave-one-out value is computed from all replications but one, for the jackknife.
    """

    value: float
    left_out: Array

    def estimate(self) -> Estimate:
        # An infinite value has no interval, so the jackknife's invalid operations are expected.
        with np.errstate(invalid="ignore"):
            return jackknife(self.value, self.left_out)


class Quantity(ABC):
    """A value that is computed from replications of one or several cases."""

    unit: str = ""
    parts: tuple[Quantity, ...] = ()
    """Quantities that this quantity is computed from."""

    def cases(self) -> Iterator[Case]:
        for part in self.parts:
            yield from part.cases()

    def runs(self, work: Campaign) -> int:
        """Number of replications that the quantity is computed from, 0 if it is calculated."""
        return min(filter(None, (part.runs(work) for part in self.parts)), default=0)

    @abstractmethod
    def sample(self, work: Campaign, n: int) -> Sample:
        """Returns the value from the first `n` replications, with its leave-one-out values."""

    def estimate(self, work: Campaign) -> Estimate:
        return self.sample(work, self.runs(work)).estimate()

    def under(self, *changes: Change, **arguments: Any) -> Quantity:
        """The quantity measured with other arguments of its cases, or in changed scenarios."""
        parts = tuple(part.under(*changes, **arguments) for part in self.parts)
        return replace(self, parts=parts) if parts else self  # type: ignore[type-var]

    def __sub__(self, other: Quantity | float) -> Quantity:
        """Difference of two quantities, paired run by run, as cases use the same random numbers."""
        return Combined(np.subtract, (self, quantity(other)), self.unit)

    def __rsub__(self, other: float) -> Quantity:
        return Combined(np.subtract, (quantity(other), self), self.unit)

    def __truediv__(self, other: Quantity | float) -> Quantity:
        """Ratio of two quantities, paired run by run; it has no unit."""
        return Combined(np.divide, (self, quantity(other)))

    def __rtruediv__(self, other: float) -> Quantity:
        return Combined(np.divide, (quantity(other), self))

    def __mul__(self, other: Quantity | float) -> Quantity:
        """Product of two quantities, paired run by run; it has no unit.

        If the other factor is a plain number, the product has the unit of this quantity.
        """
        unit = "" if isinstance(other, Quantity) else self.unit
        return Combined(np.multiply, (self, quantity(other)), unit)

    __rmul__ = __mul__


def quantity(value: Quantity | float) -> Quantity:
    """Turns a number into a constant quantity."""
    if isinstance(value, Quantity):
        return value
    return Constant(as_number(value, "a term of a comparison"))


def change(of: Quantity | float, against: Quantity | float) -> Quantity:
    """Returns the change of a quantity relative to another one, in %, paired run by run.

    The change relative to 0 is infinite or NaN.
    """
    terms = quantity(of), quantity(against)
    return Combined(lambda value, base: 100 * (value / base - 1), terms, "%")


@dataclass(frozen=True)
class Constant(Quantity):
    """A calculated number, which needs no replications."""

    value: float
    unit: str = ""

    def sample(self, work: Campaign, n: int) -> Sample:
        return Sample(self.value, np.full(n, self.value))


@dataclass(frozen=True)
class Fact:
    """Result of a stage, by its name; it has no replications that could be paired with others."""

    name: str
    unit: str = ""

    def cases(self) -> Iterator[Case]:
        return iter(())

    def estimate(self, work: Campaign) -> Estimate:
        if self.name not in work.facts:
            raise InputError(f"no fact `{self.name}`{nearest(self.name, work.facts)}")
        return work.facts[self.name]


Value = Quantity | Fact
"""Content of a table cell, and operand of the check `between`."""


def value_of(value: Value | float) -> Value:
    """Turns a number into a constant quantity."""
    return value if isinstance(value, Fact) else quantity(value)


class Means:
    """Means over replications: the argument of a metric's function.

    `m.app_bytes` is a column of the table `flows`, or a number that the case's reduction stored;
    `m["bearers.bler"]` is a column of another table; `m[f]` is the result of the function `f` for
    the tables of one replication. The last axis of an array corresponds to the rows of the table,
    which are the users in `flows`. A metric is evaluated for the mean of all replications, for
    the means that leave out one replication each, and for single replications. In the last two
    cases arrays have an additional axis before the last one: the replication that is left out, or
    the single one.
    """

    def __init__(self, get: Callable[[Any], Array]) -> None:
        self._get, self._known = get, dict[Any, Array]()

    def __getitem__(self, key: str | Callable[..., Any]) -> Array:
        if key not in self._known:
            self._known[key] = self._get(key)
        return self._known[key]

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]


@dataclass(frozen=True)
class Metric:
    """A function of means over replications, with its unit and parameters."""

    function: Callable[..., Any]
    unit: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, **parameters: Any) -> Metric:
        """Returns the metric with further arguments for its function, such as a user index."""
        return replace(self, parameters={**self.parameters, **parameters})

    def of(self, cases: ScenarioFunction) -> Callable[..., Measured]:
        """Returns a function that takes the scenario's arguments and returns the measured quantity.

        Raises:
            InputError: `cases` is not a scenario function.
        """
        if not isinstance(cases, ScenarioFunction):
            raise InputError(f"a metric needs a function with `@study.scenario`, not {cases!r}")
        return lambda *points, **named: Measured(self, cases(*points, **named), self.unit)

    def value(self, means: Means, *shape: int) -> Array:
        """Returns the metric of given means, as an array of shape `shape`.

        Without `shape`, it is one number. With the number of replications as `shape`, it is a
        number for each leave-one-out mean, or for each single replication.

        Raises:
            InputError: the function returns no array of this shape.
        """
        name = getattr(self.function, "__name__", "")
        with np.errstate(all="ignore"):
            found = self.function(means, **self.parameters)
        try:
            values = np.asarray(found, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"metric `{name}` returned {found!r}; expected numbers") from None
        if found is None or values.shape != shape:
            what = "None" if found is None else f"an array of shape {values.shape}"
            raise InputError(
                f"metric `{name}` returned {what}; expected a number for each replication: choose "
                "a user by `[..., 0]`, or take the mean of all by `.mean(axis=-1)`"
            )
        return values


def metric(unit: Any = "") -> Any:
    """Turns a function of means (`Means`) into a metric; a decorator.

    @metric("kb/s")
    def application_rate(m):
        return (m.app_bytes / m.transfer_s * 8 / 1000).mean(axis=-1)
    """
    return Metric(unit) if callable(unit) else lambda function: Metric(function, unit)


@dataclass(frozen=True)
class Measured(Quantity):
    """A metric of one case, measured by the case's replications."""

    metric: Metric
    case: Case
    unit: str = ""

    def cases(self) -> Iterator[Case]:
        yield self.case

    def runs(self, work: Campaign) -> int:
        return len(work.log(self.case))

    def singles(self, work: Campaign) -> Array:
        """Returns the metric of each single replication, as an array."""
        log = work.log(self.case)
        return self.metric.value(Means(log.stack), len(log))

    def under(self, *changes: Change, **arguments: Any) -> Measured:
        return replace(self, case=self.case.under(*changes, **arguments))

    def sample(self, work: Campaign, n: int) -> Sample:
        log = work.log(self.case)
        value = float(self.metric.value(Means(lambda key: log.stack(key)[:n].mean(axis=0))))
        if n < 2:
            return Sample(value, np.full(n, value))

        def rest(key: Any) -> Array:
            values = log.stack(key)[:n]
            return np.asarray((n * values.mean(axis=0) - values) / (n - 1))

        return Sample(value, self.metric.value(Means(rest), n))


@dataclass(frozen=True)
class Combined(Quantity):
    """A function of quantities, evaluated for the same replications of each."""

    operation: Callable[..., Any]
    parts: tuple[Quantity, ...]
    unit: str = ""

    def sample(self, work: Campaign, n: int) -> Sample:
        of = [part.sample(work, n) for part in self.parts]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = self.operation(*(np.float64(one.value) for one in of))
            return Sample(float(value), self.operation(*(one.left_out for one in of)))


@dataclass(frozen=True)
class Best(Quantity):
    """The smallest or largest of several quantities.

    The choice uses the same replications as the value, which biases the value slightly.
    """

    sign: int
    parts: tuple[Quantity, ...]
    unit: str = ""

    def runs(self, work: Campaign) -> int:
        return self._chosen(work).runs(work)

    def _chosen(self, work: Campaign) -> Quantity:
        return min(self.parts, key=lambda one: in_order(self.sign * one.estimate(work).value))

    def sample(self, work: Campaign, n: int) -> Sample:
        return self._chosen(work).sample(work, n)

    def estimate(self, work: Campaign) -> Estimate:
        return self._chosen(work).estimate(work)


@dataclass(frozen=True)
class RootMeanSquare(Combined):
    """Root mean square of quantities; its interval assumes that their errors are independent."""

    def estimate(self, work: Campaign) -> Estimate:
        of = [one.estimate(work) for one in self.parts]
        value = float(self.operation(*(one.value for one in of)))
        steep = [one.value * one.half_width / (len(of) * value) if value else 0.0 for one in of]
        half = math.sqrt(sum(part**2 for part in steep))
        return Estimate(value, value - half, value + half, min(one.runs for one in of))


def in_order(value: float) -> tuple[bool, float]:
    """A sort key that puts NaN last."""
    return math.isnan(value), value


def _several(quantities: Iterable[Quantity] | Mapping[Any, Quantity]) -> tuple[Quantity, ...]:
    of = quantities.values() if isinstance(quantities, Mapping) else quantities
    if not (several := tuple(map(quantity, of))):
        raise InputError("there are no quantities to choose from")
    return several


def least(quantities: Iterable[Quantity] | Mapping[Any, Quantity]) -> Quantity:
    """Returns a quantity whose value is the smallest of several quantities' values."""
    of = _several(quantities)
    return Best(1, of, of[0].unit)


def most(quantities: Iterable[Quantity] | Mapping[Any, Quantity]) -> Quantity:
    """Returns a quantity whose value is the largest of several quantities' values."""
    of = _several(quantities)
    return Best(-1, of, of[0].unit)


def rms(quantities: Sequence[Quantity]) -> Quantity:
    """Returns the root mean square of several quantities."""
    of = _several(quantities)
    return RootMeanSquare(
        lambda *values: np.sqrt(sum(v**2 for v in values) / len(of)), of, of[0].unit
    )
