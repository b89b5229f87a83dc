"""The replications of a study's cases. Cases with equal scenarios are simulated once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.functions import Mistake, mistake
from nodeb.base.units import NS_PER_S, in_ns
from nodeb.errors import InputError
from nodeb.replication.cells import Cell, StoredCell, source
from nodeb.replication.engine import Engine
from nodeb.replication.pool import Jobs
from nodeb.replication.reduction import Reduction
from nodeb.replication.rules import Rounds
from nodeb.stats import Estimate
from nodeb.storage.cells import Store, Tables
from nodeb.study.case import Case, Effort, Settings
from nodeb.study.log import Log

if TYPE_CHECKING:
    from nodeb.study.study import Study

__all__ = ["Campaign"]

Tick = Callable[[str, float], None]


class _Replications(StoredCell):
    """Replications of one distinct scenario.

    Their number is determined by the `Effort` of the case that the scenario belongs to.
    """

    def __init__(self, campaign: Campaign, cell: Cell, case: Case, effort: Effort) -> None:
        self.effort, self.endless = effort, case.of.endless
        self.kept = case.of.reduce, case.of.endless
        self.reduce = _reduction(case, cell.scenario, campaign.settings)
        self._settings, self._tick = campaign.settings, campaign.tick
        measure = _delivered if self.endless else _time
        most = max(effort.max_runs, effort.runs)
        rule = Rounds(effort.runs, most, effort.precision, measure)
        where = f"{campaign.study.name}, the scenario of {cell.label}: "
        super().__init__(cell, campaign.seed, rule, campaign.store, self.reduce, where)
        self._log: Log | None = None

    def on_progress(self, runs: int) -> None:
        """Reports the cost of `runs` finished replications to the progress bar."""
        self._tick(self.cell.label, self.effort.cost * runs)

    def tables(self) -> Tables:
        """Returns the tables of all replications, concatenated.

        Raises an error that names the reduction if its numbers differ in count between
        replications.
        """
        try:
            return super().tables()
        except InputError as error:
            if self.reduce is None:
                raise
            what = f"{self.where}the reduction `{self.reduce.function.__name__}` returned"
            text = f"{what} a different number of values for some replications: {error}"
            raise mistake(self.reduce.function, text) from error

    @property
    def log(self) -> Log:
        """Tables of the replications that count as results, as arrays of runs by rows (`Log`)."""
        if self._log is None or len(self._log) != self.runs:
            self._log = Log(self.tables(), self.runs, self._settings)
        return self._log

    @property
    def unfinished(self) -> int:
        """Number of downloads that did not complete.

        It is 0 for cases with endless downloads. It is also 0 for cases whose `reduce` function
        replaces the tables of replications by numbers, as no download can be checked then.
        """
        return 0 if self.endless or self.reduce or not self.runs else self.log.unfinished


def _reduction(case: Case, scenario: str, settings: Settings) -> Reduction | None:
    """Returns the reduction of a case, which replaces its recorded series, or `None`."""
    if case.of.reduce is None:
        return None
    record: Mapping[str, bool] = json.loads(scenario).get("record", {})
    series = frozenset(name for name, wanted in record.items() if wanted)
    return Reduction(case.of.reduce, settings.asked(case.of.reduce), series)


def _time(tables: Tables) -> NDArray[np.float64]:
    """Returns the mean transfer time of each replication, s."""
    return _means(tables, "transfer_s")


def _delivered(tables: Tables) -> NDArray[np.float64]:
    """Returns the mean number of bytes delivered to a user, for each replication."""
    return _means(tables, "delivered_bytes")


def _means(tables: Tables, column: str) -> NDArray[np.float64]:
    flows = tables["flows"]
    runs = len(np.unique(flows["run"]))
    means = np.asarray(flows[column], dtype=float).reshape(runs, -1).mean(axis=1)
    return np.asarray(means, dtype=np.float64)


class Campaign:
    """The replications of one study.

    Results depend only on study, seed and settings, not on the machine or the number of threads.
    All cases use the same seed: replication i of any two cases has the same random streams (common
    random numbers).

    Args:
        study: the study that the cases belong to.
        store: cache of replications.
        seed: seed of all random streams.
        jobs: number of threads, or a cluster.
        settings: options of the measurement, such as the short version.
        tick: called with a case's label and the cost of its finished replications, for the progress
            bar.
    """

    def __init__(
        self,
        study: Study,
        store: Store,
        *,
        seed: int,
        jobs: Jobs = 1,
        settings: Settings | None = None,
        tick: Tick | None = None,
    ) -> None:
        self.study, self.store, self.seed, self.jobs = study, store, seed, jobs
        self.settings = settings or Settings()
        self.tick: Tick = tick or (lambda label, cost: None)
        self.facts: dict[str, Estimate] = {}
        self._points: dict[str, _Replications] = {}
        self._by_case: dict[Case, _Replications] = {}

    @property
    def quick(self) -> bool:
        """True in the short version of the study."""
        return self.settings.quick

    def replications(self) -> int:
        """Returns the number of replications so far, summed over all scenarios."""
        return sum(point.runs for point in self._points.values())

    def scenarios(self) -> int:
        """Returns the number of distinct scenarios that were requested so far."""
        return len(self._points)

    def unfinished(self) -> list[str]:
        """Returns a sentence for each scenario with downloads that did not complete."""
        points = ((point, point.unfinished) for point in self._points.values())
        return [
            f"{point.cell.label}: {lost} downloads did not end in {point.runs} replications"
            for point, lost in points
            if lost
        ]

    def log(self, case: Case) -> Log:
        """Returns the replications of a case, after simulating those that are missing."""
        point = self._point(case)
        if not point.judge():
            self.measure([case])
        return point.log

    def cost(self, cases: Iterable[Case]) -> float:
        """Returns the approximate cost of the replications still missing for the given cases."""
        points = {id(p): p for p in map(self._point, cases)}
        return sum(max(0, p.effort.runs - p.runs) * p.effort.cost for p in points.values())

    def measure(self, cases: Iterable[Case]) -> None:
        """Simulates the given cases until each has enough replications."""
        points = {id(p): p for p in map(self._point, cases)}.values()
        missing = [point for point in points if not point.judge()]
        # The most expensive cases start first, so that none of them runs alone at the end.
        if missing:
            missing.sort(key=lambda point: -point.effort.cost)
            Engine(missing, self.seed, self.jobs).run()

    def replication(
        self, case: Case, run: int, record: Mapping[str, bool]
    ) -> dict[str, dict[str, Any]]:
        """Returns the tables of one replication, simulated with additional recorded series."""
        changed = case.under({f"record.{name}": wanted for name, wanted in record.items()})
        cell = self._cell(changed)
        return source(cell).compiled().run_many(self.seed, run, 1, _core.Control())

    def _point(self, case: Case) -> _Replications:
        if case not in self._by_case:
            cell, effort = self._cell(case), self._effort(case)
            known = self._points.get(cell.scenario)
            if known is None:
                known = self._points[cell.scenario] = _Replications(self, cell, case, effort)
            elif known.effort != effort:
                raise self._two(known, case, f"but have {known.effort} and {effort}")
            elif known.kept != (case.of.reduce, case.of.endless):
                raise self._two(known, case, "but differ in `reduce` or `endless`")
            self._by_case[case] = known
        return self._by_case[case]

    def _two(self, known: _Replications, case: Case, how: str) -> InputError:
        return InputError(
            f"{self.study.name}: `{known.cell.label}` and `{case.label}` are one scenario, {how}"
        )

    def _effort(self, case: Case) -> Effort:
        whole = case.effort(self.settings, self.study.effort)
        return self.study.quick.effort(whole) if self.quick else whole

    def _cell(self, case: Case) -> Cell:
        what = f"the scenario of {case.label}"
        try:
            data, taken = case.scenario(self.settings, self.study.quick).without_recordings()
            text = _core.resolve(json.dumps(data))
        except Mistake:  # The message of a `Mistake` already names the function.
            raise
        except ValueError as error:
            raise mistake(case.of.function, f"{what}: {error}") from error
        lasts, warm_up_s = json.loads(text)["duration"], self.settings.warm_up_s
        if warm_up_s and in_ns(lasts) <= warm_up_s * NS_PER_S:
            late = f"lasts {lasts}, not longer than its warm-up of {warm_up_s:g} s"
            raise mistake(case.of.function, f"{what} {late}")
        return Cell(case.label, text, taken)
