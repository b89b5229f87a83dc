"""Checks of function arguments: a wrong type raises an error like a wrong value."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nodeb.errors import InputError

__all__ = ["as_number", "as_path", "as_seed", "as_texts", "as_whole", "is_number"]


MAX_WHOLE = 2**63 - 1
"""Maximum of arguments without a limit of their own."""


def as_path(value: Any, name: str) -> Path:
    """Returns a path, given as text or as anything with `__fspath__`.

    Raises:
        InputError: the value is neither; the message names the argument.
    """
    try:
        return Path(value)
    except TypeError:
        raise InputError(f"{name} is {value!r}; expected a path") from None


def as_whole(value: Any, name: str, maximum: int = MAX_WHOLE) -> int:
    """Returns a value as a whole number of at most `maximum`.

    Raises:
        InputError: the value is not a whole number, or too large; the message names the argument.
    """
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
    """Returns a value as a seed.

    Raises:
        InputError: the value is not a seed.
    """
    if (seed := as_whole(value, "seed")) < 0:
        raise InputError(f"seed is {value}; expected a whole number from 0 to 2^63 - 1")
    return seed


def as_number(value: Any, name: str) -> float:
    """Returns a value as a number.

    Raises:
        InputError: the value is not a number; the message names the argument.
    """
    try:
        if not isinstance(value, bool | str | bytes):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{name} is {value!r}; expected a number")


def as_texts(value: Any, name: str, such_as: str) -> list[str]:
    """Returns a value as a list of texts.

    Raises:
        InputError: the value is not a list of texts; the message names the argument.
    """
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        found = list(value)
        if all(isinstance(one, str) for one in found):
            return found
    raise InputError(f"{name} is {value!r}; expected a list of texts, such as {such_as}")


def is_number(text: str) -> bool:
    """Returns true if a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
