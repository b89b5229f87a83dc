"""A study as data: axes, tables, figures, claims and targets, read from the files of its folder.

An *axis* is something that the study varies (channel, file size, block error rate, ...) or
tabulates (which quantity). Each of its *choices* may change the scenario, name a metric, or be
derived from two others. A table is a product of axes in rows and columns; its cells are then fully
described by data.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import product
from typing import Any

from nodeb.errors import InputError

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
class Tolerance:
    """When a cell counts as near its published value: absolute in the cell's unit, or relative."""

    absolute: float | None = None
    relative: float | None = None

    def allowed(self, published: float) -> float | None:
        """Largest deviation that counts as near, in the unit of the cell."""
        if self.absolute is not None:
            return self.absolute
        return None if self.relative is None else self.relative * abs(published)


@dataclass(frozen=True)
class TableSpec:
    """A table of the study: axes in rows and columns, what is fixed, and the published values.

    `analytic` names a function of `nodeb.analytics` (then nothing is simulated). `published` holds
    one list per row; a missing value is NaN in the file and None here. `withheld` marks values
    that the study has but that are not known here: the simulation predicts them. `published_runs`
    says of how many runs a printed value is the mean, where the study tells.
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
    `panels` gives each choice of the first axis of `series` a panel of its own; with `dodge` the
    points of a place stand beside each other there.
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
    panels: bool
    dodge: bool = False
    marks: tuple[Mark, ...] = ()
    said: str = ""
    points: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Study:
    """Everything that is known about one study before anything is simulated."""

    name: str
    title: str
    subtitle: str
    reference: str
    question: str
    summary: tuple[str, ...]
    limits: tuple[str, ...]
    assumptions: tuple[Mapping[str, str], ...]
    scenario: Mapping[str, Any]
    scenario_text: str
    axes: Mapping[str, Axis]
    tables: Mapping[str, TableSpec]
    figures: Mapping[str, FigureSpec]
    claims: tuple[Mapping[str, Any], ...]
    targets: tuple[Mapping[str, Any], ...]
    headline: Mapping[str, Any]
    effort: Effort
    warm_up: float
    endless: bool
    quick: Mapping[str, Any]
    link: Mapping[str, Any] = field(default_factory=dict)
    traces: Mapping[str, Any] = field(default_factory=dict)
    session: Mapping[str, Any] = field(default_factory=dict)

    def items(self) -> list[str]:
        """Names of the tables and figures, in the study's order."""
        return [*self.tables, *(name for name, figure in self.figures.items() if not figure.extra)]

    def warm_up_s(self, quick: bool) -> float:
        """Beginning of each replication that does not count, s."""
        return float((self.quick if quick else {}).get("warm_up_s", self.warm_up))

    def axis(self, name: str) -> Axis:
        """The axis of that name."""
        try:
            return self.axes[name]
        except KeyError:
            raise InputError(
                f"{self.name}: unknown axis `{name}`; {nearest(name, self.axes)}"
            ) from None

    def choices(self, selector: str) -> list[Choice]:
        """Choices of a selector: `"bler"` for the whole axis, `"bler:1,10"` for some of it.

        Raises:
            InputError: if the axis or one of the choices is unknown.
        """
        name, _, keys = selector.partition(":")
        axis = self.axis(name.strip())
        if not keys:
            return list(axis.choices.values())
        return [self.choice(axis, key.strip()) for key in keys.split(",")]

    def choice(self, axis: Axis, key: str) -> Choice:
        """One choice of an axis.

        Raises:
            InputError: if it is unknown.
        """
        try:
            return axis.choices[key]
        except KeyError:
            raise InputError(
                f"{self.name}: axis `{axis.name}` has no choice `{key}`; "
                f"{nearest(key, axis.choices)}"
            ) from None

    def select(self, selectors: Sequence[str]) -> list[Selection]:
        """The product of several selectors, the last one running fastest."""
        return list(product(*(self.choices(selector) for selector in selectors)))

    def ordered(self, selection: Iterable[Choice]) -> Selection:
        """The same choices in the order of the study's axes, in which their changes apply.

        Raises:
            InputError: if an axis occurs twice.
        """
        by_axis = {name: place for place, name in enumerate(self.axes)}
        ordered = tuple(sorted(selection, key=lambda choice: by_axis[choice.axis]))
        names = [choice.axis for choice in ordered]
        if len(set(names)) != len(names):
            raise InputError(f"{self.name}: an axis occurs twice in {', '.join(names)}")
        return ordered


def names() -> list[str]:
    """Names of the studies that can be reproduced."""
    here = resources.files(__package__)
    return sorted(entry.name for entry in here.iterdir() if (entry / "study.toml").is_file())


def load(name: str) -> Study:
    """Read the data of a study.

    Args:
        name: one of `names()`.

    Raises:
        InputError: if there is no such study; the message names the nearest.
    """
    if name not in names():
        raise InputError(f"unknown study `{name}`; {nearest(name, names())}")
    return read(resources.files(__package__) / name)


