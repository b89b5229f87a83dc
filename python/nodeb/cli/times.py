"""Times on the command line, with units as in scenarios."""

from __future__ import annotations

from nodeb.base.units import NS, NS_PER_S, in_ns
from nodeb.errors import InputError

__all__ = ["duration", "seconds"]


def seconds(option: str, text: str) -> float:
    """Reads a time such as `1.5 s`.

    Args:
        option: where a person gives it.
        text: what was given.

    Raises:
        InputError: it is none.
    """
    try:
        return in_ns(text) / NS_PER_S
    except ValueError:
        hint = f'a time with a unit, such as "1.5 s" or "500 ms" (units: {", ".join(NS)})'
        raise InputError(f'{option} is "{text}"; expected {hint}') from None


def duration(option: str, text: str) -> float:
    """Reads a time that takes longer than nothing; see `seconds`.

    Raises:
        InputError: it is none, or is over at once.
    """
    found = seconds(option, text)
    if found <= 0:
        raise InputError(f'{option} is "{text}"; expected a time above 0')
    return found
