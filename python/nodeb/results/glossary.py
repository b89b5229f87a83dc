"""What the tables of results and their columns are called and mean, as the core declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from nodeb import _core

__all__ = ["Column", "TableInfo", "tables"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, or a metric of a summary."""

    name: str
    """Its name."""
    unit: str
    """Its unit; 1 for a ratio, empty for a count, a number or a name."""
    meaning: str
    """What it says, a sentence."""


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table of results."""

    name: str
    """Its name."""
    meaning: str
    """What a row of it is, a sentence."""
    columns: Mapping[str, Column]
    """Its columns by name, in order."""


@cache
def tables() -> Mapping[str, TableInfo]:
    """Every table that a run can have, by name."""
    return {
        name: TableInfo(name, meaning, {column[0]: Column(*column) for column in columns})
        for name, meaning, columns in _core.metrics()
    }
