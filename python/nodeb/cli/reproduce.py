"""`nodeb reproduce`: repeats published studies; compares the results with published values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodeb.base.command_line import command_line
from nodeb.cli.options import (
    ClusterAddress,
    Force,
    Jobs,
    Stopped,
    check_name,
    print_answer,
    print_changed,
    worker_pool,
)

if TYPE_CHECKING:
    from nodeb.replication.pool import Jobs as Workers

__all__ = ["reproduce"]


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="Published study, such as `wang`, a file such as my_study.py, or `all`."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Results folder; default: out/<name>.")
    ] = None,
    item: Annotated[
        list[str] | None,
        typer.Option(help='Only this table or figure, such as "Table 12"; repeatable.'),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run faster, with less precision.")
    ] = False,
    jobs: Jobs = None,
    cluster: ClusterAddress = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random streams.")] = 1,
    force: Force = False,
) -> None:
    """Reproduce the tables and figures of a published study, next to the published values.

    `all` reproduces every study in its own folder and summarizes the results.
    """
    from nodeb import reproduce as studies
    from nodeb.reproduce.every import ALL

    if not name.endswith(".py"):
        check_name("study", name, [*studies.names(), ALL])
    folder = Path("out") / Path(name).stem if out is None else out
    if name == ALL:
        _refuse_items(item)
    with worker_pool(jobs, cluster) as workers:
        if name == ALL:
            _all(folder, quick, workers, seed, force)
        else:
            _one(name, folder, item or None, quick, workers, seed, force)


def _one(
    name: str,
    folder: Path,
    items: list[str] | None,
    quick: bool,
    workers: Workers,
    seed: int,
    force: bool,
) -> None:
    """Reproduces one study and prints its answer.

    Also prints which earlier results were replaced, and which damaged files were simulated again.
    """
    from nodeb import reproduce as studies
    from nodeb.terminal.progress import progress_bar

    try:
        with progress_bar(f"reproducing {name}") as bar:
            outcome = studies.run(name, folder, items, quick, workers, seed, bar, force=force)
    except KeyboardInterrupt:
        raise Stopped(
            f"interrupted; finished simulations are in {folder}, and the same command continues "
            "from there"
        ) from None
    print_changed({} if outcome.replaced is None else {folder: outcome.replaced})
    print_answer(outcome.answer)


def _all(folder: Path, quick: bool, workers: Workers, seed: int, force: bool) -> None:
    """Reproduces all studies and prints a summary.

    Also prints which earlier results were replaced, and which damaged files were simulated again.
    """
    from nodeb import reproduce as studies
    from nodeb.terminal.progress import progress_bar

    try:
        with progress_bar("reproducing all studies") as bar:
            found = studies.run_all(folder, quick, workers, seed, bar, force=force)
    except KeyboardInterrupt:
        raise Stopped(
            f"interrupted; finished simulations are in {folder}, whose report.html lists "
            "the missing parts, and the same command continues from there"
        ) from None
    print_changed(found.replaced)
    print_answer(found.answer)


def _refuse_items(items: list[str] | None) -> None:
    """Rejects items (`--item`) for `all`, because an item belongs to one study.

    Raises:
        InputError: items are given. The message suggests the study that has the first of them.
    """
    from nodeb.errors import InputError
    from nodeb.reproduce.every import study_with

    if items:
        command = command_line(
            "reproduce", study_with(items[0]) or "NAME", options={"item": items[0]}
        )
        raise InputError(
            "`--item` needs a single study, and `all` reproduces every item of every study; "
            f"name the study, as in `{command}`"
        )
