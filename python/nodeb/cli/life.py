"""`nodeb life`: saves the events of every packet of a replication or of a recording."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path

from nodeb.base.units import NS_PER_S
from nodeb.cli import messages
from nodeb.cli import options as of
from nodeb.inputs.reading import is_recording
from nodeb.inputs.scenario import load
from nodeb.life import Life
from nodeb.life.answer import answer
from nodeb.results.provenance import results_hash
from nodeb.storage.cells import name_of
from nodeb.storage.folders import Owner
from nodeb.terminal.progress import progress_bar


@of.command(
    of.FILE_OR_LOG, of.SET, of.SEED,
    of.option("--run", "N", "Replication, from 0; default: 0.", int),
    of.option("--user", "N", "Only packets of this user; default: all.", int),
    of.option("--from", "T", 'Begin of the window, such as "1.5 s"; default: 0.', dest="begin"),
    of.option("--to", "T", "End of the window; default: the end of the run.", dest="end"),
    of.option("--most", "N", "Maximum number of events; default: 4000000.", int),
    of.option("--out", "DIR", "Results folder; default: out/<file name>-life.", Path),
    of.FORCE, of.ALL,
)  # fmt: skip
def life(given: Namespace) -> None:
    window = (
        0.0 if given.begin is None else of.seconds("--from", given.begin),
        None if given.end is None else of.seconds("--to", given.end),
    )
    more = {} if given.most is None else {"most": given.most}
    compute: Callable[..., Life]
    if is_recording(given.file):
        from nodeb.emulate import recordings, timeline

        of.refuse_for_recordings(given, "set", "seed", "run")
        recording = recordings.read(given.file)
        name, digest = recording.scenario.name, recording.digest()
        begin, end = (None if time is None else round(time * NS_PER_S) for time in window)
        compute = partial(timeline.recorded_life, recording, given.user, (begin or 0, end))
    else:
        scenario, run = load(given.file, given.set).planned(seed=given.seed), given.run or 0
        messages.print_warnings(scenario.warnings())
        name, digest = scenario.name, results_hash(scenario, scenario.seed, run=run)
        compute = partial(scenario.life, run, given.user, *window)
    inputs = name_of({"of": digest, "user": given.user, "window": window, **more})
    owner = Owner("life", given.file.name, made_of=inputs)
    with of.claimed(given, given.file, owner, "-life") as place:
        messages.print_place(place)
        with progress_bar(name or given.file.stem) as bar:
            packets = compute(progress=bar, **more)
        with progress_bar("saving") as bar:
            packets.put(place, bar)
    arguments = of.arguments(given, "set", "user", "seed")
    messages.print_answer(answer(packets, arguments, str(place.shown)), given.all)
