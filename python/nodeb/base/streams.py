"""The standard streams of the command line, made fit for what is printed.

A stream may be closed, know only ASCII, or lead to a full disk. None of that is a mistake of
nodeb's, and none of it spoils results that were saved.
"""

from __future__ import annotations

import codecs
import os
import sys

__all__ = ["finish", "prepare", "printable", "printable_lines"]


BYTES = 0xDC00
"""Python has bytes of file names that are no UTF-8 as characters from here on (PEP 383)."""
ESCAPES = "nodeb.escapes"


def prepare() -> None:
    """Opens streams that are closed, so that what is printed goes nowhere and not into a file.

    Characters that a stream does not know are written as escapes.
    """
    codecs.register_error(ESCAPES, _as_escapes)
    for handle in range(3):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest that is free: this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ESCAPES)


def finish() -> OSError | None:
    """Writes out what stdout still holds; returns why that cannot be done, if it cannot.

    What is left then goes nowhere, so that the end of the process does not complain again.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        return error
    return None


def printable(text: object) -> str:
    """Text with escapes for what a terminal would obey or hide: names of users hold anything.

    Bytes of file names that are no UTF-8 are escaped too, so that the text can be encoded.
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else _escaped(c) for c in shown)


def printable_lines(text: object) -> str:
    """Several lines, each `printable`."""
    return "\n".join(map(printable, str(text).split("\n")))


def _escaped(character: str) -> str:
    byte = ord(character) - BYTES
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else ascii(character)[1:-1]


def _as_escapes(error: UnicodeError) -> tuple[str, int]:
    """What is written for characters that a stream does not know."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escaped, error.object[error.start : error.end])), error.end
