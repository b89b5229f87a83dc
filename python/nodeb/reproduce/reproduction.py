"""Reproduces a study: measures its items one by one and writes what is there after each."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeb import studies
from nodeb.errors import InputError
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.reproduce import cells as cells_module
from nodeb.reproduce import claims as claims_module
from nodeb.reproduce import digest, output, readings
from nodeb.reproduce import study as study_module
from nodeb.reproduce.campaign import Campaign, CoreSimulator, Simulator
from nodeb.reproduce.findings import Findings
from nodeb.reproduce.kept import Kept
from nodeb.reproduce.outcome import ReproduceOutcome, outcome
from nodeb.reproduce.output import write
from nodeb.reproduce.specs import Selection, TableSpec, nearest
from nodeb.reproduce.study import Study
from nodeb.results.provenance import made
from nodeb.study import cell as cell_module
from nodeb.study import predicted, verdicts
from nodeb.study import targets as targets_module
from nodeb.study.cell import Grid

Progress = Callable[[float, str], None]
DEFAULT_SEED = 1
REPORT_SHARE = 0.03  # of the progress bar
STEP = 0.002  # a bar that is redrawn for less only costs time


def run(
    name: str | Any,
    out: Path,
    items: Sequence[str] | None = None,
    quick: bool = False,
    jobs: Jobs | None = None,
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
    *,
    simulator: Simulator | None = None,
    force: bool = False,
) -> ReproduceOutcome:
    """Reproduce a study: every table, figure and claim, or some of them.

    Writes `cells.csv`, `claims.csv`, `report.html` and `figures/` to `out`. The first is written
    anew after each item, so an interrupted run leaves what it had measured. Replications are kept
    in `cells/`: the next run goes on from there, and comes to the same figures.

    Args:
        name: the study, one of `nodeb.reproduce.names()`.
        out: folder to write to; it is made if need be.
        items: tables and figures to do, for example `["Table 12"]`; None does everything.
        quick: few replications, for a first look and for tests.
        jobs: threads; None takes one per processor; or a `nodeb.Cluster` that simulates.
            Results do not depend on it.
        seed: seed of all random streams.
        progress: called with the share that is done (0 to 1) and what is being done.
        simulator: the simulation core; None takes `nodeb._core`.
        force: replace results of another study or another command in the folder.

    Raises:
        InputError: if study or item is unknown (the message names the nearest), or a number is
            impossible.
        OutputError: if the folder is not nodeb's or another's, or cannot be written to.
        RunError: if a simulation fails.
    """
    started = time.monotonic()
    from nodeb.study import Study as StudyProgram  # which imports this package

    if isinstance(name, str):
        program = name.endswith(".py") or name in studies.names()
        study: Any = studies.load(name) if program else study_module.load(name)
    else:
        study = name
    if isinstance(study, StudyProgram):
        from nodeb.reproduce import evaluation

        return evaluation.run(study, out, items, quick, jobs, seed, progress, force=force)
    chosen = choose(study, items)
    workers = check_jobs(jobs)
    about = _about(seed, quick, chosen)
    with output.claim(out, study.name, about, force=force) as place:
        work = _Work(study, chosen, items is None, out, quick, workers, seed, simulator)
        found = work.run(_Bar(progress), started)
        place.mark((), about, complete=True)
    found.replaced = place.replaces
    return found


@dataclass(frozen=True)
class _Work:
    """A reproduction in a folder that was claimed; the fields are those of `run`."""

    study: Study
    items: list[str]
    whole: bool
    out: Path
    quick: bool
    jobs: Jobs
    seed: int
    simulator: Simulator | None

    def run(self, bar: _Bar, started: float) -> ReproduceOutcome:
        """Measure, and publish what there is, also when interrupted."""
        options: dict[str, Any] = {"quick": self.quick, "seed": self.seed}
        kept = Kept(self.out / "cells")
        simulator = self.simulator or CoreSimulator()
        campaign = Campaign(
            self.study, simulator, jobs=self.jobs, **options, tick=bar.tick, kept=kept
        )
        findings = Findings(self.study, self.seed, self.quick, self.items)
        try:
            _measure(campaign, findings, self.whole, bar, self.out)
            findings.complete = True
        finally:
            _account(campaign, findings, started)
            if findings.grids or findings.charts:
                report = _publish(findings, self.out)
                digest.save(findings, self.out)
        bar.done()
        found = outcome(findings, report)
        found.damaged = kept.damaged
        return found


def _about(seed: int, quick: bool, items: Sequence[str]) -> dict[str, Any]:
    """What the mark of the folder tells of a reproduction."""
    return {"seed": seed, "quick": quick, "items": list(items), **made()}


def choose(study: Any, items: Iterable[str] | None) -> list[str]:
    """The items to do, in the study's order; names are taken without regard to case and spaces.

    Raises:
        InputError: if one is unknown; the message names the nearest.
    """
    known: list[str] = study.items()
    if items is None:
        return known
    plain = {_plain(item): item for item in known}
    wanted = set()
    for item in items:
        if _plain(item) not in plain:
            close = difflib.get_close_matches(_plain(item), plain, n=1, cutoff=0.6)
            hint = f"did you mean `{plain[close[0]]}`? " if close else ""
            raise InputError(
                f"{study.name} has no item `{item}`; {hint}(known: {', '.join(known)})"
            )
        wanted.add(plain[_plain(item)])
    if not wanted:
        raise InputError(f"no item was named; {nearest('', known)}")
    return [item for item in known if item in wanted]


def _plain(item: str) -> str:
    return "".join(item.lower().split())


class _Bar:
    """Turns finished replications into a share between 0 and 1."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress or (lambda share, text: None)
        self._expected, self._done, self._share, self._shown = 1.0, 0.0, 0.0, -1.0
        self._text = ""

    def expect(self, cost: float) -> None:
        """Set what the whole will cost about."""
        self._expected = max(cost, 1e-9)

    def show_text(self, share: float, text: str) -> None:
        """Say what is done before the replications."""
        self._progress(share, text)

    def start(self, text: str) -> None:
        """Name what is being done now."""
        self._text, self._shown = text, -1.0
        self._show()

    def tick(self, label: str, cost: float) -> None:
        """Count finished replications."""
        self._done += cost
        self._show()

    def done(self) -> None:
        """Everything is written."""
        self._progress(1.0, "done")

    def _show(self) -> None:
        # More replications than the least number may be needed: the bar slows down but never goes
        # back.
        raw = self._done / self._expected
        share = (1 - REPORT_SHARE) * (raw if raw < 0.8 else 1 - 0.2 * 0.2 / (raw - 0.8 + 0.2))
        self._share = max(self._share, share)
        if self._share - self._shown >= STEP:
            self._shown = self._share
            self._progress(self._share, self._text)


