"""Causes of a transfer's duration: as ranked bars, and the largest ones in a sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nodeb.answer.answer import Bars

if TYPE_CHECKING:
    from nodeb.explanation import Explanation

SMALL = 0.05
"""Share of a transfer's time below which a cause may have no bar of its own."""


def cause_name(cause: str) -> str:
    return cause.removeprefix("window: ")


def main_causes(found: Explanation, *, exact: bool = False) -> list[str]:
    """Returns a sentence with the largest causes: as many as make up half of a transfer's time."""
    return [text] if (text := found.core.main_causes(exact)) else []


def cause_bars(found: Explanation, head: str = "", small: float = SMALL) -> Bars:
    return Bars.of_core(json.loads(found.core.bars(head, small)))
