"""Runs the scenarios of a study over threads, each once and until it is known well enough."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from nodeb import _core
from nodeb.errors import RunError
from nodeb.replication.engine import Engine, Subject
from nodeb.replication.pool import Jobs
from nodeb.replication.work import Source, Work
from nodeb.reproduce import grid, series
from nodeb.reproduce.arrays import Array, Tables, apart
from nodeb.reproduce.kept import Kept, Part, identity
from nodeb.reproduce.log import Log, Run, reduce
from nodeb.reproduce.specs import Effort, Selection
from nodeb.reproduce.study import Study
from nodeb.stats import Stop

SAFETY = 1.1  # a few more replications than the last interval asks for, so that rounds stay few


class Simulator(Protocol):
    """What a campaign needs of the simulation core."""

    def resolve(self, json: str) -> str:
        """Complete a partial scenario."""
        ...

    def compile(self, json: str, label: str) -> Any:
        """A scenario in the form that `run_many` takes; messages call it `label`."""
        ...

    def run_many(
        self, scenario: Any, seed: int, first: int, runs: int, control: _core.Control
    ) -> Tables:
        """Simulate replications from number `first` on, in one set of tables."""
        ...


class CoreSimulator:
    """The simulation core behind the `Simulator` protocol."""

    def resolve(self, json: str) -> str:
        """Complete a partial scenario."""
        return _core.resolve(json)

    def compile(self, json: str, label: str) -> Any:
        """A scenario that is read once, and again where it is sent."""
        return Source(json, label)

    def run_many(
        self, scenario: Any, seed: int, first: int, runs: int, control: _core.Control
    ) -> Tables:
        """Simulate replications."""
        found: Tables = scenario.compiled().run_many(seed, first, runs, control)
        return found


@dataclass(frozen=True)
class _Outcome:
    """Some replications: the quantities of each, and what is kept of them."""

    runs: Sequence[Run]
    kept: Part


@dataclass(frozen=True)
class Reading:
    """How the replications of a study are read."""

    warm_up_s: float
    """Beginning of each that does not count."""
    endless: bool
    """Whether downloads are not meant to end."""

    def how(self) -> dict[str, Any]:
        """What decides what is kept of a replication's series."""
        return {"warm_up_s": self.warm_up_s}

    def reduced(self, tables: Tables) -> Mapping[str, Array]:
        """What is kept of the series of a replication."""
        return series.reduce(tables, self.warm_up_s)

    def outcome(self, kept: Part) -> _Outcome:
        """The quantities of replications, from what is kept of them."""
        runs = [reduce(one, self.warm_up_s, self.endless, rest) for one, rest in kept.each()]
        return _Outcome(runs, kept)


class _Rounds:
    """Replicates in rounds: each as long as the last interval asks for.

    Args:
        effort: how long and how well.
    """

    def __init__(self, effort: Effort) -> None:
        self.log = Log()
        self.kept: list[Part] = []
        """The replications in the log, and perhaps more."""
        self._effort, self._target = effort, effort.runs
        self._enough = False

    def take(self, outcome: _Outcome, runs: int) -> None:
        """Looks at the interval at the end of each round, not in between."""
        del runs
        self.kept.append(outcome.kept)
        for run in outcome.runs:
            if self._enough:
                return
            self.log.add(run)
            if len(self.log) == self._target:
                self._target = self._wanted()
                self._enough = self._target == len(self.log)

    def stop(self) -> Stop | None:
        """Stops where the precision is reached, or at the limit."""
        return Stop(len(self.log), True, "known well enough") if self._enough else None

    def ahead(self) -> int:
        """The end of the round."""
        return self._target

    def expected(self) -> int:
        """The end of the round."""
        return self._target

    def _wanted(self) -> int:
        """Replications that are needed as far as is known now."""
        done, effort = len(self.log), self._effort
        if effort.precision is None or done >= effort.max_runs:
            return done
        width = self.log.relative_half_width()
        if width <= effort.precision:
            return done
        needed = math.ceil(done * (width / effort.precision) ** 2 * SAFETY)
        return min(effort.max_runs, max(done + 1, needed))


@dataclass(frozen=True)
class _Replicating(Work[_Outcome]):
    """Replications of a scenario of a study, as its metrics need them."""

    simulator: Simulator
    scenario: Any
    series: frozenset[str]
    """Names of those that it records."""
    reading: Reading

    def replicate(self, seed: int, runs: range, control: _core.Control) -> _Outcome:
        """What is kept of replications; their series are large."""
        tables = self.simulator.run_many(self.scenario, seed, runs.start, len(runs), control)
        raw = {name: table for name, table in tables.items() if name not in self.series}
        each: Sequence[Mapping[str, Array]] = [{}] * len(runs)
        if self.series:
            each = [self.reading.reduced(one) for one in apart(tables, runs)]
        return self.reading.outcome(Part(raw, each))


