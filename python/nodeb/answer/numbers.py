"""Formatting of numbers: the uncertainty determines the number of digits."""

from nodeb._core import (
    Shown,
    apportioned,
    difference,
    interval,
    number,
    parts,
    scale_of,
    shown,
    signed,
)

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

ALWAYS = "in every replication"
"""Text in place of an interval whose displayed ends both equal the displayed mean."""
