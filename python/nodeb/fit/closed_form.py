"""Fits Markov chains in closed form: their parameters follow from counts, without a search."""

from __future__ import annotations

import numpy as np

from nodeb.errors import InputError
from nodeb.fit.chain import Chain
from nodeb.fit.sequence import Bits

__all__ = ["binary_symmetric", "gilbert", "gilbert_elliott", "two_states"]


def two_states(p: float, r: float, in_good: float, in_bad: float, parameters: int) -> Chain:
    transition = np.array([[1.0 - p, p], [r, 1.0 - r]])
    return Chain("gilbert_elliott", transition, np.array([in_good, in_bad]), parameters)


def binary_symmetric(errors: Bits) -> Chain:
    """Fits independent errors: all symbols have the same error probability, the share of errors."""
    return Chain("bsc", np.ones((1, 1)), np.array([errors.mean(dtype=np.float64)]), 1)


def gilbert(errors: Bits) -> Chain:
    """Fits a Markov chain of two states: symbols are errors in the bad state, correct in the
    good."""
    before, after = errors[:-1], errors[1:]
    good, bad = np.count_nonzero(before == 0), np.count_nonzero(before)
    begins = np.count_nonzero((before == 0) & (after == 1))
    ends = np.count_nonzero((before == 1) & (after == 0))
    if not begins or not ends:
        raise InputError(
            "the sequence has no burst that begins and ends in it; expected one for a chain of "
            "two states"
        )
    return two_states(begins / good, ends / bad, 0.0, 1.0, 2)


def gilbert_elliott(errors: Bits) -> Chain | None:
    """Fits Gilbert's channel, with errors in the bad state only, from three shares of the
    sequence.

    With `a = P(1)`, `b = P(1 | 1)` and `c = P(111) / (P(101) + P(111))`: `1 - r = (ac - b^2) /
    (2ac - b(a + c))`, `1 - h = b / (1 - r)`, `p = ar / (1 - h - a)`, where `1 - h` is the
    probability of an error in the bad state (E. J. 39, 1960; in this notation G. Hohlfeld, MMB
    2008).
    """
    first, second, third = errors[:-2], errors[1:-1], errors[2:]
    pairs = np.count_nonzero(errors[:-1])
    outer = np.count_nonzero(first & third)
    if not pairs or not outer:
        return None
    a = float(errors.mean())
    b = np.count_nonzero(errors[:-1] & errors[1:]) / pairs
    c = np.count_nonzero(first & second & third) / outer
    denominator = 2 * a * c - b * (a + c)
    if denominator == 0.0:
        return None
    stay = (a * c - b * b) / denominator
    in_bad = b / stay if stay > 0 else -1.0
    r = 1.0 - stay
    p = a * r / (in_bad - a) if in_bad != a else -1.0
    if not (0.0 < r <= 1.0 and 0.0 < p <= 1.0 and 0.0 < in_bad <= 1.0):
        return None
    return two_states(p, r, 0.0, in_bad, 3)
