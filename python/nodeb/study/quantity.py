"""Quantities: what is measured from the replications of cases, and how sure it is.

A metric is a function of *means* over the replications: a rate is the data divided by the mean
time. The 95 % interval of such a function is the jackknife's (`nodeb.stats.jackknife`). A quantity
is lazy: it names its cases, and has a value once they were simulated.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from nodeb.base.arguments import as_number
from nodeb.base.functions import ask, numbers
from nodeb.errors import InputError, nearest
from nodeb.stats import Estimate, jackknife
from nodeb.study.case import Case, Change, ScenarioFunction

if TYPE_CHECKING:
    from nodeb.study.campaign import Campaign

__all__ = [
    "Constant",
    "Fact",
    "Means",
    "Measured",
    "Metric",
    "Quantity",
    "change",
    "least",
    "metric",
    "most",
    "quantity",
    "rms",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """A value and what it becomes without each replication in turn."""

    value: float
    left_out: Array

    def estimate(self) -> Estimate:
        """Value with its jackknife interval."""
        with np.errstate(invalid="ignore"):  # what is infinite has no interval
            return jackknife(self.value, self.left_out)


class Quantity(ABC):
    """Something whose value follows from replications."""

    unit: str = ""
    parts: tuple[Quantity, ...] = ()
    """What it is made of."""

    def cases(self) -> Iterator[Case]:
        """The cases that it is measured from."""
        for part in self.parts:
            yield from part.cases()

    def runs(self, work: Campaign) -> int:
        """Replications that all its parts have; 0 for a number that was calculated."""
        return min(filter(None, (part.runs(work) for part in self.parts)), default=0)

    @abstractmethod
    def sample(self, work: Campaign, n: int) -> Sample:
        """Value from the first `n` replications."""

    def estimate(self, work: Campaign) -> Estimate:
        """Value and interval from all its replications."""
        return self.sample(work, self.runs(work)).estimate()

    def under(self, *changes: Change, **arguments: Any) -> Quantity:
        """The same of cases with other arguments, or with their scenarios changed in turn."""
        parts = tuple(part.under(*changes, **arguments) for part in self.parts)
        return replace(self, parts=parts) if parts else self  # type: ignore[type-var]

    def __sub__(self, other: Quantity | float) -> Quantity:
        """The difference, paired run by run: all cases met the same random numbers."""
        return Combined(_difference, (self, quantity(other)), self.unit)

    def __rsub__(self, other: float) -> Quantity:
        return Combined(_difference, (quantity(other), self), self.unit)

    def __truediv__(self, other: Quantity | float) -> Quantity:
        """The ratio, paired run by run."""
        return Combined(_ratio, (self, quantity(other)))

    def __rtruediv__(self, other: float) -> Quantity:
        return Combined(_ratio, (quantity(other), self))

    def __mul__(self, other: Quantity | float) -> Quantity:
        """The product, paired run by run; with a plain number in the same unit."""
        unit = "" if isinstance(other, Quantity) else self.unit
        return Combined(np.multiply, (self, quantity(other)), unit)

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        raise TypeError("a quantity is neither true nor false; a claim yields what it compares")

    def __lt__(self, other: object) -> bool:
        raise TypeError("quantities are not compared with <; a claim yields `ordered`, `between`")

    __gt__ = __le__ = __ge__ = __lt__


def quantity(value: Quantity | float) -> Quantity:
    """A quantity as it is, or a number as one."""
    if isinstance(value, Quantity):
        return value
    if isinstance(value, Fact):
        raise InputError(ALONE)
    return Constant(as_number(value, "a cell or a term of a comparison"))


def change(of: Quantity | float, against: Quantity | float) -> Quantity:
    """The change of a quantity against another, paired run by run, in %."""
    return Combined(_relative, (quantity(of), quantity(against)), "%")


@dataclass(frozen=True)
class Constant(Quantity):
    """A calculated number."""

    value: float
    unit: str = ""

    def sample(self, work: Campaign, n: int) -> Sample:
        return Sample(self.value, np.full(n, self.value))


@dataclass(frozen=True)
class Fact:
    """What a stage found beside the scenarios, by its name.

    It has no replications to be paired: it is shown and judged by itself.
    """

    name: str
    unit: str = ""

    def cases(self) -> Iterator[Case]:
        """No cases."""
        return iter(())

    def estimate(self, work: Campaign) -> Estimate:
        """What was found."""
        try:
            return work.facts[self.name]
        except KeyError:
            raise InputError(f"no fact `{self.name}`{nearest(self.name, work.facts)}") from None

    def __sub__(self, other: object) -> NoReturn:
        raise InputError(ALONE)

    __rsub__ = __truediv__ = __rtruediv__ = __mul__ = __rmul__ = __sub__


Known = Quantity | Fact
"""What a cell shows, and what lies between two numbers."""
ALONE = "a fact has no replications, and is judged by itself, not combined"


def known(value: Known | float) -> Known:
    """A quantity or a fact as it is, or a number as a quantity."""
    return value if isinstance(value, Fact) else quantity(value)


class Means:
    """The means over replications that a metric is a function of.

    `m.app_bytes` is a column of the table `flows`, or a number that the case's reduction kept;
    `m["bearers.bler"]` a column of another table; `m[f]` what the function f makes of the tables
    of one replication. The last axis are the rows of the table, for flows the users. A metric is
    asked for the mean of all replications, and for the means without each of them in turn: there
    may be an axis before the last.
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
    """A function of means over replications."""

    function: Callable[..., Any]
    unit: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, **parameters: Any) -> Metric:
        """The metric with further arguments of its function, such as which user."""
        return replace(self, parameters={**self.parameters, **parameters})

    def of(self, cases: ScenarioFunction) -> Callable[..., Measured]:
        """The metric of a scenario: takes the scenario's arguments, and gives a quantity.

        Raises:
            InputError: that is no function of a scenario.
        """
        if not isinstance(cases, ScenarioFunction):
            raise InputError(f"a metric is of a function under `@study.scenario`, not of {cases!r}")
        return lambda *points, **named: Measured(self, cases(*points, **named), self.unit)

    def value(self, means: Means, *shape: int) -> Array:
        """The metric from means: a number, or as many as there are means without a replication.

        Raises:
            InputError: the function makes a mistake, or of a shape that is not this.
        """
        name = getattr(self.function, "__name__", "")
        expected = (
            "a number for each replication, with an axis of replications as it was given; "
            "choose a user by `[..., 0]`, or take the mean of all by `.mean(axis=-1)`"
        )

        def right(found: Any) -> bool:
            return numbers(found) and np.shape(found) == shape

        found = ask(self.function, f"metric `{name}`", expected, right, means, **self.parameters)
        return np.asarray(found, dtype=float)


