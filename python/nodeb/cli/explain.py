"""The command `nodeb explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodeb.cli.options import (
    At,
    File,
    Jobs,
    Runs,
    Seed,
    Settings,
    Stopped,
    print_warnings,
    workplace,
)

__all__ = ["explain"]

HTML = b"<!doctype html>"
"""What a page begins with."""


def explain(
    file: File,
    settings: Settings = None,
    user: Annotated[int, typer.Option(metavar="N", help="Which user, from 0.")] = 0,
    transfer: Annotated[
        int, typer.Option(metavar="N", help="Which of the user's transfers, from 0.")
    ] = 0,
    seed: Seed = None,
    runs: Runs = None,
    jobs: Jobs = None,
    cluster: At = None,
    what_if: Annotated[
        bool,
        typer.Option("--what-if", help="Simulate what it takes without each cause that can go."),
    ] = False,
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
    from nodeb.explanation import explain as explained
    from nodeb.explanation.text import what_if_text
    from nodeb.inputs.scenario import load
    from nodeb.storage.files import check_place, refuse_other, write_bytes
    from nodeb.terminal.progress import progress_bar

    scenario = load(file, settings or ())
    print_warnings(scenario.warnings())
    if out is not None:
        check_place(out, "--out")
        refuse_other(out, HTML, "a page", "--out")
    users = dict.fromkeys([user, *(beside or [])])
    try:
        with workplace(jobs, cluster) as workers, progress_bar(scenario.name or file.stem) as bar:
            found = {
                f"user {one}": explained(scenario, one, transfer, runs, seed, workers, bar)
                for one in users
            }
            first = found[f"user {user}"]
            tried = first.what_if(workers, bar) if what_if else []
    except KeyboardInterrupt:
        raise Stopped("interrupted") from None
    print("\n\n".join(str(one) for one in found.values()))
    if what_if:
        print(f"\n{what_if_text(tried)}")
    if out is not None:
        from nodeb.report.explained import page

        write_bytes(out, page(found, tried).encode())
        print(f"\npage: {out}")
