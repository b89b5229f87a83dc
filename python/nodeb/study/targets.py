"""Targets of a reproduction: largest deviations of cells, and claims that must hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any

from nodeb.base.arguments import as_number, as_texts
from nodeb.errors import InputError, nearest
from nodeb.study.cell import Cell
from nodeb.study.verdicts import Verdict

KINDS = ("each", "each_percent", "least", "claims")


@dataclass(frozen=True)
class Target:
    """A target of the reproduction: a limit for cells, or claims that must hold."""

    id: str
    text: str
    items: Sequence[str] = ()
    rows: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    each: float | None = None
    each_percent: float | None = None
    mean: float = float("inf")
    least: float | None = None
    claims: Sequence[str] | None = None
    unit: str = ""


def read(text: Mapping[str, Any]) -> Target:
    known = [one.name for one in fields(Target)]
    if not isinstance(text, Mapping):
        raise InputError(f"a target is {text!r}; expected a table")
    who = f"target `{text['id']}`" if "id" in text else "a target"
    for name in text:
        if name not in known:
            raise InputError(f"{who}: unknown key `{name}`{nearest(name, known)}")
    for name in ("id", "text"):
        if name not in text:
            raise InputError(f"{who} has no `{name}`")
    if sum(name in text for name in KINDS) != 1:
        raise InputError(f"{who} needs exactly one of {', '.join(f'`{name}`' for name in KINDS)}")
    for name in ("id", "text", "unit"):
        if not isinstance(text.get(name, ""), str):
            raise InputError(f"{who}: `{name}` is {text[name]!r}; expected a text")
    for name in ("items", "rows", "columns", "claims"):
        as_texts(text.get(name, ()), f"{who}: `{name}`", '["Table 1"]')
    for name in ("each", "each_percent", "mean", "least"):
        as_number(text.get(name, 0), f"{who}: `{name}`")
    return Target(**text)


def read_all(texts: Sequence[Mapping[str, Any]]) -> list[Target]:
    found: dict[str, Target] = {}
    for text in texts:
        one = read(text)
        if one.id in found:
            raise InputError(f"two targets are named `{one.id}`")
        found[one.id] = one
    return list(found.values())


@dataclass(frozen=True)
class Checked:
    """A target and its result."""

    id: str
    text: str
    met: bool | None
    result: str
    measured: bool = True

    @property
    def state(self) -> str:
        """State of the target: `met`, `missed`, `undecided` or `not measured`."""
        if self.met is None:
            return "undecided" if self.measured else "not measured"
        return "met" if self.met else "missed"


def check(target: Target, cells: Iterable[Cell], verdicts: Iterable[Verdict]) -> Checked:
    if target.claims is not None:
        found = _claims(target.claims, {verdict.id: verdict for verdict in verdicts})
    else:
        about = [cell for cell in cells if _chosen(target, cell)]
        found = _deviations(target, about) if target.least is None else _least(target, about)
    if found is None:
        return Checked(target.id, target.text, None, "not measured", measured=False)
    return Checked(target.id, target.text, *found)


def _chosen(target: Target, cell: Cell) -> bool:
    return (
        cell.item in target.items
        and matches(cell.row, target.rows)
        and matches(cell.column, target.columns)
    )


def matches(label: str, patterns: Sequence[str] | None) -> bool:
    return patterns is None or any(fnmatchcase(label, pattern) for pattern in patterns)


Found = tuple[bool | None, str] | None
"""Whether a target was met, with the measured values in words; None if not measured."""


def _deviations(target: Target, about: Sequence[Cell]) -> Found:
    """Returns whether the deviations of cells from published values are within the target's
    limits."""
    chosen = [cell for cell in about if cell.published is not None]
    if {cell.item for cell in chosen} != set(target.items):
        return None
    percent = target.each is None
    limit = float((target.each_percent if percent else target.each) or 0)
    unit = "%" if percent else target.unit
    errors = [_error(cell, percent) for cell in chosen]
    worst, cell = max(zip(errors, chosen, strict=True), key=lambda pair: pair[0])
    mean = sum(errors) / len(errors)
    result = (
        f"largest deviation {worst:.2f} {unit} ({cell.item}: {cell.row}, {cell.column}); "
        f"mean {mean:.2f} {unit}; {sum(e <= limit for e in errors)} of {len(errors)} cells within"
        if len(errors) > 1
        else f"measured {cell.measured.value:.2f} {cell.unit}, published {cell.published:g}"
    )
    return worst <= limit and mean <= target.mean, result


def _least(target: Target, about: Sequence[Cell]) -> Found:
    known = [cell for cell in about if cell.measured.known]
    if not known:
        return None
    best = min(known, key=lambda cell: cell.measured.value)
    met = best.measured.value <= float(target.least or 0)
    return met, f"{best.measured.value:.2f} {target.unit} ({best.column})"


def _error(cell: Cell, percent: bool) -> float:
    deviation = cell.deviation
    if deviation is None or cell.published is None:
        return float("inf")
    return abs(deviation) / (abs(cell.published) / 100 if percent else 1)


def _claims(names: Sequence[str], known: Mapping[str, Verdict]) -> Found:
    judged = [known[name] for name in names if name in known]
    if len(judged) < len(names):
        return None
    against = [text for verdict in judged for text in verdict.against]
    evidence = "; ".join(against or (verdict.evidence for verdict in judged))
    judgements = {verdict.judgement for verdict in judged}
    met = False if "contradicted" in judgements else None if "undecided" in judgements else True
    return met, evidence
