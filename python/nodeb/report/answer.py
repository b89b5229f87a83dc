"""An answer as HTML: the head of a page, and what a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nodeb.answer.answer import Answer, Bar, Bars, Rows
from nodeb.answer.numbers import Shown
from nodeb.answer.words import sentence
from nodeb.report.render import render

__all__ = ["content", "fragment"]


def fragment(answer: Answer) -> str:
    """The answer as a notebook shows it: scoped styles, no script."""
    return render("notebook.html", {"answer": content(answer)})


def content(answer: Answer) -> dict[str, Any]:
    """The answer as the templates take it."""
    return {
        "command": answer.command,
        "subject": answer.subject,
        # Without a subject a headline begins with the name of a scenario, which stays as it is.
        "headline": sentence(answer.headline) if answer.subject else answer.headline,
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
        "everything": [_picture(one) for one in answer.everything],
    }


def _picture(one: Bars | Rows | None) -> dict[str, Any] | None:
    if one is None:
        return None
    if isinstance(one, Bars):
        return {"kind": "bars", "title": one.title, "head": one.head, "bars": _bars(one.bars)}
    rows = [[_cell(cell) for cell in row] for row in one.rows]
    return {"kind": "rows", "title": one.title, "head": one.head, "rows": rows}


def _cell(cell: str | Shown) -> str:
    return cell.value if isinstance(cell, Shown) else cell


def _bars(bars: Sequence[Bar]) -> list[dict[str, Any]]:
    """Bars with their places in per cent of the width; negative ones end at a common zero."""
    left = max([0.0, *(-one.size for one in bars)])
    right = max([0.0, *(one.size for one in bars)])
    whole = (left + right) or 1.0
    zero = 100 * left / whole
    return [
        {
            "name": one.name,
            "value": one.value,
            "note": one.note,
            "interval": one.interval,
            "paint": one.paint,
            "left": zero + min(0.0, 100 * one.size / whole),
            "width": 100 * abs(one.size) / whole,
            "zero": zero if left else None,
        }
        for one in bars
    ]
