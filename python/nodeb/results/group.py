"""A group of users in the tables of a result, for metrics that users define."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from nodeb import _core
from nodeb.base.table import Table, unique
from nodeb.errors import InputError

ALL = "all"
"""Name of the group of all users; of their downloads only if there are also uploads."""

Array = NDArray[np.float64]
_Rows = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]
"""Runs of a group, its rows of a table, and the place of each row's run among the runs."""


class Group:
    """Group of users in the tables of some replications."""

    def __init__(self, tables: Mapping[str, Table], name: str = ALL) -> None:
        self.name = name
        self.tables = tables
        self._rows: dict[str, _Rows] = {}
        self.run = self._rows_of("flows")[0]
        """Replications in which the group has users."""

    def has(self, table: str, *columns: str) -> bool:
        found = self.tables.get(table)
        return found is not None and all(name in found.columns for name in columns)

    def column(self, table: str, name: str) -> Array:
        """Returns this group's rows of a column; the table must have a row per user and run."""
        _, rows, _ = self._rows_of(table)
        return np.asarray(self.tables[table][name][rows], dtype=np.float64)

    def _rows_of(self, table: str) -> _Rows:
        if table not in self._rows:
            self._rows[table] = _core.group_rows(self.tables, self.name, table)
        return self._rows[table]

    def at(self, table: str) -> NDArray[np.uint32]:
        """Returns the place in `run` of each of the group's rows of a table."""
        return self._rows_of(table)[2]

    def mean(self, table: str, values: Array) -> Array:
        """Returns the mean over users in each run, NaN without any; `values` as of `column`."""
        known, at = np.isfinite(values), self.at(table)
        total = np.bincount(at[known], weights=values[known], minlength=len(self.run))
        count = np.bincount(at[known], minlength=len(self.run))
        means = np.full(len(self.run), math.nan)
        np.divide(total, count, out=means, where=count > 0)
        return means

    def each(self, table: str, values: Array, of: Callable[[Array], Array]) -> Array:
        """Calls a function of arrays with a row for each run with equally many users."""
        at = self.at(table)
        users = np.bincount(at, minlength=len(self.run))
        begins, order = np.cumsum(users) - users, np.argsort(at, kind="stable")
        found = np.full(len(self.run), math.nan)
        for many in unique(users):
            runs = np.flatnonzero(users == many)
            rows = of(values[order[begins[runs][:, np.newaxis] + np.arange(many)]])
            if np.shape(rows) != runs.shape:
                raise InputError(
                    f"a function of `each` returned values of shape {np.shape(rows)} for "
                    f"{len(runs)} runs; expected one for each, as of `lambda x: x.max(axis=1)`"
                )
            found[runs] = rows
        return found
