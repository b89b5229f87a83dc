"""Pairs of replications, with a change and without, by which of the two transfers is complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodeb.explanation.replications import Path

__all__ = ["Pairs"]


@dataclass(frozen=True)
class Pairs:
    """How many pairs there are, and which transfer is complete in how many."""

    all: int
    both: int
    only_plain: int
    """Only the one as it is."""
    only_changed: int
    """Only the one with the change."""
    begun: bool = True
    """Whether every transfer is begun with the change."""

    @classmethod
    def count(cls, plain: Sequence[Path], changed: Sequence[Path]) -> Pairs:
        """Counts them; without any changed ones these are not begun."""
        if not changed:
            return cls(len(plain), 0, 0, 0, begun=False)
        pairs = [(a.complete, b.complete) for a, b in zip(plain, changed, strict=True)]
        both, only_plain, only_changed = (
            pairs.count(kind) for kind in ((True, True), (True, False), (False, True))
        )
        return cls(len(pairs), both, only_plain, only_changed)

    def of(self, some: int) -> str:
        """How many pairs some of them are, in words."""
        if some == self.all:
            return "1 pair" if some == 1 else f"all {some} pairs"
        return f"{some} of {self.all} pairs"

    @property
    def told(self) -> str:
        """In how many both are complete; empty where it needs no word."""
        if self.both == self.all and self.all > 1:
            return ""
        alone = ", no interval" if self.both == 1 else ""
        more = [
            f"{many} only {which}"
            for many, which in ((self.only_changed, "with it"), (self.only_plain, "without it"))
            if many
        ]
        ended = f" ({', '.join(more)})" if more else ""
        return f"{self.of(self.both)}{ended}{alone}"

    @property
    def unknown(self) -> str:
        """Why no gain is known, where no pair is complete: which run ended too soon."""
        ends = "the run ends before the transfer"
        if not self.begun:
            return "unknown: with the change the transfer is not begun before the run ends"
        if self.only_plain and self.only_changed:
            return f"unknown: {ends}, with the change or without"
        if self.only_plain:
            return f"a loss: with the change {ends}; {self.of(self.only_plain)}"
        return f"unknown: {ends}, with the change and without"
