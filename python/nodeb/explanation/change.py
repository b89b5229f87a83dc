"""A change of a scenario, with the time on the path that it targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodeb.explanation.on_path import OnPath
from nodeb.explanation.tables import Data

if TYPE_CHECKING:
    from nodeb.explanation.causes import Explanation

__all__ = ["Change"]


def _always(_found: Explanation) -> bool:
    return True


@dataclass(frozen=True)
class Change:
    """A change of a scenario that removes or reduces causes of a transfer's time."""

    name: str
    causes: tuple[str, ...]
    """Targeted causes of waiting; empty if the change targets steps or places of the path."""
    on_path: OnPath
    """Function that returns the time on the path that the change targets, by cause."""
    apply: Callable[[Data, int], bool]
    """Changes a scenario's data in place; returns true if there was anything to change.

    The second argument is the index of the phone whose transfer is explained.
    """
    is_offered: Callable[[Explanation], bool] = _always
    """Returns true if the problem that the change removes has occurred in some replication.

    The default always returns true, for changes whose need is clear from scenario and path.
    """
