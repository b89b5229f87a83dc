"""Distribution of the lost PDUs inside a failed block, which has at least one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nodeb.fit.sequence import Bits, ErrorSequence

__all__ = ["Within"]


@dataclass(frozen=True, eq=False)
class Within:
    """Probabilities of the loss patterns of a failed block; the same for all failed blocks.

    In the latter case all patterns with the same number of lost PDUs are equally likely.
    """

    pdus: int
    """PDUs per block."""
    patterns: dict[str, float]
    """Pattern, such as "0101", -> probability; empty if the number of lost PDUs is modelled."""
    count_law: tuple[float, ...]
    """Probability of 1, 2, ... `pdus` lost PDUs; empty if patterns are modelled."""
    parameters: int

    @classmethod
    def of_patterns(cls, errors: ErrorSequence) -> Self:
        """Fits the probability of each observed loss pattern: its share of the failed blocks."""
        seen, counts = np.unique(_failed(errors), axis=0, return_counts=True)
        shares = counts / counts.sum()
        found = {"".join(map(str, row)): float(p) for row, p in zip(seen, shares, strict=True)}
        return cls(errors.pdus_per_block, found, (), len(found) - 1)

    @classmethod
    def of_counts(cls, errors: ErrorSequence) -> Self:
        """Fits the probability of each number of lost PDUs: its share of the failed blocks."""
        n = errors.pdus_per_block
        counts = np.bincount(_failed(errors).sum(axis=1), minlength=n + 1)[1:]
        return cls(n, {}, tuple(float(p) for p in counts / counts.sum()), n - 1)

    @classmethod
    def fitted(cls, errors: ErrorSequence) -> Self:
        """Fits a distribution of loss patterns and one of the numbers of lost PDUs."""
        failed = len(_failed(errors))

        def bic(found: Self) -> float:
            return found.parameters * math.log(failed) - 2.0 * found.log_likelihood(errors)

        return min(cls.of_counts(errors), cls.of_patterns(errors), key=bic)

    @property
    def lost_share(self) -> float:
        """Mean share of the PDUs of a failed block that are lost, above 0 and at most 1."""
        if self.patterns:
            lost = sum(p * text.count("1") for text, p in self.patterns.items())
        else:
            lost = sum(p * number for number, p in enumerate(self.count_law, start=1))
        return lost / self.pdus

    def log_likelihood(self, errors: ErrorSequence) -> float:
        """Returns the log-probability of the loss patterns of the failed blocks of a sequence.

        Returns -inf if one of the patterns has probability 0.
        """
        failed = _failed(errors)
        if self.patterns:
            seen, counts = np.unique(failed, axis=0, return_counts=True)
            found = np.array([self.patterns.get("".join(map(str, row)), 0.0) for row in seen])
        else:
            lost = failed.sum(axis=1)
            seen, counts = np.unique(lost, return_counts=True)
            found = np.array([self.count_law[k - 1] / math.comb(self.pdus, k) for k in seen])
        with np.errstate(divide="ignore"):
            return float(counts @ np.log(found))

    def expand(self, block_errors: Bits, random: np.random.Generator) -> Bits:
        """Expands block errors to PDU errors: draws the lost PDUs of each failed block."""
        blocks = np.zeros((len(block_errors), self.pdus), dtype=np.uint8)
        failed = np.flatnonzero(block_errors)
        if self.patterns:
            known = np.array([list(map(int, text)) for text in self.patterns], dtype=np.uint8)
            chosen = random.choice(len(known), len(failed), p=list(self.patterns.values()))
            blocks[failed] = known[chosen]
        else:
            lost = random.choice(self.pdus, len(failed), p=list(self.count_law)) + 1
            place = random.random((len(failed), self.pdus)).argsort(axis=1).argsort(axis=1)
            blocks[failed] = place < lost[:, None]
        expanded: Bits = blocks.ravel()
        return expanded

    def to_dict(self) -> dict[str, Any]:
        return {"patterns": self.patterns} if self.patterns else {"count_law": list(self.count_law)}


def _failed(errors: ErrorSequence) -> NDArray[np.uint8]:
    """Returns the PDUs of the failed blocks, one row per block; 1 is a lost PDU."""
    return np.asarray(errors.blocks[errors.block_errors == 1])
