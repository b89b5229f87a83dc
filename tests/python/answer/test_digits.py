"""Tests of displayed numbers: their significant digits and their units."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeb.answer.numbers import ALWAYS, difference, interval, number, shown


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        ((3.011, 2.954943, 3.067057), "s", ("3.01 s", "2.95 to 3.07 s")),
        ((133041.4, 130620.8, 135462.1), "bit/s", ("133.0 kbit/s", "130.6 to 135.5 kbit/s")),
        ((0.446567, 0.439529, 0.453605), "s", ("447 ms", "440 to 454 ms")),
        ((0.8306, 0.5492, 1.1120), "s", ("830 ms", "550 to 1110 ms")),
        ((0.95, 0.9, 1.0), "s", ("0.95 s", "0.90 to 1.00 s")),
        ((1.0, 1.0, 1.0), "s", ("1 s", ALWAYS)),
        ((0.0, 0.0, 0.0), "", ("0", ALWAYS)),
        ((2.5e6, 2.5e6, 2.5e6), "bytes", ("2.50 MB", ALWAYS)),
        ((0.5, math.nan, math.nan), "", ("0.500", "")),
        ((math.nan, math.nan, math.nan), "s", ("\N{EN DASH}", "")),
        ((-0.0001, -0.5, 0.5), "", ("0.0", "\N{MINUS SIGN}0.5 to 0.5")),
    ],
)
def test_half_width_determines_significant_digits(values, unit, expected):
    found = shown(*values, unit)
    assert (found.value, found.interval) == expected


def test_shares_are_shown_in_percent_if_the_metric_says_so():
    assert shown(0.3904, 0.3839, 0.3970, "1", percent=True).value == "39.0 %"
    assert shown(0.8254, 0.7940, 0.8568, "1").value == "0.825"
    assert shown(0.9857, 0.98547, 0.98594, "1", percent=True).interval == "98.55 to 98.59 %"


def test_mean_is_shown_with_its_half_width():
    assert shown(3.011, 2.954, 3.067, "s").with_level == "3.01 s (95 %: 2.95 to 3.07 s)"
    assert shown(3.0, 3.0, 3.0, "s").with_level == f"3 s ({ALWAYS})"
    assert shown(3.0, unit="s").with_level == "3 s"


def test_both_ends_of_a_difference_have_signs():
    found = difference(-0.648, -0.701, -0.594, "s", scale=("s", 1.0))
    assert (found.value, found.interval) == (
        "\N{MINUS SIGN}0.65 s",
        "\N{MINUS SIGN}0.70 to \N{MINUS SIGN}0.59 s",
    )
    points = difference(0.0924, 0.0852, 0.0993, "1", percent=True)
    assert (points.value, points.interval) == ("+9.2 points", "+8.5 to +9.9 points")
    assert difference(0.0, -0.4, 0.4, "").number == "0.0"
    assert difference(math.nan, math.nan, math.nan, "s").value == "\N{EN DASH}"


def test_numbers_without_interval_have_three_digits():
    assert number(0.09261, "s") == "92.6 ms"
    assert (number(2.5e-6, "s"), number(1e-9, "s")) == ("2.50 us", "1 ns")
    assert number(1234567.0, "bit/s") == "1.23 Mbit/s"
    assert interval(1.0, 2.0, "s") == "1.0 to 2.0 s"


@given(
    st.floats(-1e12, 1e12, allow_nan=False), st.floats(0, 1e9), st.sampled_from(["", "s", "bit/s"])
)
def test_rounding_keeps_the_mean_and_the_order_of_the_ends(mean, half, unit):
    """Rounding moves a mean by at most about half of its half-width, or 0.6 %, and keeps low <=
    mean <= high.
    """
    scale = (unit, 1.0)
    found = shown(mean, mean - half, mean + half, unit, scale=scale)
    back = float(found.number.replace("\N{MINUS SIGN}", "-"))
    low, high = (float(end.replace("\N{MINUS SIGN}", "-")) for end in (found.low, found.high))
    assert low <= back <= high
    assert abs(back - mean) <= max(0.51 * half, 0.006 * abs(mean))


def test_unit_of_a_zero_mean_follows_its_interval():
    """A mean of 0 with a rounding error is not shown in nanoseconds."""
    found = shown(-7.4e-17, -5e-3, 5e-3, "s")
    assert (found.number, found.interval) == ("0", "\N{MINUS SIGN}5 to 5 ms")
