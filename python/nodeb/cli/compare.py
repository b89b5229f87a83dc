"""`nodeb compare`: simulates scenarios with common random numbers, and saves the differences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodeb.base.command_line import command_line
from nodeb.cli.notes import print_superfluous
from nodeb.cli.options import (
    ClusterAddress,
    Everything,
    Force,
    Jobs,
    Margin,
    Runs,
    Seed,
    Settings,
    Stopped,
    print_answer,
    print_changed,
    print_file,
    print_message,
    print_other_folder,
    print_rows,
    print_warnings,
    worker_pool,
)
from nodeb.comparison.answer import answers
from nodeb.comparison.differences import MARGIN
from nodeb.comparison.experiment import Experiment, Outcome
from nodeb.errors import Interrupted, writing
from nodeb.explanation.compared import Differences, all_differences, short_differences
from nodeb.replication.pool import Jobs as Workers
from nodeb.storage.files import check_place, refuse_other_page, write_bytes
from nodeb.terminal.progress import progress_bar

__all__ = ["compare"]

CHANGE = "Also compare the first file with this change; separate several keys with `;`."
EXPLAIN = (
    "Explain the difference in this user's first transfer, with all causes; "
    "default: user 0, largest causes only."
)
METRIC = "Show only this metric; `nodeb list metrics` lists all; repeatable."


def compare(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="BASELINE [FILE...]", help="Scenario files."),
    ],
    changes: Annotated[
        list[str] | None, typer.Option("--with", metavar="KEY=VALUE", help=CHANGE)
    ] = None,
    settings: Settings = None,
    metric: Annotated[list[str] | None, typer.Option(metavar="NAME", help=METRIC)] = None,
    margin: Margin = MARGIN,
    seed: Seed = None,
    runs: Runs = None,
    jobs: Jobs = None,
    cluster: ClusterAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Results folder; default: out/<first file>-compared."),
    ] = None,
    force: Force = False,
    everything: Everything = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="PAGE", help="Write an HTML page with figures."),
    ] = None,
    explain: Annotated[
        int | None,
        typer.Option(metavar="USER", help=EXPLAIN),
    ] = None,
) -> None:
    """Compare scenarios with common random numbers, replication by replication."""
    plan = Experiment.read(files, changes or (), settings or (), runs, seed)
    for note in plan.notes:
        print_message("note", note)
    print_warnings(plan.warnings())
    for file, scenario in zip(files, plan.scenarios, strict=False):
        print_superfluous(scenario.compiled())
        if scenario.compiled().has_sweep:
            print_message("note", f"the [sweep] table of {file} is ignored")
    if explain is not None:
        for scenario in plan.scenarios:
            scenario.check_user(explain)
    if report is not None:
        check_place(report, "--report")
        refuse_other_page(report, "--report")
    folder = Path("out") / f"{files[0].stem}-compared" if out is None else out

    def show(outcome: Outcome, where: str = "", causes: Differences | None = None) -> None:
        _print(outcome, where, causes, everything)

    title = f"comparing with {plan.cells[0].label}"
    try:
        with worker_pool(jobs, cluster) as workers:
            with progress_bar(title) as bar:
                more = {"force": force, "beside": out is None}
                outcome = plan.run(folder, margin, metric or (), workers, bar, **more)
            folder = outcome.folder
            causes, where = None, str(folder)
            try:
                causes = _causes(plan, outcome, explain, workers)
                if causes is not None:
                    plan.put_causes(outcome, causes.table)
            finally:  # The answer is also printed if the causes cannot be computed.
                show(outcome, where, causes)
                if report is not None:
                    about = outcome.comparison
                    options = {
                        "set": settings,
                        "with": changes,
                        "metric": metric,
                        "margin": None if about.margin == MARGIN else about.margin,
                        "explain": explain,
                        "runs": about.runs,
                        "seed": about.seed,
                        "report": report,
                    }
                    command = command_line("compare", *files, options=options)
                    with writing(f"write {report}"):
                        write_bytes(report, _page(outcome, causes, command).encode())
                    print_file("Page", report)
                if causes is not None and (everything or explain is not None):
                    print_rows(causes.rows)
    except Interrupted as stop:
        raise Stopped(str(stop)) from None
    except KeyboardInterrupt:
        raise Stopped(f"interrupted; the comparison is in {folder}") from None


def _page(outcome: Outcome, causes: Differences | None, command: str) -> str:
    from nodeb.report.compared import page

    bars = [] if causes is None else causes.bars
    return page(outcome.comparison, outcome.tables, bars, command)


def _print(outcome: Outcome, where: str, causes: Differences | None, everything: bool) -> None:
    folder = outcome.folder
    print_other_folder(folder, outcome.beside)
    print_changed({} if outcome.replaced is None else {folder: outcome.replaced})
    bars = [] if causes is None else causes.bars
    for place, one in enumerate(answers(outcome.comparison, bars, where)):
        print("\n" if place else "", end="")
        print_answer(one, everything)
    for note in [] if causes is None else causes.notes:
        print(note)


def _causes(
    plan: Experiment, outcome: Outcome, user: int | None, workers: Workers
) -> Differences | None:
    """Returns the causes of the difference in the duration of a user's first transfer.

    If `user` is None, user 0 is explained, but only if its transfers are short (see
    `short_differences`); otherwise the result is None.
    """
    with progress_bar("explaining") as bar:
        if user is None:
            return short_differences(plan, outcome.tables, workers, bar)
        return all_differences(plan, user, workers, bar)
