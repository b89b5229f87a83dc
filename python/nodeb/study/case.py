"""Cases of a study. A case is one scenario with its number of replications."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nodeb.base.arguments import as_number, as_whole
from nodeb.errors import InputError
from nodeb.inputs.scenario import Scenario
from nodeb.study.axis import Point

__all__ = ["Case", "Effort", "Quick", "ScenarioFunction", "Settings"]

Change = Mapping[str, Any] | Callable[[Scenario], Scenario]
"""Change of a scenario: values by dotted key, or a function that returns the changed scenario."""


def _check(right: bool, wrong: str) -> None:
    if not right:
        raise InputError(wrong)


@dataclass(frozen=True)
class Effort:
    """Number of replications of a case, and cost of each."""

    runs: int = 10
    """Smallest number of replications, at least 2, because one has no interval."""
    max_runs: int = 0
    """Largest number of replications; 0 for exactly `runs`."""
    precision: float | None = None
    """Target half-width of the 95 % interval of the mean, relative to the mean; None for no target.

    The mean is that of the transfer time, for endless downloads that of the delivered bytes.
    """
    cost: float = 1.0
    """Approximate cost of a replication, relative to other cases.

    It determines the progress bar, the order of simulation, and the number of replications in the
    short version.
    """

    def __post_init__(self) -> None:
        runs, most = (as_whole(getattr(self, name), name) for name in ("runs", "max_runs"))
        cost, precision = as_number(self.cost, "cost"), self.precision
        _check(runs >= 2, f"an effort has {runs} runs; expected at least 2, for an interval")
        _check(not most or most >= runs, f"an effort has {runs} runs, but {most} as `max_runs`")
        _check(0 < cost < math.inf, f"the cost of an effort is {cost}; expected more than 0")
        if precision is not None:
            wrong = f"the precision of an effort is {precision}; expected a share such as 0.02"
            _check(0 < as_number(precision, "precision") < math.inf, wrong)
            _check(most > runs, f"a precision needs more than its {runs} runs as `max_runs`")


def check_warm_up(warm_up_s: float) -> None:
    right = 0 <= as_number(warm_up_s, "warm_up_s") < math.inf
    _check(right, f"warm_up_s is {warm_up_s}; expected 0 s or more")


@dataclass(frozen=True)
class Quick:
    """The short version of a study, for a first look and for tests."""

    runs: int = 2
    """Largest number of replications of a case; never more than in the full study."""
    cost: float = float("inf")
    """Largest cost of all replications of a case.

    Two replications are made at any cost, as one has no interval.
    """
    warm_up_s: float | None = None
    """Warm-up time of each replication, s; None for that of the full study."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Changes of every scenario by dotted key, such as a shorter duration."""

    def __post_init__(self) -> None:
        few = f"a short version has {self.runs} runs; expected at least 2"
        _check(as_whole(self.runs, "runs") >= 2, few)
        wrong = f"the cost of a short version is {self.cost}; expected more than 0"
        _check(as_number(self.cost, "cost") > 0, wrong)
        check_warm_up(self.warm_up_s or 0)

    def effort(self, whole: Effort) -> Effort:
        """Returns the effort of a case in the short version, if its full effort is `whole`."""
        runs = max(2, int(min(self.cost / whole.cost, self.runs, whole.runs)))
        return Effort(runs, cost=whole.cost)


@dataclass(frozen=True)
class Settings:
    """Options of a measurement, apart from the seed.

    A scenario function, reduction or effort function receives those that its arguments name.
    """

    quick: bool = False
    warm_up_s: float = 0.0
    given: dict[str, Any] = field(default_factory=dict)
    """Results of the stages that run before the scenarios, by name (`StageContext.given`)."""

    def asked(
        self, function: Callable[..., Any], arguments: Iterable[tuple[str, Any]] = ()
    ) -> dict[str, Any]:
        """Returns the settings, and the values of `arguments`, that the function has as arguments.

        A point has its value there.
        """
        values = {name: one.value if isinstance(one, Point) else one for name, one in arguments}
        values |= {name: getattr(self, name) for name in SETTINGS}
        wanted = inspect.signature(function).parameters
        return {name: value for name, value in values.items() if name in wanted}


