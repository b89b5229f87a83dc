"""Reproduction of all studies, each into its own folder, with a summary page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nodeb import _core
from nodeb import studies as known_studies
from nodeb.answer.answering import Answering
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.reproduce import reproduction
from nodeb.reproduce.reproduction import DEFAULT_SEED, Progress, ReproduceOutcome
from nodeb.results.provenance import origin
from nodeb.storage.files import csv_text, write
from nodeb.storage.folders import Owner, claim
from nodeb.study import verdicts

if TYPE_CHECKING:
    from nodeb.answer import Answer

ALL = "all"
"""Name that stands for all studies, as in `nodeb reproduce all`."""
RESULTS = ("report.html", "summary.csv", "claims.csv")
COLUMNS = (
    *("study", "quick", "seed", "version", "items", "claims", *verdicts.JUDGEMENTS),
    *("cells_compared", "near", "scattered", "within_scatter"),
    *("replications", "scenarios", "wall_s"),
)


@dataclass
class Summary(Answering):
    """Results of all studies."""

    names: Sequence[str]
    """Studies in the order of execution."""
    seed: int
    """Seed of all random streams."""
    quick: bool
    """True for the short versions."""
    report: Path
    """Path of the page about all studies."""
    outcomes: dict[str, ReproduceOutcome] = field(default_factory=dict)
    """Outcome of each study that is complete, by name."""
    wall_s: float = 0.0
    """Duration, s."""
    replaced: dict[Path, str] = field(default_factory=dict)
    """Description of another command's results that were replaced, by folder."""

    @property
    def answer(self) -> Answer:
        """Answer that printing shows: how much of the published material agrees."""
        from nodeb.reproduce.page import together

        return together(self)

    @property
    def missing(self) -> list[str]:
        """Names of the studies that are not complete yet."""
        return [name for name in self.names if name not in self.outcomes]


def run_all(
    out: Path,
    quick: bool = False,
    jobs: Jobs | None = None,
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
    *,
    force: bool = False,
    studies: Sequence[str] | None = None,
) -> Summary:
    """Reproduces all studies, and summarizes their results.

    Each study is written to a subfolder of `out` with the study's name, as by `run`, and continues
    from the replications there. `report.html`, `summary.csv` and `claims.csv` are written again
    after each study.

    Args:
        out: results folder; created if necessary.
        quick: few replications, for a first look and for tests.
        jobs: number of threads, None for one per processor; or a `concurrent.futures.Executor`.
            Results do not depend on `jobs`.
        seed: seed of all random streams.
        progress: called with the fraction done of all studies and the current activity.
        force: replace results of another command in the folder, or in one of a study.
        studies: some of `names()`, in the order of execution; None for all, the shortest first.

    Raises:
        InputError: a study is unknown, or a number is invalid.
        OutputError: a folder belongs to another owner or is in use, which is checked before the
            first study; or it cannot be written to.
        RunError: a simulation failed; the results until then are summarized.
    """
    workers, started = check_jobs(jobs), time.monotonic()
    names = sorted(known_studies.names()) if studies is None else list(studies)
    version = "quick" if quick else "full"
    minutes = {name: known_studies.load(name).minutes.get(version, 1.0) for name in names}
    if studies is None:
        names.sort(key=minutes.__getitem__)
    owner, about = Owner("reproduction", ALL), {"seed": seed, "quick": quick, **origin()}
    with claim(out, owner, force=force, resumes=True) as place:
        summary = Summary(names, seed, quick, out / "report.html")
        if place.replaces is not None:
            summary.replaced[out] = place.replaces
        place.mark((*RESULTS, *names), about, complete=False)
        with ExitStack() as folders:  # All are checked before the first study, which takes hours.
            for name in names:
                mine = Owner("reproduction", name)
                folders.enter_context(claim(out / name, mine, force=force, resumes=True))
        whole, before = sum(minutes.values()), 0.0
        _publish(
            summary, out
        )  # Results of other settings must not stay if the first study is interrupted.
        for number, name in enumerate(names, 1):
            part, what = minutes[name] / whole, f"{name} ({number} of {len(names)})"
            show = None if progress is None else _part_of(progress, before, part, what)
            outcome = reproduction.run(
                name, out / name, None, quick, workers, seed, show, force=force
            )
            if outcome.replaced is not None:
                summary.replaced[out / name] = outcome.replaced
            summary.outcomes[name] = outcome
            summary.wall_s = time.monotonic() - started
            _publish(summary, out)
            before += part
        place.mark((*RESULTS, *names), about, complete=True)
    return summary


def _part_of(progress: Progress, before: float, share: float, what: str) -> Progress:
    """The progress of one study as a part of that of all."""
    return lambda done, text: progress(before + done * share, f"{what}: {text}")


def _publish(summary: Summary, out: Path) -> None:
    from nodeb.reproduce import page  # This imports matplotlib, which is slow.

    outcomes = summary.outcomes.items()
    judged = ((name, verdict) for name, outcome in outcomes for verdict in outcome.claims)
    write(out / "claims.csv", verdicts.to_csv(judged))
    write(out / "summary.csv", csv_text(COLUMNS, (_row(one) for _, one in outcomes)))
    write(summary.report, page.of_all(summary))


def _row(outcome: ReproduceOutcome) -> list[object]:
    near = [cell.near for cell in outcome.cells if cell.near is not None]
    within = [cell.within for cell in outcome.cells if cell.within is not None]
    judged = [one.judgement for one in outcome.claims]
    return [
        *(outcome.study.name, outcome.quick, outcome.seed, _core.version(), len(outcome.items)),
        *(len(judged), *(judged.count(kind) for kind in verdicts.JUDGEMENTS)),
        *(len(near), sum(near), len(within), sum(within)),
        *(outcome.replications, outcome.scenarios, round(outcome.wall_s, 1)),
    ]


def study_with(item: str) -> str | None:
    """Returns the first study that has an item (table or figure) with this name, or `None`."""
    names = known_studies.names()
    return next((name for name in names if known_studies.load(name).named(item)), None)
