"""The command `nodeb life`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodeb.base.units import NS_PER_S
from nodeb.cli.options import (
    Everything,
    FileOrLog,
    Force,
    Seed,
    Settings,
    again,
    print_answer,
    print_place,
    print_warnings,
    refuse,
    shown_if_full,
    stopped,
)
from nodeb.cli.times import seconds
from nodeb.inputs.kinds import is_recording
from nodeb.inputs.scenario import load
from nodeb.life import Life
from nodeb.life.answer import answer
from nodeb.results.provenance import results_hash
from nodeb.storage import folders
from nodeb.storage.files import digest_of
from nodeb.storage.store import name_of
from nodeb.terminal.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["life"]


def life(
    file: FileOrLog,
    settings: Settings = None,
    seed: Seed = None,
    run: Annotated[
        int | None, typer.Option(metavar="N", help="Which replication, from 0; default: 0.")
    ] = None,
    user: Annotated[
        int | None, typer.Option(metavar="N", help="Only this user's packets; default: all.")
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option("--from", metavar="T", help='Where the window begins, as in "1.5 s".'),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--to", metavar="T", help="Where it ends; default: the end of the run."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(metavar="N", help="Events kept at most; default: 4000000.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Results go here; default: out/<file name>-life."),
    ] = None,
    force: Force = False,
    everything: Everything = False,
) -> None:
    """Follow every packet of a replication: tables of events, an interactive page, a trace."""
    window = (
        0.0 if begin is None else seconds("--from", begin),
        None if end is None else seconds("--to", end),
    )
    usual = Path("out") / f"{file.stem}-life" if out is None else out
    more = {} if most is None else {"most": most}
    if is_recording(file):
        refuse({"--set": settings, "--seed": seed, "--run": run}, file)
        name, inputs, about, look = _flight(file, user, window, more)
    else:
        name, inputs, about, look = _scenario(file, settings, seed, run or 0, user, window, more)
    settled = name_of({"of": about, "user": user, "window": window, **more})
    owner = folders.Owner("life", file.name, made_of=settled)

    named = again(file, settings, user=user, seed=seed)

    def show(life: Life, where: str = "") -> None:
        print_answer(answer(life, named, where), everything)

    with folders.claim(usual, owner, force=force, inputs=inputs, beside=out is None) as place:
        folder = place.shown
        print_place(place)
        try:
            with progress_bar(name or file.stem) as bar:
                found = look(bar)
            with shown_if_full(show, found), progress_bar("saving") as bar:
                found.put(place, bar)
        except KeyboardInterrupt:
            raise stopped(place) from None
    show(found, str(folder))


Looked = tuple[str | None, list[Path], str, "Callable[[ProgressCallback | None], Life]"]
"""Name, files that it is made from, a hash of all that it depends on, and what looks at it."""


def _scenario(
    file: Path,
    settings: list[str] | None,
    seed: int | None,
    run: int,
    user: int | None,
    window: tuple[float, float | None],
    more: dict[str, int],
) -> Looked:
    """A replication of a scenario."""
    scenario = load(file, settings or ()).planned(seed=seed)
    print_warnings(scenario.warnings())

    def look(bar: ProgressCallback | None) -> Life:
        return scenario.life(run, user, *window, progress=bar, **more)

    about = results_hash(scenario, scenario.seed, run=run)
    return scenario.name, [file, *scenario.files(file.parent)], about, look


def _flight(
    file: Path, user: int | None, window: tuple[float, float | None], more: dict[str, int]
) -> Looked:
    """A recorded flight."""
    from nodeb.emulate import flights, lives

    flight = flights.read(file)
    begin, end = (None if time is None else round(time * NS_PER_S) for time in window)

    def look(bar: ProgressCallback | None) -> Life:
        return lives.watch(flight, user, (begin or 0, end), progress=bar, **more)

    return flight.scenario.name, [file], digest_of(file), look