def read(folder: Traversable) -> Study:
    """Read a study from its folder: `study.toml`, `published.toml`, `claims.toml` and its scenario.

    Raises:
        InputError: if the data contradict themselves.
    """
    data = _toml(folder / "study.toml")
    published = _toml(folder / "published.toml")
    claims = _toml(folder / "claims.toml")
    scenario_text = (folder / data["scenario"]).read_text(encoding="utf-8")
    study = Study(
        name=data["name"],
        title=data["title"],
        subtitle=data["subtitle"],
        reference=data["reference"],
        question=data["question"],
        summary=tuple(data.get("summary", ())),
        limits=tuple(data.get("limits", ())),
        assumptions=tuple(data.get("assumptions", ())),
        scenario=tomllib.loads(scenario_text),
        scenario_text=scenario_text,
        axes={name: _axis(name, entry) for name, entry in data["axes"].items()},
        tables={t["id"]: _table(t, published.get(t["id"])) for t in data.get("tables", ())},
        figures={f["id"]: _figure(f, published.get(f["id"], {})) for f in data.get("figures", ())},
        claims=tuple(claims.get("claims", ())),
        targets=tuple(data.get("targets", ())),
        headline=data["headline"],
        effort=Effort(**data.get("effort", {})),
        warm_up=data.get("warm_up_s", 0.0),
        endless=data.get("endless", False),
        quick=data.get("quick", {}),
        link=data.get("link", {}),
        traces=data.get("traces", {}),
        session=data.get("session", {}),
    )
    _check(study)
    return study


def _toml(file: Traversable) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _axis(name: str, entry: Mapping[str, Any]) -> Axis:
    entries = entry["choices"]
    choices = {key: _choice(name, key, entries, entry.get("short", "")) for key in entries}
    return Axis(name=name, label=entry["label"], choices=choices)


def _choice(axis: str, key: str, entries: Mapping[str, Mapping[str, Any]], short: str) -> Choice:
    """A choice; `like` takes over what another one says, for example under another label."""
    fields = dict(entries[key])
    if like := fields.pop("like", None):
        fields = {**entries[like], **fields}
    derived = fields.pop("derived", None)
    fields.setdefault("label", key)
    fields.setdefault("context", f"{short} {fields['label']}".strip())
    return Choice(axis=axis, key=key, derived=tuple(derived) if derived else None, **fields)


def _table(entry: Mapping[str, Any], published: Mapping[str, Any] | None) -> TableSpec:
    known = published or {}
    values = tuple(
        tuple(None if value != value else float(value) for value in row)
        for row in known.get("values", ())
    )
    return TableSpec(
        id=entry["id"],
        title=entry["title"],
        rows=tuple(entry["rows"]),
        columns=tuple(entry["columns"]),
        fixed=tuple(entry.get("fixed", ())),
        metric=entry.get("metric"),
        unit=entry.get("unit", ""),
        digits=entry.get("digits", 1),
        analytic=entry.get("analytic"),
        scale=entry.get("scale", 1.0),
        published=values,
        withheld=bool(known.get("withheld", False)),
        note=entry.get("note", ""),
        tolerance=Tolerance(**entry.get("tolerance", {})),
        published_runs=entry.get("published_runs"),
    )


def _figure(entry: Mapping[str, Any], known: Mapping[str, Any]) -> FigureSpec:
    published, against = entry.get("published"), entry.get("against")
    return FigureSpec(
        id=entry["id"],
        title=entry["title"],
        x=entry["x"],
        series=tuple(entry["series"]),
        fixed=tuple(entry.get("fixed", ())),
        metric=entry["metric"],
        unit=entry["unit"],
        y_label=entry["y_label"],
        digits=entry.get("digits", 1),
        published=(published["table"], published["via"]) if published else None,
        against=(against["as"], against["to"]) if against else None,
        withheld=bool(known.get("withheld", False)),
        extra=entry.get("extra", False),
        kind=entry.get("kind", "lines"),
        note=entry.get("note", ""),
        from_zero=entry.get("from_zero", True),
        panels=entry.get("panels", False),
        dodge=entry.get("dodge", False),
        marks=tuple(Mark(**mark) for mark in known.get("marks", ())),
        said=known.get("said", ""),
        points=tuple(known.get("points", ())),
    )


def _check(study: Study) -> None:
    """Tables of published values must have the shape of their tables."""
    for table in study.tables.values():
        rows, columns = study.select(table.rows), study.select(table.columns)
        shape = [len(row) for row in table.published]
        if shape and shape != [len(columns)] * len(rows):
            raise InputError(
                f"{study.name}: {table.id} is {len(rows)} by {len(columns)}, but its published "
                f"values are rows of {shape}"
            )
