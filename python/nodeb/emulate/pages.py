"""Where the page of an emulation goes."""

from __future__ import annotations

from pathlib import Path

from nodeb.errors import InputError, OutputError, writing
from nodeb.storage import folders
from nodeb.storage.files import write_bytes

__all__ = ["checked", "write"]

SUFFIXES = (".html", ".htm")


def checked(report: Path | None, out: Path | None) -> Path | None:
    """Where a page goes, complained about before packets spend time on it.

    Args:
        report: what was asked for; a bare name lies in the folder of results, if there is one.
        out: the folder of results.

    Raises:
        InputError: it is not called as a page is.
        OutputError: there is no folder for it, or it is a folder itself.
    """
    if report is None:
        return None
    if report.suffix.lower() not in SUFFIXES:
        raise InputError(f"--report {report}: expected the name of a page, such as report.html")
    if out is not None and report.name == str(report):
        return out / report
    if out is not None and report.parent.resolve() == out.resolve():
        return report
    if report.is_dir():
        raise OutputError(f"cannot write {report}: it is a folder")
    if not report.parent.is_dir():
        raise OutputError(f"cannot write {report}: there is no folder {report.parent}")
    return report


def write(place: Path, text: str) -> None:
    """Writes a page, and lists it in the folder of results that it lies in.

    Raises:
        OutputError: it cannot be written.
    """
    with writing(f"write {place}"):
        write_bytes(place, text.encode())
    folders.note(place)
