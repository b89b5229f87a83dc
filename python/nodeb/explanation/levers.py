"""What would help most, from the path alone: the change that is aimed at most of its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodeb.errors import InputError, ScenarioError
from nodeb.explanation.changes import CHANGES, Change
from nodeb.inputs.scenario import Scenario

if TYPE_CHECKING:
    from nodeb.explanation.causes import Explanation

__all__ = ["Lever", "changed", "levers"]


@dataclass(frozen=True)
class Lever:
    """A change that a scenario allows, and the time on the path that it is aimed at."""

    name: str
    path_s: float
    """That time, s, a mean over the replications: no bound of what the change wins."""
    causes: tuple[str, ...]
    """The causes that it is aimed at; none where it is aimed at steps or places."""


def levers(found: Explanation) -> list[Lever]:
    """Returns the changes that are aimed at any time on the path, the most time first."""
    if found.what:
        return []  # a real connection: nothing can be changed and had again
    aimed = [(change, change.on_path(found)) for change in CHANGES]
    return sorted(
        (
            Lever(change.name, path_s, change.causes)
            for change, path_s in aimed
            if path_s > 0 and changed(found, change) is not None
        ),
        key=lambda one: -one.path_s,
    )


def changed(found: Explanation, change: Change) -> Scenario | None:
    """Returns the scenario with a change, or `None` if it has nothing to change or may not."""
    data = found.scenario.to_dict()
    if not change.is_offered(found) or not change.apply(data, found.user):
        return None
    try:
        return type(found.scenario).from_dict(data).planned(len(found.paths))
    except (InputError, ScenarioError):
        return None
