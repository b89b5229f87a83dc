"""Text for terminals."""

from __future__ import annotations


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
