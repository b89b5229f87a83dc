"""Results folder of a study. A run that is killed does not damage complete results."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from nodeb.base.signals import undisturbed
from nodeb.errors import writing
from nodeb.storage import files, folders
from nodeb.storage.folders import Owner, Place
from nodeb.study.stage import Stage

RESULTS = (
    "cells.csv",
    "claims.csv",
    "predictions.csv",
    "facts.csv",
    "report.html",
    "figures",
    "digest.json",
)
PARTS = ("cells",)
"""Folders that stay when results are replaced: `cells` has the replications of earlier runs."""


@dataclass
class Output:
    """A claimed results folder of a study. Leaving the `with` block releases it.

    Attributes:
        place: claimed folder.
        path: folder that results are written to: the claimed folder, or a temporary folder while
            the claimed folder has complete results.
        results: names of all files and folders of results.
        keeps: names of files of stages (parts of a study besides tables and figures) from which the
            next run continues.
        about: content of the mark, the file that identifies the folder's owner.
    """

    place: Place
    path: Path
    results: list[str]
    keeps: list[str]
    about: Mapping[str, Any]

    @property
    def replaces_whole(self) -> bool:
        """True if the folder has complete results, which only other complete results replace."""
        return self.path != self.place.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        if self.replaces_whole:
            with undisturbed():
                files.remove(self.path)
        self.place.__exit__(*error)

    def keep(self) -> None:
        """Keeps the files of stages for the next run, even if this run fails.

        Raises:
            OutputError: the files cannot be written.
        """
        if self.replaces_whole:
            with writing(f"write to {self.place.shown}"):
                _copy(self.keeps, self.path, self.place.path)

    def finish(self) -> None:
        """Moves complete results into the folder and marks it as complete.

        Raises:
            OutputError: the results cannot be written.
        """
        with writing(f"write to {self.place.shown}"), undisturbed():
            if self.replaces_whole:
                self._mark(complete=False)
                for name in self.results:
                    _put(self.path / name, self.place.path / name)
            self._mark(complete=True)

    def begin(self) -> None:
        """Prepares the folder for results: removes incomplete ones, or creates a temporary folder.

        Raises:
            OutputError: the folder cannot be written.
        """
        with writing(f"write to {self.place.shown}"):
            files.remove_leftovers(self.place.path)
            if self.replaces_whole:
                self.path.mkdir()
                _copy(self.keeps, self.place.path, self.path)
                return
            for name in self.results:
                files.remove(self.place.path / name)
        self._mark(complete=False)

    def _mark(self, *, complete: bool) -> None:
        names = (*self.results, *PARTS, *self.keeps)
        self.place.mark(names, self.about, complete=complete)


def claim(
    folder: Path,
    study: str,
    about: Mapping[str, Any],
    stages: Iterable[Stage] = (),
    *,
    force: bool = False,
) -> Output:
    """Claims a folder for a study.

    Complete results of an earlier run, possibly of other items, are kept until new complete results
    replace them; incomplete ones are removed. Replications are kept, unless `force` replaces
    another owner's folder.

    Args:
        folder: results folder; created if necessary.
        study: name or file of the study.
        about: content of the mark, the file that identifies the folder's owner.
        stages: stages of the study, which write their own files.
        force: replace results of another study or command.

    Raises:
        OutputError: the folder belongs to another owner, or cannot be written.
    """
    stages = tuple(stages)
    results = [*RESULTS, *(name for one in stages for name in one.leaves)]
    keeps = [name for one in stages for name in one.keeps]
    place = folders.claim(folder, Owner("reproduction", study), force=force, resumes=True)
    try:
        if place.replaces is not None:
            place.start_over()
        whole = place.replaces is None and (place.before or {}).get("complete", False)
        path = files.aside(place.path / "results") if whole else place.path
        output = Output(place, path, results, keeps, about)
        output.begin()
    except BaseException:
        place.__exit__(None, None, None)
        raise
    return output


def _copy(names: Iterable[str], here: Path, there: Path) -> None:
    """Copies those of the named files and folders that exist in `here` to `there`."""
    for name in names:
        part = files.aside(there / name)
        try:
            if (here / name).is_dir():
                shutil.copytree(here / name, part)
            elif (here / name).exists():
                shutil.copy2(here / name, part)
            else:
                continue
            _put(part, there / name)
        finally:
            files.remove(part)


def _put(new: Path, old: Path) -> None:
    """Moves `new` to the path `old`, or removes `old` if there is no `new`."""
    if not new.exists():
        files.remove(old)
    elif old.exists():
        files.swap(new, old)
    else:
        new.rename(old)
