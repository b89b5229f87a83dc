"""`nodeb explain`: prints the causes of a transfer's duration, in a scenario or recording."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from nodeb.base.command_line import Arguments
from nodeb.cli.options import (
    ClusterAddress,
    Everything,
    FileOrLog,
    Jobs,
    Runs,
    Seed,
    Settings,
    Stopped,
    print_answer,
    print_file,
    print_warnings,
    refuse_for_recordings,
    worker_pool,
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
        int | None, typer.Option(metavar="N", help="User, from 0; default: the first.")
    ] = None,
    transfer: Annotated[
        int | None,
        typer.Option(metavar="N", help="Transfer of the user, from 0; default: 0."),
    ] = None,
    connection: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="TCP connection of a recording; default: the one with most data."
        ),
    ] = None,
    seed: Seed = None,
    runs: Runs = None,
    jobs: Jobs = None,
    cluster: ClusterAddress = None,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if", help="Simulate changes that remove or reduce a cause, one at a time."
        ),
    ] = False,
    everything: Everything = False,
    beside: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Another user to compare on the page; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an HTML page with figures to this file."),
    ] = None,
) -> None:
    """Explain the duration of a transfer by its critical path, with one cause per nanosecond."""
    if is_recording(file):
        not_of_recordings = {
            "--set": settings,
            "--transfer": transfer,
            "--seed": seed,
            "--runs": runs,
            "--jobs": jobs,
            "--cluster": cluster,
            "--what-if": what_if or None,
            "--beside": beside,
        }
        refuse_for_recordings(not_of_recordings, file)
        return _explain_recording(file, user, connection, everything, out)
    if connection is not None:
        raise InputError(f"--connection is for recordings, and {file} is a scenario")
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


def _explain_recording(
    file: Path, user: int | None, connection: int | None, everything: bool, out: Path | None
) -> None:
    """Replays a recording and prints the explanation of one of its TCP connections."""
    from nodeb.emulate import connections, recordings

    _check_page(out)
    recording = recordings.read(file)
    known = connections.connections(recording)
    chosen = connections.choose(known, user, connection)
    with progress_bar(file.name) as bar:
        found = connections.explain(recording, chosen, bar)

    def show(_: object) -> None:
        print_answer(answer(found), everything)
        others = known.of(user)
        if len(others) > 1:
            print(f"\n{connections.listed(others)}")
        for note in known.notes:
            print(f"note: {note}", file=sys.stderr)

    options = {"user": user, "connection": connection}
    _write_page(out, {f"connection {chosen.number}": found}, Arguments(file, options))
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
    """Simulates a scenario and prints the explanation of one transfer of `user`.

    If `beside` names other users, their transfers of the same number are compared with it.
    """
    scenario = load(file, settings or ())
    print_warnings(scenario.warnings())
    _check_page(out)
    if user in (beside or ()):
        raise InputError(f"--beside {user}: user {user} is explained already; give another user")
    users = dict.fromkeys([user, *(beside or [])])
    try:
        with worker_pool(jobs, cluster) as workers, progress_bar(scenario.name or file.stem) as bar:
            found = {
                f"user {one}": explained(scenario, one, transfer, runs, seed, workers, bar)
                for one in users
            }
            first = found[f"user {user}"]
            tried = first.what_if(workers, bar) if what_if else None
    except KeyboardInterrupt:
        raise Stopped("interrupted") from None
    whose = {"user": user or None, "transfer": transfer or None, "beside": beside}
    arguments = Arguments(file, {"set": settings, **whose, "seed": seed, "runs": runs})
    beside_it = {name: one for name, one in found.items() if one is not first}

    def show(_: object) -> None:
        print_answer(
            answer(first, tried, arguments, beside_it),
            everything or bool(beside_it),
        )

    _write_page(out, found, arguments, tried)
    show(found)
    if out is not None:
        print_file("Page", out)


def _check_page(out: Path | None) -> None:
    """Checks that the page can be written to `out`; the simulation follows, and takes time.

    Does nothing if `out` is None.
    """
    if out is not None:
        check_place(out, "--out")
        refuse_other_page(out, "--out")


def _write_page(
    out: Path | None,
    found: Mapping[str, Explanation],
    arguments: Arguments,
    tried: Sequence[WhatIf] | None = None,
) -> None:
    """Writes the HTML page of the explanation to `out`; does nothing if `out` is None."""
    if out is not None:
        from nodeb.report.explained import page

        command = arguments.command("explain", what_if=tried is not None, out=out)
        with writing(f"write {out}"):
            write_bytes(out, page(found, tried or (), arguments, command).encode())
