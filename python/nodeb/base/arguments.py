"""Checks of function arguments: a wrong type raises `InputError`, as a wrong value does."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nodeb.errors import InputError

MAX_WHOLE = 2**63 - 1
"""Default maximum of whole-number arguments, that of a signed 64-bit integer."""


def as_path(value: Any, name: str) -> Path:
    try:
        return Path(value)
    except TypeError:
        raise InputError(f"{name} is {value!r}; expected a path") from None


def as_whole(value: Any, name: str, maximum: int = MAX_WHOLE) -> int:
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise InputError(f"{name} is {value!r}; expected a whole number")
    if number > maximum:
        raise InputError(f"{name} is {value}; expected at most {maximum}")
    return number


def as_seed(value: Any) -> int:
    """Returns a value as a seed, a whole number from 0 to 2^63 - 1."""
    if (seed := as_whole(value, "seed")) < 0:
        raise InputError(f"seed is {value}; expected a whole number from 0 to 2^63 - 1")
    return seed


def as_number(value: Any, name: str) -> float:
    """Converts an argument to a float, which may be NaN or infinite.

    Text, bytes and bool are not accepted.
    """
    try:
        if not isinstance(value, bool | str | bytes):
            return float(value)
    except (OverflowError, TypeError, ValueError):
        pass
    raise InputError(f"{name} is {value!r}; expected a number")


def as_texts(value: Any, name: str, such_as: str) -> list[str]:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        found = list(value)
        if all(isinstance(one, str) for one in found):
            return found
    raise InputError(f"{name} is {value!r}; expected a list of texts, such as {such_as}")


def is_number(text: str) -> bool:
    """Returns true if Python's `float` can parse a text, such as `1e-3`, `nan` or `inf`."""
    try:
        float(text)
    except ValueError:
        return False
    return True
