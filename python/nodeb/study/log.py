"""The replications of one case, as arrays of runs by rows of their tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.functions import call_checked, numbers
from nodeb.errors import InputError, nearest
from nodeb.replication.reduction import REDUCED, RUN, split_by_run
from nodeb.storage.cells import Tables
from nodeb.study.case import Settings

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
            found = self._column(key) if isinstance(key, str) else self._made(key)
            self._stacked[key] = found
        return self._stacked[key]

    def _column(self, key: str) -> Array:
        table, _, column = key.rpartition(".")
        if not table:
            kept = self._kept(key)
            if kept is not None:
                return kept
        found = self._tables.get(table or FLOWS)
        if found is None or column not in found.columns:
            known = list(self._tables) if found is None else found.columns
            raise InputError(f"replications have no `{key}`{nearest(column, known)}")
        return np.asarray(found[column], dtype=float).reshape(self._runs, -1)

    def _kept(self, name: str) -> Array | None:
        """Returns the numbers that the reduction stored under a name, or `None`."""
        kept = self._tables.get(REDUCED)
        columns = [] if kept is None else [c for c in kept.columns if c.startswith(f"{name}.")]
        if kept is None or not columns:
            return None
        places = [f"{name}.{place}" for place in range(len(columns))]
        return np.stack([np.asarray(kept[place], dtype=float) for place in places], axis=1)

    def _made(self, function: Callable[..., Any]) -> Array:
        asked = self._settings.asked(function)
        runs = range(int(self._tables[FLOWS][RUN][0]), self._runs)
        name = getattr(function, "__name__", "a function")
        wanted = (f"`{name}` of one replication", "numbers, as many of each replication")
        each: list[Array] = []

        def right(found: Any) -> bool:
            return numbers(found) and (not each or np.atleast_1d(found).shape == each[0].shape)

        for one in split_by_run(self._tables, runs):
            each.append(np.atleast_1d(call_checked(function, *wanted, right, one, **asked)))
        return np.stack(each).astype(float)
