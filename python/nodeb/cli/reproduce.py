"""The command `nodeb reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nodeb.cli.options import Force, Jobs, Stopped, check_name

__all__ = ["reproduce"]


def reproduce(
    name: Annotated[str, typer.Argument(help="Name of a published study, such as `wang`.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Results go here; default: out/<name>.")
    ] = None,
    item: Annotated[
        list[str] | None, typer.Option(help='Only this table or figure, as in "Table 12".')
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A short version, less precise.")] = False,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random streams.")] = 1,
    force: Force = False,
) -> None:
    """Regenerate the tables and figures of a published study, next to its own figures."""
    from nodeb import reproduce as studies
    from nodeb.replication.runner import check_jobs
    from nodeb.terminal.progress import progress_bar
    from nodeb.terminal.text import align

    check_name("study", name, studies.names())
    check_jobs(jobs)
    folder = Path("out") / name if out is None else out
    try:
        with progress_bar(f"reproducing {name}") as bar:
            outcome = studies.run(name, folder, item or None, quick, jobs, seed, bar, force=force)
    except KeyboardInterrupt:
        raise Stopped(
            f"interrupted; what was simulated until then is in {folder}, and the same command goes "
            "on from there"
        ) from None
    if outcome.replaced is not None:
        print(f"note: replaced {outcome.replaced} in {folder}", file=sys.stderr)
    for file in outcome.damaged:
        print(f"warning: {file} was damaged and was simulated again", file=sys.stderr)
    if outcome.headline_rows:
        print(f"{outcome.headline_title}\n")
        print(align(outcome.headline_columns, outcome.headline_rows))
        print()
    for line in outcome.summary_lines:
        print(line)
    print(f"report: {outcome.report}")
