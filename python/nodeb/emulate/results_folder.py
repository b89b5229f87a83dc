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
    """Claims the results folder before the emulation begins.

    Args:
        folder: the folder; None for no results.
        file: the scenario or log that the results are made from.
        force: whether to replace existing results.
        once: whether to refuse a folder with results even if they are of this scenario, because an
            emulation cannot be repeated, and to lock the folder, so that two emulations do not
            share it.
        made_of: hash of the input files; empty for an emulation.

    Yields:
        The folder; None if `folder` is None.

    Raises:
        OutputError: the folder belongs to another command or file; or, with `once`, it has complete
            results that `force` does not replace, or another emulation is using it.
    """
    if folder is None:
        yield None
        return
    owner = Owner("emulation", file.name, made_of=made_of)
    with claim(folder, owner, force=force, inputs=[file], alone=once) as place:
        if once and not force and place.before is not None and place.before["complete"]:
            raise OutputError(
                f"{folder} has results, and an emulation cannot be repeated; --force replaces them"
            )
        yield place


def write_emulation(place: Place, plan: Plan, options: Options, outcome: Outcome) -> None:
    """Writes the results of an emulation.

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
    """Writes the results of a replay.

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
