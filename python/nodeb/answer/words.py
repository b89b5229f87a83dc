"""Puts shares, counts and lists into words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nodeb.answer.numbers import apportioned

__all__ = ["counted", "fraction", "joined", "part_percent", "percent", "sentence", "spelled"]

PARTS = (
    (1 / 4, "a quarter"),
    (1 / 3, "a third"),
    (1 / 2, "half"),
    (2 / 3, "two thirds"),
    (3 / 4, "three quarters"),
)
NEAR = 0.02
"""Maximum difference between a share and the simple fraction that names it."""
LITTLE = 0.001
"""Share for which `percent` returns "less than 1 %".

`part_percent` uses it in place of larger shares that are rounded down to 0.
"""
SMALL = [
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
]


def fraction(share: float) -> str:
    return next((word for part, word in PARTS if abs(share - part) <= NEAR), "")


def percent(value: float) -> str:
    """A share between 0 and 1 that would be rounded to 0 % or 100 % becomes "less than 1 %" or
    "more than 99 %"."""
    whole = round(100 * value)
    if whole == 100 and value < 1:
        return "more than 99 %"
    if whole == 0 and value > 0:
        return "less than 1 %"
    return f"{whole} %"


def part_percent(shares: Sequence[float], which: Collection[int]) -> str:
    """Returns the sum of some shares of a whole in whole per cent.

    Every share is rounded so that all of them add up to the rounded sum of the exact shares. As
    in `percent`, a sum above 0 that is rounded to 0 becomes "less than 1 %".
    """
    rounded = apportioned([100 * one for one in shares], round(100 * sum(shares)))
    whole, exact = sum(rounded[at] for at in which), sum(shares[at] for at in which)
    return f"{whole} %" if 0 < whole < 100 else percent(exact if whole else min(exact, LITTLE))


def joined(words: Sequence[str], last: str = "and") -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def spelled(number: int) -> str:
    """Returns a number up to 12 in letters (`no` for 0), a larger or negative one in digits."""
    return SMALL[number] if 0 <= number < len(SMALL) else str(number)


def sentence(text: str) -> str:
    """Returns a text with its first letter capitalized; the other letters stay as they are."""
    return text[:1].upper() + text[1:]
