"""A study as data: axes, tables, figures, claims and targets, read from the files of its folder.

An *axis* is something that the study varies (channel, file size, block error rate, ...) or
tabulates (which quantity). Each of its *choices* may change the scenario, name a metric, or be
derived from two others. A table is a product of axes in rows and columns; its cells are then fully
described by data.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import product
from typing import Any

from nodeb import studies
from nodeb.errors import InputError
from nodeb.reproduce.specs import (
    Axis,
    Choice,
    Effort,
    FigureSpec,
    Group,
    Mark,
    Reading,
    Selection,
    TableSpec,
    nearest,
)
from nodeb.study import predicted
from nodeb.study.cell import Tolerance
from nodeb.study.predicted import Predictions


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
    minutes: Mapping[str, float] = field(default_factory=dict)
    predictions: Predictions = field(default_factory=Predictions)

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
    old = {entry.name for entry in here.iterdir() if (entry / "study.toml").is_file()}
    return sorted(old | set(studies.names()))


def load(name: str) -> Study:
    """Read the data of a study.

    Args:
        name: one of `names()`.

    Raises:
        InputError: if there is no such study; the message names the nearest.
    """
    if name in studies.names():
        return studies.load(name)  # type: ignore[return-value]
    if name not in names():
        raise InputError(f"unknown study `{name}`; {nearest(name, names())}")
    return read(resources.files(__package__) / name)


def files(name: str) -> list[Traversable]:
    """The files that a study's data are in, by name."""
    if name in studies.names():
        return list(studies.load(name).files())
    entries = (resources.files(__package__) / name).iterdir()
    return sorted((one for one in entries if one.is_file()), key=lambda one: one.name)


def read(folder: Traversable) -> Study:
    """Read a study from its folder: `study.toml`, `published.toml`, `claims.toml`, its scenario.

    `predicted.csv` and `predicted.toml` need not be there.

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
        minutes=data.get("minutes", {}),
        predictions=predicted.read(folder),
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
        rows=tuple(entry.get("rows", ())),
        columns=tuple(entry.get("columns", ())),
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
        readings=tuple(_reading(one) for one in entry.get("readings", ())),
        groups=tuple(_group(one) for one in entry.get("groups", ())),
    )


def _reading(entry: Mapping[str, Any]) -> Reading:
    changes = {item: tuple(selectors) for item, selectors in entry.get("changes", {}).items()}
    return Reading(entry["label"], changes)


def _group(entry: Mapping[str, Any]) -> Group:
    rows, columns = (tuple(entry.get(side, ("*",))) for side in ("rows", "columns"))
    return Group(entry["label"], tuple(entry["items"]), rows, columns)


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
        panels=entry.get("panels", 0),
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
