"""`nodeb link`: simulates a link over Eb/N0, plots its error rates, prints the JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from nodeb import _core, link
from nodeb.base.arguments import as_seed
from nodeb.base.streams import printable
from nodeb.cli.options import (
    Everything,
    Force,
    Jobs,
    Out,
    Seed,
    Settings,
    Stopped,
    print_answer,
    print_place,
)
from nodeb.errors import Interrupted
from nodeb.link import LinkResult
from nodeb.link.answer import answer
from nodeb.link.result import read_points
from nodeb.replication.pool import check_threads
from nodeb.storage import folders
from nodeb.storage.cells import name_of
from nodeb.terminal.progress import progress_bar

__all__ = ["app"]

app = typer.Typer(help="Simulate the chip-level radio link alone.", no_args_is_help=True)


@app.command()
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Link configuration (TOML).")],
    settings: Settings = None,
    seed: Seed = None,
    jobs: Jobs = None,
    out: Out = None,
    force: Force = False,
    everything: Everything = False,
) -> None:
    """Simulate a link at each Eb/N0; print error rates, and save rates and error sequences."""
    check_threads(jobs)
    changes = [*(settings or ()), *([] if seed is None else [f"seed={as_seed(seed)}"])]
    experiment = link.load(file, changes)
    usual = Path("out") / file.stem if out is None else out
    owner = folders.Owner("link", file.name, made_of=name_of(experiment.to_dict()), runs=1)
    with folders.claim(usual, owner, force=force, beside=out is None) as place:
        print_place(place)
        try:
            with progress_bar(experiment.name) as bar:
                result = experiment.run(jobs=jobs, progress=bar)
        except Interrupted as stop:
            found: Any = stop.result
            print_answer(answer(found), everything)
            raise Stopped(f"{stop}; what was simulated is in {_kept(found, place)}") from None
        result.put(place)
    print_answer(answer(result, str(place.shown)), everything)


def _kept(found: LinkResult, place: folders.Place) -> str:
    """Saves partial results; in another folder if they must not replace what the folder has.

    Returns the folder as text for a message, with the reason if it is another folder.
    """
    return str(found.put(place))


@app.command()
def curve(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders of `nodeb link run`.")
    ],
    rate: Annotated[
        str, typer.Option(metavar="RATE", help="bler, per, ber, raw_ber or signalling_bler.")
    ] = "bler",
    title: Annotated[str | None, typer.Option(help="Figure title.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="PNG, SVG or PDF file, by suffix; default: <rate>.png in the first folder.",
        ),
    ] = None,
) -> None:
    """Plot error rates over Eb/N0 with 95 % intervals, one curve per folder."""
    from nodeb.plot.link import link_curves
    from nodeb.plot.source import save

    folders = list(dict.fromkeys(folders))
    found = [read_points(folder) for folder in folders]
    # The labels of the curves are the names of the results, those of the folders, or the paths: the
    # first of these that are all different.
    choices = [name for name, _ in found], [one.name for one in folders], [*map(str, folders)]
    labels = next(labels for labels in choices if len(set(labels)) == len(folders))
    tables = (table for _, table in found)
    figure = link_curves(dict(zip(labels, tables, strict=True)), rate, title)
    print(printable(save(figure, folders[0] / f"{rate}.png" if out is None else out)))


@app.command()
def schema() -> None:
    """Print the JSON Schema of a link configuration file, for editors."""
    print(json.dumps(json.loads(_core.link_schema()), indent=2))
