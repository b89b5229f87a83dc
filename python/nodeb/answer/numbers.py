"""Formatting of numbers: the uncertainty determines the number of digits.

If the first two digits of an interval's half-width are 10 to 35, both are kept, otherwise only the
first. The mean and both ends are rounded to the last digit kept. This is the rule of the Particle
Data Group for uncertainties (Review of Particle Physics, introduction, section 5.3). There is one
exception: if two digits would give the mean more than `DIGITS` digits, only one is kept. A number
without an interval has `PLAIN` significant digits, a whole number all its digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "ALWAYS",
    "Shown",
    "apportioned",
    "difference",
    "interval",
    "number",
    "parts",
    "scale_of",
    "shown",
    "signed",
]

SCALES: dict[str, tuple[tuple[float, str, float], ...]] = {
    "bit/s": ((1e6, "Mbit/s", 1e-6), (1e3, "kbit/s", 1e-3), (0.0, "bit/s", 1.0)),
    "s": (
        (0.95, "s", 1.0),
        (0.95e-3, "ms", 1e3),
        (0.95e-6, "us", 1e6),
        (1e-300, "ns", 1e9),
        (0.0, "ms", 1e3),
    ),
    "bytes": ((1e6, "MB", 1e-6), (1e3, "kB", 1e-3), (0.0, "bytes", 1.0)),
}
"""Displayed units of each unit of the tables, from large to small.

Each is a triple: smallest absolute value that is displayed in it, the displayed unit, and the
factor by which the value is multiplied.
"""
DIGITS = 4
"""Significant digits of a mean above which one digit of its half-width is kept, not two."""
PLAIN = 3
"""Significant digits of a number without an interval, unless it is a whole number."""
MIN_TWO_DIGITS, MAX_TWO_DIGITS = 10, 35
"""Smallest and largest first two digits of a half-width of which both digits are kept."""
ALWAYS = "in every replication"
"""Text in place of an interval whose displayed ends both equal the displayed mean."""
NOISE = 1e-9
"""Relative size up to which an interval's width, or a mean, counts as a rounding error of sums.

The size is relative to the end of the interval with the larger absolute value.
"""
EXACT = 12
"""Number of significant digits of a sum that its rounding errors are assumed not to affect."""
MIN_HALF_WIDTH = 1e-300
"""Half-width up to which an interval counts as an interval without width."""
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A value, such as a mean, with its interval if it has one, as text."""

    number: str
    """Value without its unit."""
    unit: str
    """Unit of the value and its interval; empty if the value has none."""
    low: str = ""
    high: str = ""
    mark: str = ""
    """Sign after a mean from which users or transfers without a value are excluded; else empty."""

    @property
    def value(self) -> str:
        """Value with its unit and its mark, separated by spaces; empty parts are omitted."""
        return " ".join(filter(None, (self.number, self.unit, self.mark)))

    @property
    def interval(self) -> str:
        """Interval with its unit, such as `2.95 to 3.07 s`; empty if the value has no interval.

        If both ends equal the value as displayed, it is `ALWAYS` ("in every replication").
        """
        if not self.low:
            return ""
        if self.low == self.high == self.number:
            return ALWAYS
        return f"{self.low} to {self.high} {self.unit}".strip()

    @property
    def in_one_cell(self) -> str:
        """Mean and interval for one cell of a table: `3.01 (2.95 to 3.07) s`.

        It is the mean alone if there is no interval, or if both ends are displayed alike.
        """
        ends = f" ({self.low} to {self.high})" if self.low and self.low != self.high else ""
        return f"{self.number}{ends} {self.unit}".strip()

    @property
    def with_level(self) -> str:
        return self.with_interval if self.interval == ALWAYS else self.at_level("95 %")

    def at_level(self, level: str) -> str:
        """Returns the mean with its interval, if any, and a confidence level such as `95 %`."""
        return self.with_interval.replace("(", f"({level}: ", 1)

    @property
    def with_interval(self) -> str:
        """Mean and interval: `3.01 s (2.95 to 3.07 s)`; the mean alone if there is no interval."""
        return f"{self.value} ({self.interval})" if self.low else self.value


