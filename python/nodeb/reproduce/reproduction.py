"""Reproduction of a study: measures its items one by one, judges claims and writes a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nodeb import studies
from nodeb.answer.answering import Answering
from nodeb.base.arguments import as_path, as_seed, as_texts
from nodeb.errors import InputError, nearest
from nodeb.replication.folder import CellFolder
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.results.provenance import origin
from nodeb.storage.files import csv_text, write
from nodeb.storage.folders import Owner
from nodeb.study import items as cells
from nodeb.study import verdicts
from nodeb.study.campaign import Campaign, Picture, StageContext
from nodeb.study.case import Settings
from nodeb.study.items import Cell, Cells, Figure, Table
from nodeb.study.study import Study
from nodeb.study.verdicts import Verdict

if TYPE_CHECKING:
    from nodeb.answer import Answer

Progress = Callable[[float, str], None]
DEFAULT_SEED = 1
RESULTS = ("cells.csv", "claims.csv", "facts.csv", "report.html", "figures")


@dataclass
class ReproduceOutcome(Answering):
    """Results of a reproduction so far, and the folder that they are in."""

    study: Study
    """The reproduced study."""
    items: list[str]
    """Requested tables and figures."""
    seed: int
    """Seed of all random streams."""
    quick: bool
    """True for the short version."""
    out: Path
    """Results folder."""
    measured: dict[str, Cells] = field(default_factory=dict)
    """The cells of each measured table and figure, by name."""
    pictures: list[Picture] = field(default_factory=list)
    """Pictures drawn by stages."""
    claims: list[Verdict] = field(default_factory=list)
    """Verdicts on all judged claims."""
    replications: int = 0
    """Number of replications used."""
    scenarios: int = 0
    """Number of distinct scenarios."""
    unfinished: list[str] = field(default_factory=list)
    """Sentences about downloads that did not complete."""
    wall_s: float = 0.0
    """Duration, s."""
    complete: bool = False
    """True if everything was measured; false if it was interrupted."""
    replaced: str | None = None
    """Results of another study or command in the folder that were replaced."""

    @property
    def report(self) -> Path:
        """Path of the report, an HTML page, in the results folder."""
        return self.out / "report.html"

    @property
    def cells(self) -> list[Cell]:
        """Every table cell and curve point, in the study's order."""
        measured = (self.measured.get(item, ()) for item in self.study.items())
        return [cell for item in measured for cell in item]

    @property
    def answer(self) -> Answer:
        """Answer that printing the outcome shows: how much of the published material agrees."""
        from nodeb.reproduce.page import answer

        return answer(self)


def run(
    study: Study | str | Path,
    out: Path | str,
    items: Sequence[str] | None = None,
    quick: bool = False,
    jobs: Jobs | None = None,
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
    *,
    force: bool = False,
) -> ReproduceOutcome:
    """Reproduces a study: all tables, figures and claims, or some of them.

    Writes `cells.csv`, `claims.csv`, `report.html` and `figures/` to `out`. `cells.csv` is written
    again after each item, so an interrupted run leaves its measured items. Replications are stored
    in `cells.sqlite`, so the next run continues from there and gives the same values.

    Args:
        study: one of `nodeb.reproduce.names()`, a file such as "my_study.py", or a
            `nodeb.study.Study`.
        out: results folder; created if necessary.
        items: tables and figures to measure, for example `["Table 12"]`; None for all.
        quick: few replications, for a first look and for tests.
        jobs: number of threads, None for one per processor; or a `concurrent.futures.Executor`.
            Results do not depend on `jobs`.
        seed: seed of all random streams.
        progress: called with the fraction done (0 to 1) and the current activity.
        force: replace results of another study or another command in the folder.

    Raises:
        InputError: study or item is unknown (the message suggests the most similar name), a
            number is invalid, or the study's program fails (the message names file and line).
        OutputError: the folder belongs to another owner, or cannot be written to.
        RunError: a simulation failed.
    """
    known = study if isinstance(study, Study) else studies.load(str(study))
    known.check()
    out, seed, chosen, workers = (
        as_path(out, "out"),
        as_seed(seed),
        choose(known, items),
        check_jobs(jobs),
    )
    about = {"seed": seed, "quick": quick, "items": chosen, **origin()}
    # Several studies may have the same name, so those outside the package are identified by file.
    file = known.file.resolve()
    owner = Owner("reproduction", known.name if file.parent == studies.HERE else str(file))
    results = [*RESULTS, *(name for stage in known.stages for name in stage.leaves)]
    keeps = [name for stage in known.stages for name in stage.keeps]
    with CellFolder(out, owner, about, results, keeps=keeps, force=force) as place:
        place.start()
        outcome = ReproduceOutcome(known, chosen, seed, quick, out, replaced=place.replaced)
        with studies.located(known.files()):
            _reproduce(outcome, place, items is None, workers, progress or (lambda *_: None))
        place.finish()
    return outcome


