"""`nodeb explain`: prints the causes of a transfer's duration, in a scenario or recording."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from nodeb.base.command_line import Arguments
from nodeb.cli import messages
from nodeb.cli import options as of
from nodeb.errors import InputError
from nodeb.explanation import Explanation
from nodeb.explanation import explain as explained
from nodeb.explanation.answer import answer
from nodeb.explanation.what_if import WhatIf
from nodeb.inputs.reading import is_recording
from nodeb.inputs.scenario import load
from nodeb.terminal.progress import progress_bar

OF_SCENARIOS = "json", "set", "transfer", "seed", "runs", "jobs", "cluster", "what-if", "beside"


@of.command(
    of.FILE_OR_LOG, of.SET,
    of.option("--user", "N", "User, from 0; default: the first.", int),
    of.option("--transfer", "N", "Transfer of the user, from 0; default: 0.", int),
    of.option(
        "--connection", "N", "TCP connection of a recording; default: the one with most data.", int
    ),
    of.SEED, of.RUNS, of.JOBS, of.CLUSTER,
    of.flag("--what-if", "Simulate changes that remove or reduce a cause, one at a time."),
    of.ALL,
    of.repeated("--beside", "N", "Another user to compare on the page.", int),
    of.REPORT, of.JSON,
)  # fmt: skip
def explain(given: Namespace) -> None:
    if is_recording(given.file):
        of.refuse_for_recordings(given, *OF_SCENARIOS)
        return _recording(given)
    if given.connection is not None:
        raise InputError(f"--connection is for recordings, and {given.file} is a scenario")
    user, transfer, runs, seed = given.user or 0, given.transfer or 0, given.runs, given.seed
    scenario = load(given.file, given.set)
    messages.print_warnings(scenario.warnings())
    of.check_page(given.report)
    if user in given.beside:
        raise InputError(f"--beside {user}: user {user} is explained already; give another user")
    title = scenario.name or given.file.stem
    with of.workers(given.jobs, given.cluster) as jobs, progress_bar(title) as bar:
        users = {
            f"user {number}": explained(scenario, number, transfer, runs, seed, jobs, bar)
            for number in dict.fromkeys([user, *given.beside])
        }
        first = users[f"user {user}"]
        tried = first.what_if(jobs, bar) if given.what_if else None
    chosen = {"user": user or None, "transfer": transfer or None, "beside": given.beside}
    arguments = of.arguments(given, "set", **chosen, seed=seed, runs=runs)
    beside = {name: other for name, other in users.items() if other is not first}
    _write_page(given, users, arguments, tried)
    given.all = given.all or bool(beside)
    said = answer(first, tried, arguments, beside)
    messages.print_file("Page", _page(given), messages.print_answers(given, [said], first.table))


def _recording(given: Namespace) -> None:
    """Replays a recording and prints the explanation of one of its TCP connections."""
    from nodeb.emulate import connections, recordings

    of.check_page(given.report)
    recording = recordings.read(given.file)
    known = connections.connections(recording)
    chosen = connections.choose(known, given.user, given.connection)
    with progress_bar(given.file.name) as bar:
        explanation = connections.explain(recording, chosen, bar)
    arguments = of.arguments(given, "user", "connection")
    _write_page(given, {f"connection {chosen.number}": explanation}, arguments)
    messages.print_answer(answer(explanation), given.all)
    others = known.of(given.user)
    if len(others) > 1:
        print(f"\n{connections.listed(others)}")
    messages.print_notes(known.notes)
    messages.print_file("Page", _page(given))


def _write_page(
    given: Namespace,
    explanations: Mapping[str, Explanation],
    arguments: Arguments,
    tried: Sequence[WhatIf] | None = None,
) -> None:
    if (place := _page(given)) is not None:
        from nodeb.report.explained import page

        command = arguments.command("explain", what_if=given.what_if, **of.chosen(given, "report"))
        of.write_page(place, page(explanations, tried or (), arguments, command))


def _page(given: Namespace) -> Path | None:
    return of.page_of(given, of.default_folder(None, given.file, "-explained.html"))
