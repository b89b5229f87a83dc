"""What a command answers, before it is text or a page.

The order is the same everywhere: a headline (what, how much, how sure, why), one picture, at most
`MAX_ROWS` key figures with their intervals, marks (what did not finish or is left out, which is
never hidden), and notes (where the numbers come from and what to ask next).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from nodeb.answer.numbers import Shown

__all__ = ["Answer", "Bar", "Bars", "Fact", "Mark", "Rows"]

MAX_ROWS = 9
"""Key figures of an answer at most."""
SURVIVORS = "\N{DAGGER}"
"""Stands at a mean that leaves some out."""
ONE_REPLICATION = "One replication has no interval: --runs 20 gives one."
"""In place of a column of intervals."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar with its name and value."""

    name: str
    value: str
    """As text, with its unit."""
    size: float
    """Its length; bars of one picture are to scale. Negative to the left."""
    paint: str = ""
    """Class of its colour on pages, such as `k-handshake`."""
    note: str = ""
    """What stands behind the value, such as a share."""
    interval: str = ""
    """How sure the value is; pages show it."""
    ends: tuple[float, float] = (math.nan, math.nan)
    """Ends of that interval, to the scale of the bar; NaN for none."""
    bound: float = math.nan
    """Where a dotted line stands, such as what a change could give at most; NaN for none."""
    why: str = ""
    """A few words on the value; pages show them below the bar."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Ranked bars, which are their own key."""

    title: str
    """What they show; pages and screen readers have it."""
    bars: Sequence[Bar]
    head: str = ""
    """A line above them; empty for none."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A key figure: a mean with its interval."""

    name: str
    shown: Shown
    mark: str = ""
    """`SURVIVORS` where the mean leaves some out."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of text. Numbers and units are two cells, so that they stand below each other."""

    head: Sequence[str]
    """A name for each column; empty names for a table without a head."""
    rows: Sequence[Sequence[str | Shown]]
    """The first cell is a name; a `Shown` is a number with its unit."""
    title: str = ""
    right: Sequence[int] = ()
    """Columns of text that end below each other."""

    def without_empty_columns(self) -> Rows:
        """Returns the rows without the columns that are empty in every row."""
        kept = [at for at in range(len(self.head)) if at == 0 or any(row[at] for row in self.rows)]
        return Rows(
            [self.head[at] for at in kept],
            [[row[at] for at in kept] for row in self.rows],
            self.title,
            [place for place, at in enumerate(kept) if at in self.right],
        )


@dataclass(frozen=True, slots=True)
class Mark:
    """What must not be overlooked: the sign, and what it says."""

    sign: str
    text: str


@dataclass(frozen=True)
class Answer:
    """What a command answers."""

    command: str
    """Which command, such as `nodeb run`."""
    subject: str
    """What it is about: the scenario's name."""
    headline: str
    """One or two sentences without the subject, as they stand at the top of a page."""
    lead: str = ""
    """Further sentences of a page: how sure, and what is left out."""
    picture: Bars | Rows | None = None
    """The one picture."""
    facts: Sequence[Fact] = ()
    """Key figures."""
    table: Rows | None = None
    """In place of key figures, where they are compared."""
    after: Bars | None = None
    """A second picture below the figures, such as the causes of a difference."""
    marks: Sequence[Mark] = ()
    """What did not finish, starved, was dropped, is undecided."""
    notes: Sequence[str] = ()
    """Where the numbers come from, and a next command; a line or paragraph each."""
    everything: Sequence[Rows] = field(default=())
    """What is folded on a page, and printed with `--all`."""
    folded: str = ""
    """What that is, such as `all 15 metrics`; empty for nothing."""
