"""A group of users in the tables of some replications: sums and means for each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table, changes
from nodeb.errors import InputError

__all__ = ["ALL", "Array", "Group"]

ALL = "all"
"""Name of the group of all users."""

Array = NDArray[np.float64]


class Group:
    """A group of users in the tables of some replications.

    Args:
        tables: those of the replications, in order of the run; `flows` at least.
        name: of the group; `ALL` for all users.
    """

    def __init__(self, tables: Mapping[str, Table], name: str = ALL) -> None:
        self.name = name
        self.tables = tables
        flows = tables["flows"]
        self.run = changes(flows["run"])
        """The replications in which it has users."""
        self.users: NDArray[np.int64] | None = None
        """Their numbers; None for all."""
        if name != ALL:
            of_group = flows["group"] == name
            self.users = np.unique(flows["user"][of_group])
            self.run = changes(flows["run"][of_group])
        self._at: dict[str, NDArray[np.intp]] = {}
        self._mine: dict[str, NDArray[np.bool_]] = {}

    def has(self, table: str, *columns: str) -> bool:
        """Whether the replications have a table with these columns."""
        found = self.tables.get(table)
        return found is not None and all(name in found.columns for name in columns)

    def column(self, table: str, name: str) -> Array:
        """A column of a table with a row for each user and run: the rows of this group."""
        found = np.asarray(self.tables[table][name], dtype=np.float64)
        return found if self.users is None else found[self._rows(table, self.users)]

    def _rows(self, table: str, users: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows of a table are of these users."""
        if table not in self._mine:
            self._mine[table] = np.isin(self.tables[table]["user"], users)
        return self._mine[table]

    def at(self, table: str) -> NDArray[np.intp]:
        """To which of the runs each of these rows belongs."""
        if table not in self._at:
            runs = self.tables[table]["run"]
            rows = runs if self.users is None else runs[self._rows(table, self.users)]
            self._at[table] = np.searchsorted(self.run, rows)
        return self._at[table]

    def mean(self, table: str, values: Array) -> Array:
        """Mean over users for each run; NaN for a run without any value."""
        known, at = np.isfinite(values), self.at(table)
        total = np.bincount(at[known], weights=values[known], minlength=len(self.run))
        count = np.bincount(at[known], minlength=len(self.run))
        means = np.full(len(self.run), math.nan)
        np.divide(total, count, out=means, where=count > 0)
        return means

    def each(self, table: str, values: Array, of: Callable[[Array], Array]) -> Array:
        """A function of the values of all users for each run.

        Args:
            table: where the values are from.
            values: one of each row of this group.
            of: takes runs with equally many users together, a row of values for each.
        """
        at = self.at(table)
        users = np.bincount(at, minlength=len(self.run))
        begins, order = np.cumsum(users) - users, np.argsort(at, kind="stable")
        found = np.full(len(self.run), math.nan)
        for many in np.unique(users):
            runs = np.flatnonzero(users == many)
            rows = of(values[order[begins[runs][:, np.newaxis] + np.arange(many)]])
            if np.shape(rows) != runs.shape:
                raise InputError(
                    f"a function of `each` returned values of shape {np.shape(rows)} for "
                    f"{len(runs)} runs; expected one for each, as of `lambda x: x.max(axis=1)`"
                )
            found[runs] = rows
        return found

    def bearers(self, *names: str) -> list[Array] | None:
        """Sums by run of columns of the bearers of this group alone; None where others share them.

        A dedicated channel has its user's number.
        """
        table = self.tables["bearers"]
        runs, numbers = table["run"], table["bearer"]
        mine = np.isin(runs, self.run)
        if self.users is not None:
            everybody = np.unique(self.tables["flows"]["user"])
            if not np.array_equal(np.unique(numbers), everybody):
                return None
            mine &= np.isin(numbers, self.users)
        at = np.searchsorted(self.run, runs[mine])
        return [self._sum(at, table[name][mine]) for name in names]

    def _sum(self, at: NDArray[np.intp], values: NDArray[Any]) -> Array:
        """Sums of values by run."""
        return np.bincount(at, values.astype(np.float64), len(self.run)).astype(np.float64)
