"""`nodeb play`: opens the playground in a browser."""

from __future__ import annotations

import tempfile
import webbrowser
from argparse import Namespace
from pathlib import Path

from nodeb import play as playground
from nodeb.base.command_line import command_line
from nodeb.base.streams import printable
from nodeb.cli import options as of
from nodeb.errors import InputError, writing
from nodeb.storage import files


@of.command(
    of.place("file", "FILE", "Scenario (TOML); default: a first example.", nargs="?"),
    of.SET,
    of.option(
        "--out",
        "PAGE",
        "Write the playground with the scenario there, as one file to pass on.",
        Path,
    ),
    of.switch("--open", "Open the page in a browser.", default=True),
)
def play(given: Namespace) -> None:
    if given.file is None and given.set:
        raise InputError("--set changes a scenario; expected FILE, too")
    of.check_page(given.out, "--out")
    text = None if given.file is None else _text(given.file, given.set)
    address = _written(playground.document(text), given.out).resolve().as_uri()
    opened = given.open and webbrowser.open(address)
    print(f"{'opened' if opened else 'open this page in a browser:'} {printable(address)}")


def _written(content: str, out: Path | None) -> Path:
    """Writes a page to `out`, or to a new temporary file that only the user can read."""
    if out is not None:
        files.write(out, content)
        return out
    with writing("write a temporary file"):
        descriptor, name = tempfile.mkstemp(prefix="nodeb-play-", suffix=".html")
        with open(descriptor, "wb") as file:
            file.write(content.encode())
    return Path(name)


def _text(file: Path, settings: list[str]) -> str:
    """The text of a scenario, with the defaults of all keys if settings change it.

    Raises:
        InputError: the scenario is invalid, or names further files, which a page cannot read.
    """
    from nodeb import _core
    from nodeb.inputs.reading import core_call, read_text

    text, name = read_text(file), printable(str(file))
    scenario = core_call(_core.CompiledScenario.from_toml, text, name, settings)
    if scenario.unread:
        raise InputError(
            f"{name} names files, which a page cannot read; expected a scenario without files, "
            f"or `{command_line('run', file)}`"
        )
    return core_call(scenario.to_toml) if settings else text
