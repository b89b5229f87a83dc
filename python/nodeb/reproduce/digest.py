"""What came of a study, in a file: enough for a page about several, without measuring again."""

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
from nodeb.errors import InputError
from nodeb.results.provenance import core_hash
from nodeb.storage.bounded import NAMED_BYTES, read_bytes, read_text
from nodeb.storage.files import write
from nodeb.study.verdicts import JUDGEMENTS

if TYPE_CHECKING:
    from nodeb.reproduce.outcome import ReproduceOutcome

DIGEST, REPORT = "digest.json", "report.html"
FILES = ("cells.csv", "claims.csv", REPORT)
"""What else is there where a digest is."""
GRADES = ("near", "off", "far")
STATES = ("met", "missed", "undecided", "not measured")


@dataclass(frozen=True)
class Judged:
    """A claim of a study, or a target of the reproduction, and what came of it.

    Attributes:
        id: its name.
        text: what is claimed or expected.
        verdict: `holds`, `contradicted` or `undecided`; of a target one of `STATES`.
        section: where the study says it; empty for targets.
        summary: its comparisons, counted; of a target what was found.
        against: the evidence that keeps it from holding.
    """

    id: str
    text: str
    verdict: str
    section: str = ""
    summary: str = ""
    against: tuple[str, ...] = ()


@dataclass(frozen=True)
class Digest:
    """What a reproduction of one study found.

    Attributes:
        study: its name.
        program: what made it (`program`).
        seed: seed of all random streams.
        quick: whether it is the short version.
        complete: whether everything was measured; else it was interrupted.
        items: tables and figures that were asked for.
        measured: how many of them were measured.
        claims: the claims that were judged.
        targets: the targets.
        cells: how many cells with a published value lie how near; `GRADES`.
        within: of the published values that tell of how many runs they are, how many lie where so
            few runs would put them.
        scattered: how many those are.
        replications: so many.
        scenarios: distinct ones.
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
        """Claims by verdict."""
        return _counted(self.claims, JUDGEMENTS)

    @property
    def states(self) -> dict[str, int]:
        """Targets by state."""
        return _counted(self.targets, STATES)

    @property
    def compared(self) -> int:
        """Cells that have a published value and a tolerance."""
        return sum(self.cells.values())

    @property
    def judged(self) -> int:
        """Targets of which what they need was measured."""
        return len(self.targets) - self.states["not measured"]


def _counted(found: Iterable[Judged], names: Iterable[str]) -> dict[str, int]:
    counts = Counter(one.verdict for one in found)
    return {name: counts[name] for name in names}


def of(found: ReproduceOutcome) -> Digest:
    """The digest of what was found so far."""
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
    """Write the digest into a study's folder, last of all that was found.

    Raises:
        OutputError: it cannot be written.
    """
    write(folder / DIGEST, f"{json.dumps(asdict(of(found)), indent=1)}\n")


def load(folder: Path) -> Digest | None:
    """The digest of a study's folder; None where results are missing or damaged."""
    try:
        found: dict[str, Any] = json.loads(read_text(folder / DIGEST, NAMED_BYTES))
        for name in ("claims", "targets"):
            entries = [one | {"against": tuple(one["against"])} for one in found[name]]
            found[name] = tuple(Judged(**one) for one in entries)
        digest = Digest(**found | {"items": tuple(found["items"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    wanted = FILES if digest.complete else (REPORT,)
    return digest if all(_is_whole(folder / name) for name in wanted) else None


def _is_whole(file: Path) -> bool:
    """Returns true if there is a file, as it was written."""
    try:
        read_bytes(file, NAMED_BYTES)
    except InputError:
        return False
    return True


def program(study: str) -> str:
    """What tells results from those of another version: a hash of the code and the study's data."""
    return _program(tuple(studies.load(study).files()))


@cache
def _program(files: tuple[Path, ...]) -> str:
    package = Path(__file__).parents[1]
    found = hashlib.sha256(core_hash().encode())
    for path in [*sorted(package.rglob("*.py")), *files]:
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()
