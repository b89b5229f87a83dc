"""Counts pairs of replications, with and without a change, by completeness of the transfer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodeb.explanation.replications import Path

__all__ = ["Pairs"]


@dataclass(frozen=True)
class Pairs:
    """Numbers of pairs, by whether the transfer is complete without and with a change.

    `all` counts every pair, `both` those in which both transfers are complete.
    """

    all: int
    both: int
    only_plain: int
    """Pairs in which only the unchanged transfer is complete."""
    only_changed: int
    """Pairs in which only the changed transfer is complete."""
    begun: bool = True
    """True if, with the change, the transfer starts in every replication."""

    @classmethod
    def count(cls, plain: Sequence[Path], changed: Sequence[Path]) -> Pairs:
        """Counts pairs of paths, without and with the change, by whether the transfer is complete.

        If `changed` is empty, the transfer did not start in some replication with the change.
        """
        if not changed:
            return cls(len(plain), 0, 0, 0, begun=False)
        pairs = [(a.complete, b.complete) for a, b in zip(plain, changed, strict=True)]
        both, only_plain, only_changed = (
            pairs.count(kind) for kind in ((True, True), (True, False), (False, True))
        )
        return cls(len(pairs), both, only_plain, only_changed)

    def of(self, some: int) -> str:
        """Returns `some` pairs in words, such as `3 of 20 pairs` or `all 20 pairs`."""
        if some == self.all:
            return "1 pair" if some == 1 else f"all {some} pairs"
        return f"{some} of {self.all} pairs"

    @property
    def more(self) -> int:
        """Number of complete transfers with the change minus the number without it."""
        return self.only_changed - self.only_plain

    @property
    def summary(self) -> str:
        """Sentence part on the number of pairs in which transfers are complete.

        It is "" if there are several pairs and in every pair both transfers are complete.
        """
        if self.both == self.all and self.all > 1:
            return ""
        alone = ", no interval" if self.both == 1 else ""
        if self.all == 1:
            return f"{self.of(self.both)}{alone}"
        more = [
            f", only {which} in {many}"
            for many, which in ((self.only_changed, "with it"), (self.only_plain, "without it"))
            if many
        ]
        both = f"the transfer finishes with it and without in {self.of(self.both)}{alone}"
        return f"{both}{''.join(more)}"

    @property
    def unknown(self) -> str:
        """Text on the effect of the change if there is no pair with two complete transfers.

        The effect is a loss if only unchanged transfers are complete, otherwise it is unknown.
        """
        ends = "the run ends before the transfer"
        if not self.begun:
            return "unknown: with the change the transfer does not start before the run ends"
        if self.only_plain and self.only_changed:
            return f"unknown: {ends}, with the change or without"
        if self.only_plain:
            return f"a loss: with the change {ends}; {self.of(self.only_plain)}"
        return f"unknown: {ends}, with the change and without"
