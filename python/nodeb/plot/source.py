"""Reading tables from files, and writing figures to files."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nodeb.base.table import Table
from nodeb.errors import InputError, os_reason, writing
from nodeb.plot.joins import chosen_columns
from nodeb.results import glossary
from nodeb.storage import folders
from nodeb.storage.files import read_parquet, write_bytes

__all__ = ["open_table", "save"]

TABLES = ("sweep", *glossary.tables(), "summary")
"""Tables in a results folder, in the order of preference."""
FORMATS = (".png", ".svg", ".pdf")
DPI = 150


def open_table(path: Path, columns: Sequence[str]) -> tuple[Table, Path, dict[str, str]]:
    """Returns the table to draw, its folder, and the full name in it of each requested column.

    The names are an empty dict if `path` is a file.

    Args:
        path: a Parquet file; or a results folder, in which case the first table with all columns is
            used, or else a join of several tables (`nodeb.plot.joins`).
        columns: the columns that are needed.

    Raises:
        InputError: the file is missing or damaged, a folder lacks a column, or tables cannot be
            joined.
    """
    if not path.is_dir():
        return _read(path), path.parent, {}

    files = [path / f"{name}.parquet" for name in TABLES]
    tables = {file.stem: _read(file) for file in files if file.exists()}
    if not tables:
        raise InputError(f"{path}: there are no results in this folder")
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
    if suffix not in FORMATS:
        raise InputError(f"{path}: unknown suffix; expected {', '.join(FORMATS)}")
    stamp = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}[suffix]
    data = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": path.stem}):
        figure.savefig(data, format=suffix[1:], dpi=DPI, facecolor="white", metadata={stamp: None})
    with writing(f"write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data.getvalue())
        folders.note(path)
    return path


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
    if all(type(one) is str for one in values):
        return column
    if all(one is None or isinstance(one, Decimal) for one in values):
        return np.array([math.nan if one is None else float(one) for one in values])
    return np.array(["" if one is None else str(one) for one in values], dtype=object)
