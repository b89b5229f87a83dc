"""What is kept of replications whose series are too large to keep: a few numbers of each."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodeb.base.functions import ask, numbers
from nodeb.base.table import Table
from nodeb.errors import InputError
from nodeb.storage.store import Tables

__all__ = ["REDUCED", "RUN", "Reduction", "apart"]

REDUCED, RUN = "series", "run"
"""The table of what is kept of series, and the column of all tables with the replication."""


def apart(tables: Mapping[str, Any], runs: range) -> Iterator[dict[str, Any]]:
    """The tables of each of some replications, which are one after the other in each table."""
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
    """A function that makes a few numbers of the tables of one replication.

    It is sent to the workers of a cluster by its file and name: it stands in a module, at the top.
    """

    function: Callable[..., Mapping[str, NDArray[Any]]]
    """Takes tables by name, and the options by keyword; returns an array by name."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What else it is told: plain data."""
    drops: frozenset[str] = frozenset()
    """Tables that are not kept beside its numbers."""

    def identity(self) -> dict[str, Any]:
        """What its numbers depend on beside the tables: the options, and its module's text.

        The whole module counts, as the function may call others of it: one that stands beside
        other things is best given a module of its own.
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
        """The tables that are kept of some replications, with one of the numbers.

        It has a row for each replication, and a column `name.place` for each number.
        """
        expected = "numbers by name, as many of each in each replication"
        first: dict[str, tuple[int, ...]] = {}

        def right(found: Any) -> bool:
            if not isinstance(found, Mapping) or not all(map(numbers, found.values())):
                return False
            shapes = {str(name): np.atleast_1d(value).shape for name, value in found.items()}
            first.update({} if first else shapes)
            return shapes == first and all(len(shape) == 1 for shape in shapes.values())

        what = f"the reduction `{self.function.__name__}`"
        each = [
            ask(self.function, what, expected, right, one, **self.options)
            for one in apart(tables, runs)
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
    """A reduction that was sent; its module is read from the file where it cannot be imported.

    Raises:
        InputError: there is no such file here.
    """
    if module not in sys.modules:
        try:
            importlib.import_module(module)
        except ImportError:
            _read(module, Path(file))
    return Reduction(getattr(sys.modules[module], function), options, drops)


def _read(module: str, file: Path) -> None:
    """Reads a module from a file beside which others may be."""
    spec = importlib.util.spec_from_file_location(module, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise InputError(f"a worker has no {file}, where the reduction of a study stands")
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    sys.modules[module] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(sys.modules[module])
    except BaseException:
        del sys.modules[module]
        raise
