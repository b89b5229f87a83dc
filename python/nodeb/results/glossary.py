"""Names and meanings of the tables of results and their columns, as declared by the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from nodeb import _core

__all__ = ["Column", "TableInfo", "tables"]


@dataclass(frozen=True, slots=True)
class Column:
    """Description of a column of a table, or of a metric of a summary."""

    name: str
    """Name of the column in tables."""
    unit: str
    """Unit; 1 for a ratio, empty for a count, a number or a name."""
    meaning: str
    """Meaning of the values, a sentence."""


@dataclass(frozen=True, slots=True)
class TableInfo:
    """Description of a table of results: its name, the meaning of a row, and its columns."""

    name: str
    """Name of the table."""
    meaning: str
    """Meaning of a row, a sentence."""
    columns: Mapping[str, Column]
    """Columns by name, in order."""


@cache
def tables() -> Mapping[str, TableInfo]:
    """Returns every table that a run can have, by name."""
    return {
        name: TableInfo(name, meaning, {column[0]: Column(*column) for column in columns})
        for name, meaning, columns in _core.metrics()
    }