def metric(unit: Any = "") -> Any:
    """Makes a metric of a function of means (`Means`).

    @metric("kb/s")
    def application_rate(m):
        return (m.app_bytes / m.transfer_s * 8 / 1000).mean(axis=-1)
    """
    return Metric(unit) if callable(unit) else lambda function: Metric(function, unit)


@dataclass(frozen=True)
class Measured(Quantity):
    """A metric of one case."""

    metric: Metric
    case: Case
    unit: str = ""

    def cases(self) -> Iterator[Case]:
        yield self.case

    def runs(self, work: Campaign) -> int:
        return len(work.log(self.case))

    def singles(self, work: Campaign) -> Array:
        """The metric of each replication by itself."""
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
    """Two quantities under common random numbers: replication i of both met the same radio."""

    operation: Callable[[Array, Array], Array]
    parts: tuple[Quantity, ...]
    unit: str = ""

    def sample(self, work: Campaign, n: int) -> Sample:
        left, right = (part.sample(work, n) for part in self.parts)
        value = self.operation(np.asarray(left.value), np.asarray(right.value))
        return Sample(float(value), np.asarray(self.operation(left.left_out, right.left_out)))


@dataclass(frozen=True)
class Best(Quantity):
    """The quantity of several whose value is least or most.

    It is chosen from the same replications, which flatters it a little.
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
class RootMeanSquare(Quantity):
    """The root of the mean square of quantities, as if they erred apart."""

    parts: tuple[Quantity, ...]
    unit: str = ""

    def sample(self, work: Campaign, n: int) -> Sample:
        of = [one.sample(work, n) for one in self.parts]
        value = math.sqrt(sum(one.value**2 for one in of) / len(of))
        return Sample(value, np.sqrt(np.mean([one.left_out**2 for one in of], axis=0)))

    def estimate(self, work: Campaign) -> Estimate:
        of = [one.estimate(work) for one in self.parts]
        value = math.sqrt(sum(one.value**2 for one in of) / len(of))
        steep = [one.value * one.half_width / (len(of) * value) if value else 0.0 for one in of]
        half = math.sqrt(sum(part**2 for part in steep))
        return Estimate(value, value - half, value + half, min(one.runs for one in of))


def in_order(value: float) -> tuple[bool, float]:
    """What numbers are put in order by; those that are not known come last."""
    return math.isnan(value), value


def _several(quantities: Iterable[Quantity] | Mapping[Any, Quantity]) -> tuple[Quantity, ...]:
    found = quantities.values() if isinstance(quantities, Mapping) else quantities
    of = tuple(map(quantity, found))
    if not of:
        raise InputError("there are no quantities to choose from")
    return of


def least(quantities: Iterable[Quantity] | Mapping[Any, Quantity]) -> Quantity:
    """The quantity whose value is least."""
    of = _several(quantities)
    return Best(1, of, of[0].unit)


def most(quantities: Iterable[Quantity] | Mapping[Any, Quantity]) -> Quantity:
    """The quantity whose value is most."""
    of = _several(quantities)
    return Best(-1, of, of[0].unit)


def rms(quantities: Sequence[Quantity]) -> Quantity:
    """The root of the mean square of several quantities."""
    of = _several(quantities)
    return RootMeanSquare(of, of[0].unit)


def _difference(left: Array, right: Array) -> Array:
    return left - right


def _ratio(left: Array, right: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return left / right


def _relative(left: Array, right: Array) -> Array:
    return 100 * (_ratio(left, right) - 1)
