"""`nodeb link`: simulates a link over Eb/N0, plots its error rates, prints the JSON Schema."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from nodeb import link
from nodeb.base.arguments import as_seed
from nodeb.base.streams import printable
from nodeb.cli import messages
from nodeb.cli import options as of
from nodeb.errors import Interrupted
from nodeb.link.answer import answer
from nodeb.link.result import read_points
from nodeb.replication.pool import check_threads
from nodeb.storage.cells import name_of
from nodeb.storage.folders import Owner
from nodeb.terminal.progress import progress_bar


@of.command(
    of.place("file", "FILE", "Link configuration (TOML)."),
    of.SET, of.SEED, of.JOBS, of.OUT, of.FORCE, of.ALL,
)  # fmt: skip
def run(given: Namespace) -> None:
    check_threads(given.jobs)
    changes = [*given.set, *([] if given.seed is None else [f"seed={as_seed(given.seed)}"])]
    experiment = link.load(given.file, changes)
    owner = Owner("link", given.file.name, made_of=name_of(experiment.to_dict()), runs=1)
    with of.claimed(given, given.file, owner) as place:
        messages.print_place(place)
        try:
            with progress_bar(experiment.name) as bar:
                result = experiment.run(jobs=given.jobs, progress=bar)
        except Interrupted as stop:
            part: Any = stop.result
            messages.print_answer(answer(part), given.all)
            why = f"{stop}; what was simulated is in {part.put(place)}"
            raise Interrupted(why) from None
        result.put(place)
    messages.print_answer(answer(result, str(place.shown)), given.all)


@of.command(
    of.place("folders", "DIR...", "Folders of `nodeb link run`.", nargs="+"),
    of.option("--rate", "RATE", "bler, per, ber, raw_ber or signalling_bler.", default="bler"),
    of.option("--title", "TEXT", "Figure title."),
    of.option(
        "--out", "FILE",
        "PNG, SVG or PDF file, by suffix; default: <rate>.png in the first folder.", Path,
    ),
)  # fmt: skip
def curve(given: Namespace) -> None:
    from nodeb.plot import link_curves
    from nodeb.plot.source import save

    folders = list(dict.fromkeys(given.folders))
    points = [read_points(folder) for folder in folders]
    # The labels of the curves are the names of the results, those of the folders, or the paths: the
    # first of these that are all different.
    choices = [name for name, _ in points], [one.name for one in folders], [*map(str, folders)]
    labels = next(labels for labels in choices if len(set(labels)) == len(folders))
    tables = (table for _, table in points)
    figure = link_curves(dict(zip(labels, tables, strict=True)), given.rate, given.title)
    out = given.out or folders[0] / f"{given.rate}.png"
    print(printable(save(figure, out)))


@of.command()
def schema(_: Namespace) -> None:
    import json

    from nodeb import _core

    print(json.dumps(json.loads(_core.link_schema()), indent=2))
