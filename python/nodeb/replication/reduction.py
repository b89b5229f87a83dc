"""Reductions: functions that compute a few numbers from time series too large to store."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.functions import call_checked, numbers
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.storage.cells import Tables

REDUCED, RUN = "series", "run"
"""Name of the table that replaces series; name of the column with a replication's index."""


def split_by_run(tables: Mapping[str, Any], runs: range) -> Iterator[dict[str, Any]]:
    """Yields the tables of each replication, cut from tables with the rows of all `runs`."""
    edges = {
        name: np.searchsorted(np.asarray(table[RUN]), range(runs.start, runs.stop + 1))
        for name, table in tables.items()
    }
    for at in range(len(runs)):
        rows = {name: slice(found[at], found[at + 1]) for name, found in edges.items()}
        yield {
            name: {key: np.asarray(table[key])[rows[name]] for key in _columns(table)}
            for name, table in tables.items()
        }


def _columns(table: Any) -> list[str]:
    return list(getattr(table, "columns", table))


@dataclass(frozen=True)
class Reduction:
    """Function that reduces the tables of one replication to a few numbers.

    The function is sent to the workers of a cluster by file and name, so it must be defined at the
    top level of a module.
    """

    function: Callable[..., Mapping[str, NDArray[Any]]]
    """Takes tables by name, and the options by keyword; returns an array by name."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of the function: plain data, by name."""
    drops: frozenset[str] = frozenset()
    """Names of tables that are not stored: the numbers replace them."""

    def identity(self) -> dict[str, Any]:
        """Returns what determines the numbers: options, function name, and hash of its module.

        The text of the whole module is hashed, because the function may call other functions in it.
        A reduction is therefore best defined in a module of its own.
        """
        code = hashlib.sha256(Path(self._file).read_bytes()).hexdigest()
        return {"how": dict(self.options), "function": self.function.__name__, "code": code}

    @property
    def _file(self) -> str:
        return sys.modules[self.function.__module__].__file__ or ""

    def __reduce__(self) -> tuple[Any, ...]:
        of = (self.function.__module__, self._file, self.function.__name__)
        return _again, (*of, dict(self.options), self.drops)

    def __call__(self, tables: Mapping[str, Any], runs: range) -> Tables:
        """Returns the tables to store for some replications.

        These are the given tables except those in `drops`, and a table with the numbers: it has a
        row per replication and a column `name.index` for each number.
        """
        expected = "numbers by name, the same quantity of each in all replications"
        first: dict[str, tuple[int, ...]] = {}

        def right(found: Any) -> bool:
            if not isinstance(found, Mapping) or not all(map(numbers, found.values())):
                return False
            shapes = {str(name): np.atleast_1d(value).shape for name, value in found.items()}
            first.update({} if first else shapes)
            return shapes == first and all(len(shape) == 1 for shape in shapes.values())

        what = f"the reduction `{self.function.__name__}`"
        each = [
            call_checked(self.function, what, expected, right, one, **self.options)
            for one in split_by_run(tables, runs)
        ]
        columns: dict[str, Any] = {RUN: np.arange(runs.start, runs.stop)}
        for name in each[0]:
            values = np.stack([np.atleast_1d(one[name]) for one in each])
            columns |= {f"{name}.{place}": values[:, place] for place in range(values.shape[1])}
        kept = {name: Table(table) for name, table in tables.items() if name not in self.drops}
        return kept | {REDUCED: Table(columns)}


def _again(
    module: str, file: str, function: str, options: Mapping[str, Any], drops: frozenset[str]
) -> Reduction:
    """Restores a pickled reduction; reads its module from the file if it cannot be imported.

    Raises:
        InputError: the module cannot be imported and its file does not exist here.
    """
    if module not in sys.modules:
        try:
            importlib.import_module(module)
        except ImportError:
            _read(module, Path(file))
    return Reduction(getattr(sys.modules[module], function), options, drops)


def _read(module: str, file: Path) -> None:
    """Imports a module from its file.

    The file's folder is added to `sys.path` for its own imports.
    """
    import importlib.util

    spec = importlib.util.spec_from_file_location(module, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise InputError(f"a worker has no {file}, which defines the reduction of a study")
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    sys.modules[module] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(sys.modules[module])
    except BaseException:
        del sys.modules[module]
        raise
