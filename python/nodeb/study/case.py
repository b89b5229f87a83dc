"""Cases of a study. A case is one scenario with its number of replications."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nodeb.base.arguments import as_number, as_whole
from nodeb.base.functions import call_checked
from nodeb.errors import InputError
from nodeb.study.axis import Point

if TYPE_CHECKING:
    from nodeb.inputs.scenario import Scenario

__all__ = ["Case", "Effort", "Quick", "ScenarioFunction", "Settings"]

Change = Mapping[str, Any] | Callable[["Scenario"], "Scenario"]
"""Change of a scenario: values by dotted key, or a function that returns the changed scenario."""


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
        for name in ("runs", "max_runs"):
            as_whole(getattr(self, name), f"the `{name}` of an effort")
        if self.runs < 2:
            raise InputError(
                f"an effort has {self.runs} runs; expected at least 2, for an interval"
            )
        if self.max_runs and self.max_runs < self.runs:
            raise InputError(f"an effort has {self.runs} runs, but {self.max_runs} as `max_runs`")
        if not 0 < as_number(self.cost, "the `cost` of an effort") < math.inf:
            raise InputError(f"the cost of an effort is {self.cost}; expected more than 0")
        if self.precision is not None and not 0 < as_number(self.precision, "precision") < math.inf:
            raise InputError(
                f"the precision of an effort is {self.precision}; expected a share of the mean, "
                "such as 0.02"
            )
        if self.precision is not None and self.max_runs <= self.runs:
            raise InputError(
                f"an effort with a precision needs more than its {self.runs} runs as `max_runs`"
            )


def check_warm_up(warm_up_s: float | None) -> None:
    """Checks a warm-up time.

    Raises:
        InputError: the warm-up time is negative, infinite, or not a number.
    """
    if warm_up_s is not None and not 0 <= as_number(warm_up_s, "warm_up_s") < math.inf:
        raise InputError(f"warm_up_s is {warm_up_s}; expected 0 s or more")


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
        if as_whole(self.runs, "the `runs` of a short version") < 2:
            raise InputError(f"a short version has {self.runs} runs; expected at least 2")
        if not as_number(self.cost, "the `cost` of a short version") > 0:
            raise InputError(f"the cost of a short version is {self.cost}; expected more than 0")
        if not isinstance(self.changes, Mapping):
            raise InputError("the changes of a short version must be values by dotted key")
        check_warm_up(self.warm_up_s)

    def effort(self, whole: Effort) -> Effort:
        """Returns the effort of a case in the short version, if its full effort is `whole`."""
        runs = max(2, int(min(self.cost / whole.cost, self.runs, whole.runs)))
        return Effort(runs, cost=whole.cost)


@dataclass(frozen=True)
class Settings:
    """Options of a measurement, apart from the seed.

    A scenario function, reduction or effort function receives those settings that its arguments
    name.
    """

    quick: bool = False
    warm_up_s: float = 0.0
    given: dict[str, Any] = field(default_factory=dict)
    """Results of the stages that run before the scenarios, by name (`StageContext.given`)."""

    def asked(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Returns the settings whose names are arguments of the function."""
        wanted = inspect.signature(function).parameters
        return {name: getattr(self, name) for name in SETTINGS if name in wanted}


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
        if reduce is not None and "<" in getattr(reduce, "__qualname__", "<"):
            raise InputError(
                f"{function.__name__}: the reduction must be a `def` at the top level of a file"
            )
        parameters = inspect.signature(function).parameters.values()
        kept = [one for one in parameters if one.name not in SETTINGS]
        self._signature = inspect.Signature(kept)
        self.__name__, self.__doc__ = function.__name__, function.__doc__

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
    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """Name in messages and progress: the arguments, then the changes.

        Without arguments and changes to show, it is the function's name.
        """
        named = (str(value) for _, value in self.arguments if not _silent(value))
        return ", ".join([*named, *(name for name, _ in self.changes)]) or self.of.__name__

    def under(self, *changes: Change, **arguments: Any) -> Case:
        """Returns this case with other arguments, or with further changes of its scenario.

        Changes are applied in order.

        Raises:
            InputError: the scenario function has no such argument.
        """
        values = dict(self.arguments)
        if unknown := arguments.keys() - values.keys():
            raise InputError(f"{self.of.__name__} has no argument `{min(unknown)}`")
        return replace(
            self,
            arguments=tuple((values | arguments).items()),
            changes=(*self.changes, *(_named(one) for one in changes if one)),
        )

    def scenario(self, settings: Settings, quick: Quick) -> Scenario:
        """Returns the scenario to simulate: the function's result, changed as requested."""
        values = {name: value_of(value) for name, value in self.arguments}
        what = f"the scenario of {self.label}"
        wanted = (what, "a Scenario", lambda one: hasattr(one, "with_"))
        asked = settings.asked(self.of.function)
        found: Scenario = call_checked(self.of.function, *wanted, **values, **asked)
        if settings.quick and quick.changes:
            found = found.with_(quick.changes)
        for _, change in self.changes:
            found = (
                change(found)
                if isinstance(change, _Frozen)
                else call_checked(change, *wanted, found)
            )
        return found

    def effort(self, settings: Settings, usual: Effort) -> Effort:
        """Returns the effort in the full study: the scenario function's own, or `usual`."""
        wanted = self.of.effort
        if wanted is None or isinstance(wanted, Effort):
            return wanted or usual
        asked = inspect.signature(wanted).parameters
        values = {n: value_of(v) for n, v in self.arguments if n in asked}
        what, right = f"the effort of {self.label}", lambda one: isinstance(one, Effort)
        found: Effort = call_checked(
            wanted, what, "an Effort", right, **values, **settings.asked(wanted)
        )
        return found


def value_of(point: Any) -> Any:
    """Returns the value of a point, or any other object as it is."""
    return point.value if isinstance(point, Point) else point


def _silent(value: Any) -> bool:
    """Returns true if a value is omitted from labels: None or a function."""
    return value is None or callable(value)


def _named(change: Change) -> tuple[str, Callable[[Scenario], Scenario]]:
    """Returns the label of a change, and the function that applies the change to a scenario."""
    if callable(change):
        return change.__name__, change
    return ", ".join(f"{key} = {value}" for key, value in change.items()), _Frozen(change)


class _Frozen:
    """Changes by dotted key, as a function on scenarios; equal changes compare equal."""

    def __init__(self, changes: Mapping[str, Any]) -> None:
        self._changes = dict(changes)

    def __call__(self, scenario: Scenario) -> Scenario:
        return scenario.with_(self._changes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and self._changes == other._changes

    def __hash__(self) -> int:
        return hash(tuple(sorted(map(str, self._changes))))
