"""Replications of a study's scenarios that are kept for the next run of a reproduction.

A cell keeps the tables of its replications as the core made them. Metrics are computed when it is
read, so that a new one needs no new simulation, and the cell's name depends on the core and the
scenario only. The exception are series, which are too large to keep: of them there is what the
study's metrics are made of, and the name depends on how that is made too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from nodeb.base.table import Table
from nodeb.reproduce import series
from nodeb.reproduce.arrays import Array, Tables, apart
from nodeb.results.provenance import core_hash
from nodeb.storage.store import Store, name_of

SERIES, RUN = "series", "run"


@dataclass(frozen=True)
class Part:
    """What is kept of some replications, one after the other.

    Attributes:
        tables: those of the core, without series.
        series: of each replication what is kept of its series.
    """

    tables: Tables
    series: Sequence[Mapping[str, Array]]

    def each(self) -> Iterator[tuple[Tables, Mapping[str, Array]]]:
        """Tables and series of each of them."""
        first = int(self.tables["flows"][RUN][0])  # every replication has flows
        runs = range(first, first + len(self.series))
        return zip(apart(self.tables, runs), self.series, strict=True)


class Kept:
    """The replications in a folder.

    Args:
        folder: made if need be.

    Raises:
        OutputError: it cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self._store = Store(folder)
        self._store.open()

    @property
    def damaged(self) -> list[Path]:
        """Files that were found to be damaged."""
        return self._store.damaged

    def load(self, identity: str) -> Part | None:
        """The replications of a scenario that are known, from the first on."""
        found = self._store.load(identity)
        return None if found is None else from_tables(found)

    def save(self, identity: str, scenario: str, parts: Sequence[Part], runs: int) -> None:
        """Keeps the first `runs` replications of a scenario, which the parts have in order.

        Raises:
            OutputError: they cannot be written; what was there before stays.
        """
        self._store.save(identity, scenario, to_tables(parts, runs))


def identity(scenario: str, seed: int, how: Mapping[str, Any]) -> str:
    """What tells the replications of a scenario from all others: a hash.

    Args:
        scenario: resolved, as JSON.
        seed: seed of all random streams.
        how: what decides what is kept of series, if there are any.
    """
    parts = {"scenario": scenario, "seed": seed, "core": core_hash()}
    if series.recorded(scenario):
        parts["series"] = {"how": how, "code": _hash(series)}
    return name_of(parts)


@cache
def _hash(*modules: Any) -> str:
    found = hashlib.sha256()
    for module in modules:
        if module.__file__:
            found.update(hashlib.sha256(Path(module.__file__).read_bytes()).digest())
    return found.hexdigest()


def to_tables(parts: Sequence[Part], runs: int) -> dict[str, Table]:
    """The first `runs` replications as the tables of a cell.

    What is kept of series is a table of its own: a row for each replication, a column `name.place`
    for each number.
    """
    names = parts[0].tables
    tables = {
        name: Table.concat(part.tables[name] for part in parts).first_runs(runs) for name in names
    }
    tables[SERIES] = _numbers([one for part in parts for one in part.series][:runs])
    return tables


def _numbers(series: Sequence[Mapping[str, Array]]) -> Table:
    columns: dict[str, Any] = {RUN: np.arange(len(series))}
    for name in series[0]:
        values = np.stack([one[name] for one in series])
        columns |= {f"{name}.{place}": values[:, place] for place in range(values.shape[1])}
    return Table(columns)


def from_tables(cell: Mapping[str, Table]) -> Part:
    """The replications that `to_tables` made tables of."""
    tables = {name: {key: table[key] for key in table.columns} for name, table in cell.items()}
    numbers = tables.pop(SERIES)
    kept = _stacked(numbers)
    runs = range(len(numbers[RUN]))
    return Part(tables, [{name: values[at] for name, values in kept.items()} for at in runs])


def _stacked(numbers: Mapping[str, Any]) -> dict[str, Array]:
    """Name -> array of runs by places."""
    columns: dict[str, list[Any]] = {}
    for column, values in numbers.items():
        name, dot, _ = column.rpartition(".")
        if dot:
            columns.setdefault(name, []).append(values)
    return {name: np.stack(found, axis=1) for name, found in columns.items()}
