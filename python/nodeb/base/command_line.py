"""Command lines that answers and pages print, for readers who run them again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from types import MappingProxyType

Option = object
"""Value of an option: a text, number or path; True for a flag; a list or tuple to repeat it.

None, False and an empty list stand for an option that is not given.
"""


@dataclass(frozen=True)
class Arguments:
    """File on the command line of a command, with its options that change numbers."""

    file: Path
    """Scenario file or recording."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """Values by name of the option, with `_` in place of `-`."""

    def command(self, name: str, **changes: Option) -> str:
        """Returns a command line with the same file and options, except for changed options."""
        return command_line(name, self.file, options={**self.options, **changes})


def command_line(
    name: str,
    *places: str | os.PathLike[str],
    options: Mapping[str, Option] = MappingProxyType({}),
    program: Sequence[str] = (),
) -> str:
    """Composes a command line, in which a shell splits no word.

    Args:
        name: name of the command, such as `run` or `link curve`.
        places: arguments without an option: files, folders or names.
        options: values by name of the option, with `_` in place of `-`.
        program: words after `--`: a program and its arguments.
    """
    words = [word for option, value in options.items() for word in _words(option, value)]
    rest = ["--", *map(quote, program)] if program else []
    return " ".join(["nodeb", name, *map(shell_path, places), *words, *rest])


def shell_path(path: str | os.PathLike[str]) -> str:
    """Quotes a path; `./` before a leading `-`, which begins an option."""
    name = os.fspath(path)
    return quote(f"./{name}" if name.startswith("-") else name)


def _words(option: str, value: Option) -> Iterator[str]:
    if value is None or value is False:
        return
    name = f"--{option.replace('_', '-')}"
    if value is True:
        yield name
        return
    for one in value if isinstance(value, list | tuple) else [value]:
        # A word that begins with `-` would be read as an option of its own.
        text = quote(str(one))
        yield f"{name}={text}" if str(one).startswith("-") else f"{name} {text}"
