"""Stages: what a study does beside its cases, such as a link that is simulated by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeb.base.arguments import as_texts
from nodeb.base.functions import ask
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
    """A picture with the study's number of it, what it shows, the same in words, and a note."""

    id: str
    title: str
    figure: Figure
    spoken: str
    note: str


@dataclass(frozen=True)
class Stage:
    """Something that a study does beside its cases."""

    function: Callable[[StageContext], Any]
    first: bool
    """Whether it comes before the scenarios; else after the items of a whole study."""
    leaves: Sequence[str] = ()
    """Files and folders of results that it writes; they go when the study is run again."""
    keeps: Sequence[str] = ()
    """Those that it writes for the next run to go on with."""

    def __post_init__(self) -> None:
        as_texts(self.leaves, "the `leaves` of a stage", '["more.csv"]')
        as_texts(self.keeps, "the `keeps` of a stage", '["link"]')

    def run(self, at: StageContext) -> None:
        """Does it.

        Raises:
            InputError: the function makes a mistake, or leaves facts that are no estimates.
        """
        what = f"stage `{self.function.__name__}`"
        ask(self.function, what, "a function of one argument, `at`", lambda found: True, at)
        for name, found in at.facts.items():
            if not isinstance(found, Estimate):
                raise InputError(
                    f"{what} leaves the fact `{name}` as {found!r}; expected an Estimate, such as "
                    "`nodeb.stats.calculated(3)`"
                )


class StageContext:
    """What a stage is given, and what it leaves: `facts`, `given` and `pictures`."""

    def __init__(self, campaign: Campaign, out: Path, show: Callable[[str], None]) -> None:
        self.campaign = campaign
        """Measures cases."""
        self.out = out
        """The study's folder of results."""
        self.show = show
        """Told what is being done."""
        self.facts = campaign.facts
        """What it finds, by name: `study.fact(name)` is what claims are judged by."""
        self.given = campaign.settings.given
        """What scenario functions with an argument `given` are given, such as fitted models."""
        self.pictures: list[Picture] = []
        """What the page shows beside the figures."""

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return self.campaign.seed

    @property
    def quick(self) -> bool:
        """Whether it is the short version of the study."""
        return self.campaign.quick

    @property
    def jobs(self) -> Jobs:
        """Threads, or who simulates."""
        return self.campaign.jobs

    def add(self, name: str, picture: Picture) -> None:
        """Shows a picture on the page, and writes it to `figures` as NAME.png and NAME.svg."""
        from nodeb.plot.source import save  # matplotlib is slow to import

        for suffix in ("png", "svg"):
            save(picture.figure, self.out / "figures" / f"{name}.{suffix}")
        self.pictures.append(picture)


def to_csv(facts: Mapping[str, Estimate]) -> str:
    """The text of `facts.csv`: name, value and 95 % interval, empty where there is none."""
    rows = (
        (name, found.value, *((found.low, found.high) if found.runs > 1 else ("", "")))
        for name, found in facts.items()
    )
    return csv_text(("fact", "value", "low", "high"), rows)
