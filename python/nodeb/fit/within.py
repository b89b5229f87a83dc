"""The law inside a failed block: which of its PDUs are lost, given that one is."""

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
    """Probabilities of the patterns of a failed block; the same for each failed block.

    Either of each pattern that was seen, or of each number of lost PDUs with all patterns of a
    number alike.
    """

    pdus: int
    """PDUs of a block."""
    patterns: dict[str, float]
    """Pattern, as "0101", -> probability; empty for a law of the number."""
    count_law: tuple[float, ...]
    """Probability of 1, 2, ... lost PDUs; empty for a law of patterns."""
    parameters: int
    """How many numbers were fitted."""

    @classmethod
    def of_patterns(cls, errors: ErrorSequence) -> Self:
        """The shares of the patterns seen in failed blocks."""
        seen, counts = np.unique(_failed(errors), axis=0, return_counts=True)
        shares = counts / counts.sum()
        law = {"".join(map(str, row)): float(p) for row, p in zip(seen, shares, strict=True)}
        return cls(errors.pdus_per_block, law, (), len(law) - 1)

    @classmethod
    def of_counts(cls, errors: ErrorSequence) -> Self:
        """The shares of the numbers of lost PDUs seen in failed blocks."""
        n = errors.pdus_per_block
        counts = np.bincount(_failed(errors).sum(axis=1), minlength=n + 1)[1:]
        return cls(n, {}, tuple(float(p) for p in counts / counts.sum()), n - 1)

    @classmethod
    def fitted(cls, errors: ErrorSequence) -> Self:
        """The law of the two with the smaller BIC."""
        failed = len(_failed(errors))

        def bic(law: Self) -> float:
            return law.parameters * math.log(failed) - 2.0 * law.log_likelihood(errors)

        return min(cls.of_counts(errors), cls.of_patterns(errors), key=bic)

    @property
    def lost_share(self) -> float:
        """Share of a failed block's PDUs that are lost, in the mean."""
        if self.patterns:
            lost = sum(p * text.count("1") for text, p in self.patterns.items())
        else:
            lost = sum(p * number for number, p in enumerate(self.count_law, start=1))
        return lost / self.pdus

    def log_likelihood(self, errors: ErrorSequence) -> float:
        """Logarithm of the probability of the patterns of the blocks that failed."""
        failed = _failed(errors)
        if self.patterns:
            seen, counts = np.unique(failed, axis=0, return_counts=True)
            law = np.array([self.patterns.get("".join(map(str, row)), 0.0) for row in seen])
        else:
            lost = failed.sum(axis=1)
            seen, counts = np.unique(lost, return_counts=True)
            law = np.array([self.count_law[k - 1] / math.comb(self.pdus, k) for k in seen])
        with np.errstate(divide="ignore"):
            return float(counts @ np.log(law))

    def expand(self, block_errors: Bits, random: np.random.Generator) -> Bits:
        """The PDUs of blocks of which those with a 1 have failed."""
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
        """As in a model file."""
        return {"patterns": self.patterns} if self.patterns else {"count_law": list(self.count_law)}


def _failed(errors: ErrorSequence) -> NDArray[np.uint8]:
    """The PDUs of the blocks that failed."""
    return np.asarray(errors.blocks[errors.block_errors == 1])
