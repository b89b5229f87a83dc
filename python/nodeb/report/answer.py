"""An answer as HTML, for the head of a page and for notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nodeb.answer.answer import Answer, Bar, Bars, Rows
from nodeb.answer.numbers import Shown
from nodeb.answer.words import sentence
from nodeb.report.figures import Content
from nodeb.report.render import render

__all__ = ["content", "fragment"]


def fragment(answer: Answer) -> str:
    """Returns the answer as an HTML fragment for notebooks, with scoped styles and no script."""
    return render("notebook.html", {"answer": content(answer)})


def content(answer: Answer) -> Content:
    return {
        "command": answer.command,
        "subject": answer.subject,
        # A headline may begin with the name of a scenario, which must not be capitalized.
        "headline": sentence(answer.headline)
        if answer.subject or answer.headline.startswith(("the ", "half "))
        else answer.headline,
        "lead": answer.lead,
        "picture": _picture(answer.picture),
        "facts": [
            {
                "name": one.name,
                "value": one.shown.value,
                "interval": one.shown.interval,
                "mark": one.mark,
            }
            for one in answer.facts
        ],
        "table": _picture(answer.table),
        "after": _picture(answer.after),
        "marks": answer.marks,
        "notes": answer.notes,
        "next": [note.partition(": ") for note in answer.notes if ": nodeb " in note],
        "everything": [_picture(one) for one in answer.everything],
    }


def _picture(one: Bars | Rows | None) -> dict[str, Any] | None:
    if one is None:
        return None
    if isinstance(one, Bars):
        return {"kind": "bars", "title": one.title, "head": one.head, "bars": _bars(one.bars)}
    used = one.without_empty_columns()
    rows = [[_cell(cell) for cell in row] for row in used.rows]
    return {"kind": "rows", "title": one.title, "head": used.head, "rows": rows}


def _cell(cell: str | Shown) -> str:
    return cell.value if isinstance(cell, Shown) else cell


def _bars(bars: Sequence[Bar]) -> list[dict[str, Any]]:
    """Negative bars extend to the left of a common zero line."""
    reach = [(one.size, *one.ends, one.bound) for one in bars]
    known = [0.0, *(value for row in reach for value in row if math.isfinite(value))]
    left, whole = min(known), (max(known) - min(known)) or 1.0

    def place(value: float) -> float:
        return 100 * (value - left) / whole

    return [
        {
            "name": one.name,
            "value": one.value,
            "note": one.note,
            "interval": one.interval,
            "paint": one.paint,
            "why": one.why,
            "left": place(min(0.0, one.size)),
            "width": place(abs(one.size)) - place(0.0),
            "zero": place(0.0) if left < 0 else None,
            "ends": _whisker(*map(place, one.ends)),
            "bound": place(one.bound) if math.isfinite(one.bound) else None,
        }
        for one in bars
    ]


def _whisker(low: float, high: float) -> tuple[float, float] | None:
    """Returns left end and width of an interval, or `None` if the width is zero or unknown."""
    return (low, high - low) if high > low else None
