"""Text for terminals and shells."""

from __future__ import annotations

import os
import shlex

shell_word = shlex.quote


def printable(text: object) -> str:
    """Escapes control characters and line feeds, which would change what a terminal shows."""
    shown = str(text)
    return (
        shown
        if shown.isprintable()
        else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
    )


def printable_lines(text: object) -> str:
    return "\n".join(map(printable, str(text).split("\n")))


def shell_path(path: str | os.PathLike[str]) -> str:
    """Quotes a path; `./` before a leading `-`, which begins an option."""
    name = os.fspath(path)
    return shell_word(f"./{name}" if name.startswith("-") else name)
