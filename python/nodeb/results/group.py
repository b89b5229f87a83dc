"""Sums and means per replication of a group of users, from the tables of a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table, changes, unique
from nodeb.errors import InputError

__all__ = ["ALL", "ALL_UP", "Array", "Group", "is_mixed", "names", "phones"]

ALL = "all"
"""Name of the group of all users; of their downloads only if there are also uploads."""
ALL_UP = "all up"
"""Name of the group of all uploads if there are also downloads."""

Array = NDArray[np.float64]


class Group:
    """Group of users in the tables of some replications."""

    def __init__(self, tables: Mapping[str, Table], name: str = ALL) -> None:
        self.name = name
        self.tables = tables
        flows = tables["flows"]
        mine = _rows_of(flows, name)
        self.run = changes(flows["run"] if mine is None else flows["run"][mine])
        """Replications in which the group has users."""
        self.users: NDArray[np.int64] | None = None
        """Indices of the group's users; None if the group has all rows of `flows`."""
        if mine is not None:
            self.users = unique(flows["user"][mine])
        self._at: dict[str, NDArray[np.intp]] = {}
        self._mine: dict[str, NDArray[np.bool_]] = {}

    def has(self, table: str, *columns: str) -> bool:
        found = self.tables.get(table)
        return found is not None and all(name in found.columns for name in columns)

    def column(self, table: str, name: str) -> Array:
        """Returns this group's rows of a column; the table must have a row per user and run."""
        return np.asarray(self.select(table, self.tables[table][name]), dtype=np.float64)

    def select(self, table: str, values: NDArray[Any]) -> NDArray[Any]:
        """Returns those of a table's values, one per row, whose rows belong to the group."""
        mine = self._rows(table)
        return values if mine is None else values[mine]

    def _rows(self, table: str) -> NDArray[np.bool_] | None:
        """Tables of phones have no rows for the uploads of phones that also download."""
        if self.users is None or (self.name == ALL and table != "flows"):
            return None
        if table not in self._mine:
            self._mine[table] = np.isin(self.tables[table]["user"], self.users)
        return self._mine[table]

    def at(self, table: str) -> NDArray[np.intp]:
        if table not in self._at:
            rows = self.select(table, self.tables[table]["run"])
            self._at[table] = np.searchsorted(self.run, rows)
        return self._at[table]

    def mean(self, table: str, values: Array) -> Array:
        known, at = np.isfinite(values), self.at(table)
        total = np.bincount(at[known], weights=values[known], minlength=len(self.run))
        count = np.bincount(at[known], minlength=len(self.run))
        means = np.full(len(self.run), math.nan)
        np.divide(total, count, out=means, where=count > 0)
        return means

    def each(self, table: str, values: Array, of: Callable[[Array], Array]) -> Array:
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

    def bearers(self, *names: str) -> list[Array] | None:
        """Returns, for each of the columns `names`, its sum over the group's bearers in each
        run.

        If they do not share bearers, each bearer is a dedicated channel and has the number of
        its user.
        """
        table = self.tables["bearers"]
        runs, numbers = table["run"], table["bearer"]
        mine = np.isin(runs, self.run)
        if self.name != ALL and self.users is not None:
            if not np.array_equal(unique(numbers), phones(self.tables["flows"])):
                return None
            mine &= np.isin(numbers, self.users)
        at = np.searchsorted(self.run, runs[mine])
        return [self._sum(at, table[name][mine]) for name in names]

    def _sum(self, at: NDArray[np.intp], values: NDArray[Any]) -> Array:
        return np.bincount(at, values.astype(np.float64), len(self.run)).astype(np.float64)


def phones(flows: Table) -> NDArray[np.int64]:
    return unique(flows["phone" if "phone" in flows.columns else "user"])


def is_mixed(flows: Table) -> bool:
    return "direction" in flows.columns and len(flows.distinct("direction")) > 1


def names(flows: Table) -> list[str]:
    """Returns the names of the groups in a table `flows`, last those of all users together."""
    of_users = flows.distinct("group")
    if is_mixed(flows):
        return [*of_users, ALL, ALL_UP]
    return [*of_users, ALL] if len(of_users) > 1 else [ALL]


def _rows_of(flows: Table, name: str) -> NDArray[np.bool_] | None:
    if name not in (ALL, ALL_UP):
        return np.asarray(flows["group"] == name)
    if not is_mixed(flows):
        return None
    return np.asarray(flows["direction"] == ("up" if name == ALL_UP else "down"))
