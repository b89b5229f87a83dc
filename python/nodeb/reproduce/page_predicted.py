"""Predictions on a page: predicted, published and measured values, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from nodeb.reproduce.shown import MARKS, Content, decimals, half_width, number
from nodeb.study.predicted import WORDS, Compared, Predictions, Statement, compare

if TYPE_CHECKING:
    from nodeb.study.cell import Cell
    from nodeb.study.verdicts import Verdict


def content(
    predictions: Predictions, cells: Sequence[Cell], verdicts: Iterable[Verdict]
) -> Content | None:
    """Returns the page's section of predictions."""
    compared = compare(predictions, cells)
    judged = {verdict.id: verdict for verdict in verdicts}
    statements = [_statement(one, judged) for one in predictions.statements]
    if not compared and not statements:
        return None
    return {
        "provenance": predictions.provenance,
        "rows": [_row(one) for one in compared],
        "statements": statements,
        "right": sum(one.grade == "near" for one in compared),
        "printed": sum(one.cell.published is not None for one in compared),
    }


def _row(one: Compared) -> Content:
    then, cell = one.predicted, one.cell
    now = cell.measured
    return {
        "place": f"{then.item}: {then.row}, {then.column} ({then.unit})",
        "predicted": number(then.value, cell.digits),
        "interval": ""
        if then.low is None or then.high is None
        else _interval(then.low, then.high, cell.digits),
        "published": "" if cell.published is None else number(cell.published, decimals(cell)),
        "measured": number(now.value, cell.digits) if now.known else "\N{EN DASH}",
        "half_width": half_width(now.half_width, cell.digits) if now.runs > 1 else "",
        "grade": one.grade,
        "verdict": f"{MARKS.get(one.grade, '')} {WORDS[one.grade]}".strip(),
    }


def _interval(low: float, high: float, digits: int) -> str:
    return f"[{number(low, digits)}, {number(high, digits)}]"


def _statement(one: Statement, judged: Mapping[str, Verdict]) -> Content:
    grade = {"right": "near", "partly": "off"}.get(one.verdict, "far")
    now = [
        f"{judged[name].text}: {judged[name].judgement}" for name in one.claims if name in judged
    ]
    return {
        "item": one.item,
        "predicted": one.predicted,
        "published": one.published,
        "now": now,
        "grade": grade,
        "verdict": f"{MARKS[grade]} {one.verdict}",
    }
