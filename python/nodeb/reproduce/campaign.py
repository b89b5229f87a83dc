"""Runs the scenarios of a study over threads, each once and until it is known well enough."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from nodeb.errors import NodebError, RunError
from nodeb.reproduce import grid, session
from nodeb.reproduce.log import Log, Run, Tables, reduce
from nodeb.reproduce.measure import Estimate
from nodeb.reproduce.study import Effort, Selection, Study

SAFETY = 1.1  # a few more replications than the last interval asks for, so that rounds stay few
CHUNK_COST = 25  # short replications travel together, as handing over each would cost as much as it


class Control(Protocol):
    """Stops a replication from another thread."""

    def cancel(self) -> None:
        """Ask it to stop."""
        ...


class Simulator(Protocol):
    """What a campaign needs of the simulation core (`nodeb._core` has this form)."""

    def resolve(self, json: str) -> str:
        """Complete a partial scenario."""
        ...

    def control(self) -> Control:
        """A new handle for one replication."""
        ...

    def compile(self, json: str, label: str) -> Any:
        """A scenario read once, in the form that `run` takes; messages call it `label`."""
        ...

    def run(self, scenario: Any, seed: int, run: int, control: Any) -> Tables:
        """Simulate one replication."""
        ...


class CoreSimulator:
    """The simulation core behind the `Simulator` protocol."""

    def __init__(self) -> None:
        from nodeb import _core  # a study's data can be read without the extension

        self._core = _core

    def resolve(self, json: str) -> str:
        """Complete a partial scenario."""
        return self._core.resolve(json)

    def control(self) -> Control:
        """A new handle for one replication."""
        return self._core.Control()

    def compile(self, json: str, label: str) -> Any:
        """A scenario read once."""
        return self._core.CompiledScenario.from_json(json, label)

    def run(self, scenario: Any, seed: int, run: int, control: Any) -> Tables:
        """Simulate one replication."""
        found: Tables = scenario.run(seed, run, control)
        return found


@dataclass
class _Point:
    """One distinct scenario of the campaign."""

    json: str
    label: str
    effort: Effort
    compiled: Any
    log: Log = field(default_factory=Log)
    planned: int = 0

    def wanted(self) -> int:
        """Replications that are needed as far as is known now."""
        done, effort = len(self.log), self.effort
        if done < effort.runs:
            return effort.runs
        if effort.precision is None or done >= effort.max_runs:
            return done
        width = self.log.relative_half_width()
        if width <= effort.precision:
            return done
        needed = math.ceil(done * (width / effort.precision) ** 2 * SAFETY)
        return min(effort.max_runs, max(done + 1, needed))


class Campaign:
    """The replications of one study.

    Results depend on study, seed and `quick` only, never on the number of threads. All scenarios
    use the same seed, so replication i of any two meets the same random streams.

    Args:
        study: what to simulate.
        simulator: the simulation core.
        seed: seed of all random streams.
        jobs: threads; None takes one per processor.
        quick: the study's short version.
        tick: called with a label and the cost of finished replications.
    """

    def __init__(
        self,
        study: Study,
        simulator: Simulator,
        *,
        seed: int,
        jobs: int | None = None,
        quick: bool = False,
        tick: Callable[[str, float], None] | None = None,
    ) -> None:
        self.study = study
        self.seed = seed
        self.quick = quick
        self.jobs = jobs or os.cpu_count() or 1
        self._simulator = simulator
        self._tick = tick or (lambda label, cost: None)
        self.facts: dict[str, Estimate] = {}  # found beside the scenarios, by name
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
        """Simulate what these selections need; rounds go on until all are known well enough."""
        points = list({id(p): p for p in map(self._point, selections)}.values())
        while jobs := self._open_jobs(points):
            self._run(jobs)

    def traced(self) -> int:
        """Replications of which series are kept."""
        return int((self.study.quick if self.quick else self.study.traces)["traced"])

    def tables(self, selection: Selection, run: int, record: Mapping[str, bool]) -> Tables:
        """Everything about one replication, with time series."""
        partial = grid.scenario(self.study, self.study.ordered(selection), self.quick)
        text = self._simulator.resolve(json.dumps({**partial, "record": record}))
        scenario = self._simulator.compile(text, self._label(selection))
        return self._simulator.run(scenario, self.seed, run, self._simulator.control())

    def _point(self, selection: Selection) -> _Point:
        key = self.study.ordered(grid.simulated(selection))
        if key not in self._by_selection:
            resolved = self._resolve(key)
            if resolved not in self._points:
                effort, label = grid.effort(self.study, key, self.quick), self._label(key)
                compiled = self._simulator.compile(resolved, label)
                self._points[resolved] = _Point(resolved, label, effort, compiled)
            self._by_selection[key] = self._points[resolved]
        return self._by_selection[key]

    def _resolve(self, selection: Selection) -> str:
        partial = grid.scenario(self.study, selection, self.quick)
        try:
            return self._simulator.resolve(json.dumps(partial))
        except ValueError as error:
            raise RunError(
                f"{self.study.name}: the scenario of {self._label(selection)} is wrong: {error}"
            ) from error

    @staticmethod
    def _label(selection: Selection) -> str:
        return ", ".join(choice.label for choice in selection)

    @staticmethod
    def _open_jobs(points: list[_Point]) -> list[_Job]:
        """The replications of the next round, in chunks, the longest first."""
        jobs = []
        for point in points:
            size = max(1, int(CHUNK_COST / point.effort.cost))
            runs = range(len(point.log), point.wanted())
            jobs += [_Job(point, runs[at : at + size]) for at in range(0, len(runs), size)]
        return sorted(jobs, key=lambda job: -job.point.effort.cost)

    def _run(self, jobs: list[_Job]) -> None:
        stop = _Stop()
        pool = ThreadPoolExecutor(self.jobs)
        try:
            futures = {pool.submit(self._chunk, job, stop): job for job in jobs}
            results = {
                futures[done]: self._result(done, futures[done]) for done in as_completed(futures)
            }
        except BaseException:
            stop.cancel()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        for job in sorted(jobs, key=lambda job: job.runs.start):
            for run in results[job]:
                job.point.log.add(run)

    def _chunk(self, job: _Job, stop: _Stop) -> list[Run]:
        found = []
        warm_up_s = self.study.warm_up_s(self.quick)
        for run in job.runs:
            control = stop.watch(self._simulator.control())
            tables = self._simulator.run(job.point.compiled, self.seed, run, control)
            found.append(self._reduced(tables, warm_up_s))
        return found

    def _reduced(self, tables: Tables, warm_up_s: float) -> Run:
        """What is kept of a replication; a series of a long run is large."""
        run = reduce(tables, warm_up_s, self.study.endless)
        if not self.study.session:
            return run
        return replace(
            run, quantities={**run.quantities, **session.reduce(tables, self.study.session)}
        )

    def _result(self, future: Future[list[Run]], job: _Job) -> list[Run]:
        try:
            found = future.result()
        except NodebError:
            raise
        except Exception as error:
            from nodeb.runner import failure  # needs the extension

            where = f"{self.study.name}, the scenario of {job.point.label}: "
            raise failure(job.runs, self.seed, error, where) from error
        self._tick(job.point.label, job.point.effort.cost * len(job.runs))
        return found


@dataclass(frozen=True, eq=False)
class _Job:
    """Some replications of one scenario."""

    point: _Point
    runs: range


class _Stop:
    """Cancels the replications of all threads, those included that begin a moment later."""

    def __init__(self) -> None:
        self._controls: list[Control] = []
        self._cancelled = False

    def watch(self, control: Control) -> Control:
        """Have this one cancelled with the others."""
        self._controls.append(control)
        if self._cancelled:
            control.cancel()
        return control

    def cancel(self) -> None:
        """Cancel all."""
        self._cancelled = True
        for control in list(self._controls):
            control.cancel()
