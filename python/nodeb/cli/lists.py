"""The commands `nodeb list` and `nodeb schema`: what a scenario may say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nodeb.cli.options import check_name
from nodeb.errors import OutputError, os_reason

__all__ = ["list_", "schema"]


def list_(
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help="Only this kind.")] = None,
) -> None:
    """List what a scenario can choose from: schedulers, radio accesses, traffic, ..."""
    from nodeb import _core
    from nodeb.terminal.text import align

    entries = _core.registry()
    if kind is not None:
        check_name("kind", kind, list(dict.fromkeys(entry[0] for entry in entries)))
        entries = [entry for entry in entries if entry[0] == kind]
    print(align(["kind", "name", "what it is"], [list(entry) for entry in entries]))


def schema(
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it here instead of to stdout.")
    ] = None,
) -> None:
    """Print the JSON Schema of a scenario file, for editors."""
    from nodeb.storage import files
    from nodeb.sweep.schema import file_schema

    text = file_schema().rstrip() + "\n"
    if out is None:
        sys.stdout.write(text)
        return
    files.refuse_other(out, b"{", "a JSON Schema", "--out")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        files.write_bytes(out, text.encode())
    except OSError as error:
        raise OutputError(f"cannot write the schema to {out}: {os_reason(error)}") from None
    print(out)
