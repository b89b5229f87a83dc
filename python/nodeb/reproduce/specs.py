"""What a study is made of, as data: axes and their choices, tables, figures, effort."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeb.study.cell import Tolerance

Selection = tuple["Choice", ...]


def nearest(name: str, known: Iterable[str]) -> str:
    """Text for an error message: the nearest known name and all of them."""
    options = list(known)
    close = difflib.get_close_matches(name.lower(), [o.lower() for o in options], n=1, cutoff=0.5)
    hint = next((f"did you mean `{o}`? " for o in options if close and o.lower() == close[0]), "")
    return f"{hint}(known: {', '.join(options)})"


@dataclass(frozen=True)
class Effort:
    """How long to replicate a point.

    Attributes:
        runs: replications at least.
        max_runs: replications at most.
        precision: wanted half-width of the 95 % interval, relative to the mean; None asks for none.
        cost: rough cost of one replication, for progress and the order of work only.
    """

    runs: int = 10
    max_runs: int = 10
    precision: float | None = None
    cost: float = 1.0


@dataclass(frozen=True)
class Choice:
    """One value of an axis.

    Attributes:
        axis: name of the axis.
        key: name of the choice, unique in its axis.
        label: text in tables and legends.
        context: text where the axis is not named beside it, for example "BLER 1 %".
        set: changes of the scenario, dotted path -> value; `*` stands for the only key at its
            place.
        params: named numbers for analytic tables and for metrics (for example which user).
        metric: name of the metric that the choice stands for, if any.
        unit: unit of that metric.
        derived: ("difference" | "relative", minuend, subtrahend), keys of other choices of the
            axis.
        effort: what of the study's effort is different for this choice.
        x: number on a figure's axis.
    """

    axis: str
    key: str
    label: str
    context: str
    set: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    metric: str | None = None
    unit: str | None = None
    derived: tuple[str, str, str] | None = None
    effort: Mapping[str, Any] = field(default_factory=dict)
    x: float | None = None

    def __hash__(self) -> int:
        return hash((self.axis, self.key))


@dataclass(frozen=True)
class Axis:
    """Something that a study varies or tabulates; `label` and `unit` go to a figure's axis."""

    name: str
    label: str
    choices: Mapping[str, Choice]


@dataclass(frozen=True)
class Reading:
    """A reading of the study: for some of its tables, choices that others take the place of."""

    label: str
    changes: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Group:
    """Printed values that are judged together: of tables, by patterns of rows and columns."""

    label: str
    items: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class TableSpec:
    """A table of the study: axes in rows and columns, what is fixed, and the published values.

    `analytic` names a function of `nodeb.formulas.analytics` (then nothing is simulated).
    `published` holds one list per row; a missing value is NaN in the file and None here.
    `withheld` marks values that the study has but that are not known here: the simulation predicts
    them. `published_runs` says of how many runs a printed value is the mean, where the study tells.
    A table with `readings` says how far the printed values of `groups` lie from each
    (`nodeb.reproduce.readings`).
    """

    id: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    fixed: tuple[str, ...]
    metric: str | None
    unit: str
    digits: int
    analytic: str | None
    scale: float
    published: tuple[tuple[float | None, ...], ...]
    withheld: bool
    note: str
    tolerance: Tolerance
    published_runs: int | None = None
    readings: tuple[Reading, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def rounding(self) -> float:
        """Half of the last digit that the study printed in the table."""
        texts = [f"{value:.12g}" for row in self.published for value in row if value is not None]
        digits = max((len(text.partition(".")[2]) for text in texts), default=0)
        return float(0.5 * 10.0**-digits)


@dataclass(frozen=True)
class Mark:
    """What the text of a study says about a figure: a place on one of its axes, and a few words."""

    text: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class FigureSpec:
    """A figure of the study: one curve per series choice against a numeric axis.

    `published` = (table, formula) draws hollow markers that follow from the study's own table.
    `against` = (operation, selector) shows each point's paired difference to the choice that the
    selector names, for example `("relative", "policy:original")`; the metric is then compared.
    `withheld` marks a figure whose results are not known here: the simulation predicts it.
    `extra` figures show a table of this reproduction and add no rows of their own.
    `panels` gives each choice of so many first axes of `series` a panel of its own, in rows by the
    first of several; with `dodge` the points of a place stand beside each other there.
    `marks` and `said` are what the study's text says about the figure; `points` are values that
    the text gives, by curve and place.
    """

    id: str
    title: str
    x: str
    series: tuple[str, ...]
    fixed: tuple[str, ...]
    metric: str
    unit: str
    y_label: str
    digits: int
    published: tuple[str, str] | None
    against: tuple[str, str] | None
    withheld: bool
    extra: bool
    kind: str
    note: str
    from_zero: bool
    panels: int
    dodge: bool = False
    marks: tuple[Mark, ...] = ()
    said: str = ""
    points: tuple[Mapping[str, Any], ...] = ()
