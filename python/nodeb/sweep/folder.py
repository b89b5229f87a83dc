"""The folder of a sweep: what it belongs to, and one file for each cell that was simulated.

The mark of the folder (`storage/folders.py`) says whose it is, `sweep.toml` is the file
that was swept, `cells/<identity>.arrow` holds the tables of a cell's replications, and
`sweep.parquet` is the table of results. Cells are found by identity, so the order and number of
cells may change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from nodeb.errors import OutputError, os_reason
from nodeb.storage.files import remove_leftovers, write_bytes, write_parquet
from nodeb.storage.folders import Mark, Owner, Place, claim
from nodeb.storage.store import Store, Tables
from nodeb.table import Table

__all__ = ["Folder", "Source"]

SOURCE, TABLE, CELLS = "sweep.toml", "sweep.parquet", "cells"
SHOWN = 3
"""So many differences between two scenarios are told."""


@dataclass(frozen=True)
class Source(Owner):
    """The scenario that a folder belongs to, whatever of it is swept and how often.

    `about` has what all cells have in common, `written` and `resolved` (`nodeb.sweep.cells.base`).
    """

    def refuses(self, mark: Mark) -> str | None:
        """What another's folder holds; None for one's own."""
        if mark["kind"] != self.kind:
            return super().refuses(mark)
        # Defaults change with versions, and the same can be written in many ways.
        pairs = {key: (mark.get(key), self.about[key]) for key in ("written", "resolved")}
        if any(there == here and here is not None for there, here in pairs.values()):
            return None
        there, here = pairs["written" if None in pairs["resolved"] else "resolved"]
        return f"holds a sweep of another scenario ({_differences(there, here)})"


class Folder:
    """Where the results of a sweep are kept, claimed for it.

    Args:
        path: the folder.
        text: the scenario file.
        owner: whose the folder is.
        about: what else its mark tells.
        force: replace what belongs to another.
        inputs: files that are read.

    Raises:
        OutputError: it belongs to another scenario, or cannot be written; nothing is changed.
    """

    def __init__(
        self,
        path: Path,
        text: str,
        owner: Source,
        about: Mapping[str, Any],
        *,
        force: bool = False,
        inputs: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        self.path = path
        self._about = about
        self.place: Place = claim(path, owner, force=force, inputs=inputs, resumes=True)
        """The folder, claimed."""
        self.replaced = self.place.replaces
        """What of another was replaced; None if nothing."""
        self.store = Store(path / CELLS)
        """The cells."""
        try:
            self._begin(text)
        except BaseException:
            self.place.__exit__(None, None, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.place.__exit__(None, None, None)

    def _begin(self, text: str) -> None:
        if self.replaced is not None:
            self.place.start_over()
        with self._told():
            remove_leftovers(self.path)
            if not self._is_source(text):  # the table is that of another file
                self.table.unlink(missing_ok=True)
                write_bytes(self.path / SOURCE, text.encode())
            self.store.open()
        self._mark(complete=False)

    @property
    def table(self) -> Path:
        """The file of the results."""
        return self.path / TABLE

    def load(self, identity: str) -> Tables | None:
        """The tables of a cell, in order of the run; None if there are none.

        A file that is damaged counts as not there: the cell is simulated again.
        """
        return self.store.load(identity)

    def save(self, identity: str, scenario: str, tables: Tables) -> None:
        """Keeps the tables of a cell, in order of the run.

        Raises:
            OutputError: the file cannot be written; what was there before stays.
        """
        with self._told():
            self.store.save(identity, scenario, tables)

    def save_table(self, table: Table) -> None:
        """Writes the table of results, after which the folder is complete.

        Raises:
            OutputError: the file cannot be written; what was there before stays.
        """
        with self._told():
            write_parquet(self.table, table)
        self._mark(complete=True)

    def _mark(self, *, complete: bool) -> None:
        self.place.mark((SOURCE, TABLE, CELLS), self._about, complete=complete)

    def _is_source(self, text: str) -> bool:
        file = self.path / SOURCE
        return file.exists() and file.read_bytes() == text.encode()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turns what the operating system refuses into an error for people."""
        try:
            yield
        except OSError as error:
            raise OutputError(f"cannot write results to {self.path}: {os_reason(error)}") from error


def _differences(other: object, base: object) -> str:
    """The first keys in which two scenarios differ."""
    there, here = dict(_flat("", other)), dict(_flat("", base))
    keys = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    told = [
        f"{key} is {_shown(there, key)} there, {_shown(here, key)} here" for key in keys[:SHOWN]
    ]
    more = [f"and {len(keys) - SHOWN} more"] if len(keys) > SHOWN else []
    return "; ".join([*told, *more])


def _flat(key: str, value: object) -> Iterator[tuple[str, object]]:
    """Dotted key and value of everything in a document."""
    parts: Iterator[tuple[object, object]]
    if isinstance(value, dict) and value:
        parts = iter(value.items())
    elif isinstance(value, list) and value:
        parts = iter(enumerate(value))
    else:
        yield key, value
        return
    for part, below in parts:
        yield from _flat(f"{key}.{part}" if key else str(part), below)


def _shown(values: Mapping[str, object], key: str) -> str:
    return json.dumps(values[key], ensure_ascii=False) if key in values else "absent"
