"""`nodeb sweep`: simulates missing cells of a scenario's sweep table, and saves the results."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from nodeb.base.streams import printable
from nodeb.cli import messages
from nodeb.cli import options as of
from nodeb.sweep import Sweep
from nodeb.sweep.answer import answer
from nodeb.terminal.progress import progress_bar


@of.command(
    of.FILE, of.SET, of.SEED, of.RUNS, of.PRECISION,
    of.repeated(
        "--baseline", "KEY=VALUE",
        "Add the paired difference of each cell from the cell with this value.",
    ),
    of.option(
        "--metric", "NAME",
        "Metric shown; default: application_bps if every cell has it and over half of the "
        "transfers finish, else received_bps.",
    ),
    of.MARGIN,
    of.flag("--dataset", "Also write every replication as Parquet."),
    of.JOBS, of.CLUSTER,
    of.option("--out", "DIR", "Results folder; default: out/<file name>-swept.", Path),
    of.FORCE, of.ALL, of.REPORT, of.JSON,
)  # fmt: skip
def sweep(given: Namespace) -> None:
    of.check_page(given.report)
    plan = Sweep.load(given.file, given.set, given.runs, given.precision, given.seed)
    messages.print_warnings(plan.warnings())
    title = printable(plan.name or given.file.stem)
    with of.workers(given.jobs, given.cluster) as workers, progress_bar(title) as bar:
        outcome = plan.run(
            of.default_folder(given.out, given.file, "-swept"),
            given.baseline,
            workers,
            bar,
            force=given.force,
            metric=given.metric,
            margin=given.margin,
            dataset=given.dataset,
            beside=given.out is None,
        )
    folder = outcome.file.parent
    messages.print_other_folder(folder, outcome.beside)
    messages.print_replaced(folder, outcome.replaced)
    messages.print_notes(
        f"removed {folder / name}, which was of other cells or replications; "
        f"`--{name}` writes it again"
        for name in outcome.dropped
    )
    messages.print_of_sweep(plan, outcome, given.metric)
    shown = answer(outcome, str(folder))
    stream = messages.print_answers(given, [shown], outcome.table)
    if (place := of.page_of(given, folder / "report.html")) is not None:
        from nodeb.report.swept import page

        names = "set", "seed", "runs", "precision", "baseline", "metric", "margin", "report"
        of.write_page(place, page(outcome, of.arguments(given, *names).command("sweep")))
        messages.print_file("Page", place, stream)
