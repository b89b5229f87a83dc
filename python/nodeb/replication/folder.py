"""A folder of cells (stored replications): claimed, locked, and continued by later commands."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Self

from nodeb.errors import writing
from nodeb.storage.files import aside, remove, remove_leftovers, write_bytes
from nodeb.storage.folders import Owner, Place, claim
from nodeb.storage.store import CELLS, Store

__all__ = ["CellFolder"]

MADE_FROM = "made_from"
"""Key in the folder's mark (a file about its owner): sources of optional results, by name."""


class CellFolder:
    """Folder of cells and of the results computed from them, claimed for one command and its file.

    Leaving the `with` block of a new folder removes it if it contains no cells and no results.

    Args:
        path: path of the folder.
        owner: command and file that the folder belongs to.
        about: additional content of the mark, the file that identifies the folder's owner.
        source: name and text of the file that describes the simulation.
        results: names of the files and folders that are written when all cells are complete.
        force: replace results of another owner.
        inputs: input files of the command.
        beside: use a folder next to `path` if `path` belongs to another owner.

    Raises:
        OutputError: the folder belongs to another owner, in which case nothing is changed; or it
            cannot be written.
    """

    def __init__(
        self,
        path: Path,
        owner: Owner,
        about: Mapping[str, Any],
        source: tuple[str, str],
        results: Iterable[str],
        *,
        force: bool = False,
        inputs: Iterable[str | os.PathLike[str]] = (),
        beside: bool = False,
    ) -> None:
        self._about, self._source, self._results = about, source, tuple(results)
        self.place: Place = claim(
            path, owner, force=force, inputs=inputs, resumes=True, beside=beside
        )
        """The claimed folder."""
        self.path = path = self.place.shown
        self.replaced = self.place.replaces
        """Description of another owner's results that were replaced; None if there were none."""
        self._had: list[str] = []
        self._made_from: dict[str, str] = (self.place.before or {}).get(MADE_FROM, {})
        self.store = Store(path / CELLS)
        """The stored cells."""
        try:
            self._begin()
        except BaseException:
            self.place.__exit__(None, None, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.place.before is None and not any(map(self._has, self._results)):
            with suppress(OSError):
                # If there are cells, `rmdir` fails and the next line is skipped, so that the file
                # that describes the simulation stays with the cells.
                (self.path / CELLS).rmdir()
                (self.path / self._source[0]).unlink()
        self.place.__exit__(None, None, None)

    def _has(self, name: str) -> bool:
        return (self.path / name).exists()

    def _begin(self) -> None:
        if self.replaced is not None:
            self.place.start_over()
            self._made_from = {}
        self._had = [name for name in self._results if self._has(name)]
        self.place.refuse_unlisted(self._had)
        with self._writing():
            remove_leftovers(self.path)
            stays = self._is_source() and (self.place.before or {}).get("complete", False)
            # Results of a different version of the file are outdated, so they are removed.
            if not self._is_source():
                self._remove_results()
                write_bytes(self.path / self._source[0], self._source[1].encode())
        self.store.open()
        # Complete results of the same file stay valid until new results are written, so the folder
        # remains marked as complete.
        if not stays:
            self._mark(complete=False)

    @property
    def dropped(self) -> list[str]:
        """Names of earlier results that were removed as outdated and not written again."""
        return [name for name in self._had if not self._has(name)]

    def finish(
        self,
        results: Mapping[str, bytes],
        folders: Mapping[str, Callable[[Path], None]] = {},
        origins: Mapping[str, str] = {},
    ) -> None:
        """Writes the results and marks the folder as complete.

        Args:
            results: content of each file.
            folders: functions that write the content of each folder to a given path.
            origins: source of each optional folder, by its name; a folder with the same source as
                before is kept if it is not written again.

        Raises:
            OutputError: a file cannot be written; the cells are kept.
        """
        stay = {
            name
            for name, origin in origins.items()
            if name not in folders and self._made_from.get(name) == origin
        }
        with self._writing():
            # Old results are removed first, as they would count as new after an interruption.
            self._remove_results(stay)
            self._mark(complete=False)
            for name, write in folders.items():
                part = aside(self.path / name)
                try:
                    part.mkdir()
                    write(part)
                    part.rename(self.path / name)
                finally:
                    remove(part)
            for name, content in results.items():
                write_bytes(self.path / name, content)
        there = {name: origins[name] for name in origins if self._has(name)}
        self._about = {**self._about, MADE_FROM: there} if there else self._about
        self._mark(complete=True)

    def _remove_results(self, stay: Container[str] = ()) -> None:
        for name in self._results:
            if name in stay:
                continue
            result = self.path / name
            if result.is_dir():
                shutil.rmtree(result)
            else:
                result.unlink(missing_ok=True)

    def _mark(self, *, complete: bool) -> None:
        names = (self._source[0], *self._results, CELLS)
        self.place.mark(names, self._about, complete=complete)

    def _is_source(self) -> bool:
        name, text = self._source
        file = self.path / name
        return file.exists() and file.read_bytes() == text.encode()

    def _writing(self) -> AbstractContextManager[None]:
        return writing(f"write results to {self.path}")
