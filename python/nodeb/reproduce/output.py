"""Writes files so that an interrupted run leaves the old or the new one, never half of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

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


def claim(
    folder: Path,
    study: str,
    about: Mapping[str, Any],
    stages: Iterable[Stage] = (),
    *,
    force: bool = False,
) -> Place:
    """Make a folder that of a study, without results of an earlier run of it.

    These may be of other items. What they were made from stays.

    Args:
        folder: made if need be.
        study: the study.
        about: what the folder's mark tells.
        stages: those of the study, which write files of their own.
        force: replace what belongs to another study or command.

    Raises:
        OutputError: it belongs to another, or cannot be written.
    """
    results, parts = [*RESULTS], [*PARTS]
    for one in stages:
        results += one.leaves
        parts += one.keeps
    place = folders.claim(folder, Owner("reproduction", study), force=force, resumes=True)
    try:
        _clear(place, results)
        place.mark((*results, *parts), about, complete=False)
    except BaseException:
        place.__exit__(None, None, None)
        raise
    return place


def _clear(place: Place, results: Iterable[str]) -> None:
    """Take away results, and all that is another's."""
    if place.replaces is not None:
        place.start_over()
    with writing(f"write to {place.shown}"):
        files.remove_leftovers(place.path)
        for name in results:
            files.remove(place.path / name)
