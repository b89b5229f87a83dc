"""Command-line reference in Markdown, generated from the commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command

from nodeb.cli import _app


def reference() -> str:
    """Returns the reference in Markdown.

    Each command has a section with description, usage, arguments and options.
    """
    return "\n\n".join(section(*one) for one in commands("nodeb", get_command(_app([]))))


def commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yields the full name of each command in a group and the command itself, recursively."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, one in command.commands.items():
        yield from commands(f"{path} {name}", one)


def section(path: str, command: Any) -> str:
    """Returns the section of one command in Markdown."""
    context = typer.Context(command, info_name=path)
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    usage = re.sub("[{}]", "", " ".join([path, *command.collect_usage_pieces(context)]))
    lines = [f"## {path} {{#{path.removeprefix('nodeb ').replace(' ', '-')}}}", ""]
    lines += [text(command.help or ""), "", f"```text\n{usage}\n```", ""]
    lines += ["| argument or option | meaning |", "| --- | --- |"]
    for name, meaning in filter(None, records):
        lines.append(f"| `{cell(name)}` | {cell(text(meaning))} |")
    return "\n".join(lines)


def text(found: str) -> str:
    parts = re.split(r"\n\s*\n", inspect.cleandoc(found))
    return "\n\n".join(" ".join(part.split()) for part in parts)


def cell(found: str) -> str:
    """Returns a text as a table cell: blank lines become spaces, and bars are escaped."""
    return found.replace("\n\n", " ").replace("|", "\\|")
