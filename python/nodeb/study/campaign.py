"""The replications of a study's cases, and stages: work of a study other than cases.

Cases with equal scenarios are simulated once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.units import NS_PER_S, in_ns
from nodeb.errors import InputError, nearest
from nodeb.replication.cells import Cell, StoredCell, source
from nodeb.replication.engine import Engine
from nodeb.replication.pool import Jobs
from nodeb.replication.reduction import REDUCED, RUN, Reduction, split_by_run
from nodeb.replication.rules import Rule, rounds
from nodeb.stats import Estimate
from nodeb.storage.cells import Store, Tables
from nodeb.study.case import Case, Effort, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nodeb.study.study import Study

__all__ = ["Campaign", "Log", "Picture", "Stage", "StageContext"]

Array = NDArray[np.float64]
FLOWS = "flows"


class Log:
    """The replications of one case, as arrays.

    Args:
        tables: tables of all replications, concatenated.
        runs: number of replications.
        settings: settings that functions of one replication's tables may have as arguments.
    """

    def __init__(self, tables: Tables, runs: int, settings: Settings) -> None:
        self._tables, self._runs, self._settings = tables, runs, settings
        self._stacked: dict[Any, Array] = {}

    def __len__(self) -> int:
        return self._runs

    @property
    def unfinished(self) -> int:
        """Number of downloads that did not complete, in all replications."""
        return int(np.sum(~np.asarray(self._tables[FLOWS]["complete"], dtype=bool)))

    def stack(self, key: str | Callable[..., Any]) -> Array:
        """Returns an array of runs by rows for `key`, as in `nodeb.study.Means`.

        Raises:
            InputError: no table has the column `key`.
        """
        if key not in self._stacked:
            self._stacked[key] = self._column(key) if isinstance(key, str) else self._computed(key)
        return self._stacked[key]

    def _column(self, key: str) -> Array:
        reduced = self._tables.get(REDUCED)
        if reduced is not None and f"{key}.0" in reduced.columns:
            places = sum(name.startswith(f"{key}.") for name in reduced.columns)
            values = [reduced[f"{key}.{place}"] for place in range(places)]
            return np.stack(values, axis=1).astype(float)
        name, _, column = key.rpartition(".")
        table = self._tables.get(name or FLOWS)
        columns = list(self._tables) if table is None else table.columns
        if table is None or column not in columns:
            raise InputError(f"replications have no `{key}`{nearest(column, columns)}")
        return np.asarray(table[column], dtype=float).reshape(self._runs, -1)

    def _computed(self, function: Callable[..., Any]) -> Array:
        options = self._settings.asked(function)
        runs = range(int(self._tables[FLOWS][RUN][0]), self._runs)
        values = [function(one, **options) for one in split_by_run(self._tables, runs)]
        try:
            return np.stack(list(map(np.atleast_1d, values))).astype(float)
        except (TypeError, ValueError):
            what = f"`{function.__name__}` of one replication returned {values[0]!r}"
            raise InputError(f"{what}; expected numbers, as many of each replication") from None


class _Replications(StoredCell):
    """Replications of one distinct scenario.

    Their number is determined by the `Effort` of the case that the scenario belongs to.
    """

    def __init__(self, campaign: Campaign, cell: Cell, case: Case, effort: Effort) -> None:
        self.effort, self.kind = effort, (effort, case.of.reduce, case.of.endless)
        self._settings, self._tick = campaign.settings, campaign.tick
        # Nothing can be unfinished where downloads are endless or were replaced by numbers.
        self._may_end = not case.of.endless and case.of.reduce is None
        column = "delivered_bytes" if case.of.endless else "transfer_s"
        most = max(effort.max_runs, effort.runs)
        rule: Rule[Tables] = rounds(
            effort.runs, most, effort.precision, lambda tables: _means(tables, column)
        )
        where = f"{campaign.study.name}, the scenario of {cell.label}: "
        reduce = _reduction(case, cell.scenario, campaign.settings)
        super().__init__(cell, campaign.seed, rule, campaign.store, reduce, where)
        self._log: Log | None = None

    def on_progress(self, runs: int) -> None:
        self._tick(self.effort.cost * runs)

    @property
    def log(self) -> Log:
        """The replications that count as results."""
        if self._log is None or len(self._log) != self.runs:
            self._log = Log(self.tables(), self.runs, self._settings)
        return self._log

    @property
    def unfinished(self) -> int:
        return self.log.unfinished if self._may_end and self.runs else 0


def _reduction(case: Case, scenario: str, settings: Settings) -> Reduction | None:
    """The reduction of a case, which replaces its recorded series, or `None`."""
    if case.of.reduce is None:
        return None
    record: Mapping[str, bool] = json.loads(scenario).get("record", {})
    series = frozenset(name for name, wanted in record.items() if wanted)
    return Reduction(case.of.reduce, settings.asked(case.of.reduce), series)


def _means(tables: Tables, column: str) -> Array:
    """The mean of a column of `flows`, for each replication."""
    flows = tables[FLOWS]
    values = np.asarray(flows[column], dtype=float).reshape(len(np.unique(flows[RUN])), -1)
    return np.asarray(values.mean(axis=1), dtype=np.float64)


class Campaign:
    """The replications of one study.

    Results depend only on study, seed and settings, not on the machine or the number of threads.
    All cases use the same seed: replication i of any two cases has the same random streams (common
    random numbers).

    Args:
        study: the study that the cases belong to.
        store: cache of replications.
        seed: seed of all random streams.
        jobs: number of threads, or an executor.
        settings: options of the measurement, such as the short version.
        tick: called with the cost of finished replications, for the progress bar.
    """

    def __init__(
        self,
        study: Study,
        store: Store,
        *,
        seed: int,
        jobs: Jobs = 1,
        settings: Settings | None = None,
        tick: Callable[[float], None] = lambda cost: None,
    ) -> None:
        self.study, self.store, self.seed, self.jobs, self.tick = study, store, seed, jobs, tick
        self.settings = settings or Settings()
        self.facts: dict[str, Estimate] = {}
        self._points: dict[str, _Replications] = {}
        self._by_case: dict[Case, _Replications] = {}

    @property
    def replications(self) -> int:
        """Number of replications so far, summed over all scenarios."""
        return sum(point.runs for point in self._points.values())

    @property
    def scenarios(self) -> int:
        """Number of distinct scenarios so far."""
        return len(self._points)

    def unfinished(self) -> list[str]:
        """A sentence for each scenario with downloads that did not complete."""
        return [
            f"{point.cell.label}: {lost} downloads did not end in {point.runs} replications"
            for point in self._points.values()
            if (lost := point.unfinished)
        ]

    def log(self, case: Case) -> Log:
        """Returns the replications of a case, after simulating those that are missing."""
        self.measure([case])
        return self._point(case).log

    def cost(self, cases: Iterable[Case]) -> float:
        """Approximate cost of the replications that the cases still lack."""
        points = dict.fromkeys(map(self._point, cases))
        return sum(max(0, one.effort.runs - one.runs) * one.effort.cost for one in points)

    def measure(self, cases: Iterable[Case]) -> None:
        """Simulates the given cases until each has enough replications."""
        points = dict.fromkeys(map(self._point, cases))
        # The most expensive cases start first, so that none of them runs alone at the end.
        missing = sorted((p for p in points if not p.judge()), key=lambda p: -p.effort.cost)
        if missing:
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
            cell, effort = self._cell(case), case.effort(self.settings, self.study.effort)
            effort = self.study.quick.effort(effort) if self.settings.quick else effort
            point = self._points.get(cell.scenario)
            if point is None:
                point = self._points[cell.scenario] = _Replications(self, cell, case, effort)
            elif point.kind != (effort, case.of.reduce, case.of.endless):
                raise InputError(
                    f"{self.study.name}: `{point.cell.label}` and `{case.label}` are one scenario, "
                    "but differ in effort, `reduce` or `endless`"
                )
            self._by_case[case] = point
        return self._by_case[case]

    def _cell(self, case: Case) -> Cell:
        try:
            data, taken = case.scenario(self.settings, self.study.quick).without_recordings()
            text = _core.resolve(json.dumps(data))
        except ValueError as error:
            raise InputError(f"the scenario of {case.label}: {error}") from error
        lasts, warm_up_s = json.loads(text)["duration"], self.settings.warm_up_s
        if warm_up_s and in_ns(lasts) <= warm_up_s * NS_PER_S:
            late = f"lasts {lasts}, not longer than its warm-up of {warm_up_s:g} s"
            raise InputError(f"the scenario of {case.label} {late}")
        return Cell(case.label, text, taken)


@dataclass(frozen=True)
class Picture:
    """A picture made by a stage: number in the paper, title, description in words, and a note."""

    id: str
    title: str
    figure: Figure
    spoken: str
    note: str


@dataclass(frozen=True)
class Stage:
    """A part of a study that is not a case. For the fields see `nodeb.study.Study.stage`."""

    function: Callable[[StageContext], Any]
    first: bool
    leaves: Sequence[str] = ()
    keeps: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.leaves, str) or isinstance(self.keeps, str):
            raise InputError('`leaves` and `keeps` of a stage are lists, such as ["more.csv"]')

    def run(self, context: StageContext) -> None:
        """Runs the function, and checks that it sets no fact but estimates."""
        self.function(context)
        for name, fact in context.facts.items():
            if not hasattr(fact, "half_width"):
                what = f"stage `{self.function.__name__}` sets the fact `{name}` to {fact!r}"
                right = "`nodeb.stats.calculated(3)`"
                raise InputError(f"{what}; expected an Estimate, such as {right}")


class StageContext:
    """Input of a stage (`campaign`, `out`, `show`), and its output (`facts`, `given`, `add`)."""

    def __init__(self, campaign: Campaign, out: Path, show: Callable[[str], None]) -> None:
        self.campaign = campaign
        """Campaign that measures cases."""
        self.out = out
        """Results folder of the study."""
        self.show = show
        """Callback that shows the current activity."""
        self.facts = campaign.facts
        """Results of all stages so far, by name. Claims refer to them as `study.fact(name)`."""
        self.given = campaign.settings.given
        """Values for scenario functions with an argument `given`, such as fitted models."""
        self.pictures: list[Picture] = []
        """Additional pictures of the page."""

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return self.campaign.seed

    @property
    def quick(self) -> bool:
        """True in the short version of the study."""
        return self.campaign.settings.quick

    @property
    def jobs(self) -> Jobs:
        """Number of threads that may simulate at a time, or an executor."""
        return self.campaign.jobs

    def add(self, name: str, picture: Picture) -> None:
        """Adds a picture to the page, and writes it to `figures` as NAME.png and NAME.svg."""
        from nodeb.plot.source import save  # This imports matplotlib, which is slow.

        for suffix in ("png", "svg"):
            save(picture.figure, self.out / "figures" / f"{name}.{suffix}")
        self.pictures.append(picture)