def shown(
    mean: float,
    low: float = math.nan,
    high: float = math.nan,
    unit: str = "",
    *,
    percent: bool = False,
    scale: tuple[str, float] | None = None,
) -> Shown:
    has_interval = math.isfinite(low) and math.isfinite(high)
    # A mean that is only a rounding error must not determine the unit of the interval around it.
    largest = max(abs(low), abs(high)) if has_interval else 0.0
    to, factor = scale or scale_of(
        largest if abs(mean) < NOISE * largest else mean, unit, percent=percent
    )
    if not math.isfinite(mean):
        return Shown("\N{EN DASH}", "")
    if has_interval and high - low <= NOISE * max(abs(low), abs(high)):
        low = high = mean
    half = (high - low) / 2 * factor if has_interval else math.nan
    decimals = _decimals(mean * factor, half)
    ends = [_fixed(end * factor, decimals) for end in (low, high)] if has_interval else ["", ""]
    return Shown(_fixed(mean * factor, decimals), to, *ends)


def number(value: float, unit: str = "", *, percent: bool = False) -> str:
    return shown(value, unit=unit, percent=percent).value


def parts(values: Sequence[float], unit: str) -> list[str]:
    """Formats parts in one unit, rounded so that they add up to their sum as displayed.

    A part that would be rounded to 0 is formatted by itself, with digits and a unit of its own.
    """
    whole = sum(values)
    largest = max((abs(one) for one in (whole, *values)), default=0.0)
    to, factor = scale_of(largest, unit)
    decimals = PLAIN - 1 - _exponent(largest * factor) if largest else 0
    step = 10.0**-decimals
    all_steps = round(_rounded(whole * factor, decimals) / step)
    steps = apportioned([one * factor / step for one in values], all_steps)
    return [
        f"{_fixed(many * step, decimals)} {to}"
        if many and abs(one) * factor >= step / 2
        else number(one, unit)
        for many, one in zip(steps, values, strict=True)
    ]


def apportioned(values: Sequence[float], whole: int) -> list[int]:
    """Rounds values to whole numbers whose sum is `whole`, by the method of largest remainders.

    Source: Balinski and Young, Fair Representation, 2nd ed., 2001, chapter 3 (Hamilton's method).
    """
    found = [math.floor(one) for one in values]
    left = whole - sum(found)
    for at in sorted(range(len(found)), key=lambda at: found[at] - values[at])[:left]:
        found[at] += 1
    return found


def interval(low: float, high: float, unit: str = "", *, percent: bool = False) -> str:
    return shown((low + high) / 2, low, high, unit, percent=percent).interval


def difference(
    mean: float,
    low: float,
    high: float,
    unit: str = "",
    *,
    percent: bool = False,
    scale: tuple[str, float] | None = None,
) -> Shown:
    """Formats a difference and its interval, with signs.

    Without `scale`, a difference of ratios in per cent has the unit points (percentage points).
    """
    found = shown(mean, low, high, unit, percent=percent, scale=scale)
    texts = [signed(one) for one in (found.number, found.low, found.high)]
    to = "points" if found.unit == "%" and scale is None and unit == "1" else found.unit
    return Shown(texts[0], to, *texts[1:])


def scale_of(value: float, unit: str, *, percent: bool = False) -> tuple[str, float]:
    """Returns the unit to display a value in, such as ms, and the factor to convert to it."""
    if unit == "1":
        return ("%", 100.0) if percent else ("", 1.0)
    for smallest, to, factor in SCALES.get(unit, ()):
        if not abs(value) < smallest:
            return to, factor
    return unit, 1.0


def _decimals(mean: float, half: float) -> int:
    size = abs(mean)
    if not half > MIN_HALF_WIDTH:
        return 0 if size == 0 or size == round(size) else PLAIN - 1 - _exponent(size)
    exponent = _exponent(half)
    two = round(half / 10.0 ** (exponent - 1))
    keeps = MIN_TWO_DIGITS <= two <= MAX_TWO_DIGITS
    if two == 100:
        exponent, keeps = exponent + 1, True
    max_decimals = DIGITS - 1 - _exponent(size) if size else math.inf
    return int(min(1 - exponent if keeps else -exponent, max(max_decimals, -exponent)))


def _exponent(size: float) -> int:
    return math.floor(math.log10(size))


def _fixed(value: float, decimals: int) -> str:
    text = f"{_rounded(value, decimals):z.{max(decimals, 0)}f}"
    return text.replace("-", MINUS)


def _rounded(value: float, decimals: int) -> float:
    """The first step removes the rounding errors of sums. Otherwise they would decide in which
    direction a number halfway between two results is rounded."""
    return round(float(f"{value:.{EXACT}g}"), decimals)


def signed(text: str) -> str:
    """Puts a plus sign before the text of a positive number; returns any other text unchanged."""
    return f"+{text}" if text[:1].isdecimal() and text.strip("0.") else text
