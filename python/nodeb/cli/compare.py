"""`nodeb compare`: simulates or emulates with common random numbers; shows the differences."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from nodeb.base.command_line import command_line
from nodeb.cli import emulated, messages
from nodeb.cli import options as of
from nodeb.comparison.answer import answers
from nodeb.comparison.experiment import Experiment, Outcome
from nodeb.errors import Interrupted
from nodeb.explanation.compared import Differences, all_differences, short_differences
from nodeb.replication.pool import Jobs
from nodeb.terminal.progress import progress_bar


@of.command(
    of.place(
        "files", "BASELINE [FILE...]",
        "Scenario files; or recordings of `nodeb emulate`, folders of them, or its results.",
        nargs="+",
    ),
    of.repeated(
        "--with", "KEY=VALUE",
        "Also compare the first file with this change; separate several keys with `;`.",
        dest="changes",
    ),
    of.SET,
    of.repeated("--metric", "NAME", "Show only this metric; `nodeb list metrics` lists all."),
    of.MARGIN, of.SEED, of.RUNS, of.JOBS, of.CLUSTER,
    of.option("--out", "DIR", "Results folder; default: out/<first file>-compared.", Path),
    of.FORCE, of.ALL,
    of.REPORT, of.JSON,
    of.option(
        "--explain", "USER",
        "Explain the difference in this user's first transfer, with all causes; default: user 0, "
        "largest causes only.", int,
    ),
    of.repeated("--emulate", "COMMAND", "Compare real commands in the scenarios' cells."),
    of.AS, of.SERVER, of.LATE,
)  # fmt: skip
def compare(given: Namespace) -> int | None:
    if given.emulate or emulated.are_emulations(given.files):
        return emulated.compare(given)
    plan = Experiment.read(given.files, given.changes, given.set, given.runs, given.seed)
    messages.print_notes(plan.notes)
    messages.print_warnings(plan.warnings())
    for file, scenario in zip(given.files, plan.scenarios, strict=False):
        messages.print_superfluous(scenario.compiled())
        if scenario.compiled().has_sweep:
            messages.print_notes([f"the [sweep] table of {file} is ignored"])
    for scenario in plan.scenarios if given.explain is not None else ():
        scenario.check_user(given.explain)
    of.check_page(given.report)
    folder = of.default_folder(given.out, given.files[0], "-compared")
    with of.workers(given.jobs, given.cluster) as jobs:
        with progress_bar(f"comparing with {plan.cells[0].label}") as bar:
            more = {"force": given.force, "beside": given.out is None}
            outcome = plan.run(folder, given.margin, given.metric, jobs, bar, **more)
        causes = None
        try:
            causes = _causes(plan, outcome, given.explain, jobs)
            if causes is not None:
                plan.put_causes(outcome, causes.table)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; the comparison is in {outcome.folder}") from None
        finally:  # The answer is also printed if the causes cannot be computed.
            _print(outcome, causes, given)
    return None


def _causes(plan: Experiment, outcome: Outcome, user: int | None, jobs: Jobs) -> Differences | None:
    """Causes of the difference in a user's first transfer; None if short ones are not explained."""
    with progress_bar("explaining") as bar:
        if user is None:
            return short_differences(plan, outcome.tables, jobs, bar)
        return all_differences(plan, user, jobs, bar)


def _print(outcome: Outcome, causes: Differences | None, given: Namespace) -> None:
    messages.print_other_folder(outcome.folder, outcome.beside)
    messages.print_replaced(outcome.folder, outcome.replaced)
    bars = [] if causes is None else causes.bars
    said = answers(outcome.comparison, bars, str(outcome.folder))
    stream = messages.print_answers(given, said, outcome.comparison.table)
    for note in [] if causes is None else causes.notes:
        print(note, file=stream)
    place = of.page_of(given, outcome.folder / "report.html")
    if place is not None:
        from nodeb.report.compared import page
        from nodeb.results.metrics import by_run

        comparison = outcome.comparison
        ran = {"runs": comparison.runs, "seed": comparison.seed} | of.chosen(given, "report")
        options = of.chosen(given, "set", "with", "metric", "margin", "explain") | ran
        command = command_line("compare", *given.files, options=options)
        metrics = {name: by_run(one) for name, one in outcome.tables.items()}
        of.write_page(place, page(comparison, metrics, bars, command))
        messages.print_file("Page", place, stream)
    if causes is not None and not given.json and (given.all or given.explain is not None):
        messages.print_rows(causes.rows)
