"""`nodeb play`: opens the playground in a browser."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from nodeb import play as playground
from nodeb.base.command_line import command_line
from nodeb.base.streams import printable
from nodeb.cli.options import Settings
from nodeb.errors import InputError, writing
from nodeb.storage.files import check_place, refuse_other_page, write_bytes

__all__ = ["play"]


def play(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Scenario (TOML); default: a first example."),
    ] = None,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PAGE", help="Write the page that opens the playground there."),
    ] = None,
    is_opened: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Open a page that simulates a scenario in the browser; it needs no network."""
    if file is None and settings:
        raise InputError("--set changes a scenario; expected FILE, too")
    if out is not None:
        check_place(out, "--out")
        refuse_other_page(out, "--out")
    text = None if file is None else _text(file, settings or [])
    place = _written(playground.opener(text), out)
    shown = printable(place.resolve().as_uri())
    if is_opened and webbrowser.open(place.resolve().as_uri()):
        print(f"opened {shown}")
    else:
        print(f"open this page in a browser: {shown}")


def _written(content: str, out: Path | None) -> Path:
    """Writes a page to `out` and returns the path; writes a new temporary file if `out` is None.

    Raises:
        FullError: there is no space.
        OutputError: the file cannot be written.
    """
    with writing("write a temporary file" if out is None else f"write {printable(out)}"):
        if out is not None:
            write_bytes(out, content.encode())
            return out
        descriptor, name = tempfile.mkstemp(prefix="nodeb-play-", suffix=".html")
        with open(descriptor, "wb") as file:
            file.write(content.encode())
    return Path(name)


def _text(file: Path, settings: list[str]) -> str:
    """Returns the text of a valid scenario that the page can simulate.

    Without settings it is the text of the file. With settings it is the changed scenario with the
    defaults of all keys, without the comments of the file.

    Raises:
        InputError: the scenario is invalid, or names further files, which a page cannot read.
    """
    from nodeb import _core
    from nodeb.inputs.reading import core_call, read_text

    text, name = read_text(file), printable(str(file))
    found = core_call(_core.CompiledScenario.from_toml, text, name, settings)
    if found.unread:
        raise InputError(
            f"{name} names files, which a page cannot read; expected a scenario without files, "
            f"or `{command_line('run', file)}`"
        )
    return core_call(found.to_toml) if settings else text
