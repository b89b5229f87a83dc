"""Answers of a comparison, from the core (`crates/answers/src/answer/compare.rs`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nodeb import _core
from nodeb.answer.answer import Answer, Bars
from nodeb.comparison.differences import Comparison, Difference


def answers(found: Comparison, causes: Sequence[Bars] = (), folder: str = "") -> list[Answer]:
    """The causes are included only if the main metric is better or worse."""
    said = map(Answer.of_core, _core.comparison_answers(found, folder))
    bars = [*causes, *[None] * len(found.tried)]
    return [replace(one, after=one.after and bars[at]) for at, one in enumerate(said)]


def shown_of(found: Comparison) -> list[list[tuple[Difference, str]]]:
    """Returns the differences in the table of each scenario but the baseline, with their signs."""
    each = zip(found.tried, _core.shown_differences(found), strict=True)
    return [[(tried.differences[place], sign) for place, sign in rows] for tried, rows in each]
