"""Where the results of a study are written, so that a killed run leaves whole ones as they were."""

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
"""What results are made from, which the next run goes on with."""


@dataclass
class Output:
    """The folder of a study, claimed. Leaving its block gives it back.

    Attributes:
        place: the folder.
        path: where results are written: in the folder, or aside while it holds whole ones.
        results: names of all that is a result.
        keeps: names of what stages write for the next run to go on with.
        about: what the folder's mark says.
    """

    place: Place
    path: Path
    results: list[str]
    keeps: list[str]
    about: Mapping[str, Any]

    @property
    def replaces_whole(self) -> bool:
        """Whether the folder holds whole results, which only whole ones replace."""
        return self.path != self.place.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        if self.replaces_whole:
            with undisturbed():
                files.remove(self.path)
        self.place.__exit__(*error)

    def keep(self) -> None:
        """Keeps what stages wrote for the next run, whatever becomes of this one.

        Raises:
            OutputError: it cannot be written.
        """
        if self.replaces_whole:
            with writing(f"write to {self.place.shown}"):
                _copy(self.keeps, self.path, self.place.path)

    def finish(self) -> None:
        """Puts whole results in place, after which the folder is complete.

        Raises:
            OutputError: they cannot be written.
        """
        with writing(f"write to {self.place.shown}"), undisturbed():
            if self.replaces_whole:
                self._mark(complete=False)
                for name in self.results:
                    _put(self.path / name, self.place.path / name)
            self._mark(complete=True)

    def begin(self) -> None:
        """Makes room for results.

        Raises:
            OutputError: it cannot be written.
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
    """Makes a folder that of a study.

    Whole results of an earlier run of it stay until there are new ones, others go. These may be of
    other items. What they were made from stays.

    Args:
        folder: made if need be.
        study: the study.
        about: what the folder's mark tells.
        stages: those of the study, which write files of their own.
        force: replace what belongs to another study or command.

    Raises:
        OutputError: it belongs to another, or cannot be written.
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
    """Copies files and folders, as far as they are there."""
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
    """Puts a file or folder in the place of another; one that is not there takes the other away."""
    if not new.exists():
        files.remove(old)
    elif old.exists():
        files.swap(new, old)
    else:
        new.rename(old)
