"""The replications of one scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.replication.engine import Subject
from nodeb.replication.rules import Rates, rule_of
from nodeb.replication.work import Source, Tables, Work
from nodeb.stats import Precision

__all__ = ["Replicating", "Run", "mean_rates"]


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


class Run(Subject[Tables]):
    """The replications of one scenario, in order of the run and without a gap.

    Args:
        work: makes them.
        stop: how many, or the rule that decides.
    """

    def __init__(self, work: Work[Tables], stop: int | Precision) -> None:
        super().__init__(work, rule_of(stop, mean_rates))
        self.finished: list[Tables] = []
        """Tables of several replications each, one after the other."""
        self.replications = 0
        """How many replications these are."""

    def closed(self) -> None:
        """Keeps what there is, without those replications that turned out not to be needed."""
        known = self.known
        finished, n = known.finished, known.done if self.stop is None else self.stop.runs
        if known.done > n:  # of those that went together not all are needed
            finished[-1] = {name: _first(table, n) for name, table in finished[-1].items()}
        self.finished, self.replications = finished, n


def _first(table: Mapping[str, Any], runs: int) -> dict[str, Any]:
    """The rows of a table that belong to replications below a number."""
    keep = np.asarray(table["run"]) < runs
    return {name: np.asarray(column)[keep] for name, column in table.items()}
