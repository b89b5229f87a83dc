"""Results folder of an emulation or replay: tables, report and provenance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nodeb.emulate.plan import Plan
from nodeb.emulate.recordings import Recording, Replay
from nodeb.emulate.session import Options, Outcome
from nodeb.errors import OutputError
from nodeb.results.provenance import Provenance
from nodeb.results.result import Result
from nodeb.storage.folders import Owner, Place, claim

__all__ = ["claimed", "write_emulation", "write_replay"]

ENDED = {
    "command": "the commands had ended",
    "duration": "the duration was over",
    "signal": "a signal ended it",
}


@contextmanager
def claimed(
    folder: Path | None, file: Path, *, force: bool, once: bool = False, made_of: str = ""
) -> Iterator[Place | None]:
    """Claims the results folder before the emulation or replay begins.

    Args:
        folder: the folder; None for no results.
        file: the scenario or log that the results are made from.
        force: whether to replace existing results.
        once: whether to lock the folder, and to refuse it if it has complete results of the same
            file, unless `force` is true. It is true for an emulation, which cannot be repeated.
        made_of: hash of the input file; empty to distinguish results by the file's name only.

    Yields:
        The claimed folder; None if `folder` is None.

    Raises:
        OutputError: the folder belongs to another command or file and `force` is false, or it
            cannot be written. With `once`, also if it has complete results and `force` is false, or
            if another emulation is using it.
    """
    if folder is None:
        yield None
        return
    owner = Owner("emulation", file.name, made_of=made_of)
    with claim(folder, owner, force=force) as place:
        if once and not force and place.before is not None and place.before["complete"]:
            raise OutputError(
                f"{folder} has results, and an emulation cannot be repeated; --force replaces them"
            )
        yield place


def write_emulation(place: Place, plan: Plan, options: Options, outcome: Outcome) -> None:
    """Writes the tables of an emulation to a claimed folder, and its report in `provenance.json`.

    Raises:
        OutputError: the folder cannot be written.
    """
    about = _provenance(options.seed, ENDED[outcome.ended], outcome.wall_s)
    result = Result.from_replications(plan.scenario, [outcome.tables], about)
    emulation = {
        **outcome.report,
        "real_time": outcome.real_time,
        "true_to_time": outcome.too_late is None,
        "exits": outcome.exits,
        "mtu_bytes": options.mtu,
    }
    result.put(place, about={"emulation": emulation})


def write_replay(place: Place, recording: Recording, replay: Replay) -> None:
    """Writes the tables of a replay to a claimed folder, and its report in `provenance.json`.

    Raises:
        OutputError: the folder cannot be written.
    """
    about = _provenance(recording.about["seed"], "the log had ended", 0.0)
    result = Result.from_replications(recording.scenario, [replay.tables], about)
    result.put(place, about={"replay": replay.report})


def _provenance(seed: int, why: str, wall_s: float) -> Provenance:
    started = datetime.now(UTC) - timedelta(seconds=wall_s)
    known: dict[str, Any] = {"seed": seed, "runs": 1, "jobs": 1, "stopping": why}
    return Provenance.now(
        **known,
        precision_reached=None,
        wall_time_s=round(wall_s, 6),
        started=started.isoformat(timespec="seconds"),
    )