def choose(study: Study, items: Iterable[str] | None) -> list[str]:
    """Returns the items to measure, in the study's order; case and spaces are ignored.

    Raises:
        InputError: an item is unknown (the message suggests the most similar name), or none is
            given.
    """
    known = study.items()
    if items is None:
        return known
    wanted = set()
    for item in as_texts(items, "items", f'["{known[0]}"]'):
        if (name := study.named(item)) is None:
            raise InputError(f"{study.name} has no item `{item}`{nearest(item, known)}")
        wanted.add(name)
    if not wanted:
        raise InputError(f"no item was named (there is: {', '.join(known)})")
    return [item for item in known if item in wanted]


def _reproduce(
    outcome: ReproduceOutcome, place: CellFolder, whole: bool, jobs: Jobs, progress: Progress
) -> None:
    """Measures and publishes a study, or what was measured before an interruption."""
    started, study = time.monotonic(), outcome.study
    settings, bar = Settings(outcome.quick, study.warm_up_s(outcome.quick)), _Bar(progress)
    campaign = Campaign(
        study, place.store, seed=outcome.seed, jobs=jobs, settings=settings, tick=bar.tick
    )
    context = StageContext(campaign, place.path, bar.show)
    for stage in study.stages:
        if stage.first:
            stage.run(context)
    try:
        _measure(outcome, whole, context, bar)
        outcome.complete = True
    finally:
        outcome.replications, outcome.scenarios = campaign.replications, campaign.scenarios
        outcome.unfinished = campaign.unfinished()
        outcome.wall_s = time.monotonic() - started
        if outcome.measured:
            from nodeb.reproduce import figures, page  # These import matplotlib, which is slow.

            figures.save(outcome.measured.values(), place.path / "figures")
            write(outcome.report, page.html(outcome))
    progress(1.0, "done")


def _measure(outcome: ReproduceOutcome, whole: bool, context: StageContext, bar: _Bar) -> None:
    """Measures the tables and figures, then runs later stages, and judges claims."""
    study, campaign, out = outcome.study, context.campaign, context.out
    known: dict[str, Table | Figure] = {**study.tables, **study.figures}
    extra = [name for name, figure in study.figures.items() if figure.extra]
    items = [known[name] for name in [*outcome.items, *(extra if whole else [])]]
    bar.expected = campaign.cost(case for item in items for case in item.cases())
    for item in items:
        bar.show(item.id)
        campaign.measure(item.cases())
        outcome.measured[item.id] = item.measure(campaign)
        write(out / "cells.csv", cells.to_csv(study.name, outcome.cells))
    for stage in study.stages:
        if whole and not stage.first:
            bar.show(stage.function.__name__)
            stage.run(context)
    outcome.pictures = context.pictures
    if campaign.facts:
        rows = (
            (name, one.value, *((one.low, one.high) if one.runs > 1 else ("", "")))
            for name, one in campaign.facts.items()
        )
        write(out / "facts.csv", csv_text(("fact", "value", "low", "high"), rows))
    for claim in study.claims:
        if whole or (claim.items and set(claim.items) <= set(outcome.items)):
            bar.show(f"claim {claim.id}")
            outcome.claims.append(claim.judge(campaign))
    write(out / "claims.csv", verdicts.to_csv((study.name, one) for one in outcome.claims))


class _Bar:
    """Converts the cost of finished replications into the fraction that the progress bar shows."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._done, self._share, self._text = progress, 0.0, 0.0, ""
        self.expected = 0.0
        """Approximate cost of all replications; a precision may need more."""

    def show(self, text: str) -> None:
        self._text = text
        self._progress(self._share, text)

    def tick(self, cost: float) -> None:
        self._done += cost
        share = self._done / max(self.expected, self._done, 1e-9)
        self._share = max(self._share, 0.97 * share)
        self._progress(self._share, self._text)
