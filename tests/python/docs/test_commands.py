"""Tests: the command line accepts every `nodeb` command on every page."""

import re
import shlex
from pathlib import Path

import pytest

from nodeb import cli
from nodeb.cli import COMMANDS, EXAMPLES, parser
from nodeb.errors import InputError

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# The page is generated from the commands, so it need not be checked.
PAGES.remove(ROOT / "docs" / "commands.md")
FENCE = re.compile(r"^ *```(?:sh|bash|console|shell)?\n(.*?)^ *```$", re.M | re.S)
INLINE = re.compile(r"(?:`|\{\{ )(nodeb [^`}]+?)(?:`| \}\})")


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


def read(arguments):
    """Reads arguments like the command line, without running the command or redirecting it."""
    arguments = arguments[: arguments.index(">")] if ">" in arguments else arguments
    name = " ".join(arguments[: 2 if arguments[0] == "link" else 1])
    if name in COMMANDS and name != "link":
        parser(name)[0].read(arguments[len(name.split()) :])
    else:
        cli._help(arguments)


@pytest.mark.parametrize(("line", "whole"), list(command_lines()))
def test_command_lines_of_the_pages_are_valid(line, whole):
    try:
        read(shlex.split(line, comments=True)[1:])
    except InputError as error:
        # In a sentence that only names a command, arguments may be missing.
        if whole or not re.match(
            "missing|the following arguments|argument --.*expected", str(error)
        ):
            raise


def test_invalid_command_line_is_detected():
    for line in ("import a.csv --kind cqi", "runn a.toml", "link curve a --no", "list keys a b"):
        with pytest.raises(InputError):
            read(shlex.split(line))


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "link"])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_fits_into_eighty_columns(monkeypatch, capsys, name, option):
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.invoke([*name.split(), option]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    for names, keywords in parser(name)[1].options:
        assert (names[0] if names[0].startswith("-") else keywords["metavar"]) in shown


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_of_each_command_is_valid_and_shown(name, capsys):
    example = EXAMPLES[name]
    assert example.startswith(f"nodeb {name} ")
    read(shlex.split(example)[1:])
    assert cli.invoke(["help", *name.split()]) == 0
    assert capsys.readouterr().out.endswith(f"{example}\n")


FIRST = [ROOT / "README.md", *(ROOT / f"docs/{name}.md" for name in ("index", "quickstart"))]


@pytest.mark.parametrize("page", FIRST, ids=lambda page: page.stem)
def test_consoles_of_the_first_pages_need_no_file_of_the_source(page, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S):
        for command in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, shown = command.partition("\n")
            status, out, _ = call(*shlex.split(line)[1:])
            assert status == 0
            printed = re.sub(r" +$", "", out, flags=re.M)
            assert printed.startswith(shown.removesuffix("[...]\n"))


def test_command_lines_are_extracted():
    found = [param.values for param in command_lines()]
    assert sum(whole for _, whole in found) > 60
    assert len(found) > 150
