"""Checks of what functions are given: a wrong type is told as a wrong value is, in a sentence."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from nodeb.errors import InputError, nearest

__all__ = ["as_number", "as_path", "as_texts", "as_whole", "checked", "checked_methods"]

P = ParamSpec("P")
T = TypeVar("T")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Tells of arguments that a function does not have, or needs, by an InputError."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except TypeError:
            if (wrong := _mismatch(function, args, kwargs)) is not None:
                raise InputError(wrong) from None
            raise

    return call


def checked_methods(cls: type[T]) -> type[T]:
    """The same for all public methods of a class."""
    for name, method in list(vars(cls).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(cls, name, checked(method))
    return cls


def _mismatch(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """What is wrong with a call; None if its arguments are those of the function."""
    from inspect import signature

    known = [name for name in signature(function).parameters if name != "self"]
    for name in kwargs:
        if name not in known:
            return f"{function.__name__}: there is no argument `{name}`{nearest(name, known)}"
    try:
        signature(function).bind(*args, **kwargs)
    except TypeError as error:
        return f"{function.__name__}: {error} (the arguments are {', '.join(known)})"
    return None


def as_path(value: Any, name: str) -> Path:
    """A path, of text or of anything with `__fspath__`.

    Raises:
        InputError: it is neither; names the argument.
    """
    try:
        return Path(value)
    except TypeError:
        raise InputError(f"{name} is {value!r}; expected a path") from None


def as_whole(value: Any, name: str) -> int:
    """A whole number.

    Raises:
        InputError: it is none; names the argument.
    """
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise InputError(f"{name} is {value!r}; expected a whole number")


def as_number(value: Any, name: str) -> float:
    """A number.

    Raises:
        InputError: it is none; names the argument.
    """
    try:
        if not isinstance(value, bool | str | bytes):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{name} is {value!r}; expected a number")


def as_texts(value: Any, name: str, such_as: str) -> list[str]:
    """A list of texts.

    Raises:
        InputError: it is none, or one text by itself; names the argument.
    """
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        found = list(value)
        if all(isinstance(one, str) for one in found):
            return found
    raise InputError(f"{name} is {value!r}; expected a list of texts, such as {such_as}")
