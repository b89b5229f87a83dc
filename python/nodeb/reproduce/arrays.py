"""Arrays and tables of replications."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nodeb.replication.work import Tables

__all__ = ["Array", "Tables", "apart"]

Array = NDArray[np.float64]


def apart(tables: Tables, runs: range) -> Iterator[Tables]:
    """The tables of each of some replications, which are one after the other in each table."""
    edges = {
        name: np.searchsorted(np.asarray(table["run"]), range(runs.start, runs.stop + 1))
        for name, table in tables.items()
    }
    for at in range(len(runs)):
        rows = {name: slice(found[at], found[at + 1]) for name, found in edges.items()}
        yield {
            name: {key: column[rows[name]] for key, column in table.items()}
            for name, table in tables.items()
        }
