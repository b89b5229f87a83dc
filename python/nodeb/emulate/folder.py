"""The folder of an emulation: tables of its world, and how true to time it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nodeb.emulate.flights import Flight, Flown
from nodeb.emulate.plan import Plan
from nodeb.emulate.session import Options, Outcome
from nodeb.errors import OutputError
from nodeb.results.provenance import Provenance
from nodeb.results.result import Result
from nodeb.storage.folders import Owner, Place, claim

__all__ = ["claimed", "put", "put_flown"]

ENDED = {
    "command": "the commands had ended",
    "duration": "the duration was over",
    "signal": "it was told to end by a signal",
}


@contextmanager
def claimed(
    folder: Path | None, file: Path, *, force: bool, once: bool = False, made_of: str = ""
) -> Iterator[Place | None]:
    """Claims a folder before packets spend time on what goes there.

    Yields:
        The folder; None where none was asked for.

    Raises:
        OutputError: it is another's, or has results that come `once`.
    """
    if folder is None:
        yield None
        return
    if once and not force and (folder / "provenance.json").exists():
        raise OutputError(
            f"{folder} has results already, and an emulation cannot be repeated; "
            "--force replaces them"
        )
    owner = Owner("emulation", file.name, made_of=made_of)
    with claim(folder, owner, force=force, inputs=[file]) as place:
        yield place


def put(place: Place, plan: Plan, options: Options, outcome: Outcome) -> None:
    """Writes what an emulation came to.

    Raises:
        OutputError: it cannot be written.
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


def put_flown(place: Place, flight: Flight, flown: Flown) -> None:
    """Writes what flying again came to.

    Raises:
        OutputError: it cannot be written.
    """
    about = _provenance(flight.about["seed"], "the log had ended", 0.0)
    result = Result.from_replications(flight.scenario, [flown.tables], about)
    result.put(place, about={"replay": flown.report})


def _provenance(seed: int, why: str, wall_s: float) -> Provenance:
    started = datetime.now(UTC) - timedelta(seconds=wall_s)
    known: dict[str, Any] = {"seed": seed, "runs": 1, "jobs": 1, "stopping": why}
    return Provenance.now(
        **known,
        precision_reached=None,
        wall_time_s=round(wall_s, 6),
        started=started.isoformat(timespec="seconds"),
    )