class _Point(Subject[_Outcome]):
    """One distinct scenario of a campaign."""

    def __init__(self, campaign: Campaign, json: str, label: str, effort: Effort) -> None:
        self.json, self.label, self.effort = json, label, effort
        self._campaign = campaign
        self._rounds = _Rounds(effort)
        self._identity = identity(json, campaign.seed, campaign.reading.how())
        found = campaign.kept.load(self._identity) if campaign.kept else None
        self._stored = len(found.series) if found else 0
        simulator, reading = campaign.simulator, campaign.reading
        known = (reading.outcome(found), self._stored) if found else None
        super().__init__(
            _Replicating(simulator, simulator.compile(json, label), series.recorded(json), reading),
            self._rounds,
            known,
            f"{campaign.study.name}, the scenario of {label}: ",
        )

    @property
    def log(self) -> Log:
        """Its replications."""
        return self._rounds.log

    def closed(self) -> None:
        kept, runs = self._campaign.kept, len(self.log)
        if kept is not None and runs > self._stored:
            kept.save(self._identity, self.json, self._rounds.kept, runs)


class _Rising(Engine[_Outcome]):
    """An engine that tells of finished replications."""

    def __init__(self, points: Sequence[_Point], campaign: Campaign) -> None:
        super().__init__(points, campaign.seed, campaign.jobs)
        self._campaign = campaign

    def noted(self, one: Subject[_Outcome], runs: int) -> None:
        """Ticks by what they cost."""
        if isinstance(one, _Point):
            self._campaign.tick(one.label, one.effort.cost * runs)


class Campaign:
    """The replications of one study.

    Results depend on study, seed and `quick` only, never on the number of threads. All scenarios
    use the same seed, so replication i of any two meets the same random streams.

    Args:
        study: what to simulate.
        simulator: the simulation core.
        seed: seed of all random streams.
        jobs: threads, or who simulates.
        quick: the study's short version.
        tick: called with a label and the cost of finished replications.
        kept: where replications are found and kept.
    """

    def __init__(
        self,
        study: Study,
        simulator: Simulator,
        *,
        seed: int,
        jobs: Jobs = 1,
        quick: bool = False,
        tick: Callable[[str, float], None] | None = None,
        kept: Kept | None = None,
    ) -> None:
        self.study = study
        self.seed = seed
        self.quick = quick
        self.jobs = jobs
        self.simulator = simulator
        self.reading = Reading(study.warm_up_s(quick), study.endless)
        self.kept = kept
        self.tick = tick or (lambda label, cost: None)
        self._points: dict[str, _Point] = {}
        self._by_selection: dict[Selection, _Point] = {}

    def replications(self) -> int:
        """Replications so far, of all scenarios."""
        return sum(len(point.log) for point in self._points.values())

    def scenarios(self) -> list[tuple[str, str, int, int]]:
        """Label, resolved scenario (JSON), replications and unfinished downloads of each."""
        return [
            (point.label, point.json, len(point.log), point.log.unfinished)
            for point in self._points.values()
        ]

    def log(self, selection: Selection) -> Log:
        """Replications of a selection, simulated now if they were not before."""
        self.measure([selection])
        return self._point(selection).log

    def cost(self, selections: Iterable[Selection]) -> float:
        """Rough cost of what is still to be simulated for these selections."""
        points = {id(p): p for p in map(self._point, selections)}
        return sum(max(0, p.effort.runs - len(p.log)) * p.effort.cost for p in points.values())

    def measure(self, selections: Iterable[Selection]) -> None:
        """Simulate what these selections need, until all are known well enough."""
        points = {id(p): p for p in map(self._point, selections)}.values()
        missing = [point for point in points if not point.judge()]
        if missing:  # the longest first
            _Rising(sorted(missing, key=lambda point: -point.effort.cost), self).run()

    def tables(self, selection: Selection, run: int, record: Mapping[str, bool]) -> Tables:
        """Everything about one replication, with time series."""
        partial = grid.scenario(self.study, self.study.ordered(selection), self.quick)
        text = self.simulator.resolve(json.dumps({**partial, "record": record}))
        scenario = self.simulator.compile(text, self._label(selection))
        return self.simulator.run_many(scenario, self.seed, run, 1, _core.Control())

    def _point(self, selection: Selection) -> _Point:
        key = self.study.ordered(grid.simulated(selection))
        if key not in self._by_selection:
            resolved = self._resolve(key)
            if resolved not in self._points:
                effort, label = grid.effort(self.study, key, self.quick), self._label(key)
                self._points[resolved] = _Point(self, resolved, label, effort)
            self._by_selection[key] = self._points[resolved]
        return self._by_selection[key]

    def _resolve(self, selection: Selection) -> str:
        partial = grid.scenario(self.study, selection, self.quick)
        try:
            return self.simulator.resolve(json.dumps(partial))
        except ValueError as error:
            raise RunError(
                f"{self.study.name}: the scenario of {self._label(selection)} is wrong: {error}"
            ) from error

    @staticmethod
    def _label(selection: Selection) -> str:
        return ", ".join(choice.label for choice in selection)
