"""Functions that somebody else wrote, called so that a mistake in one says where it is."""

from __future__ import annotations

import inspect
import reprlib
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.errors import InputError, OutputError, RunError

__all__ = ["Mistake", "ask", "line_of", "mistake", "numbers", "reason"]

OURS = (OutputError, RunError, MemoryError, _core.Cancelled, _core.InternalError)
"""What is no mistake of the function that it passed through."""


class Mistake(InputError):
    """A mistake in a function that somebody wrote: its file and line, and what was expected."""


def ask(
    function: Callable[..., Any],
    what: str,
    expected: str,
    right: Callable[[Any], bool],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    """What a function returns, checked; of a generator the list of what it yields.

    Args:
        function: is called with the further arguments.
        what: what it is to its author, such as "metric `rate`".
        expected: what it should return.
        right: whether that is what it returned.
        arguments: of the function.
        named: those by name.

    Raises:
        Mistake: it raised something, even to leave the program, or returned something else.
    """
    file, first = _beginning(function)
    try:
        with np.errstate(all="ignore"):
            found = function(*arguments, **named)
            found = list(found) if inspect.isgenerator(found) else found
    except (Mistake, *OURS):
        raise
    except (Exception, SystemExit) as error:  # whatever somebody's function may raise
        end = "" if isinstance(error, InputError) else f"; expected {expected}"
        line = line_of(error, file) or first
        raise Mistake(f"{_place(file, line)}{what}: {reason(error)}{end}") from error
    if not right(found):
        told = f"a {type(found).__name__}, {reprlib.repr(found)}" if found is not None else "None"
        if shape := np.shape(found) if isinstance(found, np.ndarray) else ():
            told = f"an array of shape {shape}"
        raise Mistake(f"{_place(file, first)}{what} returned {told}; expected {expected}")
    return found


def mistake(function: Callable[..., Any], text: str) -> Mistake:
    """A mistake in what a function returned that shows later; it names the function's first line.

    Args:
        function: made it.
        text: what is wrong.
    """
    return Mistake(f"{_place(*_beginning(function))}{text}")


def _beginning(function: Callable[..., Any]) -> tuple[str, int]:
    """File and line where a function begins; neither of one that is not written in Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else ("", 0)


def _place(file: str, line: int) -> str:
    return f"{file}, line {line}: " if file else ""


def line_of(error: BaseException, file: str) -> int:
    """The last line of a file that an error passed through; 0 where there is none."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    return next((one.lineno or 0 for one in reversed(frames) if one.filename == file), 0)


def reason(error: BaseException) -> str:
    """What an error says: its own sentence, or type and text."""
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def numbers(found: Any) -> bool:
    """Whether something is a number or an array of them."""
    try:
        return np.asarray(found).dtype.kind in "fiub"
    except ValueError:  # rows of different lengths
        return False
