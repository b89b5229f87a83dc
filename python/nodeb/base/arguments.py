"""Checks of function arguments: a wrong type raises an error like a wrong value."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nodeb.errors import InputError

__all__ = ["as_number", "as_path", "as_seed", "as_texts", "as_whole", "is_number"]


<<<<<<< HEAD
MAX_SEED = 2**63 - 1
=======
LARGEST = 2**63 - 1
"""Largest whole number that an argument may have, unless it has a limit of its own."""
>>>>>>> 63b5d2c (Whole numbers beyond 2^63-1 and too many starts of a fit are refused with the limit)


def as_path(value: Any, name: str) -> Path:
    """Returns a path, given as text or as anything with `__fspath__`.

    Raises:
        InputError: the value is neither; the message names the argument.
    """
    try:
        return Path(value)
    except TypeError:
        raise InputError(f"{name} is {value!r}; expected a path") from None


<<<<<<< HEAD
def as_whole(value: Any, name: str) -> int:
    """Returns a value as a whole number.

    Raises:
        InputError: the value is not a whole number; the message names the argument.
=======
def as_whole(value: Any, name: str, most: int = LARGEST) -> int:
    """A whole number of at most `most`.

    Raises:
        InputError: it is none, or too large; names the argument.
>>>>>>> 63b5d2c (Whole numbers beyond 2^63-1 and too many starts of a fit are refused with the limit)
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise InputError(f"{name} is {value!r}; expected a whole number")
    if number > most:
        raise InputError(f"{name} is {value}; expected at most {most}")
    return number


def as_seed(value: Any) -> int:
    """Returns a value as a seed.

    Raises:
        InputError: the value is not a seed.
    """
<<<<<<< HEAD
    if not 0 <= (seed := as_whole(value, "seed")) <= MAX_SEED:
        raise InputError(f"seed is {value}; expected a whole number from 0 to 2^63 - 1")
=======
    if (seed := as_whole(value, "seed")) < 0:
        raise InputError(f"seed is {value}; a seed is a whole number from 0 to 2^63 - 1")
>>>>>>> 63b5d2c (Whole numbers beyond 2^63-1 and too many starts of a fit are refused with the limit)
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
