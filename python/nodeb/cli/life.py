"""`nodeb life`: saves the events of every packet of a replication or of a recording."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodeb.base.command_line import Arguments
from nodeb.base.units import NS_PER_S
from nodeb.cli.options import (
    Everything,
    FileOrLog,
    Force,
    Seed,
    Settings,
    interruption,
    print_answer,
    print_place,
    print_warnings,
    refuse_for_recordings,
)
from nodeb.cli.times import seconds
from nodeb.inputs.kinds import is_recording
from nodeb.inputs.scenario import load
from nodeb.life import Life
from nodeb.life.answer import answer
from nodeb.results.provenance import results_hash
from nodeb.storage import folders
from nodeb.storage.cells import name_of
from nodeb.terminal.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["life"]


def life(
    file: FileOrLog,
    settings: Settings = None,
    seed: Seed = None,
    run: Annotated[
        int | None, typer.Option(metavar="N", help="Replication, from 0; default: 0.")
    ] = None,
    user: Annotated[
        int | None, typer.Option(metavar="N", help="Only packets of this user; default: all.")
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="T", help='Begin of the window, such as "1.5 s"; default: 0.'
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--to", metavar="T", help="End of the window; default: the end of the run."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum number of events; default: 4000000.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Results folder; default: out/<file name>-life."),
    ] = None,
    force: Force = False,
    everything: Everything = False,
) -> None:
    """Save the events of every packet in a replication: tables, an interactive page, a trace."""
    window = (
        0.0 if begin is None else seconds("--from", begin),
        None if end is None else seconds("--to", end),
    )
    usual = Path("out") / f"{file.stem}-life" if out is None else out
    more = {} if most is None else {"most": most}
    if is_recording(file):
        refuse_for_recordings({"--set": settings, "--seed": seed, "--run": run}, file)
        name, about, compute = _recording(file, user, window, more)
    else:
        name, about, compute = _scenario(file, settings, seed, run or 0, user, window, more)
    settled = name_of({"of": about, "user": user, "window": window, **more})
    owner = folders.Owner("life", file.name, made_of=settled)

    arguments = Arguments(file, {"set": settings, "user": user, "seed": seed})

    def show(life: Life, where: str = "") -> None:
        print_answer(answer(life, arguments, where), everything)

    with folders.claim(usual, owner, force=force, beside=out is None) as place:
        folder = place.shown
        print_place(place)
        try:
            with progress_bar(name or file.stem) as bar:
                found = compute(bar)
            with progress_bar("saving") as bar:
                found.put(place, bar)
        except KeyboardInterrupt:
            raise interruption(place) from None
    show(found, str(folder))


Prepared = tuple[str | None, str, "Callable[[ProgressCallback | None], Life]"]
"""Scenario's name, hash of all inputs, and function that computes packet timelines.

The name is None if the scenario has none.
"""


def _scenario(
    file: Path,
    settings: list[str] | None,
    seed: int | None,
    run: int,
    user: int | None,
    window: tuple[float, float | None],
    more: dict[str, int],
) -> Prepared:
    """Reads a scenario. The function in the result simulates one replication, `run`."""
    scenario = load(file, settings or ()).planned(seed=seed)
    print_warnings(scenario.warnings())

    def compute(bar: ProgressCallback | None) -> Life:
        return scenario.life(run, user, *window, progress=bar, **more)

    about = results_hash(scenario, scenario.seed, run=run)
    return scenario.name, about, compute


def _recording(
    file: Path, user: int | None, window: tuple[float, float | None], more: dict[str, int]
) -> Prepared:
    """Reads a recording's header. The function in the result replays the recording."""
    from nodeb.emulate import recordings, timeline

    recording = recordings.read(file)
    begin, end = (None if time is None else round(time * NS_PER_S) for time in window)

    def compute(bar: ProgressCallback | None) -> Life:
        return timeline.recorded_life(recording, user, (begin or 0, end), progress=bar, **more)

    return recording.scenario.name, hashlib.sha256(file.read_bytes()).hexdigest(), compute
