"""`nodeb list` and `nodeb schema`: print components, keys and metrics, or the JSON Schema."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from nodeb import _core
from nodeb.cli.options import check_name
from nodeb.errors import InputError, writing
from nodeb.results import metrics
from nodeb.storage import files
from nodeb.sweep.schema import file_schema

__all__ = ["list_", "schema"]

METRICS, KEYS = "metrics", "keys"


def list_(
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help="Only this kind.")] = None,
    section: Annotated[
        str | None,
        typer.Argument(
            metavar="[SECTION]", help="After `keys`: only this section, such as radio.dch."
        ),
    ] = None,
) -> None:
    """List the components of scenarios, their keys (`list keys radio.dch`), or the metrics."""
    if kind == KEYS:
        print(_keys(section))
        return
    if section is not None:
        raise InputError(f"unexpected argument {section}; only `nodeb list keys` takes a section")
    entries = _core.registry()
    if kind == METRICS:
        print(_metrics())
        return
    if kind is not None:
        check_name("kind", kind, [*dict.fromkeys(entry[0] for entry in entries), METRICS, KEYS])
        entries = [entry for entry in entries if entry[0] == kind]
    print(_table(["kind", "name", "meaning"], [list(entry) for entry in entries]))


def _keys(section: str | None) -> str:
    """Returns the keys of a section; without a section, the top-level keys and the sections."""
    from nodeb.inputs.keys import Keys

    keys = Keys(json.loads(_core.schema()))
    found = keys.rows(section or "")
    text = _table(["key", "type", "default", "unit", "meaning"], found, "type")
    if section is not None:
        return text
    return "\n".join([text, "", "Sections, for `nodeb list keys SECTION`:", "", *keys.paths()])


def _key(path: str) -> str:
    """Returns type, unit, default and meaning of one key as text.

    If the key has subkeys, the text ends with the command that lists these.
    """
    from nodeb.inputs.keys import Keys, listing

    keys = Keys(json.loads(_core.schema()))
    _, kind, default, unit, meaning = keys.row(path)
    facts = {"type": kind, "unit": unit, "default": default or "none", "meaning": meaning}
    lines = [path, *(f"  {name:<8} {text}" for name, text in facts.items() if text)]
    # `rows` raises the error if the key has no subkeys. Then there is nothing to list.
    with contextlib.suppress(InputError):
        keys.rows(path)
        lines.append(f"  {listing(path)}")
    return "\n".join(lines)


def _metrics() -> str:
    """Returns a table of all metrics as text: name, label, unit, better direction and meaning."""
    rows = [
        [
            one.name,
            one.label,
            "%" if one.percent else one.unit or "count",
            one.better or "-",
            one.meaning,
        ]
        for one in metrics.METRICS.values()
    ]
    return _table(["metric", "label", "unit", "better", "meaning"], rows)


def _table(heads: list[str], rows: list[list[str]], *wrapped: str) -> str:
    """Returns a table as text that fits the terminal's width, or 120 characters if it is narrower.

    To fit, only cells of the last column and of the columns named in `wrapped` are wrapped.
    """
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="")
    for head in heads:
        table.add_column(head, no_wrap=head not in (heads[-1], *wrapped))
    for row in rows:
        table.add_row(*row)
    console = Console(width=max(120, Console().width), color_system=None)
    with console.capture() as shown:
        console.print(table, highlight=False, markup=False)
    return "\n".join(line.rstrip() for line in shown.get().splitlines())


def schema(
    key: Annotated[
        str | None, typer.Argument(help="Describe only this key, such as radio.dch.bler, as text.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the schema to this file, not to stdout."),
    ] = None,
) -> None:
    """Print the JSON Schema of a scenario file, for editors, or describe one key."""
    if key is not None:
        if out is not None:
            raise InputError("--out is for the whole schema and cannot be combined with a key")
        print(_key(key))
        return
    text = file_schema().rstrip() + "\n"
    if out is None:
        sys.stdout.write(text)
        return
    files.refuse_other(out, b"{", "a JSON Schema", "--out")
    with writing(f"write the schema to {out}"):
        out.parent.mkdir(parents=True, exist_ok=True)
        files.write_bytes(out, text.encode())
    print(out)
