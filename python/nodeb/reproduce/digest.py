"""Digest of a study's results in a file, from which a page about several studies is made."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeb import studies
from nodeb.results.provenance import core_hash
from nodeb.storage.files import NAMED_BYTES, read_text, write
from nodeb.study.verdicts import JUDGEMENTS

if TYPE_CHECKING:
    from nodeb.reproduce.outcome import ReproduceOutcome

DIGEST, REPORT = "digest.json", "report.html"
FILES = ("cells.csv", "claims.csv", REPORT)
"""Files that exist if there is a digest of complete results."""
GRADES = ("near", "off", "far")
STATES = ("met", "missed", "undecided", "not measured")


@dataclass(frozen=True)
class Judged:
    """A claim of a study, or a target of the reproduction, with its result.

    Attributes:
        id: name.
        text: the claim or target in words.
        verdict: `holds`, `contradicted` or `undecided`; for a target, one of `STATES`.
        section: section of the paper; "" for targets.
        summary: number of comparisons by verdict, in words; for a target, its result.
        against: comparisons that contradict the claim or leave it undecided.
    """

    id: str
    text: str
    verdict: str
    section: str = ""
    summary: str = ""
    against: tuple[str, ...] = ()


@dataclass(frozen=True)
class Digest:
    """Results of the reproduction of a study.

    Attributes:
        study: name of the study.
        program: hash of nodeb's code and the study's files that created the results (see the
            function `program`).
        seed: seed of all random streams.
        quick: true for the short version.
        complete: true if everything was measured; false if it was interrupted.
        items: requested tables and figures.
        measured: number of measured items.
        claims: judged claims.
        targets: targets with their states.
        cells: number of cells that have a published value, for each grade (`GRADES`).
        within: number of published values within their prediction intervals.
        scattered: number of published values with a prediction interval, that is, with a known
            number of runs.
        replications: number of replications.
        scenarios: number of distinct scenarios.
        wall_s: duration, s.
    """

    study: str
    program: str
    seed: int
    quick: bool
    complete: bool
    items: tuple[str, ...]
    measured: int
    claims: tuple[Judged, ...]
    targets: tuple[Judged, ...]
    cells: Mapping[str, int]
    within: int
    scattered: int
    replications: int
    scenarios: int
    wall_s: float

    @property
    def counts(self) -> dict[str, int]:
        """Number of claims for each verdict; 0 for a verdict that no claim has."""
        return _counted(self.claims, JUDGEMENTS)

    @property
    def states(self) -> dict[str, int]:
        """Number of targets for each state; 0 for a state that no target has."""
        return _counted(self.targets, STATES)

    @property
    def compared(self) -> int:
        """Number of cells that have a published value and a tolerance."""
        return sum(self.cells.values())

    @property
    def judged(self) -> int:
        """Number of targets whose cells or claims were measured."""
        return len(self.targets) - self.states["not measured"]


def _counted(found: Iterable[Judged], names: Iterable[str]) -> dict[str, int]:
    counts = Counter(one.verdict for one in found)
    return {name: counts[name] for name in names}


def of(found: ReproduceOutcome) -> Digest:
    """Returns the digest of a reproduction's results so far."""
    cells = found.cells
    grades = Counter(cell.grade for cell in cells)
    known = [cell.within for cell in cells if cell.within is not None]
    return Digest(
        study=found.study.name,
        program=_program(tuple(found.study.files())),
        seed=found.seed,
        quick=found.quick,
        complete=found.complete,
        items=tuple(found.items),
        measured=sum(item in found.measured for item in found.items),
        claims=tuple(
            Judged(one.id, one.text, one.judgement, one.section, one.summary, one.against)
            for one in found.claims
        ),
        targets=tuple(
            Judged(one.id, one.text, one.state, summary=one.result) for one in found.targets
        ),
        cells={grade: grades[grade] for grade in GRADES},
        within=sum(known),
        scattered=len(known),
        replications=found.replications,
        scenarios=found.scenarios,
        wall_s=round(found.wall_s, 1),
    )


def save(found: ReproduceOutcome, folder: Path) -> None:
    """Writes the digest into a study's folder, after all other results.

    Raises:
        OutputError: the digest cannot be written.
    """
    write(folder / DIGEST, f"{json.dumps(asdict(of(found)), indent=1)}\n")


def load(folder: Path) -> Digest | None:
    """Returns a study's digest, or `None` if the digest or another result is missing or damaged."""
    try:
        found: dict[str, Any] = json.loads(read_text(folder / DIGEST, NAMED_BYTES))
        for name in ("claims", "targets"):
            entries = [one | {"against": tuple(one["against"])} for one in found[name]]
            found[name] = tuple(Judged(**one) for one in entries)
        digest = Digest(**found | {"items": tuple(found["items"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    wanted = FILES if digest.complete else (REPORT,)
    return digest if all((folder / name).is_file() for name in wanted) else None


def program(study: str) -> str:
    """Returns a hash of nodeb's code and the study's files.

    Results with another hash are outdated.
    """
    return _program(tuple(studies.load(study).files()))


@cache
def _program(files: tuple[Path, ...]) -> str:
    package = Path(__file__).parents[1]
    found = hashlib.sha256(core_hash().encode())
    for path in [*sorted(package.rglob("*.py")), *files]:
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()
