"""The command `nodeb explain`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from nodeb.cli.options import (
    At,
    Everything,
    FileOrLog,
    Jobs,
    Runs,
    Seed,
    Settings,
    Stopped,
    again,
    print_answer,
    print_file,
    print_warnings,
    refuse,
    shown_if_full,
    workplace,
)
from nodeb.errors import InputError, writing
from nodeb.explanation import Explanation
from nodeb.explanation import explain as explained
from nodeb.explanation.answer import answer
from nodeb.explanation.what_if import WhatIf
from nodeb.inputs.kinds import is_recording
from nodeb.inputs.scenario import load
from nodeb.storage.files import check_place, refuse_other_page, write_bytes
from nodeb.terminal.progress import progress_bar

__all__ = ["explain"]


def explain(
    file: FileOrLog,
    settings: Settings = None,
    user: Annotated[
        int | None, typer.Option(metavar="N", help="Which user, from 0; default: the first.")
    ] = None,
    transfer: Annotated[
        int | None,
        typer.Option(metavar="N", help="Which of the user's transfers, from 0; default: 0."),
    ] = None,
    connection: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Of a flight: which TCP connection; default: that with most data."
        ),
    ] = None,
    seed: Seed = None,
    runs: Runs = None,
    jobs: Jobs = None,
    cluster: At = None,
    what_if: Annotated[
        bool,
        typer.Option("--what-if", help="Simulate what it takes without each cause that can go."),
    ] = False,
    everything: Everything = False,
    beside: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Another user, to be shown beside on the page."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A page with pictures goes to this file (HTML)."),
    ] = None,
) -> None:
    """Explain why a transfer took so long: its critical path, every nanosecond with one cause."""
    if is_recording(file):
        not_of_flights = {
            "--set": settings,
            "--transfer": transfer,
            "--seed": seed,
            "--runs": runs,
            "--jobs": jobs,
            "--cluster": cluster,
            "--what-if": what_if or None,
            "--beside": beside,
        }
        refuse(not_of_flights, file)
        return _explain_flight(file, user, connection, everything, out)
    if connection is not None:
        raise InputError(f"--connection is for recorded flights, and {file} is none")
    _explain_scenario(
        file,
        settings,
        user or 0,
        transfer or 0,
        seed,
        runs,
        jobs,
        cluster,
        what_if,
        everything,
        beside,
        out,
    )


def _explain_flight(
    file: Path, user: int | None, connection: int | None, everything: bool, out: Path | None
) -> None:
    """Explains a TCP connection of a recorded flight."""
    from nodeb.emulate import connections, flights

    _check_page(out)
    flight = flights.read(file)
    known = connections.connections(flight)
    chosen = connections.choose(known, user, connection)
    with progress_bar(file.name) as bar:
        found = connections.explain(flight, chosen, bar)

    def show(_: object) -> None:
        print_answer(answer(found), everything)
        others = known.of(user)
        if len(others) > 1:
            print(f"\n{connections.listed(others)}")
        for note in known.notes:
            print(f"note: {note}", file=sys.stderr)

    with shown_if_full(show, found):
        _write_page(out, {f"connection {chosen.number}": found})
    show(found)
    if out is not None:
        print_file("Page", out)


def _explain_scenario(
    file: Path,
    settings: list[str] | None,
    user: int,
    transfer: int,
    seed: int | None,
    runs: int | None,
    jobs: int | None,
    cluster: str | None,
    what_if: bool,
    everything: bool,
    beside: list[int] | None,
    out: Path | None,
) -> None:
    """Explains a transfer of a simulated user."""
    scenario = load(file, settings or ())
    print_warnings(scenario.warnings())
    _check_page(out)
    users = dict.fromkeys([user, *(beside or [])])
    try:
        with workplace(jobs, cluster) as workers, progress_bar(scenario.name or file.stem) as bar:
            found = {
                f"user {one}": explained(scenario, one, transfer, runs, seed, workers, bar)
                for one in users
            }
            first = found[f"user {user}"]
            tried = first.what_if(workers, bar) if what_if else None
    except KeyboardInterrupt:
        raise Stopped("interrupted") from None
    whose = {"user": user or None, "transfer": transfer or None}
    named = again(file, settings, **whose, seed=seed, runs=runs)
    beside_it = {name: one for name, one in found.items() if one is not first}

    def show(_: object) -> None:
        print_answer(
            answer(
                first,
                tried,
                named,
                beside_it,
            ),
            everything or bool(beside_it),
        )

    with shown_if_full(show, found):
        _write_page(
            out,
            found,
            tried or [],
            named,
        )
    show(found)
    if out is not None:
        print_file("Page", out)


def _check_page(out: Path | None) -> None:
    """Complains about a place where no page can be put, before anything is simulated."""
    if out is not None:
        check_place(out, "--out")
        refuse_other_page(out, "--out")


def _write_page(
    out: Path | None,
    found: Mapping[str, Explanation],
    tried: Sequence[WhatIf] = (),
    named: str = "",
) -> None:
    """Writes the page that was asked for, if one was."""
    if out is not None:
        from nodeb.report.explained import page

        with writing(f"write {out}"):
            write_bytes(out, page(found, tried, named).encode())
