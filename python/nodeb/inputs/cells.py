"""Ready cells: scenarios of the package, which files are named `cell:NAME` after.

The comment at the beginning of a cell is its title, an empty line and two sentences. A line `B: key
= value` there is a change that is worth comparing.
"""

from __future__ import annotations

from pathlib import Path

from nodeb.errors import InputError, nearest

FOLDER = Path(__file__).parents[1] / "cells"
PREFIX = "cell:"


def names() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def title(name: str) -> str:
    return text(name).partition("\n")[0].removeprefix("# ")


def text(name: str) -> str:
    """The TOML text of a cell.

    Raises:
        InputError: there is no such cell.
    """
    if name not in names():
        raise InputError(f"there is no cell `{name}`{nearest(name, names())}")
    return (FOLDER / f"{name}.toml").read_text("utf-8")


def cell_of(path: Path) -> str | None:
    """The cell that a path names, `lte-edge` of `cell:lte-edge`; None for a file."""
    name = str(path)
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) else None
