"""Joins of columns of several tables of a result, on run and user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.plot.table import find

__all__ = ["KEYS", "chosen_columns"]

KEYS = ("run", "user")

Found = dict[str, tuple[str, str]]


def chosen_columns(
    tables: Mapping[str, Table], asked: Sequence[str]
) -> tuple[Table, dict[str, str]]:
    """The result is the first table that has all columns. Otherwise, the columns of several
    tables are joined on run and user; all but one of these tables must have at most one row for
    each pair of run and user. A name may include the table: `phones.cqi`."""
    for table in tables.values():
        names = {name: _in(table, name) for name in asked}
        known = {name: column for name, column in names.items() if column is not None}
        if len(known) == len(names):
            return table, known
    for name in asked:
        _check_known(tables, name)
    found = {name: _home(tables, name) for name in asked if name not in KEYS}
    return _joined(tables, found, asked)


def _in(table: Table, name: str) -> str | None:
    try:
        return find(table, name)
    except InputError:
        return None


def _homes(tables: Mapping[str, Table], name: str) -> dict[str, str]:
    return {at: column for at, table in tables.items() if (column := _in(table, name))}


def _check_known(tables: Mapping[str, Table], name: str) -> None:
    """Checks that some table has the column, before a join reports another problem.

    A name that includes a table, such as `phones.cqi`, is not checked.
    """
    prefix, dot, _ = name.partition(".")
    if not (dot and prefix in tables) and not _homes(tables, name):
        find(Table(dict.fromkeys((c for t in tables.values() for c in t.columns), ())), name)


def _home(tables: Mapping[str, Table], name: str) -> tuple[str, str]:
    """Returns the name of the table that has the column `name`, and the column's full name.

    If `name` has the form `table.column`, this table is used. Otherwise it is the only table
    that has both the column and the columns on which tables are joined (`KEYS`).
    """
    prefix, dot, rest = name.partition(".")
    if dot and prefix in tables:
        return prefix, find(tables[prefix], rest)
    homes = _homes(tables, name)
    usable = {at: c for at, c in homes.items() if all(k in tables[at].columns for k in KEYS)}
    if not usable:
        raise InputError(
            f"`{name}` is in {_listed(homes)}, without a column for {' and '.join(KEYS)}; "
            "columns of different tables are joined on these"
        )
    if len(usable) > 1:
        choices = " or ".join(f"{at}.{column}" for at, column in usable.items())
        raise InputError(f"`{name}` is in {_listed(usable)}: write {choices}")
    return next(iter(usable.items()))


def _joined(
    tables: Mapping[str, Table], found: Found, asked: Sequence[str]
) -> tuple[Table, dict[str, str]]:
    used = list(dict.fromkeys(at for at, _ in found.values()))
    for at in used:
        if len(used) > 1 and not all(key in tables[at].columns for key in KEYS):
            raise InputError(f"{at} has no column for {' and '.join(KEYS)} to join it on")
    long = [at for at in used if len(used) > 1 and _repeats(tables[at])]
    if len(long) > 1:
        raise InputError(
            f"{_listed(long)} have several rows for each run and user; "
            "only one table of a join may, because their rows cannot be matched otherwise"
        )
    base, *others = sorted(used, key=lambda at: at not in long)
    rows, found_rows = _matched(tables, base, others)
    names, columns = {}, {key: tables[base][key][rows] for key in KEYS if key in asked or others}
    for name, (at, column) in found.items():
        place = rows if at == base else found_rows[at]
        names[name] = f"{at}.{column}" if column in columns else column
        columns[names[name]] = tables[at][column][place]
    return Table(columns), {key: key for key in KEYS if key in asked} | names


def _matched(
    tables: Mapping[str, Table], base: str, others: Sequence[str]
) -> tuple[NDArray[np.intp], dict[str, NDArray[np.intp]]]:
    """Partners are rows of the same run and user. The second result has the partners' row
    indices, by table name and in the order of the base rows; it is empty without other tables."""
    if not others:
        return np.arange(len(tables[base])), {}
    keys = {at: list(zip(*(tables[at][k].tolist() for k in KEYS), strict=True)) for at in others}
    places = {at: {key: row for row, key in enumerate(keys[at])} for at in others}
    wanted = list(zip(*(tables[base][key].tolist() for key in KEYS), strict=True))
    rows = [n for n, key in enumerate(wanted) if all(key in known for known in places.values())]
    matched = {
        at: np.array([known[wanted[n]] for n in rows], dtype=np.intp)
        for at, known in places.items()
    }
    return np.array(rows, dtype=np.intp), matched


def _repeats(table: Table) -> bool:
    """Returns true if any pair of run and user has several rows."""
    keys = np.stack([np.asarray(table[key]) for key in KEYS])
    return bool(np.unique(keys, axis=1).shape[1] < len(table))


def _listed(names: Sequence[str] | Mapping[str, str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
