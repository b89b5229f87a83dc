"""Tables to draw, from files or joined from several of a result, and figures as files."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.answer.words import joined
from nodeb.base.table import Table
from nodeb.errors import InputError, os_reason, writing
from nodeb.plot.table import column_of, find
from nodeb.results import glossary
from nodeb.storage import folders
from nodeb.storage.files import read_parquet, write_bytes

TABLES = ("sweep", *glossary.tables(), "summary")
"""Tables in a results folder, in the order of preference."""
STAMPS = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}
"""Suffixes of files, and the metadata of each that would differ between equal figures."""
DPI = 150
KEYS = ("run", "user")
"""Columns on which tables are joined."""


def open_table(path: Path, columns: Sequence[str]) -> tuple[Table, Path, dict[str, str]]:
    """Returns the table to draw, its folder, and the full name in it of each requested column.

    `path` is a Parquet file, and the names are an empty dict; or it is a results folder, whose
    first table with all columns is returned, or else a join of several tables.
    """
    if not path.is_dir():
        return _read(path), path.parent, {}
    files = [path / f"{name}.parquet" for name in TABLES]
    tables = {file.stem: _read(file) for file in files if file.exists()}
    if not tables:
        within = sorted(one.parent.name for one in path.glob("*/provenance.json"))
        hint = f"; it has those of {', '.join(within)}" if within else ""
        raise InputError(f"{path}: there are no results in this folder{hint}")
    table, names = chosen_columns(tables, columns)
    return table, path, names


def save(figure: Figure, path: Path) -> Path:
    """Writes a figure in the format of its suffix.

    Equal figures of the same name give identical files.

    Raises:
        InputError: the suffix is not that of a supported format.
        OutputError: the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in STAMPS:
        raise InputError(f"{path}: unknown suffix; expected {', '.join(STAMPS)}")
    data = image(figure, suffix, path.stem, facecolor="white", dpi=DPI)
    with writing(f"write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data)
        folders.note(path)
    return path


def image(figure: Figure, suffix: str, name: str, **options: Any) -> bytes:
    """The content of a figure's file; identifiers in it depend on `name`."""
    data = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(data, format=suffix[1:], metadata={STAMPS[suffix]: None}, **options)
    return data.getvalue()


def chosen_columns(
    tables: Mapping[str, Table], asked: Sequence[str]
) -> tuple[Table, dict[str, str]]:
    """Returns the first table that has all columns, or else a join of tables on run and user.

    All but one of the joined tables must have at most one row for each pair of run and user. A name
    may include the table: `phones.cqi`.
    """
    for table in tables.values():
        names = {name: column for name in asked if (column := column_of(table, name))}
        if len(names) == len(set(asked)):
            return table, names
    places = {name: _home(tables, name) for name in asked if name not in KEYS}
    rows = _matched(tables, list(dict.fromkeys(at for at, _ in places.values())))
    base = next(iter(rows))
    columns = {key: tables[base][key][rows[base]] for key in KEYS if key in asked or len(rows) > 1}
    names = {key: key for key in KEYS if key in asked}
    for name, (at, column) in places.items():
        names[name] = f"{at}.{column}" if column in columns else column
        columns[names[name]] = tables[at][column][rows[at]]
    return Table(columns), names


def _home(tables: Mapping[str, Table], name: str) -> tuple[str, str]:
    """Returns the only table that has the column, and the column's full name in it."""
    prefix, _, rest = name.partition(".")
    if rest and prefix in tables:
        return prefix, find(tables[prefix], rest)
    homes = {at: column for at, table in tables.items() if (column := column_of(table, name))}
    if not homes:
        find(Table(dict.fromkeys((c for t in tables.values() for c in t.columns), ())), name)
    usable = {at: column for at, column in homes.items() if _has_keys(tables[at])} or homes
    if len(usable) > 1:
        choices = " or ".join(f"{at}.{column}" for at, column in usable.items())
        raise InputError(f"`{name}` is in {joined(list(usable))}: write {choices}")
    return next(iter(usable.items()))


def _matched(tables: Mapping[str, Table], used: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """Returns the row indices of each table in the join, which keeps the order of the first."""
    if len(used) == 1:
        return {used[0]: np.arange(len(tables[used[0]]))}
    for at in used:
        if not _has_keys(tables[at]):
            raise InputError(f"{at} has no column for {joined(KEYS)} to join it on")
    keys = {at: list(zip(*(tables[at][key].tolist() for key in KEYS), strict=True)) for at in used}
    long = [at for at in used if len(set(keys[at])) < len(keys[at])]
    if len(long) > 1:
        raise InputError(
            f"{joined(long)} have several rows for each run and user; "
            "only one table of a join may, because their rows cannot be matched otherwise"
        )
    base, *others = sorted(used, key=lambda at: at not in long)
    partners = [{key: row for row, key in enumerate(keys[at])} for at in others]
    rows = [
        (row, *(partner[key] for partner in partners))
        for row, key in enumerate(keys[base])
        if all(key in partner for partner in partners)
    ]
    columns = np.array(rows, dtype=np.intp).reshape(-1, len(used)).T
    return dict(zip([base, *others], columns, strict=True))


def _has_keys(table: Table) -> bool:
    return set(KEYS) <= set(table.columns)


def _read(path: Path) -> Table:
    try:
        table = read_parquet(path)[0]
        return Table({name: _plain(table[name]) for name in table.columns})
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {os_reason(error)}") from None
    except InputError:
        raise
    except ValueError:
        raise InputError(f"{path}: this is not a Parquet file, or a damaged one") from None


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """Returns a column of a file that another program may have written, as numbers or texts.

    Decimal numbers become doubles. Missing values become NaN in a column of numbers or without any
    value, else empty texts. Other values, such as times and lists, become texts.
    """
    if column.dtype.kind in "mM":
        return np.where(np.isnat(column), "", column.astype(str))
    if column.dtype.kind != "O":
        return column
    values = column.tolist()
    if all(one is None or isinstance(one, Decimal) for one in values):
        return np.array([math.nan if one is None else float(one) for one in values])
    return np.array(["" if one is None else str(one) for one in values], dtype=object)
