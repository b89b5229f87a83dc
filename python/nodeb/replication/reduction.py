"""What is kept of replications whose series are too large to keep: a few numbers of each."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.storage.store import Tables

__all__ = ["REDUCED", "RUN", "Reduction", "apart"]

REDUCED, RUN = "series", "run"
"""The table of what is kept of series, and the column of all tables with the replication."""


def apart(tables: Mapping[str, Any], runs: range) -> Iterator[dict[str, Any]]:
    """The tables of each of some replications, which are one after the other in each table."""
    edges = {
        name: np.searchsorted(np.asarray(table[RUN]), range(runs.start, runs.stop + 1))
        for name, table in tables.items()
    }
    for at in range(len(runs)):
        rows = {name: slice(found[at], found[at + 1]) for name, found in edges.items()}
        yield {
            name: {key: np.asarray(table[key])[rows[name]] for key in _columns(table)}
            for name, table in tables.items()
        }


def _columns(table: Any) -> list[str]:
    return list(getattr(table, "columns", table))


@dataclass(frozen=True)
class Reduction:
    """A function that makes a few numbers of the tables of one replication.

    It is sent to the workers of a cluster by its name: it stands in a module, at the top.
    """

    function: Callable[..., Mapping[str, NDArray[Any]]]
    """Takes tables by name, and the options by keyword; returns an array by name."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What else it is told: plain data."""
    drops: frozenset[str] = frozenset()
    """Tables that are not kept beside its numbers."""

    def identity(self) -> dict[str, Any]:
        """What its numbers depend on beside the tables: the options, and its module's text.

        The whole module counts, as the function may call others of it: one that stands beside
        other things is best given a module of its own.
        """
        file = sys.modules[self.function.__module__].__file__ or ""
        code = hashlib.sha256(Path(file).read_bytes()).hexdigest()
        return {"how": dict(self.options), "function": self.function.__name__, "code": code}

    def __call__(self, tables: Mapping[str, Any], runs: range) -> Tables:
        """The tables that are kept of some replications, with one of the numbers.

        It has a row for each replication, and a column `name.place` for each number.
        """
        each = [self.function(one, **self.options) for one in apart(tables, runs)]
        columns: dict[str, Any] = {RUN: np.arange(runs.start, runs.stop)}
        for name in each[0]:
            values = np.stack([np.atleast_1d(one[name]) for one in each])
            columns |= {f"{name}.{place}": values[:, place] for place in range(values.shape[1])}
        kept = {name: Table(table) for name, table in tables.items() if name not in self.drops}
        return kept | {REDUCED: Table(columns)}
