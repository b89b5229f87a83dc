"""Parts of a command's answer, before it is rendered as text or as a page.

The order is always the same: a headline (result, amount, confidence, reason), a picture, at most
`MAX_ROWS` key figures with their intervals, possibly a table and a second picture, marks (such as
transfers that did not finish or are excluded), and notes (provenance and the next command). Marks
that concern only folded tables are folded with them; all other marks are always shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from nodeb.answer.numbers import Shown

__all__ = ["Answer", "Bar", "Bars", "Fact", "Mark", "Rows"]

MAX_ROWS = 9
"""Maximum number of key figures of an answer."""
SURVIVORS = "\N{DAGGER}"
"""Sign at a mean that excludes some users or transfers."""
ONE_REPLICATION = "One replication has no interval: --runs 20 gives one."
"""Note in place of a column of intervals, for results of a single replication."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Bar of a bar chart: its label, its value as text, and its length."""

    name: str
    value: str
    """Value as text, with its unit."""
    size: float
    """Length; bars of one picture have the same scale. Negative values extend to the left."""
    paint: str = ""
    """CSS class of the colour on pages, such as `k-handshake`."""
    note: str = ""
    """Text after the value, such as a share."""
    interval: str = ""
    """Confidence interval of the value as text; shown on pages."""
    ends: tuple[float, float] = (math.nan, math.nan)
    """Lower and upper end of the confidence interval, in the unit of `size`; NaN for none."""
    bound: float = math.nan
    """Position of a dotted line, in the unit of `size`; NaN for none.

    It is, for example, the upper bound of a change's effect.
    """
    why: str = ""
    """Short text about the value; pages show it below the bar."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Bar chart, one bar per line in the given order, each labelled by its name."""

    title: str
    """Title for pages and screen readers."""
    bars: Sequence[Bar]
    head: str = ""
    """Text above the bars; empty for none."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Key figure: a value, such as a mean or a count, with its interval if it has one."""

    name: str
    shown: Shown
    mark: str = ""
    """`SURVIVORS` if the mean excludes some users or transfers."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Table of texts and of numbers with units; numbers are aligned at their units."""

    head: Sequence[str]
    """Name of each column; empty names for a table without a head."""
    rows: Sequence[Sequence[str | Shown]]
    """Cells: the first of a row is a name; a `Shown` is a number with its unit."""
    title: str = ""
    right: Sequence[int] = ()
    """Indices of the columns of text that are aligned to the right."""

    def without_empty_columns(self) -> Rows:
        """Returns the table without columns that are empty in every row; keeps the first column."""
        kept = [at for at in range(len(self.head)) if at == 0 or any(row[at] for row in self.rows)]
        return Rows(
            [self.head[at] for at in kept],
            [[row[at] for at in kept] for row in self.rows],
            self.title,
            [place for place, at in enumerate(kept) if at in self.right],
        )


@dataclass(frozen=True, slots=True)
class Mark:
    """Remark that readers must not overlook: a text after a sign such as `!` or `?`."""

    sign: str
    text: str
    folded: bool = False
    """Whether the remark concerns only rows of `Answer.everything`."""


@dataclass(frozen=True)
class Answer:
    """Answer of a command: headline, picture, key figures, remarks and notes."""

    command: str
    """Command, such as `nodeb run`."""
    subject: str
    """Name of the scenario, link or study; empty if there is none."""
    headline: str
    """One or two sentences that do not repeat the subject; shown at the top."""
    lead: str = ""
    """Sentences below the headline of a page, such as the number of replications and the seed."""
    picture: Bars | Rows | None = None
    """Main picture, shown below the headline; None for none."""
    facts: Sequence[Fact] = ()
    """Key figures, shown below the main picture."""
    table: Rows | None = None
    """Main table, such as the cells of a sweep; shown below the key figures, if there are any."""
    after: Bars | None = None
    """A second picture below the figures, such as the causes of a difference."""
    marks: Sequence[Mark] = ()
    """Remarks on transfers that did not finish, starved, were dropped, or are undecided."""
    notes: Sequence[str] = ()
    """Provenance of the numbers, and a next command; a line or paragraph each."""
    everything: Sequence[Rows] = field(default=())
    """Tables that are folded on a page, and printed with `--all`."""
    folded: str = ""
    """Description of the folded tables, such as `all 15 metrics`; empty if there are none."""
