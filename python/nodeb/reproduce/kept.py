"""Replications of a study's scenarios that are kept for the next run of a reproduction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.errors import OutputError, os_reason
from nodeb.reproduce import log, session
from nodeb.reproduce.log import Run
from nodeb.results import timeseries
from nodeb.storage.store import Store
from nodeb.table import Table

UNFINISHED, REPLICATIONS = "unfinished", "replications"


class Kept:
    """The replications in a folder.

    Args:
        folder: made if need be.

    Raises:
        OutputError: it cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self._store = Store(folder)
        try:
            self._store.open()
        except OSError as error:
            raise OutputError(f"cannot write {folder}: {os_reason(error)}") from error

    @property
    def damaged(self) -> list[Path]:
        """Files that were found to be damaged."""
        return self._store.damaged

    def load(self, identity: str) -> list[Run]:
        """The replications of a scenario that are known, in order; none if there are none."""
        table = self._store.load(identity)
        return [] if table is None else from_table(table[REPLICATIONS])

    def save(self, identity: str, scenario: str, runs: Sequence[Run]) -> None:
        """Keeps the replications of a scenario.

        Raises:
            OutputError: they cannot be written; what was there before stays.
        """
        try:
            self._store.save(identity, scenario, {REPLICATIONS: to_table(runs)})
        except OSError as error:
            raise OutputError(
                f"cannot write to {self._store.folder}: {os_reason(error)}"
            ) from error


def identity(scenario: str, seed: int, how: Mapping[str, Any]) -> str:
    """What tells the replications of a scenario from all others: a hash.

    Args:
        scenario: resolved, as JSON.
        seed: seed of all random streams.
        how: what else decides what is kept of a replication.
    """
    parts = {"scenario": scenario, "seed": seed, "how": how, "code": _code_hash()}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


@cache
def _code_hash() -> str:
    found = hashlib.sha256(_core.version().encode())
    for module in (_core, log, session, timeseries):
        if module.__file__:
            found.update(hashlib.sha256(Path(module.__file__).read_bytes()).digest())
    return found.hexdigest()


def to_table(runs: Sequence[Run]) -> Table:
    """Replications as a table: a row for each, a column `name.place` for each number."""
    columns: dict[str, Any] = {
        "run": np.arange(len(runs)),
        UNFINISHED: np.array([run.unfinished for run in runs]),
    }
    for name in runs[0].quantities:
        values = np.stack([run.quantities[name] for run in runs])
        for place in range(values.shape[1]):
            columns[f"{name}.{place}"] = values[:, place]
    return Table(columns)


def from_table(table: Table) -> list[Run]:
    """The replications that `to_table` made a table of."""
    columns: dict[str, list[Any]] = {}
    for column in table.columns:
        name, dot, _ = column.rpartition(".")
        if dot:
            columns.setdefault(name, []).append(table[column])
    stacked = {name: np.stack(found, axis=1) for name, found in columns.items()}
    return [
        Run({name: values[at] for name, values in stacked.items()}, int(lost))
        for at, lost in enumerate(table[UNFINISHED])
    ]
