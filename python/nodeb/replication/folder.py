"""A folder in which cells are kept: claimed, locked, and gone on with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

from nodeb.errors import writing
from nodeb.storage.files import aside, remove, remove_leftovers, write_bytes
from nodeb.storage.folders import Owner, Place, claim
from nodeb.storage.store import CELLS, Store

__all__ = ["CellFolder"]

MADE_FROM = "made_from"
"""In the mark: what optional results were made of, by name."""


class CellFolder:
    """Where cells and what is made of them are kept, claimed for it.

    Args:
        path: the folder.
        owner: whose it is.
        about: what else its mark tells.
        source: name and text of a file that says what is simulated.
        results: names of the files and folders that are made of the cells when all are there.
        force: replace what belongs to another.
        inputs: files that are read.
        beside: take a folder beside it where it belongs to another.

    Raises:
        OutputError: it belongs to another, or cannot be written; nothing is changed.
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
        """The folder, claimed."""
        self.path = path = self.place.shown
        self.replaced = self.place.replaces
        """What of another was replaced; None if nothing."""
        self._had: list[str] = []
        self._made_from: dict[str, str] = (self.place.before or {}).get(MADE_FROM, {})
        self.store = Store(path / CELLS)
        """The cells."""
        try:
            self._begin()
        except BaseException:
            self.place.__exit__(None, None, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.place.__exit__(None, None, None)

    def _begin(self) -> None:
        if self.replaced is not None:
            self.place.start_over()
            self._made_from = {}
        self._had = [name for name in self._results if (self.path / name).exists()]
        self.place.refuse_unlisted(self._had)
        with self._writing():
            remove_leftovers(self.path)
            stays = self._is_source() and (self.place.before or {}).get("complete", False)
            if not self._is_source():  # the results are those of another file
                self._remove_results()
                write_bytes(self.path / self._source[0], self._source[1].encode())
        self.store.open()
        if not stays:  # until new results are there, the old ones and their mark are
            self._mark(complete=False)

    @property
    def dropped(self) -> list[str]:
        """Results that were there, did not fit any more, and were not made again."""
        return [name for name in self._had if not (self.path / name).exists()]

    def finish(
        self,
        results: Mapping[str, bytes],
        folders: Mapping[str, Callable[[Path], None]] = {},
        origins: Mapping[str, str] = {},
    ) -> None:
        """Writes the results, after which the folder is complete.

        Args:
            results: content of each file.
            folders: writes the content of each folder into the one that it is given.
            origins: what a folder is made of, by its name; one that was made of the same stays
                where it is not written again.

        Raises:
            OutputError: a file cannot be written; the cells stay.
        """
        stay = {
            name
            for name, origin in origins.items()
            if name not in folders and self._made_from.get(name) == origin
        }
        with self._writing():
            self._remove_results(stay)  # before the mark, under which old ones would pass for new
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
        there = {name: origins[name] for name in origins if (self.path / name).exists()}
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
