"""Tests of the parsers of times and of quantities with units."""

import pytest

from nodeb.base.units import in_ns, quantity


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1.5 s", 1_500_000_000),
        ("200ms", 200_000_000),
        (" .5 us ", 500),
        ("1e3 ms", 10**9),
        ("2 min", 120 * 10**9),
        ("1.1 h", 3960 * 10**9),
        ("0.123456789 s", 123_456_789),
        # This number has more digits than a float can represent.
        ("12345678.123456789 s", 12_345_678_123_456_789),
    ],
)
def test_times_are_parsed_to_the_nanosecond(text, ns):
    assert in_ns(text) == ns


@pytest.mark.parametrize(
    "text", ["", "3", "s", "soon", "-1 s", "1 S", "1 parsec", "1,5 s", "1e999 s", "9" * 5000 + " s"]
)
def test_invalid_times_are_rejected_at_once(text):
    with pytest.raises(ValueError, match="is not a time with a unit"):
        in_ns(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("110 ms", (0.11, "s")),
        ("1.5 min", (90.0, "s")),
        ("384kbps", (384_000.0, "bps")),
        ("2 KiB", (2048.0, "bytes")),
        ("1e-3 s", (0.001, "s")),
        ("2003", None),
        ("round_robin", None),
        ("5 apples", None),
    ],
)
def test_quantities_are_numbers_with_a_suffix(text, expected):
    assert quantity(text) == expected
