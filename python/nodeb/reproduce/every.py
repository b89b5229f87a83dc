"""Reproduces every study, each into a folder of its own, and sums up on one page."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nodeb import studies as known_studies
from nodeb.answer.answering import Answering
from nodeb.replication.pool import Jobs, check_jobs
from nodeb.reproduce import digest as digest_module
from nodeb.reproduce import reproduction
from nodeb.reproduce.digest import Digest
from nodeb.reproduce.reproduction import DEFAULT_SEED, Progress
from nodeb.results.provenance import origin
from nodeb.storage import files, folders
from nodeb.storage.bounded import NAMED_BYTES, read_text
from nodeb.storage.folders import Owner, Place

if TYPE_CHECKING:
    from nodeb.answer import Answer

__all__ = ["ALL", "Summary", "run_all"]

ALL = "all"
"""What all studies together are called."""
RESULTS = ("report.html", "summary.csv", "claims.csv")
UNKNOWN_MINUTES = {True: 0.5, False: 5.0}
"""Of a study that does not say how long it takes: quick, and not."""


@dataclass
class Summary(Answering):
    """What came of all studies.

    Attributes:
        names: the studies, in the order in which they are done.
        seed: seed of all random streams.
        quick: whether the short versions are made.
        jobs: threads, or who simulates.
        digests: what was found, by study, of those that were begun.
        reports: path of each study's report.
        report: path of the page about all of them.
        stayed: studies that were complete before.
        wall_s: duration, s, of what was done now.
        replaced: what of another command was in a folder and was replaced, by folder.
        damaged: kept replications that were damaged, and simulated again.
    """

    names: Sequence[str]
    seed: int
    quick: bool
    jobs: Jobs
    digests: dict[str, Digest] = field(default_factory=dict)
    reports: dict[str, Path] = field(default_factory=dict)
    report: Path = Path()
    stayed: list[str] = field(default_factory=list)
    wall_s: float = 0.0
    replaced: dict[Path, str] = field(default_factory=dict)
    damaged: list[Path] = field(default_factory=list)

    @property
    def answer(self) -> Answer:
        """What it says first: how much of what was published agrees."""
        from nodeb.reproduce.every_page import answer

        return answer(self)

    @property
    def interrupted(self) -> list[str]:
        """Studies of which a part is there."""
        return [name for name, found in self.digests.items() if not found.complete]

    @property
    def missing(self) -> list[str]:
        """Studies of which there are no results; replications of them may have been kept."""
        return [name for name in self.names if name not in self.digests]

    @property
    def complete(self) -> bool:
        """Whether everything was measured."""
        return not self.interrupted and not self.missing

    @property
    def state(self) -> str:
        """What is there and what is not, as a sentence goes on."""
        done = len(self.digests) - len(self.interrupted)
        told = [f"{done} of {len(self.names)} studies are complete"]
        told += [f"a part is there of {', '.join(self.interrupted)}"] if self.interrupted else []
        told += [f"no results of {', '.join(self.missing)}"] if self.missing else []
        return "; ".join(told)


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
    """Reproduce every study, and sum up what came of them.

    Each goes into a folder of its name in `out`, as `run` writes it. A study that is complete
    there, with the same seed and length and by the same version, stays; one that was interrupted
    goes on. `report.html`, `summary.csv` and `claims.csv` are written anew after each.

    Args:
        out: folder to write to; it is made if need be.
        quick: few replications, for a first look and for tests.
        jobs: threads; None takes one per processor; or a `nodeb.Cluster` that simulates.
            Results do not depend on it.
        seed: seed of all random streams.
        progress: called with the share of all studies that is done, and what is being done.
        force: replace results of another command in the folder, or in one of a study.
        studies: some of `names()`, in the order in which to do them; None takes all, the shortest
            first.

    Raises:
        InputError: a study is unknown, or a number impossible.
        OutputError: a folder is not nodeb's or another's, somebody is at work in it, or it cannot
            be written to; none of the studies is begun.
        RunError: if a simulation fails; what was found until then is summed up.
    """
    workers = check_jobs(jobs)
    names = shortest_first(quick) if studies is None else list(studies)
    about = {"seed": seed, "quick": quick, **origin()}
    with _claimed(out, names, force) as place:
        summary = Summary(names, seed, quick, workers, report=out / "report.html")
        if place.replaces is not None:
            summary.replaced[out] = place.replaces

        def publish() -> None:
            place.mark((*RESULTS, *names), about, complete=False)
            _write(summary, out)

        whole = place.replaces is None and (place.before or {}).get("complete", False)
        _reproduce(summary, out, progress, publish, force=force, stays=whole)
        place.mark((), about, complete=True)
    return summary


def shortest_first(quick: bool) -> list[str]:
    """All studies, in the order of how long they take: whoever stops early has most of them."""
    return sorted(known_studies.names(), key=lambda name: (minutes(name, quick), name))


def minutes(name: str, quick: bool) -> float:
    """How long a study takes on two processors, about."""
    known = known_studies.load(name).minutes
    return float(known.get("quick" if quick else "full", UNKNOWN_MINUTES[quick]))


@contextmanager
def _claimed(out: Path, names: Sequence[str], force: bool) -> Iterator[Place]:
    """The folder, claimed.

    Raises:
        OutputError: it or a study's cannot be had.
    """
    with folders.claim(out, Owner("reproduction", ALL), force=force, resumes=True) as place:
        if place.replaces is not None:
            place.start_over()
        for name in names:  # before the first of them spends hours
            with folders.claim(out / name, Owner("reproduction", name), force=force, resumes=True):
                pass
        yield place


def _reproduce(
    summary: Summary,
    out: Path,
    progress: Progress | None,
    publish: Callable[[], None],
    *,
    force: bool,
    stays: bool,
) -> None:
    """Every study that is not complete, and a summary after each.

    Args:
        summary: is filled.
        out: the folder.
        progress: told of it.
        publish: writes the summary.
        force: replace results of another command.
        stays: whether an earlier summary stays until a study of this one is there.
    """
    started = time.monotonic()
    for name in summary.names:
        _read(summary, name, out)
    summary.stayed = [name for name, found in summary.digests.items() if found.complete]
    left = [name for name in summary.names if name not in summary.stayed]
    bar = _Shares(progress, {name: minutes(name, summary.quick) for name in left})
    if summary.stayed or not stays:
        publish()
    for name in left:
        try:
            found = reproduction.run(
                name,
                out / name,
                quick=summary.quick,
                jobs=summary.jobs,
                seed=summary.seed,
                progress=bar.of(name),
                force=force,
            )
            summary.damaged += found.damaged
            if found.replaced is not None:
                summary.replaced[out / name] = found.replaced
        finally:
            _read(summary, name, out)
            summary.wall_s = time.monotonic() - started
            if name in summary.digests or not stays:
                publish()
    bar.done()


def _read(summary: Summary, name: str, out: Path) -> None:
    """Takes in what is there of a study, if it was made as this is."""
    found = digest_module.load(out / name)
    summary.digests.pop(name, None)
    if found is not None and _same(found, summary):
        summary.digests[name] = found
        summary.reports[name] = out / name / digest_module.REPORT


def _same(found: Digest, summary: Summary) -> bool:
    """Whether results are whole ones of this version, with the same seed and length."""
    return (
        found.program == digest_module.program(found.study)
        and (found.seed, found.quick) == (summary.seed, summary.quick)
        and list(found.items) == known_studies.load(found.study).items()
    )


def _write(summary: Summary, out: Path) -> None:
    """The page and the tables about all that is there."""
    from nodeb.reproduce import every_page

    files.write(out / "summary.csv", every_page.summary_csv(summary))
    files.write(out / "claims.csv", _claims(summary, out))
    files.write(summary.report, every_page.html(summary))


def _claims(summary: Summary, out: Path) -> str:
    """The claims of all studies in one table."""
    parts = []
    for name in summary.digests:
        file = out / name / "claims.csv"
        if file.exists():  # else interrupted before claims were judged
            parts.append(read_text(file, NAMED_BYTES))
    head, _, _ = parts[0].partition("\n") if parts else ("study,id,claim,verdict", "", "")
    return "".join([f"{head}\n", *(text.partition("\n")[2] for text in parts)])


class _Shares:
    """Turns the progress of one study into that of all.

    Args:
        progress: told of it.
        minutes: how long each takes, about.
    """

    def __init__(self, progress: Progress | None, minutes: dict[str, float]) -> None:
        self._progress = progress or (lambda share, text: None)
        self._minutes = minutes
        self._total = sum(minutes.values())

    def of(self, name: str) -> Callable[[float, str], None]:
        """What a study tells its progress to."""
        names = list(self._minutes)
        before = sum(self._minutes[one] for one in names[: names.index(name)])
        number = f"{name} ({names.index(name) + 1} of {len(names)})"

        def tell(share: float, text: str) -> None:
            done = before + share * self._minutes[name]
            self._progress(done / self._total, f"{number}: {text}")

        return tell

    def done(self) -> None:
        """Everything is written."""
        self._progress(1.0, "done")


def study_with(item: str) -> str | None:
    """A study that has an item of this name; None if none has."""
    names = known_studies.names()
    return next((name for name in names if known_studies.load(name).named(item)), None)
