"""Numbers as people read them: their uncertainty decides how many digits there are.

Of the half-width of an interval two digits are kept if these are 10 to 35, and one otherwise; the
mean and both ends stop at that place, and nothing has more than `DIGITS` digits after all. Without
an interval a number has `PLAIN` digits. This is the rule of the Particle Data Group for
uncertainties (Review of Particle Physics, introduction, section 5.3).
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
"""Unit -> (least value, shown unit, factor), largest first."""
DIGITS = 4
"""Significant digits of a mean at most."""
PLAIN = 3
"""Significant digits of a number without an interval."""
LEAST, MOST = 10, 35
"""Two digits of a half-width that are kept."""
ALWAYS = "in every replication"
"""In place of an interval without width."""
NOISE = 1e-9
"""An interval narrower than this share of its ends is the rounding of sums."""
EXACT = 12
"""Digits of a number that are not the rounding of sums."""
LEAST_HALF = 1e-300
"""A half-width below is none."""
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A mean with its interval, as text."""

    number: str
    """The mean."""
    unit: str
    """Its unit; empty for a count."""
    low: str = ""
    """Lower end of the interval; empty where there is none."""
    high: str = ""
    """Upper end."""
    mark: str = ""
    """Stands behind a mean that leaves some out."""

    @property
    def value(self) -> str:
        """The mean with its unit and mark."""
        return " ".join(filter(None, (self.number, self.unit, self.mark)))

    @property
    def interval(self) -> str:
        """The interval with its unit; `ALWAYS` where it has no width, empty where there is none."""
        if not self.low:
            return ""
        if self.low == self.high == self.number:
            return ALWAYS
        return f"{self.low} to {self.high} {self.unit}".strip()

    @property
    def around(self) -> str:
        """As a table has it in one column: `3.01 (2.95 to 3.07) s`."""
        ends = f" ({self.low} to {self.high})" if self.low and self.low != self.high else ""
        return f"{self.number}{ends} {self.unit}".strip()

    @property
    def sure(self) -> str:
        """The mean, and how sure it is: `3.01 s (95 %: 2.95 to 3.07 s)`."""
        return self.again if self.interval == ALWAYS else self.at("95 %")

    def at(self, level: str) -> str:
        """The mean and its interval, at a level that is said."""
        return self.again.replace("(", f"({level}: ", 1)

    @property
    def again(self) -> str:
        """The same after the first of a text: `3.01 s (2.95 to 3.07 s)`."""
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
    """A mean and its interval as text, in a unit that reads well.

    Args:
        mean: the mean; NaN is shown as a dash.
        low: lower end of its interval; NaN for none.
        high: upper end.
        unit: of all three, as in tables; 1 for a ratio.
        percent: whether a ratio is read in per cent.
        scale: shown unit and factor, where others in the column have decided; None decides here.
    """
    to, factor = scale or scale_of(mean, unit, percent=percent)
    if not math.isfinite(mean):
        return Shown("\N{EN DASH}", "")
    has_interval = math.isfinite(low) and math.isfinite(high)
    if has_interval and high - low <= NOISE * max(abs(low), abs(high)):
        low = high = mean
    half = (high - low) / 2 * factor if has_interval else math.nan
    decimals = _decimals(mean * factor, half)
    ends = [_fixed(end * factor, decimals) for end in (low, high)] if has_interval else ["", ""]
    return Shown(_fixed(mean * factor, decimals), to, *ends)


def number(value: float, unit: str = "", *, percent: bool = False) -> str:
    """A number without an interval, with its unit."""
    return shown(value, unit=unit, percent=percent).value


def parts(values: Sequence[float], unit: str) -> list[str]:
    """Parts of a whole with one unit, in digits by which they add up to the whole as it is shown.

    What is too small for these has digits of its own.
    """
    whole = sum(values)
    largest = max((abs(one) for one in (whole, *values)), default=0.0)
    to, factor = scale_of(largest, unit)
    decimals = PLAIN - 1 - _exponent(largest * factor) if largest else 0
    step = 10.0**-decimals
    all_steps = round(_rounded(whole * factor, decimals) / step)
    steps = apportioned([one * factor / step for one in values], all_steps)
    return [
        f"{_fixed(many * step, decimals)} {to}" if many else number(one, unit)
        for many, one in zip(steps, values, strict=True)
    ]


def apportioned(values: Sequence[float], whole: int) -> list[int]:
    """Whole numbers next to values that add up to their rounded sum: the largest remainders.

    Source: Balinski and Young, Fair Representation, 2nd ed., 2001, chapter 3 (Hamilton's method).
    """
    found = [math.floor(one) for one in values]
    left = whole - sum(found)
    for at in sorted(range(len(found)), key=lambda at: found[at] - values[at])[:left]:
        found[at] += 1
    return found


def interval(low: float, high: float, unit: str = "", *, percent: bool = False) -> str:
    """An interval with its unit: `2.95 to 3.07 s`."""
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
    """A difference and its interval, with signs; a difference of percentages is in points."""
    found = shown(mean, low, high, unit, percent=percent, scale=scale)
    texts = [signed(one) for one in (found.number, found.low, found.high)]
    to = "points" if found.unit == "%" and scale is None and unit == "1" else found.unit
    return Shown(texts[0], to, *texts[1:])


def scale_of(value: float, unit: str, *, percent: bool = False) -> tuple[str, float]:
    """The unit in which a value reads well, and the factor that leads there."""
    if unit == "1":
        return ("%", 100.0) if percent else ("", 1.0)
    for least, to, factor in SCALES.get(unit, ()):
        if not abs(value) < least:
            return to, factor
    return unit, 1.0


def _decimals(mean: float, half: float) -> int:
    """Decimals of a mean whose interval has this half-width; negative for tens."""
    size = abs(mean)
    if not half > LEAST_HALF:
        return 0 if size == 0 or size == round(size) else PLAIN - 1 - _exponent(size)
    exponent = _exponent(half)
    two = round(half / 10.0 ** (exponent - 1))
    keeps = LEAST <= two <= MOST
    if two == 100:
        exponent, keeps = exponent + 1, True
    most = DIGITS - 1 - _exponent(size) if size else math.inf
    return int(min(1 - exponent if keeps else -exponent, max(most, -exponent)))


def _exponent(size: float) -> int:
    return math.floor(math.log10(size))


def _fixed(value: float, decimals: int) -> str:
    """A number that stops at a place, with a real minus."""
    text = f"{_rounded(value, decimals):z.{max(decimals, 0)}f}"
    return text.replace("-", MINUS)


def _rounded(value: float, decimals: int) -> float:
    """A number rounded to a place, whatever sums have added to its last bits."""
    return round(float(f"{value:.{EXACT}g}"), decimals)


def signed(text: str) -> str:
    """A number as text with its sign; zero has none."""
    return text if not text or text.startswith(MINUS) or not text.strip("0.") else f"+{text}"