def _measure(campaign: Campaign, findings: Findings, whole: bool, bar: _Bar, out: Path) -> None:
    study = findings.study
    figures = [*findings.items, *(_extras(study, findings.items) if whole else [])]
    bar.expect(campaign.cost(_selections(study, figures)))
    for item in figures:
        bar.start(item)
        if item in study.tables:
            findings.grids[item] = _table(campaign, study.tables[item])
        else:
            chart = cells_module.figure(campaign, study.figures[item], study.tables)
            findings.charts[item] = chart
        write(out / "cells.csv", cell_module.to_csv(study.name, findings.cells()))
    for claim in study.claims:
        if _judged(claim, findings.items, whole):
            bar.start(f"claim {claim['id']}")
            findings.verdicts.append(claims_module.judge(campaign, claim))
    if compared := predicted.compare(study.predictions, findings.cells()):
        write(out / "predictions.csv", predicted.to_csv(compared))
    write(out / "claims.csv", verdicts.to_csv(study.name, findings.verdicts))


def _table(campaign: Campaign, spec: TableSpec) -> Grid:
    if spec.readings:
        return readings.table(campaign, spec)
    return cells_module.table(campaign, spec)


def _extras(study: Study, items: Sequence[str]) -> list[str]:
    return [name for name, figure in study.figures.items() if figure.extra and items]


def _selections(study: Study, items: Iterable[str]) -> list[Selection]:
    found = []
    for item in items:
        if item in study.tables:
            spec = study.tables[item]
            other = bool(spec.readings)
            found += (readings if other else cells_module).table_selections(study, spec)
        else:
            found += cells_module.figure_selections(study, study.figures[item])
    return found


def _judged(claim: Mapping[str, Any], items: Sequence[str], whole: bool) -> bool:
    """A claim about certain items is judged when all of them were measured."""
    about = claim.get("items", ())
    return whole or (bool(about) and set(about) <= set(items))


def _account(campaign: Campaign, findings: Findings, started: float) -> None:
    findings.replications = campaign.replications()
    scenarios = campaign.scenarios()
    findings.scenarios = len(scenarios)
    findings.unfinished = [
        f"{label}: {lost} downloads did not end in {runs} replications"
        for label, _, runs, lost in scenarios
        if lost
    ]
    findings.wall_s = time.monotonic() - started
    findings.targets = [
        targets_module.check(target, findings.cells(), findings.verdicts)
        for target in findings.study.targets
    ]


def _publish(findings: Findings, out: Path) -> Path:
    """Write the pictures and the report."""
    from nodeb.reproduce import page, page_figures  # matplotlib is slow to import

    for name, content in page_figures.files(findings.charts).items():
        write(out / "figures" / name, content)
    report = out / "report.html"
    write(report, page.html(findings))
    return report
