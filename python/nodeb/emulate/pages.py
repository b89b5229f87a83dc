"""Where the page of an emulation goes."""

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
    """Where a page goes, complained about before packets spend time on it.

    Args:
        report: what was asked for; a bare name lies in the folder of results, if there is one.
        out: the folder of results.
        force: whether a page of nodeb's that is there may be replaced.

    Raises:
        InputError: it is not called as a page is.
        OutputError: there is no folder for it, or something is there already.
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
        raise OutputError(
            f"{report} is there already; give another --report, or replace it with --force"
        )
    return report


def write(place: Path, text: str, *, force: bool = False) -> Path:
    """Writes a page, and lists it in the folder of results that it lies in.

    Args:
        place: the file.
        text: the page.
        force: replace what is there; else the page goes beside what has come there since `checked`.

    Returns:
        Where it is.

    Raises:
        OutputError: it cannot be written.
    """
    free = place if force else _free(place)
    with writing(f"write {free}"):
        write_bytes(free, text.encode())
    folders.note(free)
    return free


def _free(place: Path) -> Path:
    """The first of `name.html`, `name-2.html`, ... that is not there."""
    names = (place.with_stem(f"{place.stem}-{number}") for number in count(2))
    return next(one for one in chain([place], names) if not os.path.lexists(one))
