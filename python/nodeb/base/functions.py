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
    # A built-in or a partial has no code of its own.
    code = getattr(inspect.unwrap(function), "__code__", None)
    file, first = (code.co_filename, code.co_firstlineno) if code else ("", 0)
    try:
        with np.errstate(all="ignore"):
            found = function(*arguments, **named)
            found = list(found) if inspect.isgenerator(found) else found
    except (Mistake, *PASSED_ON):
        raise
    except (Exception, SystemExit) as error:  # A user-defined function may raise anything.
        end = "" if isinstance(error, InputError) else f"; expected {expected}"
        frames = reversed(traceback.extract_tb(error.__traceback__))
        line = next((frame.lineno for frame in frames if frame.filename == file), None) or first
        raise Mistake(f"{_place(file, line)}{what}: {reason(error)}{end}") from error
    if not right(found):
        returned = "None"
        if found is not None:
            returned = f"a {type(found).__name__}, {reprlib.repr(found)}"
        if shape := np.shape(found) if isinstance(found, np.ndarray) else ():
            returned = f"an array of shape {shape}"
        raise Mistake(f"{_place(file, first)}{what} returned {returned}; expected {expected}")
    return found


def _place(file: str, line: int) -> str:
    return f"{file}, line {line}: " if file else ""


def reason(error: BaseException) -> str:
    """Returns the message of an `InputError`, or the type and message of any other error."""
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def numbers(found: Any) -> bool:
    try:
        return np.asarray(found).dtype.kind in "fiub"
    except ValueError:  # NumPy raises this error for nested lists of different lengths.
        return False