SETTINGS = ("quick", "warm_up_s", "given")


class ScenarioFunction:
    """A scenario function: called with points or plain values, it returns a case.

    The function itself is called later, when the scenario of the case is needed.
    """

    def __init__(
        self,
        function: Callable[..., Scenario],
        effort: Effort | Callable[..., Effort] | None = None,
        reduce: Callable[..., Mapping[str, Any]] | None = None,
        endless: bool = False,
    ) -> None:
        self.function, self.effort, self.reduce, self.endless = function, effort, reduce, endless
        named = reduce is None or "<" not in getattr(reduce, "__qualname__", "<")
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        _check(named, f"{self.__name__}: the reduction must be a `def` at the top level of a file")
        parameters = inspect.signature(function).parameters.values()
        self._signature = inspect.Signature([p for p in parameters if p.name not in SETTINGS])

    def __call__(self, *points: Any, **named: Any) -> Case:
        """Returns the case for the given arguments, without building its scenario.

        Raises:
            InputError: the arguments do not match the function's signature.
        """
        try:
            bound = self._signature.bind(*points, **named)
        except TypeError as error:
            raise InputError(f"{self.__name__}: {error}") from None
        bound.apply_defaults()
        return Case(self, tuple(bound.arguments.items()))


@dataclass(frozen=True)
class Case:
    """A scenario of a study: a scenario function, its arguments, and changes of the scenario."""

    of: ScenarioFunction
    arguments: tuple[tuple[str, Any], ...]
    changes: tuple[tuple[str, Callable[[Scenario], Scenario]], ...] = ()

    @property
    def label(self) -> str:
        """Name in messages: the arguments and changes, without None and functions."""
        values = [value for _, value in self.arguments if value is not None and not callable(value)]
        names = [*map(str, values), *(name for name, _ in self.changes)]
        return ", ".join(names) or self.of.__name__

    def under(self, *changes: Change, **arguments: Any) -> Case:
        """Returns this case with other arguments, or with further changes, applied in order.

        Raises:
            InputError: the scenario function has no such argument.
        """
        values = dict(self.arguments)
        if unknown := arguments.keys() - values.keys():
            raise InputError(f"{self.of.__name__} has no argument `{min(unknown)}`")
        more = tuple(_named(change) for change in changes if change)
        return replace(
            self,
            arguments=tuple((values | arguments).items()),
            changes=(*self.changes, *more),
        )

    def scenario(self, settings: Settings, quick: Quick) -> Scenario:
        """Returns the scenario to simulate: the function's result, changed as requested."""
        scenario = self.of.function(**settings.asked(self.of.function, self.arguments))
        if settings.quick and quick.changes:
            scenario = scenario.with_(quick.changes)
        for _, change in self.changes:
            scenario = change(scenario)
        if not isinstance(scenario, Scenario):
            raise InputError(f"{self.of.__name__} returned {scenario!r}; expected a Scenario")
        return scenario

    def effort(self, settings: Settings, usual: Effort) -> Effort:
        """Returns the effort in the full study: the scenario function's own, or `usual`."""
        effort = self.of.effort or usual
        if not isinstance(effort, Effort):
            effort = effort(**settings.asked(effort, self.arguments))
        if not isinstance(effort, Effort):
            raise InputError(f"the effort of {self.label} is {effort!r}; expected an Effort")
        return effort


def _named(change: Change) -> tuple[str, Callable[[Scenario], Scenario]]:
    if callable(change):
        return change.__name__, change
    return ", ".join(f"{key} = {value}" for key, value in change.items()), _Frozen(dict(change))


@dataclass(frozen=True)
class _Frozen:
    """Changes by dotted key, as a function on scenarios; equal changes compare equal."""

    changes: dict[str, Any]

    def __call__(self, scenario: Scenario) -> Scenario:
        return scenario.with_(self.changes)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.changes)))
