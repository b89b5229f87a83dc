"""`nodeb reproduce`: repeats published studies; compares the results with published values."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nodeb import reproduce as studies
from nodeb.base.command_line import command_line
from nodeb.cli import messages
from nodeb.cli import options as of
from nodeb.errors import InputError, Interrupted
from nodeb.reproduce.every import ALL, study_with
from nodeb.terminal.progress import progress_bar


@of.command(
    of.place(
        "name", "NAME", "Published study, such as `wang`, a file such as my_study.py, or `all`.",
        str,
    ),
    of.option("--out", "DIR", "Results folder; default: out/<name>.", Path),
    of.repeated("--item", "NAME", 'Only this table or figure, such as "Table 12".', dest="items"),
    of.flag("--quick", "Run faster, with less precision."),
    of.JOBS, of.CLUSTER,
    of.option("--seed", "N", "Seed of the random streams.", of.whole(0), default=1),
    of.FORCE,
)  # fmt: skip
def reproduce(given: Namespace) -> None:
    every = given.name == ALL
    if not given.name.endswith(".py"):
        of.check_name("study", given.name, [*studies.names(), ALL])
    if every and given.items:
        first = {"item": given.items[0]}
        command = command_line("reproduce", study_with(given.items[0]) or "NAME", options=first)
        raise InputError(
            "`--item` needs a single study, and `all` reproduces every item of every study; "
            f"name the study, as in `{command}`"
        )
    folder = of.default_folder(given.out, Path(given.name))
    title = "reproducing all studies" if every else f"reproducing {given.name}"
    try:
        with of.workers(given.jobs, given.cluster) as workers, progress_bar(title) as bar:
            more: dict[str, Any] = {"quick": given.quick, "seed": given.seed, "force": given.force}
            more |= {"jobs": workers, "progress": bar}
            if every:
                summary = studies.run_all(folder, **more)
                replaced: Mapping[Path, str | None] = summary.replaced
                answer = summary.answer
            else:
                outcome = studies.run(given.name, folder, given.items or None, **more)
                replaced = {folder: outcome.replaced}
                answer = outcome.answer
    except KeyboardInterrupt:
        lists = ", whose report.html lists the missing parts," if every else ","
        raise Interrupted(
            f"interrupted; finished simulations are in {folder}{lists} and the same command "
            "continues from there"
        ) from None
    for place, what in replaced.items():
        messages.print_replaced(place, what)
    messages.print_answer(answer)
