"""Changes of a scenario, ranked without simulation by the time on the path that they target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodeb.errors import InputError, ScenarioError
from nodeb.explanation.change import Change
from nodeb.explanation.changes import CHANGES
from nodeb.inputs.scenario import Scenario

if TYPE_CHECKING:
    from nodeb.explanation.causes import Explanation

__all__ = ["Lever", "changed", "levers"]


@dataclass(frozen=True)
class Lever:
    """A change that the scenario allows, and the time on the path that it targets."""

    name: str
    path_s: float
    """Targeted time, s, as a mean over the replications. The change may save more or less."""
    causes: tuple[str, ...]
    """Targeted causes of waiting; empty if the change targets steps or places of the path."""


def levers(found: Explanation) -> list[Lever]:
    """Returns the changes that the scenario allows and that target any time on the path.

    They are in order of decreasing time. Returns [] for a recorded transfer.
    """
    if found.what:
        return []  # A real connection cannot be repeated with a changed scenario.
    aimed = [(change, sum(change.on_path(found).values())) for change in CHANGES]
    return sorted(
        (
            Lever(change.name, path_s, change.causes)
            for change, path_s in aimed
            if path_s > 0 and changed(found, change) is not None
        ),
        key=lambda one: -one.path_s,
    )


def changed(found: Explanation, change: Change) -> Scenario | None:
    """Returns the changed scenario, or `None` if the change does not apply or makes it invalid."""
    data = found.scenario.to_dict()
    _, phone, _ = found.scenario.compiled().connections[found.user]
    if not change.is_offered(found) or not change.apply(data, phone):
        return None
    try:
        return type(found.scenario).from_dict(data).planned(len(found.paths))
    except (InputError, ScenarioError):
        return None
