"""Stages: parts of a study other than cases, such as a separate simulation of a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeb.base.arguments import as_texts
from nodeb.base.functions import call_checked
from nodeb.errors import InputError
from nodeb.replication.pool import Jobs
from nodeb.stats import Estimate
from nodeb.storage.files import csv_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nodeb.study.campaign import Campaign

__all__ = ["Picture", "Stage", "StageContext"]


@dataclass(frozen=True)
class Picture:
    """A picture made by a stage: number in the paper, title, description in words, and a note."""

    id: str
    title: str
    figure: Figure
    spoken: str
    note: str


@dataclass(frozen=True)
class Stage:
    """A part of a study that is not a case: a function, when it runs, and the files it writes."""

    function: Callable[[StageContext], Any]
    first: bool
    """True if the stage runs before the scenarios; else it runs after a complete study's items."""
    leaves: Sequence[str] = ()
    """Files and folders of results; a new run of the study deletes or replaces them."""
    keeps: Sequence[str] = ()
    """Files and folders that the next run continues from."""

    def __post_init__(self) -> None:
        as_texts(self.leaves, "the `leaves` of a stage", '["more.csv"]')
        as_texts(self.keeps, "the `keeps` of a stage", '["link"]')

    def run(self, at: StageContext) -> None:
        """Runs the function of the stage.

        Raises:
            InputError: the function fails, or sets facts that are not estimates.
        """
        what = f"stage `{self.function.__name__}`"
        call_checked(
            self.function, what, "a function of one argument, `at`", lambda found: True, at
        )
        for name, found in at.facts.items():
            if not isinstance(found, Estimate):
                raise InputError(
                    f"{what} sets the fact `{name}` to {found!r}; expected an Estimate, such as "
                    "`nodeb.stats.calculated(3)`"
                )


class StageContext:
    """Input of a stage (`campaign`, `out`, `show`), and output (`facts`, `given`, `pictures`)."""

    def __init__(self, campaign: Campaign, out: Path, show: Callable[[str], None]) -> None:
        self.campaign = campaign
        """Campaign that measures cases."""
        self.out = out
        """Results folder of the study, or a temporary one if complete results are still in it."""
        self.show = show
        """Callback that shows the current activity."""
        self.facts = campaign.facts
        """Results of all stages so far, by name. Claims refer to them as `study.fact(name)`."""
        self.given = campaign.settings.given
        """Values for scenario functions with an argument `given`, such as fitted models."""
        self.pictures: list[Picture] = []
        """Additional pictures of the page."""

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return self.campaign.seed

    @property
    def quick(self) -> bool:
        """True in the short version of the study."""
        return self.campaign.quick

    @property
    def jobs(self) -> Jobs:
        """Number of threads that may simulate at a time, or the cluster that simulates."""
        return self.campaign.jobs

    def add(self, name: str, picture: Picture) -> None:
        """Adds a picture to the page, and writes it to `figures` as NAME.png and NAME.svg."""
        from nodeb.plot.source import save  # This imports matplotlib, which is slow.

        for suffix in ("png", "svg"):
            save(picture.figure, self.out / "figures" / f"{name}.{suffix}")
        self.pictures.append(picture)


def to_csv(facts: Mapping[str, Estimate]) -> str:
    """Returns the text of `facts.csv`: name, value and 95 % interval.

    The ends of the interval are empty for a fact from fewer than two replications.
    """
    rows = (
        (name, found.value, *((found.low, found.high) if found.runs > 1 else ("", "")))
        for name, found in facts.items()
    )
    return csv_text(("fact", "value", "low", "high"), rows)
