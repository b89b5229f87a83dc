"""The folder of a sweep: what it belongs to, and one file for each cell that was simulated.

`sweep.json` says which scenario the folder belongs to, `sweep.toml` is the file that was swept,
`cells/<identity>.parquet` holds the metrics of a cell by replication, and `sweep.parquet` is the
table of results. Cells are found by identity, so the order and number of cells may change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nodeb.errors import OutputError, os_reason
from nodeb.files import read_parquet, remove_leftovers, write_bytes, write_parquet
from nodeb.result import prepare_folder
from nodeb.table import Table

__all__ = ["Folder"]

MANIFEST, SOURCE, TABLE, CELLS = "sweep.json", "sweep.toml", "sweep.parquet", "cells"
IDENTITY = "nodeb.cell"
SCENARIO = "nodeb.scenario"
SHOWN = 3
"""So many differences between two scenarios are told."""


@dataclass(frozen=True)
class Folder:
    """Where the results of a sweep are kept."""

    path: Path

    @property
    def table(self) -> Path:
        """The file of the results."""
        return self.path / TABLE

    def claim(self, text: str, base: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Makes the folder that of a sweep, if it is not another's.

        Args:
            text: the scenario file.
            base: what the cells have in common, `written` and `resolved`: whose the folder is.
            about: what else `sweep.json` should tell.

        Raises:
            OutputError: it belongs to another scenario, or cannot be written; nothing is changed.
        """
        self._check(base)
        prepare_folder(self.path)
        manifest = json.dumps({**about, **base}, indent=2) + "\n"
        with self._told():
            write_bytes(self.path / MANIFEST, manifest.encode())
            write_bytes(self.path / SOURCE, text.encode())
            (self.path / CELLS).mkdir(exist_ok=True)
            remove_leftovers(self.path / CELLS)

    def identities(self) -> set[str]:
        """The cells that have a file."""
        return {file.stem for file in (self.path / CELLS).glob("*.parquet")}

    def load(self, identity: str) -> list[Table]:
        """The replications of a cell that are known, in order of the run; none if it is not there.

        A file that is damaged counts as not there: the cell is simulated again.
        """
        try:
            table, about = read_parquet(self._cell(identity))
        except (OSError, ValueError):
            return []
        if about.get(IDENTITY) != identity:
            return []
        return [table.where(table["run"] == run) for run in np.unique(table["run"])]

    def save(self, identity: str, scenario: str, replications: list[Table]) -> None:
        """Keeps the replications of a cell, in order of the run.

        Raises:
            OutputError: the file cannot be written; what was there before stays.
        """
        table = Table.concat({k: one[k] for k in one.columns} for one in replications)
        about = {IDENTITY: identity, SCENARIO: scenario}
        with self._told():
            write_parquet(self._cell(identity), table, about)

    def save_table(self, table: Table) -> None:
        """Writes the table of results.

        Raises:
            OutputError: the file cannot be written; what was there before stays.
        """
        with self._told():
            write_parquet(self.table, table)

    def _check(self, base: Mapping[str, Any]) -> None:
        """Complains if the folder is not this scenario's."""
        manifest = self.path / MANIFEST
        if not manifest.exists():
            for name in (SOURCE, TABLE, CELLS):
                if (self.path / name).exists():
                    raise OutputError(
                        f"{self.path} has a `{name}` but no {MANIFEST}, so it is not from a sweep; "
                        "give another folder with --out"
                    )
            return
        try:
            known = json.loads(manifest.read_text(encoding="utf-8"))
            other = {key: known[key] for key in ("written", "resolved")}
        except (OSError, ValueError, KeyError, TypeError):
            raise OutputError(
                f"{manifest} cannot be understood, so whose folder it is is not known; "
                "give another folder with --out"
            ) from None
        # Defaults change with versions, and the same can be written in many ways.
        if all(other[key] != base[key] or base[key] is None for key in other):
            key = "written" if None in (other["resolved"], base["resolved"]) else "resolved"
            differences = _differences(other[key], base[key])
            raise OutputError(
                f"{self.path} holds a sweep of another scenario ({differences}); "
                "give another folder with --out, or remove that one"
            )

    def _cell(self, identity: str) -> Path:
        return self.path / CELLS / f"{identity}.parquet"

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
