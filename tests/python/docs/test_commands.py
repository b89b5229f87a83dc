"""Tests: the command line accepts every `nodeb` command on every page."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from nodeb.cli import _app

UsageError = typer.BadParameter.__base__
ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# The page is generated from the commands, so it need not be checked.
PAGES.remove(ROOT / "docs" / "commands.md")
FENCE = re.compile(r"^ *```(?:sh|bash|console|shell)?\n(.*?)^ *```$", re.M | re.S)
INLINE = re.compile(r"`(nodeb [^`]+)`")


def command_lines():
    """Yields the command lines on all pages, with true for those in code blocks.

    Command lines in sentences may lack arguments, so they have false.
    """
    for page in PAGES:
        text, name = page.read_text("utf-8"), page.relative_to(ROOT)
        for block in FENCE.findall(text):
            for line in re.sub(r"\\\n\s*", " ", block).splitlines():
                if found := re.match(r"\s*(?:\$ )?(?:sudo )?(nodeb .+)", line):
                    yield pytest.param(found[1], True, id=f"{name}: {found[1]}")
        for line in dict.fromkeys(INLINE.findall(FENCE.sub("", text))):
            if not line.startswith("nodeb COMMAND"):
                yield pytest.param(line, False, id=f"{name}: `{line}`")


def parse(arguments):
    """Parses arguments like the command line, without running the command."""
    command = get_command(_app(arguments))
    context = typer.Context(command, info_name="nodeb")
    name, rest = "nodeb", list(arguments)
    while hasattr(command, "resolve_command") and rest:
        name, command, rest = command.resolve_command(context, rest)
    command.make_context(name, rest, parent=context)


@pytest.mark.parametrize(("line", "whole"), list(command_lines()))
def test_command_lines_of_the_pages_are_valid(line, whole):
    try:
        parse(shlex.split(line, comments=True)[1:])
    except UsageError as error:
        if whole or not _is_short(error):
            raise
    except typer.Exit:  # Parsing ends with `Exit` if the command line prints the help.
        assert "--help" in line


def _is_short(error):
    """Returns true if the error is about missing arguments. Arguments may be missing in a sentence
    that only names a command.
    """
    missing = type(error).__name__ in ("MissingParameter", "NoArgsIsHelpError")
    return missing or "requires an argument" in error.message


def test_invalid_command_line_is_detected():
    for line in ("import a.csv --kind cqi", "runn a.toml", "link curve a --no", "list keys a b"):
        with pytest.raises(UsageError):
            parse(shlex.split(line))


def test_command_lines_are_extracted():
    found = [param.values for param in command_lines()]
    assert sum(whole for _, whole in found) > 60
    assert len(found) > 150
