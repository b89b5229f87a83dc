"""The replications of one scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.replication.engine import Engine, Subject
from nodeb.replication.pool import Jobs
from nodeb.replication.rules import Rates, rule_of
from nodeb.replication.work import Source, Tables, Work
from nodeb.stats import Precision, Stop
from nodeb.terminal.progress import ProgressCallback

__all__ = ["Experiment", "Replicating", "mean_rates"]


def mean_rates(tables: Tables) -> Rates:
    """The rates that a rule is asked about, means over all users of each replication."""
    flows = tables["flows"]
    runs = len(np.unique(np.asarray(flows["run"])))
    application, received = (
        np.asarray(flows[name], dtype=np.float64).reshape(runs, -1).mean(axis=1)
        for name in ("application_bps", "received_bps")
    )
    return application, received


class Replicating(Work[Tables]):
    """Replications as the core gives them.

    Args:
        source: the scenario.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def replicate(self, seed: int, runs: range, control: _core.Control) -> Tables:
        """Simulates replications that go together."""
        return self.source.compiled().run_many(seed, runs.start, len(runs), control)


@dataclass
class Experiment:
    """Independent replications of one scenario."""

    work: Work[Tables]
    """Makes them."""
    seed: int
    """Seed of the named random streams."""
    stop: int | Precision
    """How many replications, or the rule that decides."""
    jobs: Jobs
    """Replications simulated at a time, or who simulates them."""
    progress: ProgressCallback | None = None
    """Told of progress about ten times a second."""

    finished: list[Tables] = field(default_factory=list, init=False)
    """The tables of the first replications, in order of the run, without a gap.

    A table may be that of several replications, one after the other.
    """
    replications: int = field(default=0, init=False)
    """How many replications these are."""
    stopped: Stop | None = field(default=None, init=False)
    """Why there are enough; None where there are not."""

    @property
    def limit(self) -> int:
        """The largest number of replications."""
        return self.stop.max_runs if isinstance(self.stop, Precision) else self.stop

    def run(self) -> Stop:
        """Simulates until the stopping rule is content; the outcome is in `finished`.

        Raises:
            KeyboardInterrupt: Ctrl-C; what was running is cancelled, `finished` stays.
            RunError: a replication failed.
        """
        only = _Only(self)
        _Shown(only, self).run()
        if only.stop is None:
            raise AssertionError("an engine ends when there are enough replications")
        return only.stop


class _Only(Subject[Tables]):
    """The scenario of an experiment."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        super().__init__(experiment.work, rule_of(experiment.stop, mean_rates))

    def closed(self) -> None:
        known = self.known
        self._experiment.replications = n = known.done if self.stop is None else self.stop.runs
        finished, over = known.finished, known.done - n
        if over:  # of those that went together not all are needed
            finished[-1] = {name: _first(table, n) for name, table in finished[-1].items()}
        self._experiment.finished = finished
        self._experiment.stopped = self.stop  # last: who sees it finds the others


class _Shown(Engine[Tables]):
    """An engine that tells of the progress of one experiment."""

    def __init__(self, only: _Only, experiment: Experiment) -> None:
        super().__init__([only], experiment.seed, experiment.jobs)
        self._only, self._experiment = only, experiment
        self._shown = 0.0

    def report(self) -> None:
        if self._experiment.progress is None:
            return
        done, limit = self._only.known.done, self._experiment.limit
        text = f"{done} of {limit} replications"
        if isinstance(self._experiment.stop, Precision):
            text = f"{done} replications, at most {limit}"
        # The expected number may grow; a bar that runs backwards would only puzzle.
        self._shown = max(self._shown, min(self.parts(), 1.0))
        self._experiment.progress(self._shown, text)


def _first(table: Mapping[str, Any], runs: int) -> dict[str, Any]:
    """The rows of a table that belong to replications below a number."""
    keep = np.asarray(table["run"]) < runs
    return {name: np.asarray(column)[keep] for name, column in table.items()}
