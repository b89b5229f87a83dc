"""Words for shares and lists."""

from __future__ import annotations

from collections.abc import Sequence

from nodeb.answer.numbers import apportioned

__all__ = ["counted", "joined", "percent", "percents", "sentence", "share", "spelled"]

PARTS = (
    (1 / 4, "a quarter"),
    (1 / 3, "a third"),
    (1 / 2, "half"),
    (2 / 3, "two thirds"),
    (3 / 4, "three quarters"),
)
NEAR = 0.02
"""A share within this of a simple fraction is called so."""
SMALL = [
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
]


def share(value: float) -> str:
    """A share in words: `two thirds`, or whole per cent."""
    for part, word in PARTS:
        if abs(value - part) <= NEAR:
            return word
    return percent(value)


def percent(value: float) -> str:
    """A share in whole per cent; what is not all or nothing is never called so."""
    whole = round(100 * value)
    if whole == 100 and value < 1:
        return "more than 99 %"
    if whole == 0 and value > 0:
        return "less than 1 %"
    return f"{whole} %"


def percents(shares: Sequence[float]) -> list[str]:
    """Shares of one whole in whole per cent, which add up to that of their sum."""
    whole = apportioned([100 * one for one in shares], round(100 * sum(shares)))
    return [
        f"{part} %" if 0 < part < 100 else percent(one)
        for part, one in zip(whole, shares, strict=True)
    ]


def joined(words: Sequence[str], last: str = "and") -> str:
    """A list as people write it: `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(number: int, noun: str) -> str:
    """A number and its noun: `1 phone`, `30 phones`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def spelled(number: int) -> str:
    """A small number in letters, as text begins and reads best."""
    return SMALL[number] if 0 <= number < len(SMALL) else str(number)


def sentence(text: str) -> str:
    """Text that begins with a capital letter."""
    return text[:1].upper() + text[1:]
