"""What is expected of a reproduction, checked: deviations of cells, and claims that must hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from nodeb.study.cell import Cell
from nodeb.study.verdicts import Verdict


@dataclass(frozen=True)
class Target:
    """One expectation and whether it was met.

    Attributes:
        id: name.
        text: the expectation in words.
        met: whether it was met; None when that is not known.
        result: what was found.
        measured: whether what it needs was measured; a claim may still be undecided.
    """

    id: str
    text: str
    met: bool | None
    result: str
    measured: bool = True

    @property
    def state(self) -> str:
        """`met`, `missed`, `undecided` or `not measured`."""
        if self.met is None:
            return "undecided" if self.measured else "not measured"
        return "met" if self.met else "missed"


def check(target: Mapping[str, Any], cells: Iterable[Cell], verdicts: Iterable[Verdict]) -> Target:
    """Check one target against the measured cells and the judged claims."""
    if "claims" in target:
        return _claims(target, {verdict.id: verdict for verdict in verdicts})
    about = [cell for cell in cells if _chosen(target, cell)]
    if "least" in target:
        return _least(target, [cell for cell in about if cell.measured.known])
    chosen = [cell for cell in about if cell.published is not None]
    if {cell.item for cell in chosen} != set(target["items"]):
        return Target(target["id"], target["text"], None, "not measured", measured=False)
    return _deviations(target, chosen)


def _chosen(target: Mapping[str, Any], cell: Cell) -> bool:
    return (
        cell.item in target["items"]
        and _matches(cell.row, target.get("rows"))
        and _matches(cell.column, target.get("columns"))
    )


def _matches(label: str, patterns: Sequence[str] | None) -> bool:
    return patterns is None or any(fnmatchcase(label, pattern) for pattern in patterns)


def _deviations(target: Mapping[str, Any], chosen: Sequence[Cell]) -> Target:
    percent = "each_percent" in target
    limit = float(target["each_percent"] if percent else target["each"])
    unit = "%" if percent else target["unit"]
    errors = [_error(cell, percent) for cell in chosen]
    worst, cell = max(zip(errors, chosen, strict=True), key=lambda pair: pair[0])
    mean = sum(errors) / len(errors)
    met = worst <= limit and mean <= target.get("mean", float("inf"))
    result = (
        f"largest deviation {worst:.2f} {unit} ({cell.item}: {cell.row}, {cell.column}); "
        f"mean {mean:.2f} {unit}; {sum(e <= limit for e in errors)} of {len(errors)} cells within"
        if len(errors) > 1
        else f"measured {cell.measured.value:.2f} {cell.unit}, published {cell.published:g}"
    )
    return Target(target["id"], target["text"], met, result)


def _least(target: Mapping[str, Any], chosen: Sequence[Cell]) -> Target:
    """The smallest of some values must be small enough."""
    if not chosen:
        return Target(target["id"], target["text"], None, "not measured", measured=False)
    best = min(chosen, key=lambda cell: cell.measured.value)
    met = best.measured.value <= float(target["least"])
    result = f"{best.measured.value:.2f} {target['unit']} ({best.column})"
    return Target(target["id"], target["text"], met, result)


def _error(cell: Cell, percent: bool) -> float:
    deviation = cell.deviation
    if deviation is None or cell.published is None:
        return float("inf")
    return abs(deviation) / (abs(cell.published) / 100 if percent else 1)


def _claims(target: Mapping[str, Any], known: Mapping[str, Verdict]) -> Target:
    wanted = [known.get(name) for name in target["claims"]]
    judged = [verdict for verdict in wanted if verdict is not None]
    if len(judged) < len(wanted):
        return Target(target["id"], target["text"], None, "not measured", measured=False)
    against = [text for verdict in judged for text in verdict.against]
    evidence = "; ".join(against or (verdict.evidence for verdict in judged))
    judgements = {verdict.judgement for verdict in judged}
    met = False if "contradicted" in judgements else None if "undecided" in judgements else True
    return Target(target["id"], target["text"], met, evidence)
