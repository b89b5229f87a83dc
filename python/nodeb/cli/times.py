"""Parsers of times on the command line, with units as in scenarios."""

from __future__ import annotations

from nodeb.base.units import NS, NS_PER_S, in_ns
from nodeb.errors import InputError

__all__ = ["duration", "seconds"]


def seconds(option: str, text: str) -> float:
    """Parses a time such as `1.5 s`, which may be 0. Returns it in seconds, rounded to 1 ns.

    Args:
        option: name of the option, for the message.
        text: value of the option.

    Raises:
        InputError: `text` is not a time with a unit.
    """
    try:
        return in_ns(text) / NS_PER_S
    except ValueError:
        hint = f'a time with a unit, such as "1.5 s" or "500 ms" (units: {", ".join(NS)})'
        raise InputError(f'{option} is "{text}"; expected {hint}') from None


def duration(option: str, text: str) -> float:
    """Parses a time such as `1.5 s` and returns it in seconds, like `seconds`, but rejects 0.

    Raises:
        InputError: `text` is not a time with a unit, or is below 0.5 ns.
    """
    found = seconds(option, text)
    if found <= 0:
        raise InputError(f'{option} is "{text}"; expected a time above 0')
    return found
