"""`nodeb list` and `nodeb schema`: print components, keys and metrics, or the JSON Schema."""

from __future__ import annotations

import contextlib
import json
import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill

from nodeb import _core
from nodeb.answer.terminal import WIDTH
from nodeb.cli import options as of
from nodeb.errors import InputError
from nodeb.inputs import cells
from nodeb.inputs.keys import NEEDED
from nodeb.storage import files

METRICS, KEYS, CELLS = "metrics", "keys", "cells"
NAME = 24
"""Width of the column of names, characters; a longer name moves what follows it."""
INDENT = " " * 4


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
    entries, known = _core.registry(), kinds()
    kind = given.kind if given.kind in known else (given.kind or "").removesuffix("s")
    if kind == METRICS:
        print(_metrics())
    elif kind == CELLS:
        print(_lines((name, cells.title(name)) for name in cells.names()))
    elif kind in known:
        print(_lines((name, meaning) for of_kind, name, meaning in entries if of_kind == kind))
    elif given.kind is None:
        parts = (
            f"{kind}:\n{_lines((name, text) for of_kind, name, text in entries if of_kind == kind)}"
            for kind in known[:-3]
        )
        print("\n\n".join([*parts, f"More lists: {', '.join(known[-3:])}"]))
    else:
        _check_section(given.kind)
        of.check_name("kind", given.kind, known)


def kinds() -> list[str]:
    return [*dict.fromkeys(entry[0] for entry in _core.registry()), METRICS, KEYS, CELLS]


def _check_section(name: str) -> None:
    """Names the section of the scenario with the name that was given as a kind."""
    from nodeb.inputs.keys import Keys, listing

    for path in Keys(json.loads(_core.schema())).paths():
        if path.rpartition(".")[2] == name:
            raise InputError(f"`{name}` is a section of the scenario; {listing(path)}")


def _keys(section: str | None) -> str:
    """The keys of a section; without a section, the top-level keys and the sections."""
    from nodeb.inputs.keys import Keys

    keys = Keys(json.loads(_core.schema()))
    text = _entries(
        (key, _typed(kind, default), meaning)
        for key, kind, default, _, meaning in keys.rows(section or "")
    )
    if section is not None:
        return text
    return "\n".join([text, "", "Sections, for `nodeb list keys SECTION`:", "", *keys.paths()])


def _typed(kind: str, default: str) -> str:
    return f"{kind}; {default if default == NEEDED else f'default {default}'}" if default else kind


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

    return _entries(
        (one.name, f"{one.label} ({'%' if one.percent else one.unit or 'count'})", one.meaning)
        for one in metrics.METRICS.values()
    )


def _entries(entries: Iterable[tuple[str, str, str]]) -> str:
    """A name and facts on one line, and the meaning indented below."""
    lines = []
    for name, facts, meaning in entries:
        lines.append(_filled(f"{name:<{NAME}}  {facts}", " " * (NAME + 2)))
        lines.append(_filled(f"{INDENT}{meaning}", INDENT))
    return "\n".join(filter(None, lines))


def _lines(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(_filled(f"{name:<{NAME}}  {text}", " " * (NAME + 2)) for name, text in rows)


def _filled(text: str, indent: str) -> str:
    width = max(2 * len(indent), get_terminal_size((WIDTH, 24)).columns)
    return fill(text, width, subsequent_indent=indent, break_on_hyphens=False).rstrip()


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
