"""The command `nodeb life`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodeb.cli.options import (
    File,
    Force,
    Seed,
    Settings,
    Stopped,
    print_replaced,
    print_warnings,
)
from nodeb.errors import InputError

if TYPE_CHECKING:
    from nodeb.life import Life

__all__ = ["life"]

UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


def life(
    file: File,
    settings: Settings = None,
    seed: Seed = None,
    run: Annotated[int, typer.Option(metavar="N", help="Which replication, from 0.")] = 0,
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
) -> None:
    """Follow every packet of a replication: tables of events, an interactive page, a trace."""
    from nodeb.inputs import named_files
    from nodeb.inputs.scenario import load
    from nodeb.storage import folders
    from nodeb.terminal.progress import progress_bar

    window = _seconds(begin, "--from"), _seconds(end, "--to")
    scenario = load(file, settings or ()).planned(seed=seed)
    folder = Path("out") / f"{file.stem}-life" if out is None else out
    inputs = [file, *named_files.paths(scenario.to_dict(), file.parent)]
    owner = folders.Owner("life", file.name)
    with folders.claim(folder, owner, force=force, inputs=inputs) as place:
        print_replaced(place)
        print_warnings(scenario.warnings())
        more = {} if most is None else {"most": most}
        try:
            with progress_bar(scenario.name or file.stem) as bar:
                found = scenario.life(run, user, window[0] or 0.0, window[1], progress=bar, **more)
                found.put(place)
        except KeyboardInterrupt:
            done = f"results are in {folder}" if place.is_put else "nothing was written"
            raise Stopped(f"interrupted; {done}") from None
    _print(found)
    print(f"\nresults: {folder}\npage: {folder / 'life.html'}")


def _seconds(text: str | None, option: str) -> float | None:
    """A time such as `1.5 s`, `200ms` or `3`, which is in seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", text)
    if found is None or (found[2] or "s") not in UNITS_S:
        units = ", ".join(UNITS_S)
        raise InputError(f'{option} is {text!r}; expected a time such as "1.5 s" (units: {units})')
    return float(found[1]) * UNITS_S[found[2] or "s"]


def _print(found: Life) -> None:
    """How many packets, and what became of them."""
    about = found.about
    print(f"{about.scenario.name or 'a run'}: replication {about.run}, seed {about.seed}\n")
    for name, table in found.tables.items():
        print(f"{name:8} {len(table)}")
    ends = found.packets["end"].value_counts().to_pylist()
    told = ", ".join(f"{one['counts']} {one['values']}" for one in ends)
    print(f"\npackets: {told}\n{found.critical_path.told}")
