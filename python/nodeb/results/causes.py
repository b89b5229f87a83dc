"""Causes of a transfer's duration as ranked bars."""

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


def cause_bars(found: Explanation, head: str = "", small: float = SMALL) -> Bars:
    return Bars.of_core(json.loads(found.core.bars(head, small)))
