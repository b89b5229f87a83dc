"""A folder of cells, and of results made of them when all are complete."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from nodeb.errors import writing
from nodeb.storage.cells import CELLS, Store
from nodeb.storage.files import write_bytes
from nodeb.storage.folders import Owner, claim


class CellFolder:
    """Claims a folder that a command continues: same bytes after any interruption.

    Args:
        path: the folder.
        owner: what makes the results.
        about: more content of `provenance.json`.
        results: names of the files and folders that `finish` writes.
        source: name and text of a file that describes the simulation; other text outdates results.
        keeps: names of more files and folders from which the next command continues.
        force: replace results of another owner.
        beside: use a folder next to `path` if that has results of another owner.
    """

    def __init__(
        self,
        path: Path,
        owner: Owner,
        about: Mapping[str, Any],
        results: Iterable[str],
        source: tuple[str, str] | None = None,
        *,
        keeps: Iterable[str] = (),
        force: bool = False,
        beside: bool = False,
    ) -> None:
        self._about, self._results = about, tuple(results)
        self.place = claim(path, owner, force=force, resumes=True, beside=beside)
        self.path = self.place.shown
        self.replaced = self.place.replaces
        self.store = Store(self.path)
        self._stays = [CELLS, *keeps, *([] if source is None else [source[0]])]
        try:
            self.place.refuse_unlisted(self.place.before, [*self._results, *self._stays])
            with writing(f"write results to {self.path}"):
                self._begin(source)
            self.store.open()
        except BaseException:
            self.place.close()
            raise

    def _begin(self, source: tuple[str, str] | None) -> None:
        self._had = self._there()
        before = self.place.before or {}
        self._made_from = before.get("made_from", {})
        if source is None:
            self._mark(self._had, complete=False)
            return
        file, text = self.path / source[0], source[1]
        same = file.exists() and file.read_text() == text
        if not (same and before.get("complete")):
            self._mark(self._had, complete=False)
        if not same:
            self._remove(self._results)
            write_bytes(file, text.encode())

    def start(self) -> None:
        """Removes earlier results, but no cells; the caller may write results from here on."""
        self._mark(self._results, complete=False)
        self._remove(self._results)

    @property
    def dropped(self) -> list[str]:
        """Earlier results that were outdated and not written again."""
        return [name for name in self._had if name not in self._there()]

    def finish(
        self,
        results: Mapping[str, bytes] = {},
        folders: Mapping[str, Callable[[Path], None]] = {},
        origins: Mapping[str, str] = {},
    ) -> None:
        """Writes files and folders, and that the results are complete.

        An optional folder with the same origin as before stays if it is not written again.
        """
        with writing(f"write results to {self.path}"):
            self._mark({*self._there(), *results, *folders}, complete=False)
            stay = {n for n, one in origins.items() if self._made_from.get(n) == one}
            if results:
                self._remove(name for name in self._results if name not in stay or name in folders)
            for name, write in folders.items():
                (self.path / name).mkdir()
                write(self.path / name)
            for name, content in results.items():
                write_bytes(self.path / name, content)
            there = {name: one for name, one in origins.items() if (self.path / name).exists()}
            self._mark(self._there(), complete=True, **({"made_from": there} if there else {}))

    def _there(self) -> list[str]:
        return [name for name in self._results if (self.path / name).exists()]

    def _mark(self, names: Iterable[str], *, complete: bool, **about: Any) -> None:
        self.place.mark([*names, *self._stays], {**self._about, **about}, complete=complete)

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            if (self.path / name).is_dir():
                shutil.rmtree(self.path / name)
            else:
                (self.path / name).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.store.close()
        self.place.close()
