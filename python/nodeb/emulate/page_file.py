"""File of the HTML report of an emulation or a replay (`--report`)."""

from __future__ import annotations

import os
from itertools import chain, count
from pathlib import Path

from nodeb.errors import InputError, OutputError, writing
from nodeb.storage import folders
from nodeb.storage.files import check_place, refuse_other_page, write_bytes

__all__ = ["checked", "write"]

SUFFIXES = (".html", ".htm")


def checked(report: Path | None, out: Path | None, *, force: bool = False) -> Path | None:
    """Checks the path of a report and returns it, or None if no report is requested.

    It is called before the emulation, so that a wrong path costs no time. Of a path in the
    results folder only the suffix is checked.
    """
    if report is None:
        return None
    if report.suffix.lower() not in SUFFIXES:
        raise InputError(f"--report {report}: expected the name of a page, such as report.html")
    if out is not None and report.name == str(report):
        return out / report
    if out is not None and report.parent.resolve() == out.resolve():
        return report
    check_place(report, "--report")
    if force:
        refuse_other_page(report, "--report")
    elif os.path.lexists(report):
        raise OutputError(f"{report} exists; give another --report, or replace it with --force")
    return report


def write(place: Path, text: str, *, force: bool = False) -> Path:
    """Writes a page, and registers it in the results folder that contains it, if any."""
    free = place if force else _free(place)
    with writing(f"write {free}"):
        write_bytes(free, text.encode())
    folders.note(free)
    return free


def _free(place: Path) -> Path:
    """Returns the first of `name.html`, `name-2.html`, ... that does not exist."""
    names = (place.with_stem(f"{place.stem}-{number}") for number in count(2))
    return next(one for one in chain([place], names) if not os.path.lexists(one))
