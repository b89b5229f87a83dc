"""Reproduction of all studies, each into its own folder, with a summary page."""

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
from nodeb.storage.files import NAMED_BYTES, read_text
from nodeb.storage.folders import Owner, Place

if TYPE_CHECKING:
    from nodeb.answer import Answer

__all__ = ["ALL", "Summary", "run_all"]

ALL = "all"
"""Name that stands for all studies, as in `nodeb reproduce all`."""
RESULTS = ("report.html", "summary.csv", "claims.csv")
UNKNOWN_MINUTES = {True: 0.5, False: 5.0}
"""Assumed duration, minutes, of a study that states none; True is the key of the quick version."""


@dataclass
class Summary(Answering):
    """Results of all studies.

    Attributes:
        names: studies in the order of execution.
        seed: seed of all random streams.
        quick: true for the short versions.
        jobs: number of threads, or a cluster.
        digests: results of each study that has any, also from earlier calls.
        reports: path of each study's report.
        report: path of the page about all studies.
        stayed: names of studies that were complete before this call.
        wall_s: duration of this call, s.
        replaced: description of another command's results that were replaced, by folder.
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

    @property
    def answer(self) -> Answer:
        """Answer that printing shows: how much of the published material agrees."""
        from nodeb.reproduce.every_page import answer

        return answer(self)

    @property
    def interrupted(self) -> list[str]:
        """Names of the studies that were interrupted, so that their results are incomplete."""
        return [name for name, found in self.digests.items() if not found.complete]

    @property
    def missing(self) -> list[str]:
        """Names of studies without results; some of their replications may be stored."""
        return [name for name in self.names if name not in self.digests]

    @property
    def complete(self) -> bool:
        """True if all studies have complete results."""
        return not self.interrupted and not self.missing

    @property
    def state(self) -> str:
        """Text that counts complete studies and names the others."""
        done = len(self.digests) - len(self.interrupted)
        parts = [f"{done} of {len(self.names)} studies are complete"]
        parts += [f"incomplete: {', '.join(self.interrupted)}"] if self.interrupted else []
        parts += [f"no results: {', '.join(self.missing)}"] if self.missing else []
        return "; ".join(parts)


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

    Each study is written to a subfolder of `out` with the study's name, as by `run`. A study that
    is complete there, with the same seed, length (full or quick) and version, is not repeated; an
    interrupted one is continued. `report.html`, `summary.csv` and `claims.csv` are written again
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
    workers = check_jobs(jobs)
    names = shortest_first(quick) if studies is None else list(studies)
    about = {"seed": seed, "quick": quick, **origin()}
    with _claimed(out, names, force) as place:
        summary = Summary(names, seed, quick, workers, report=out / "report.html")
        files_of = (*RESULTS, *names)
        if place.replaces is not None:
            summary.replaced[out] = place.replaces

        def publish() -> None:
            place.mark(files_of, about, complete=False)
            _write(summary, out)

        whole = place.replaces is None and (place.before or {}).get("complete", False)
        _reproduce(summary, out, progress, publish, force=force, stays=whole)
        place.mark(files_of, about, complete=True)
    return summary


def shortest_first(quick: bool) -> list[str]:
    """Returns all studies, shortest first, so that an interrupted call has completed many."""
    return sorted(known_studies.names(), key=lambda name: (minutes(name, quick), name))


def minutes(name: str, quick: bool) -> float:
    """Returns the approximate duration of a study in minutes, on two processors."""
    known = known_studies.load(name).minutes
    return float(known.get("quick" if quick else "full", UNKNOWN_MINUTES[quick]))


@contextmanager
def _claimed(out: Path, names: Sequence[str], force: bool) -> Iterator[Place]:
    """Claims the results folder, checks each study's subfolder, and yields the claimed folder.

    Raises:
        OutputError: one of the folders cannot be claimed.
    """
    with folders.claim(out, Owner("reproduction", ALL), force=force, resumes=True) as place:
        if place.before is None:
            place.mark((*RESULTS, *names), {}, complete=False)
        # All subfolders are checked before the first study, which may take hours.
        for name in names:
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
    """Reproduces every study that is not complete, and publishes a summary after each.

    Args:
        summary: receives the digest of each study.
        out: results folder.
        progress: progress callback.
        publish: writes the summary.
        force: replace results of another command.
        stays: true to keep an earlier summary until a study of this call has results.
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
            if found.replaced is not None:
                summary.replaced[out / name] = found.replaced
        finally:
            _read(summary, name, out)
            summary.wall_s = time.monotonic() - started
            if name in summary.digests or not stays:
                publish()
    bar.done()


def _read(summary: Summary, name: str, out: Path) -> None:
    """Adds a study's stored results to the summary.

    Results of another version, seed or length are ignored.
    """
    found = digest_module.load(out / name)
    summary.digests.pop(name, None)
    if found is not None and _same(found, summary):
        summary.digests[name] = found
        summary.reports[name] = out / name / digest_module.REPORT


def _same(found: Digest, summary: Summary) -> bool:
    """Returns true if a digest covers all items of its study and is valid for the summary.

    It is valid if nodeb's and the study's code have not changed since, and if its seed and length
    (full or quick) are those of the summary.
    """
    return (
        found.program == digest_module.program(found.study)
        and (found.seed, found.quick) == (summary.seed, summary.quick)
        and list(found.items) == known_studies.load(found.study).items()
    )


def _write(summary: Summary, out: Path) -> None:
    """Writes the page and the tables about all existing results."""
    from nodeb.reproduce import every_page

    files.write(out / "summary.csv", every_page.summary_csv(summary))
    files.write(out / "claims.csv", _claims(summary, out))
    files.write(summary.report, every_page.html(summary))


def _claims(summary: Summary, out: Path) -> str:
    """Returns the claims of all studies as one CSV table."""
    parts = []
    for name in summary.digests:
        file = out / name / "claims.csv"
        # The file is absent if the study was interrupted before its claims were judged.
        if file.exists():
            parts.append(read_text(file, NAMED_BYTES))
    head, _, _ = parts[0].partition("\n") if parts else ("study,id,claim,verdict", "", "")
    return "".join([f"{head}\n", *(text.partition("\n")[2] for text in parts)])


class _Shares:
    """Converts the fraction done of one study into the fraction done of all studies.

    Args:
        progress: progress callback.
        minutes: approximate duration of each study, minutes.
    """

    def __init__(self, progress: Progress | None, minutes: dict[str, float]) -> None:
        self._progress = progress or (lambda share, text: None)
        self._minutes = minutes
        self._total = sum(minutes.values())

    def of(self, name: str) -> Callable[[float, str], None]:
        """Returns the progress callback of a study, which reports the fraction of all studies."""
        names = list(self._minutes)
        before = sum(self._minutes[one] for one in names[: names.index(name)])
        number = f"{name} ({names.index(name) + 1} of {len(names)})"

        def report(share: float, text: str) -> None:
            done = before + share * self._minutes[name]
            self._progress(done / self._total, f"{number}: {text}")

        return report

    def done(self) -> None:
        """Reports 100 %, after everything is written."""
        self._progress(1.0, "done")


def study_with(item: str) -> str | None:
    """Returns the first study that has an item (table or figure) with this name, or `None`."""
    names = known_studies.names()
    return next((name for name in names if known_studies.load(name).named(item)), None)
