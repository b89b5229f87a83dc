"""`nodeb list` and `nodeb schema`: print components, keys and metrics, or the JSON Schema."""

from __future__ import annotations

import contextlib
import json
import sys
from argparse import Namespace
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap

from nodeb import _core
from nodeb.cli import options as of
from nodeb.errors import InputError
from nodeb.inputs import cells
from nodeb.storage import files

METRICS, KEYS, CELLS = "metrics", "keys", "cells"
WIDTH = 120
"""Minimum width of tables, characters."""


@of.command(
    of.place("kind", "KIND", "Only this kind.", str, nargs="?"),
    of.place(
        "section", "SECTION", "After `keys`: only this section, such as radio.dch.", str, nargs="?"
    ),
)
def list_(given: Namespace) -> None:
    if given.kind == KEYS:
        print(_keys(given.section))
        return
    if given.section is not None:
        raise InputError(
            f"unexpected argument {given.section}; only `nodeb list keys` takes a section"
        )
    if given.kind == METRICS:
        print(_metrics())
        return
    if given.kind == CELLS:
        print(_table(["cell", "question"], [[name, cells.title(name)] for name in cells.names()]))
        return
    entries = _core.registry()
    if given.kind is not None:
        kinds = [*dict.fromkeys(entry[0] for entry in entries), METRICS, KEYS, CELLS]
        of.check_name("kind", given.kind, kinds)
        entries = [entry for entry in entries if entry[0] == given.kind]
    print(_table(["kind", "name", "meaning"], [list(entry) for entry in entries]))


def _keys(section: str | None) -> str:
    """The keys of a section; without a section, the top-level keys and the sections."""
    from nodeb.inputs.keys import Keys

    keys = Keys(json.loads(_core.schema()))
    text = _table(["key", "type", "default", "unit", "meaning"], keys.rows(section or ""))
    if section is not None:
        return text
    return "\n".join([text, "", "Sections, for `nodeb list keys SECTION`:", "", *keys.paths()])


def _key(path: str) -> str:
    """Type, unit, default and meaning of a key, and the command that lists its subkeys."""
    from nodeb.inputs.keys import Keys, listing

    keys = Keys(json.loads(_core.schema()))
    _, kind, default, unit, meaning = keys.row(path)
    facts = {"type": kind, "unit": unit, "default": default or "none", "meaning": meaning}
    lines = [path, *(f"  {name:<8} {text}" for name, text in facts.items() if text)]
    with contextlib.suppress(InputError):  # It has no subkeys.
        keys.rows(path)
        lines.append(f"  {listing(path)}")
    return "\n".join(lines)


def _metrics() -> str:
    from nodeb.results import metrics

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


def _table(heads: list[str], rows: list[list[str]]) -> str:
    """Aligned columns in the terminal's width; types and the last column are wrapped."""
    width = max(WIDTH, get_terminal_size((WIDTH, 24)).columns)
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    if "type" in heads:
        widths[1] = min(widths[1], 30)
    widths[-1] = max(width - sum(widths[:-1]) - 2 * (len(heads) - 1), 20)
    lines = []
    for row in [heads, *rows]:
        cells = [wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=True)]
        for number in range(max(map(len, cells))):
            parts = [cell[number] if number < len(cell) else "" for cell in cells]
            line = "  ".join(part.ljust(size) for part, size in zip(parts, widths, strict=True))
            lines.append(line.rstrip())
    return "\n".join(lines)


@of.command(of.place("name", "NAME", "Ready cell; `nodeb list cells` lists all.", str))
def new(given: Namespace) -> None:
    sys.stdout.write(cells.text(given.name))


@of.command(
    of.place("key", "KEY", "Describe only this key, such as radio.dch.bler, as text.", str,
             nargs="?"),
    of.option("--out", "FILE", "Write the schema to this file, not to stdout.", Path),
)  # fmt: skip
def schema(given: Namespace) -> None:
    if given.key is not None:
        if given.out is not None:
            raise InputError("--out is for the whole schema and cannot be combined with a key")
        print(_key(given.key))
        return
    from nodeb.sweep.axes import file_schema

    text = file_schema().rstrip() + "\n"
    if given.out is None:
        sys.stdout.write(text)
        return
    files.refuse_other(given.out, b"{", "a JSON Schema", "--out")
    files.write(given.out, text)
    print(given.out)
