"""Cases: scenarios of a study, each once, and how long they are replicated."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nodeb.base.arguments import as_number, as_whole
from nodeb.base.functions import ask
from nodeb.errors import InputError
from nodeb.study.axis import Point

if TYPE_CHECKING:
    from nodeb.inputs.scenario import Scenario

__all__ = ["Case", "Effort", "Quick", "ScenarioFunction", "Settings"]

Change = Mapping[str, Any] | Callable[["Scenario"], "Scenario"]
"""Of a scenario: values by dotted key, or a function that returns the changed one."""


@dataclass(frozen=True)
class Effort:
    """How long a case is replicated."""

    runs: int = 10
    """Replications at least."""
    max_runs: int = 0
    """Replications at most; 0 for as many as at least."""
    precision: float | None = None
    """Half-width of the 95 % interval wanted, relative to the mean; None asks for none."""
    cost: float = 1.0
    """Rough cost of a replication, for progress, the order of work, and the short version."""

    def __post_init__(self) -> None:
        for name in ("runs", "max_runs"):
            as_whole(getattr(self, name), f"the `{name}` of an effort")
        if self.runs < 2:
            raise InputError(f"an effort of {self.runs} runs has no interval; expected at least 2")
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
    """Complains about a beginning that cannot be left out.

    Raises:
        InputError: it is no number of seconds.
    """
    if warm_up_s is not None and not 0 <= as_number(warm_up_s, "warm_up_s") < math.inf:
        raise InputError(f"warm_up_s is {warm_up_s}; expected 0 s or more")


@dataclass(frozen=True)
class Quick:
    """The short version of a study, for a first look and for tests."""

    runs: int = 2
    """Replications of a case at most; no more than the whole study has in any case."""
    cost: float = float("inf")
    """Cost of a case at most; two replications in any case, as one has no interval."""
    warm_up_s: float | None = None
    """Beginning of each that does not count; None for as much as in the whole study."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """What is different in each scenario, by dotted key, such as a shorter duration."""

    def __post_init__(self) -> None:
        if as_whole(self.runs, "the `runs` of a short version") < 2:
            raise InputError(f"a short version of {self.runs} runs has no interval; expected 2")
        if not as_number(self.cost, "the `cost` of a short version") > 0:
            raise InputError(f"the cost of a short version is {self.cost}; expected more than 0")
        if not isinstance(self.changes, Mapping):
            raise InputError("the changes of a short version are values by dotted key")
        check_warm_up(self.warm_up_s)

    def effort(self, whole: Effort) -> Effort:
        """The effort of a case whose whole effort is that."""
        runs = max(2, int(min(self.cost / whole.cost, self.runs, whole.runs)))
        return Effort(runs, cost=whole.cost)


@dataclass(frozen=True)
class Settings:
    """How a study is measured, beside its seed.

    Scenario functions, reductions and efforts that have an argument of one of these names are
    given it.
    """

    quick: bool = False
    warm_up_s: float = 0.0
    given: dict[str, Any] = field(default_factory=dict)
    """What the stages before the scenarios have found, by name (`nodeb.study.Stage`)."""

    def asked(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Those that a function asks for by the names of its arguments."""
        wanted = inspect.signature(function).parameters
        return {name: getattr(self, name) for name in SETTINGS if name in wanted}


SETTINGS = ("quick", "warm_up_s", "given")


class ScenarioFunction:
    """The scenarios of a function: called with points or plain values it gives a case.

    The scenario is made when it is needed.
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
                f"{function.__name__}: the reduction stands at the top of a file, as a `def`"
            )
        parameters = inspect.signature(function).parameters.values()
        kept = [one for one in parameters if one.name not in SETTINGS]
        self._signature = inspect.Signature(kept)
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *points: Any, **named: Any) -> Case:
        """The case of some points.

        Raises:
            InputError: they do not fit the function's arguments.
        """
        try:
            bound = self._signature.bind(*points, **named)
        except TypeError as error:
            raise InputError(f"{self.__name__}: {error}") from None
        bound.apply_defaults()
        return Case(self, tuple(bound.arguments.items()))


@dataclass(frozen=True)
class Case:
    """A scenario of a study: a function of points, and perhaps changes of what it returns."""

    of: ScenarioFunction
    arguments: tuple[tuple[str, Any], ...]
    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """What a person calls it."""
        named = (str(value) for _, value in self.arguments if not _silent(value))
        return ", ".join([*named, *(name for name, _ in self.changes)]) or self.of.__name__

    def under(self, *changes: Change, **arguments: Any) -> Case:
        """This case with other arguments, or with its scenario changed in turn.

        Raises:
            InputError: the scenario's function has no such argument.
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
        """What is simulated."""
        values = {name: value_of(value) for name, value in self.arguments}
        what = f"the scenario of {self.label}"
        wanted = (what, "a Scenario", lambda one: hasattr(one, "with_"))
        asked = settings.asked(self.of.function)
        found: Scenario = ask(self.of.function, *wanted, **values, **asked)
        if settings.quick and quick.changes:
            found = found.with_(quick.changes)
        for _, change in self.changes:
            found = change(found) if isinstance(change, _Frozen) else ask(change, *wanted, found)
        return found

    def effort(self, settings: Settings, usual: Effort) -> Effort:
        """How long it is replicated as a case of the whole study."""
        wanted = self.of.effort
        if wanted is None or isinstance(wanted, Effort):
            return wanted or usual
        asked = inspect.signature(wanted).parameters
        values = {n: value_of(v) for n, v in self.arguments if n in asked}
        what, right = f"the effort of {self.label}", lambda one: isinstance(one, Effort)
        found: Effort = ask(wanted, what, "an Effort", right, **values, **settings.asked(wanted))
        return found


def value_of(point: Any) -> Any:
    """The value of a point; a plain value is its own."""
    return point.value if isinstance(point, Point) else point


def _silent(value: Any) -> bool:
    """Whether a value says nothing in a label."""
    return value is None or callable(value)


def _named(change: Change) -> tuple[str, Callable[[Scenario], Scenario]]:
    """A change, and what a person calls it."""
    if callable(change):
        return change.__name__, change
    return ", ".join(f"{key} = {value}" for key, value in change.items()), _Frozen(change)


class _Frozen:
    """Changes by dotted key, as a function that is equal to another of the same changes."""

    def __init__(self, changes: Mapping[str, Any]) -> None:
        self._changes = dict(changes)

    def __call__(self, scenario: Scenario) -> Scenario:
        return scenario.with_(self._changes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and self._changes == other._changes

    def __hash__(self) -> int:
        return hash(tuple(sorted(map(str, self._changes))))
