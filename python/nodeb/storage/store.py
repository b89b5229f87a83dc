"""Cells: tables kept in a folder, each under a name that says what it depends on.

A cell is a Parquet file with a checksum of all that it says, since a few wrong bits on a disk read
as other numbers. What is damaged counts as not there, and is told.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from nodeb.storage.files import read_parquet, remove_leftovers, write_parquet
from nodeb.table import Table

__all__ = ["Store"]

IDENTITY, SCENARIO, CHECKSUM = "nodeb.cell", "nodeb.inputs.scenario", "nodeb.checksum"


class Store:
    """The cells in a folder.

    Args:
        folder: made when a cell is saved.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged: list[Path] = []
        """Files that were found to be damaged."""

    def open(self) -> None:
        """Makes the folder, and removes what killed processes left unfinished there.

        Raises:
            OSError: it cannot be made.
        """
        self.folder.mkdir(exist_ok=True)
        remove_leftovers(self.folder)

    def identities(self) -> set[str]:
        """The cells that have a file."""
        return {file.stem for file in self.folder.glob("*.parquet")}

    def load(self, identity: str) -> Table | None:
        """A cell; None if it is not there, or damaged, which `damaged` then tells."""
        file = self._file(identity)
        try:
            table, about = read_parquet(file)
            intact = about.get(CHECKSUM) == _checksum(identity, about.get(SCENARIO, ""), table)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError):
            intact = False
        if intact:
            return table
        if file not in self.damaged:
            self.damaged.append(file)
        return None

    def save(self, identity: str, scenario: str, table: Table) -> None:
        """Keeps a cell.

        Args:
            identity: names it.
            scenario: what it comes from, for who opens the file.
            table: its content.

        Raises:
            OSError: the file cannot be written; what was there before stays.
        """
        checksum = _checksum(identity, scenario, table)
        about = {IDENTITY: identity, SCENARIO: scenario, CHECKSUM: checksum}
        write_parquet(self._file(identity), table, about)

    def _file(self, identity: str) -> Path:
        return self.folder / f"{identity}.parquet"


def _checksum(identity: str, scenario: str, table: Table) -> str:
    """A hash of everything that a cell says."""
    found = hashlib.sha256(f"{identity}\n{scenario}\n{len(table)}\n".encode())
    for name in table.columns:
        values = np.ascontiguousarray(table[name])
        if values.dtype.kind in "OUT":  # text
            values = np.frombuffer("\0".join(values.tolist()).encode(), dtype=np.uint8)
        found.update(f"{name} {values.dtype.str} {values.size}\n".encode())
        found.update(values.tobytes())
    return found.hexdigest()
