"""Targets of the outer loops of link adaptation that first transmissions missed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nodeb.answer.numbers import number, shown
from nodeb.results.group import Group
from nodeb.stats import mean_interval

if TYPE_CHECKING:
    from nodeb.results.result import Result

__all__ = ["missed_targets"]

LOOPS = (
    ("phones", "downlink", "radio.hsdpa.link_adaptation.cqi.outer_loop"),
    ("phones", "downlink", "radio.lte.cqi.outer_loop"),
    ("uplinks", "uplink", "radio.lte.uplink.scheduled.outer_loop"),
)

TOLERANCE = 1.1
"""Failures, relative to the target, up to which a target counts as met: a loop meets its target on
average over a long time, and begins a run without a correction."""


def missed_targets(result: Result) -> Iterator[str]:
    """Yields a sentence for each outer loop whose first transmissions failed above its target."""
    if not any(table in result.tables for table, _, _ in LOOPS):
        return
    scenario, _ = result.scenario.resolved().without_recordings()
    for table, direction, path in LOOPS:
        loop = _at(scenario, path)
        if loop is None or table not in result.tables:
            continue
        target = float(loop["target_bler"])
        found = _share_above(result, table, target)
        if found is not None:
            yield (
                f"First transmissions in the {direction} failed at a rate of {found}, above the "
                f"outer loop's target of {number(target, '1', percent=True)}: its correction may "
                f"need a larger {path}.limit_db than {loop['limit_db']:g}, or more time than the "
                "run had."
            )


def _at(data: Any, path: str) -> dict[str, Any] | None:
    for key in path.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else None


def _share_above(result: Result, table: str, target: float) -> str | None:
    """Returns the mean share of failures with its interval if it is above a target, else `None`.

    With one replication, the interval of independent failures decides; it is too short, because
    failures follow the channel.
    """
    group = Group(result.tables)
    shares = group.mean(table, group.column(table, "first_bler"))
    shares = shares[np.isfinite(shares)]
    if not len(shares):
        return None
    found = mean_interval(shares).within(0.0, 1.0)
    low = found.low
    if len(shares) < 2 and found.mean > 0:
        blocks = result.tables[table]["first_failures"].sum() / found.mean
        low = found.mean - 1.96 * math.sqrt(found.mean * (1.0 - found.mean) / blocks)
    if found.mean <= TOLERANCE * target or not low > target:
        return None
    return shown(found.mean, found.low, found.high, "1", percent=True).with_level
