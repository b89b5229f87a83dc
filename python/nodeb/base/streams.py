"""Prepares the standard streams of the command line for any text.

A stream may be closed, support only ASCII, or write to a full disk. None of these is an error of
nodeb, and none may affect saved results.
"""

from __future__ import annotations

import codecs
import os
import shlex
import sys

__all__ = ["finish", "prepare", "printable", "printable_lines", "shell_path", "shell_word"]


BYTES = 0xDC00
"""Code point of the character that stands for an undecodable byte, minus the byte (PEP 383)."""
ESCAPES = "nodeb.escapes"


def prepare() -> None:
    """Opens closed standard streams on the null device, so that their output is discarded.

    Otherwise output would go to the next file opened, which takes the handle of the closed stream.
    From then on, characters that stdout or stderr cannot encode are written as escapes.
    """
    codecs.register_error(ESCAPES, _as_escapes)
    for handle in range(3):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # The lowest free handle is taken, which is `handle`.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ESCAPES)


def finish() -> OSError | None:
    """Flushes stdout. Returns the error if that fails, otherwise `None`.

    After an error the remaining output is discarded, so that Python does not report the same error
    again when the process ends.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        return error
    return None


def printable(text: object) -> str:
    """Returns a text with escapes in place of control and invisible characters, even line feeds.

    Undecodable bytes of file names are escaped too, so that the text can be encoded.
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else _escaped(c) for c in shown)


def printable_lines(text: object) -> str:
    """Returns several lines, each made printable by `printable`."""
    return "\n".join(map(printable, str(text).split("\n")))


def shell_word(text: object) -> str:
    """Quotes a text as a shell word, in bash's form `$'...'` if it has unprintable characters."""
    word = str(text)
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", r"\\").replace("'", r"\'")
    return f"$'{printable(escaped)}'"


def shell_path(path: str | os.PathLike[str]) -> str:
    """Quotes a path as a shell word; `./` is put before a leading `-`, which begins an option."""
    name = os.fspath(path)
    return shell_word(f"./{name}" if name.startswith("-") else name)


def _escaped(character: str) -> str:
    byte = ord(character) - BYTES
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else ascii(character)[1:-1]


def _as_escapes(error: UnicodeError) -> tuple[str, int]:
    """Returns escapes for characters that a stream cannot encode, and where to continue encoding.

    It is an error handler for `codecs`. An error other than an encoding error is raised again.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escaped, error.object[error.start : error.end])), error.end
