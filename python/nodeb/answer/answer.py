"""Parts of a command's answer, before it is rendered as text or as a page.

All parts but the headline may be missing. A terminal shows them in this order:

1. headline: the result, by how much, how certain, and why;
2. main picture;
3. key figures with their confidence intervals;
4. main table;
5. second picture;
6. further tables, only with `--all`;
7. marks, such as one on transfers that did not finish; those that concern only the further tables
   are shown only with `--all`;
8. notes: provenance, and the next command.

On a page the further tables are folded, and come last.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nodeb.answer.numbers import Shown

MAX_ROWS = 9
"""Maximum number of key figures of `nodeb run`, and of rows in the table of `nodeb compare`."""
SURVIVORS = "\N{DAGGER}"
"""Sign after a mean from which users, transfers or replications without a value are excluded."""
ONE_REPLICATION = "One replication has no interval: --runs 20 gives one."
"""Note of an answer without intervals, because there is only one replication."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Bar of a bar chart: its label, its value as text, and its length."""

    name: str
    value: str
    """Value as text, with its unit."""
    size: float
    """Length, in one unit for all bars of a picture; a negative one extends to the left."""
    paint: str = ""
    """CSS class of the colour on pages, such as `k-handshake`."""
    note: str = ""
    """Text beside the value, such as its share of the total; empty for none."""
    interval: str = ""
    """Confidence interval of the value as text, shown only on pages; empty for none."""
    ends: tuple[float, float] = (math.nan, math.nan)
    """Ends of the confidence interval, in the unit of `size`, drawn only on pages; NaN for none."""
    bound: float = math.nan
    """Position of a dotted line on pages, in the unit of `size`; NaN for none.

    An example is the upper bound of a change's effect.
    """
    why: str = ""
    """Short text about the value, shown only on pages, below the bar; empty for none."""

    @classmethod
    def of_core(cls, bar: dict[str, Any]) -> Bar:
        ends, bound = bar["ends"] or (math.nan, math.nan), bar["bound"]
        return cls(**bar | {"ends": tuple(ends), "bound": math.nan if bound is None else bound})


@dataclass(frozen=True, slots=True)
class Bars:
    """Bar chart: a column of horizontal bars, each labelled by its name."""

    title: str
    """Title, shown only on pages; empty for none."""
    bars: Sequence[Bar]
    head: str = ""
    """Text above the bars, shown only in terminals; empty for none."""

    @classmethod
    def of_core(cls, bars: dict[str, Any]) -> Bars:
        return cls(**bars | {"bars": [Bar.of_core(bar) for bar in bars["bars"]]})


@dataclass(frozen=True, slots=True)
class Fact:
    """Key figure: a value, such as a mean or a count, with its interval if it has one."""

    name: str
    shown: Shown
    mark: str = ""
    """`SURVIVORS` if users or transfers without a value are excluded from a mean; else empty."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Table of texts and of numbers with units; numbers are aligned at their units."""

    head: Sequence[str]
    """Name of each column; empty names for a table without a head."""
    rows: Sequence[Sequence[str | Shown]]
    """Cells: the first of a row is a name; a `Shown` is a number with its unit."""
    title: str = ""
    right: Sequence[int] = ()

    @classmethod
    def of_core(cls, rows: dict[str, Any]) -> Rows:
        def cell(content: str | dict[str, str]) -> str | Shown:
            return content if isinstance(content, str) else Shown(**content)

        return cls(**rows | {"rows": [[cell(content) for content in row] for row in rows["rows"]]})

    def without_empty_columns(self) -> Rows:
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
    """Whether the remark concerns only tables of `Answer.everything`.

    In a terminal such a remark is printed only together with these tables.
    """


@dataclass(frozen=True)
class Answer:
    """Answer of a command: headline, picture, key figures, remarks and notes."""

    command: str
    """Command that was answered, such as `nodeb run`."""
    subject: str
    """Subject of the headline, such as the scenario's name; empty if the headline has it."""
    headline: str
    """One or two sentences; in a terminal they follow `subject` and a colon."""
    lead: str = ""
    """Sentences below the headline of a page, such as the number of runs; not in terminals."""
    picture: Bars | Rows | None = None
    facts: Sequence[Fact] = ()
    """Key figures below the main picture, in order; may be empty."""
    table: Rows | None = None
    """Main table below the key figures, such as the cells of a sweep;"""
    after: Bars | None = None
    """Second picture below the main table, such as the causes of a difference;"""
    marks: Sequence[Mark] = ()
    """Remarks that readers must not overlook, such as one on transfers that did not finish."""
    notes: Sequence[str] = ()
    """Texts of a line or paragraph each: provenance of the numbers, and the next command."""
    everything: Sequence[Rows] = field(default=())
    """Tables that are folded on a page, and printed in a terminal only with `--all`."""
    folded: str = ""
    """Description of the tables of `everything`, such as `all 15 metrics`.

    If it is empty there is no such hint.
    """

    @classmethod
    def of_core(cls, text: str) -> Answer:
        """Reads an answer of the core from JSON."""
        parts = json.loads(text)
        picture = parts["picture"]
        if picture is not None:
            picture = (Bars if "bars" in picture else Rows).of_core(picture)
        return cls(
            **parts
            | {
                "picture": picture,
                "facts": [Fact(**one | {"shown": Shown(**one["shown"])}) for one in parts["facts"]],
                "table": parts["table"] and Rows.of_core(parts["table"]),
                "after": parts["after"] and Bars.of_core(parts["after"]),
                "marks": [Mark(**mark) for mark in parts["marks"]],
                "everything": [Rows.of_core(rows) for rows in parts["everything"]],
            }
        )
