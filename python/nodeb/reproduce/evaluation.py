"""Measures a study that is a program, and writes what there is after each item."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nodeb.replication.pool import Jobs, check_jobs
from nodeb.reproduce import digest, output
from nodeb.reproduce.findings import Findings
from nodeb.reproduce.outcome import ReproduceOutcome, outcome
from nodeb.reproduce.output import write
from nodeb.reproduce.reproduction import Progress, _about, _Bar, _publish, choose
from nodeb.storage.store import Store
from nodeb.study import cell as cell_module
from nodeb.study import predicted, verdicts
from nodeb.study import stage as stage_module
from nodeb.study import targets as targets_module
from nodeb.study.campaign import Campaign
from nodeb.study.case import Settings
from nodeb.study.claims import Claim
from nodeb.study.items import Figure, Table
from nodeb.study.stage import Around
from nodeb.study.study import Study


def run(
    study: Study,
    out: Path,
    items: Sequence[str] | None = None,
    quick: bool = False,
    jobs: Jobs | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    *,
    force: bool = False,
) -> ReproduceOutcome:
    """Measures a study; the arguments are those of `nodeb.reproduce.run`."""
    started = time.monotonic()
    chosen = choose(study, items)
    workers = check_jobs(jobs)
    about = _about(seed, quick, chosen)
    with output.claim(out, study.name, about, force=force) as place:
        work = _Work(study, chosen, items is None, out, quick, workers, seed)
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

    def run(self, bar: _Bar, started: float) -> ReproduceOutcome:
        """Measures, and publishes what there is, also when interrupted."""
        study = self.study
        around = Around(study, self.out, self.seed, self.quick, self.jobs, bar.show_text)
        for stage in study.stages:
            if stage.first:
                stage.function(around)
        store = Store(self.out / "cells")
        store.open()
        settings = Settings(self.quick, study.warm_up_s(self.quick), around.given)
        campaign = Campaign(
            study, store, seed=self.seed, jobs=self.jobs, settings=settings, tick=bar.tick
        )
        campaign.facts = around.facts
        around.campaign = campaign
        findings = Findings(study, self.seed, self.quick, self.items)
        try:
            self._measure(campaign, findings, around, bar)
            findings.complete = True
        finally:
            findings.replications, findings.scenarios = (
                campaign.replications(),
                campaign.scenarios(),
            )
            findings.unfinished = campaign.unfinished()
            findings.wall_s = time.monotonic() - started
            findings.targets = [
                targets_module.check(target, findings.cells(), findings.verdicts)
                for target in study.targets
            ]
            if findings.grids or findings.charts:
                report = _publish(findings, self.out)
                digest.save(findings, self.out)
        bar.done()
        found = outcome(findings, report)
        found.damaged = store.damaged
        return found

    def _measure(self, campaign: Campaign, findings: Findings, around: Around, bar: _Bar) -> None:
        study = self.study
        extra = [name for name, figure in study.figures.items() if figure.extra]
        items = [self._item(name) for name in [*self.items, *(extra if self.whole else [])]]
        bar.expect(campaign.cost(case for item in items for case in item.cases()))
        for item in items:
            bar.start(item.id)
            campaign.measure(item.cases())
            if isinstance(item, Table):
                findings.grids[item.id] = item.measure(campaign)
            else:
                findings.charts[item.id] = item.measure(campaign)
            write(self.out / "cells.csv", cell_module.to_csv(study.name, findings.cells()))
        for stage in study.stages:
            if self.whole and not stage.first:
                bar.start(stage.function.__name__)
                stage.function(around)
        findings.pictures = around.pictures
        if campaign.facts:
            write(self.out / "facts.csv", stage_module.to_csv(campaign.facts))
        for claim in study.claims:
            if self._judged(claim):
                bar.start(f"claim {claim.id}")
                findings.verdicts.append(claim.judge(campaign))
        if compared := predicted.compare(study.predictions, findings.cells()):
            write(self.out / "predictions.csv", predicted.to_csv(compared))
        write(self.out / "claims.csv", verdicts.to_csv(study.name, findings.verdicts))

    def _item(self, name: str) -> Table | Figure:
        return self.study.tables.get(name) or self.study.figures[name]

    def _judged(self, claim: Claim) -> bool:
        """A claim about certain items is judged when all of them were measured."""
        return self.whole or (bool(claim.items) and set(claim.items) <= set(self.items))
