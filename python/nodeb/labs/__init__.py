"""Labs: exercises whose answers are checked against a simulation.

A lab is a TOML file in this folder. The pages of the documentation, their scripts (`web/src/live`)
and the notebooks of `docs/notebooks.py` read it. It has interactive figures and exercises.

    from nodeb import labs

    lab = labs.load("1-slow-start")
    print(lab.exercises["rounds"].question)
    print(lab.check("rounds", 0.5))

The answer to an exercise is a number or one of several choices. A `Quantity` defines how the right
answer is computed from simulations. Typical wrong answers have hints of their own. The fields of
`Exercise` describe the keys of a table `[exercise.NAME]`, but its key `live` is the name of the
figure whose scenario the exercise uses.

A figure `[live.NAME]` has these keys:

- `title`, and `scenario` (TOML);
- optionally `b`, the changes that make a second scenario;
- `charts`, the titles of its charts;
- optionally `metrics`, the names of the metrics in its table;
- `sliders`, each with a `label`, the `keys` that it sets, a `unit` (`%` for hundredths), and the
  range `from`, `to`, `step`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeb.errors import InputError, nearest
from nodeb.inputs.scenario import Scenario

__all__ = ["Exercise", "Lab", "Quantity", "Verdict", "load", "names"]

FOLDER = Path(__file__).parent
RUNS = 20
"""Default number of replications from which a quantity is computed."""


@dataclass(frozen=True, slots=True)
class Value:
    """Mean of a simulated quantity, and the half-width of its 95 % interval."""

    mean: float
    half_width: float


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that is computed from simulations: `times * (metric - minus) / over`.

    Each part is the mean of `runs` replications; without them, `minus` is 0 and `over` is 1.
    """

    metric: str
    """Name of a metric in the summary of a result."""
    group: str = "all"
    """Name of the group of users for which the metric is taken; `all` for all users."""
    changes: Mapping[str, Any] | None = None
    """Changed keys of the exercise's scenario, with their values; None for no changes.

    The changes do not apply to `minus` and `over`, which have their own.
    """
    times: float = 1.0
    minus: Quantity | None = None
    over: Quantity | None = None
    runs: int = RUNS

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Quantity:
        """Creates a quantity from a table of a lab's file, where the key of `changes` is `with`."""
        parts = dict(found)
        for name in ("minus", "over"):
            if name in parts:
                parts[name] = cls.of(parts[name])
        if "with" in parts:
            parts["changes"] = parts.pop("with")
        return cls(**parts)

    def simulate(self, scenario: Scenario, seed: int | None = None) -> Value:
        """Simulates the scenario with the quantity's changes. Returns the quantity's value.

        Args:
            scenario: the exercise's scenario, to which `changes` are applied.
            seed: seed of the replications; default: that of the scenario.

        Raises:
            InputError: the result has no such metric and group, or `over` is 0.
        """
        changed = scenario.with_(self.changes) if self.changes else scenario
        summary = changed.run(runs=self.runs, seed=seed).summary
        rows = [one for one in summary if one["group"] == self.group]
        row = next((one for one in rows if one["metric"] == self.metric), None)
        if row is None:
            known, what = summary.distinct("group"), f"group `{self.group}`"
            if rows:
                known, what = [str(one["metric"]) for one in rows], f"metric `{self.metric}`"
            raise InputError(f"the result has no {what} (it has: {', '.join(known)})")
        mean, half = row["mean"], (row["ci95_high"] - row["ci95_low"]) / 2
        if self.minus:
            less = self.minus.simulate(scenario, seed)
            mean, half = mean - less.mean, math.hypot(half, less.half_width)
        if self.over:
            below = self.over.simulate(scenario, seed)
            if below.mean == 0:
                raise InputError(
                    f"{self.metric} cannot be divided by {self.over.metric}, which is 0 in this "
                    "scenario; choose another metric for `over`"
                )
            mean /= below.mean
            half = math.hypot(half, mean * below.half_width) / abs(below.mean)
        return Value(self.times * mean, abs(self.times) * half)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a check: whether an answer is right, and an explanation or hint as `text`."""

    right: bool
    text: str

    def __str__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.text}"


@dataclass(frozen=True, slots=True)
class Exercise:
    """A question about a scenario, with its right answer and hints for wrong ones."""

    name: str
    question: str
    right: str
    """Explanation that is shown after the right answer."""
    scenario: str
    """Scenario that the exercise simulates, in TOML."""
    answer: Quantity | None = None
    """Right answer of a question for a number; None for a question with choices."""
    unit: str = ""
    """Unit of the answer; empty for a pure number."""
    tolerance: float = 0.05
    """Accepted distance from the right answer, as a fraction of it.

    The half-width of the 95 % interval of the right answer is accepted in addition.
    """
    wrong: Sequence[Mapping[str, Any]] = ()
    """Typical wrong numbers, each with a `hint`.

    The number is `times` the right one, or else the quantity `answer`.
    """
    choices: Sequence[Mapping[str, Any]] = ()
    """Choices; empty for a question for a number.

    Each has a `text` and a quantity `value`, which is compared with those of the other choices.
    Wrong choices have a `hint`.
    """
    pick: str = "largest"
    """Rule for the right choice: the one whose value is the `largest` or the `smallest`."""

    def check(self, given: float, seed: int | None = None) -> Verdict:
        """Checks an answer by simulation. Returns a verdict with the explanation or a hint.

        Args:
            given: a number in `unit`, or the number of a choice, from 1.
            seed: seed of the simulation; default: that of the scenario.

        Raises:
            InputError: there is no such choice.
        """
        scenario = Scenario.from_toml(self.scenario)
        if self.answer is None:
            return self._check_choice(given, scenario, seed)
        value = self.answer.simulate(scenario, seed)
        if self._is_near(given, value):
            return Verdict(True, self.right)
        for one in self.wrong:
            other = (
                Quantity.of(one["answer"]).simulate(scenario, seed)
                if "answer" in one
                else Value(one["times"] * value.mean, abs(one["times"]) * value.half_width)
            )
            if self._is_near(given, other):
                return Verdict(False, one["hint"])
        return Verdict(False, f"the answer is too {'large' if given > value.mean else 'small'}.")

    def _is_near(self, given: float, value: Value) -> bool:
        return abs(given - value.mean) <= self.tolerance * abs(value.mean) + value.half_width

    def _check_choice(self, given: float, scenario: Scenario, seed: int | None) -> Verdict:
        if given not in range(1, len(self.choices) + 1):
            raise InputError(f"there is no choice {given}; expected 1 to {len(self.choices)}")
        values = [Quantity.of(one["value"]).simulate(scenario, seed).mean for one in self.choices]
        best = max(values) if self.pick == "largest" else min(values)
        place = int(given) - 1
        if values[place] == best:
            return Verdict(True, self.right)
        return Verdict(False, self.choices[place]["hint"])


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab: its name and title, its figures and exercises by name."""

    name: str
    title: str
    figures: Mapping[str, Mapping[str, Any]]
    """Interactive figures by name, with the keys that the description of this module lists."""
    exercises: Mapping[str, Exercise]

    def scenarios(self, figure: str) -> list[Scenario]:
        """Returns the scenario of a figure, followed by the second one if the figure has `b`."""
        found = self.figures[figure]
        first = Scenario.from_toml(found["scenario"])
        return [first, first.with_(found["b"])] if "b" in found else [first]

    def ask(self, exercise: str, given: float | None) -> str:
        """Returns an exercise as Markdown: the question, its choices, and the verdict on an answer.

        Args:
            exercise: name of the exercise.
            given: the answer as for `Exercise.check`; None if there is none yet.
        """
        found = self.exercises[exercise]
        choices = [f"{at}. {one['text']}" for at, one in enumerate(found.choices, 1)]
        verdict = [] if given is None else [f"**{self.check(exercise, given)}**"]
        return "\n\n".join([found.question, *choices, *verdict])

    def check(self, exercise: str, given: float, seed: int | None = None) -> Verdict:
        """Checks an answer to an exercise as `Exercise.check` does.

        Raises:
            InputError: the lab has no such exercise, or the exercise no such choice.
        """
        if exercise not in self.exercises:
            raise InputError(
                f"lab {self.name} has no exercise `{exercise}`{nearest(exercise, self.exercises)}"
            )
        return self.exercises[exercise].check(given, seed)


def names() -> list[str]:
    """Returns the names of all labs, such as `1-slow-start`, in the order of their numbers."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def load(name: str) -> Lab:
    """Reads a lab from its file.

    Args:
        name: name of the lab, as in `names`.

    Raises:
        InputError: there is no such lab.
    """
    if name not in names():
        raise InputError(f"there is no lab `{name}`{nearest(name, names())}")
    found = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    exercises = {key: _exercise(key, one, found["live"]) for key, one in found["exercise"].items()}
    return Lab(name, found["title"], found["live"], exercises)


def _exercise(name: str, table: Mapping[str, Any], live: Mapping[str, Any]) -> Exercise:
    keys = dict(table)
    scenario = live[keys.pop("live")]["scenario"]
    if "answer" in keys:
        keys["answer"] = Quantity.of(keys["answer"])
    return Exercise(name=name, scenario=scenario, **keys)
