"""Reproduction of a study: measures its items one by one, judges claims and writes a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from nodeb import studies
from nodeb.base.arguments import as_path, as_seed, as_texts
from nodeb.errors import InputError, nearest
from nodeb.replication.folder import CellFolder
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.reproduce import digest
from nodeb.reproduce.outcome import ReproduceOutcome
from nodeb.results.provenance import origin
from nodeb.storage.files import write
from nodeb.storage.folders import Owner
from nodeb.study import cell, predicted, stage, targets, verdicts
from nodeb.study.campaign import Campaign
from nodeb.study.case import Settings
from nodeb.study.items import Figure, Table
from nodeb.study.stage import StageContext
from nodeb.study.study import Study

Progress = Callable[[float, str], None]
DEFAULT_SEED = 1
RESULTS = (
    "cells.csv",
    "claims.csv",
    "predictions.csv",
    "facts.csv",
    "report.html",
    "figures",
    "digest.json",
)
REPORT_SHARE = 0.03  # This share of the progress bar is for writing the report.
STEP = 0.002  # The bar moves in steps of at least this share, because redrawing takes time.


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
    again after each item, so an interrupted run leaves its measured items; complete results of an
    earlier run are replaced only when the new ones are complete. Replications are cached in
    `cells/`, so the next run continues from there and gives the same values.

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
        InputError: study or item is unknown (the message suggests the most similar name), or a
            number is invalid.
        OutputError: the folder belongs to another owner, or cannot be written to.
        RunError: a simulation failed.
    """
    known = study if isinstance(study, Study) else studies.load(str(study))
    known.check()
    out, seed = as_path(out, "out"), as_seed(seed)
    chosen = choose(known, items)
    workers = check_jobs(jobs)
    about = {"seed": seed, "quick": quick, "items": chosen, **origin()}
    # Several studies may have the same name, so those outside the package are identified by file.
    own = known.file.resolve()
    whose = known.name if own.parent == studies.HERE else str(own)
    results = [*RESULTS, *(name for one in known.stages for name in one.leaves)]
    keeps = [name for one in known.stages for name in one.keeps]
    owner = Owner("reproduction", whose)
    with CellFolder(out, owner, about, results, keeps=keeps, force=force) as place:
        place.start()
        found = ReproduceOutcome(known, chosen, seed, quick, out, replaced=place.replaced)
        _reproduce(found, place, items is None, workers, _Bar(progress))
        place.finish()
    return found


def choose(study: Study, items: Iterable[str] | None) -> list[str]:
    """Returns the items to measure, in the study's order.

    Case and spaces in the given names are ignored.

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
    found: ReproduceOutcome, place: CellFolder, whole: bool, jobs: Jobs, bar: _Bar
) -> None:
    """Measures and publishes a study, or what was measured before an interruption."""
    started, study = time.monotonic(), found.study
    settings = Settings(found.quick, study.warm_up_s(found.quick))
    campaign = Campaign(
        study, place.store, seed=found.seed, jobs=jobs, settings=settings, tick=bar.tick
    )
    at = StageContext(campaign, place.path, bar.show_text)
    for one in study.stages:
        if one.first:
            one.run(at)
    try:
        _measure(found, whole, at, bar)
        found.complete = True
    finally:
        found.replications, found.scenarios = campaign.replications(), campaign.scenarios()
        found.unfinished = campaign.unfinished()
        expected, cells = study.texts.targets, found.cells
        found.targets = [targets.check(one, cells, found.claims) for one in expected]
        found.wall_s = time.monotonic() - started
        if found.measured:
            _publish(found, place.path)
            digest.save(found, place.path)
    bar.done()


def _measure(found: ReproduceOutcome, whole: bool, at: StageContext, bar: _Bar) -> None:
    """Measures the tables and figures, then runs later stages, and judges claims and predictions.

    The cells so far are written to `cells.csv` after each item, the other CSV files at the end.
    """
    study, campaign = found.study, at.campaign
    known: dict[str, Table | Figure] = {**study.tables, **study.figures}
    extra = [name for name, figure in study.figures.items() if figure.extra]
    items = [known[name] for name in [*found.items, *(extra if whole else [])]]
    bar.expect(campaign.cost(case for item in items for case in item.cases()))
    for item in items:
        bar.start(item.id)
        campaign.measure(item.cases())
        found.measured[item.id] = item.measure(campaign)
        write(at.out / "cells.csv", cell.to_csv(study.name, found.cells))
    for one in study.stages:
        if whole and not one.first:
            bar.start(one.function.__name__)
            one.run(at)
    found.pictures = at.pictures
    if at.facts:
        write(at.out / "facts.csv", stage.to_csv(at.facts))
    for claim in study.claims:
        if whole or (claim.items and set(claim.items) <= set(found.items)):
            bar.start(f"claim {claim.id}")
            found.claims.append(claim.judge(campaign))
    if compared := predicted.compare(study.predictions, found.cells):
        write(at.out / "predictions.csv", predicted.to_csv(compared))
    write(at.out / "claims.csv", verdicts.to_csv(study.name, found.claims))


class _Bar:
    """Converts the cost of finished replications into the fraction that the progress bar shows."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress or (lambda share, text: None)
        self._expected, self._done, self._share, self._shown = 1.0, 0.0, 0.0, -1.0
        self._text = ""

    def expect(self, cost: float) -> None:
        """Sets the approximate cost of all replications, which corresponds to the whole bar."""
        self._expected = max(cost, 1e-9)

    def show_text(self, text: str) -> None:
        """Shows what a stage is doing, without moving the bar."""
        self._progress(self._share, text)

    def start(self, text: str) -> None:
        """Shows the name of the item that is measured next."""
        self._text, self._shown = text, -1.0
        self._show()

    def tick(self, label: str, cost: float) -> None:
        """Adds the cost of finished replications to what the bar shows as done."""
        self._done += cost
        self._show()

    def done(self) -> None:
        """Reports 100 %, after everything is written."""
        self._progress(1.0, "done")

    def _show(self) -> None:
        # More replications than the minimum may be needed: the bar then slows down, but never goes
        # back.
        raw = self._done / self._expected
        share = (1 - REPORT_SHARE) * (raw if raw < 0.8 else 1 - 0.2 * 0.2 / (raw - 0.8 + 0.2))
        self._share = max(self._share, share)
        if self._share - self._shown >= STEP:
            self._shown = self._share
            self._progress(self._share, self._text)


def _publish(found: ReproduceOutcome, folder: Path) -> None:
    """Writes the figures as files, and the report."""
    # These modules import matplotlib, which is slow, so they are imported only here.
    from nodeb.reproduce import page, page_figures

    for name, content in page_figures.files(found.charts).items():
        write(folder / "figures" / name, content)
    write(folder / found.report.name, page.html(found))
