"""Random readings of what a study leaves open: does any of them give a result that it prints?

A study with a table `search` has one: `readings`, `seed` and `runs`, how many there are, from which
seed, and replications of each; `axes`, of which each reading has a choice at random; `at`, choices
that all have; `numbers`, paths of the scenario with what is drawn for each, evenly or by its
logarithm, from a range or among some values; `series`, the variants; and `result`, what is looked
for: megabytes that all but the last variant deliver, and the share of their mean of the last one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodeb.reproduce import link_stage
from nodeb.reproduce.campaign import Campaign
from nodeb.reproduce.link_stage import Facts
from nodeb.reproduce.output import write
from nodeb.reproduce.specs import Axis, Choice, Selection
from nodeb.reproduce.study import Study
from nodeb.storage.files import csv_text

if TYPE_CHECKING:
    from nodeb.study.stage import Picture

AXIS = "drawn"
FILE = "search.csv"
SIGNIFICANT = 3


@dataclass(frozen=True)
class Reading:
    """A reading and what the variants deliver under it.

    Attributes:
        selection: its choices, with that of the drawn numbers last.
        delivered: megabytes by variant, the mean of its replications.
    """

    selection: Selection
    delivered: tuple[float, ...]

    @property
    def share(self) -> float:
        """What the last variant delivers of the mean of the others."""
        return self.delivered[-1] / float(np.mean(self.delivered[:-1]))

    def sound(self, result: Mapping[str, Any]) -> bool:
        """Whether all variants but the last deliver what is looked for."""
        low, high = result["others_mb"]
        return all(low <= one <= high for one in self.delivered[:-1])

    def gives(self, result: Mapping[str, Any]) -> bool:
        """Whether it gives the result."""
        low, high = result["share"]
        return self.sound(result) and low <= self.share <= high


def drawn(study: Study, readings: int) -> Study:
    """The study with an axis `drawn` of so many random readings of its numbers.

    The n-th reading does not depend on how many there are.
    """
    spec = study.search
    effort = {"runs": spec["runs"], "max_runs": spec["runs"]}
    choices = {}
    for number in range(1, readings + 1):
        source = random.Random(f"{spec['seed']} {AXIS} {number}")
        changes = {path: _number(law, source) for path, law in spec["numbers"].items()}
        key = str(number)
        choices[key] = Choice(AXIS, key, key, f"reading {key}", set=changes, effort=effort)
    axis = Axis(AXIS, "Random reading", choices)
    return study.with_axis(axis)


def _number(law: Mapping[str, Any], source: random.Random) -> Any:
    """A value of one of the laws of the table `numbers`."""
    if "among" in law:
        return source.choice(law["among"])
    low, high = float(law["from"]), float(law["to"])
    if law.get("whole", False):
        return source.randint(int(low), int(high))
    value = source.uniform(low, high)
    if law.get("log", False):
        value = math.exp(source.uniform(math.log(low), math.log(high)))
    shown = f"{value:.{SIGNIFICANT}g}"
    return f"{shown} {law['unit']}" if "unit" in law else float(shown)


def run(campaign: Campaign, out: Path) -> tuple[Facts, list[Picture]]:
    """Try the readings, write `search.csv`, and say how many give the result.

    Facts: `search_readings`, those in which the other variants deliver what the study says;
    `search_given`, those of them that give the result; `search_least_share`, the least share of
    the last variant among them, in per cent.
    """
    study = campaign.study
    count = (study.quick if campaign.quick else study.search)["readings"]
    wide = Campaign(
        drawn(study, count),
        campaign.simulator,
        seed=campaign.seed,
        jobs=campaign.jobs,
        tick=campaign.tick,
        kept=campaign.kept,
    )
    readings, result = _readings(wide), study.search["result"]
    write(out / FILE, _csv(study, readings))
    sound = [one for one in readings if one.sound(result)]
    found = {
        "search_readings": len(sound),
        "search_given": sum(one.gives(result) for one in sound),
        "search_least_share": 100 * min((one.share for one in sound), default=math.nan),
    }
    from nodeb.reproduce import search_picture  # matplotlib is slow to import

    facts = {name: link_stage.calculated(value) for name, value in found.items()}
    return facts, [search_picture.draw(study, readings, out / "figures")]


def _readings(campaign: Campaign) -> list[Reading]:
    study, spec = campaign.study, campaign.study.search
    (fixed,) = study.select(spec["at"])
    variants = study.choices(spec["series"])
    chosen: list[Selection] = []
    for number in study.choices(AXIS):
        source = random.Random(f"{spec['seed']} axes {number.key}")
        axes = (source.choice(study.choices(name)) for name in spec["axes"])
        chosen.append((*fixed, *axes, number))
    campaign.measure((*one, variant) for one in chosen for variant in variants)
    return [Reading(one, _delivered(campaign, one, variants)) for one in chosen]


def _delivered(
    campaign: Campaign, reading: Selection, variants: Sequence[Choice]
) -> tuple[float, ...]:
    logs = (campaign.log((*reading, variant)).stacked() for variant in variants)
    return tuple(float(log["delivered_bytes"].sum(axis=1).mean()) / 1e6 for log in logs)


def _csv(study: Study, readings: Sequence[Reading]) -> str:
    """A row for each reading: its choices, its numbers, and megabytes by variant."""
    spec = study.search
    variants = [f"{one.key}_mb" for one in study.choices(spec["series"])]
    columns = [AXIS, *_axes(spec), *spec["numbers"], *variants, "share"]
    return csv_text(columns, (_row(spec, one) for one in readings))


def _row(spec: Mapping[str, Any], reading: Reading) -> list[object]:
    by_axis = {choice.axis: choice for choice in reading.selection}
    number = by_axis[AXIS]
    chosen = [by_axis[axis].key for axis in _axes(spec)]
    delivered = [f"{one:.4f}" for one in reading.delivered]
    return [number.key, *chosen, *number.set.values(), *delivered, f"{reading.share:.4f}"]


def _axes(spec: Mapping[str, Any]) -> list[str]:
    """Names of the axes of which each reading has a choice."""
    return [selector.partition(":")[0] for selector in spec["axes"]]
