"""Calls user-defined functions; if one fails, the error names its file and line."""

from __future__ import annotations

import inspect
import reprlib
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from nodeb import _core
from nodeb.errors import InputError, OutputError, RunError

PASSED_ON = (OutputError, RunError, MemoryError, _core.Cancelled, _core.InternalError)
"""Exceptions that are not errors of the user-defined function, and are raised unchanged."""


class Mistake(InputError):
    """Error of a user-defined function; the message begins with file and line if they are known."""


def call_checked(
    function: Callable[..., Any],
    what: str,
    expected: str,
    right: Callable[[Any], bool],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    file, first = _beginning(function)
    try:
        with np.errstate(all="ignore"):
            found = function(*arguments, **named)
            found = list(found) if inspect.isgenerator(found) else found
    except (Mistake, *PASSED_ON):
        raise
    except (Exception, SystemExit) as error:  # A user-defined function may raise anything.
        end = "" if isinstance(error, InputError) else f"; expected {expected}"
        line = line_of(error, file) or first
        raise Mistake(f"{_place(file, line)}{what}: {reason(error)}{end}") from error
    if not right(found):
        returned = "None"
        if found is not None:
            returned = f"a {type(found).__name__}, {reprlib.repr(found)}"
        if shape := np.shape(found) if isinstance(found, np.ndarray) else ():
            returned = f"an array of shape {shape}"
        raise Mistake(f"{_place(file, first)}{what} returned {returned}; expected {expected}")
    return found


def mistake(function: Callable[..., Any], text: str) -> Mistake:
    """Returns an error for a result that `call_checked` accepted, but that later proved wrong."""
    return Mistake(f"{_place(*_beginning(function))}{text}")


def _beginning(function: Callable[..., Any]) -> tuple[str, int]:
    """Returns "" and 0 for a callable without Python code of its own, such as a built-in or a
    partial."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else ("", 0)


def _place(file: str, line: int) -> str:
    return f"{file}, line {line}: " if file else ""


def line_of(error: BaseException, file: str) -> int:
    """Returns 0 if the traceback has no line of `file`."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    return next((one.lineno or 0 for one in reversed(frames) if one.filename == file), 0)


def reason(error: BaseException) -> str:
    """Returns the message of an `InputError`, or the type and message of any other error."""
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def numbers(found: Any) -> bool:
    try:
        return np.asarray(found).dtype.kind in "fiub"
    except ValueError:  # NumPy raises this error for nested lists of different lengths.
        return False
