"""`nodeb run`: simulates a scenario, prints a summary and saves its tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from nodeb.base.signals import ignore
from nodeb.base.streams import shell_path
from nodeb.cli import notes
from nodeb.cli.options import (
    ClusterAddress,
    Everything,
    File,
    Force,
    Jobs,
    Out,
    Precision,
    Runs,
    Seed,
    Settings,
    Stopped,
    check_capture,
    command_arguments,
    print_answer,
    print_file,
    print_message,
    print_place,
    print_warnings,
    results_if_full,
    shown_if_full,
    worker_pool,
)
from nodeb.errors import InputError, Interrupted
from nodeb.inputs.scenario import Scenario, load
from nodeb.replication.pool import Jobs as Workers
from nodeb.results.answer import answer
from nodeb.results.provenance import results_hash
from nodeb.results.result import Result
from nodeb.storage import folders
from nodeb.storage.folders import Place
from nodeb.terminal.progress import progress_bar

__all__ = ["run"]

MANY = 100_000
"""Number of replications from which on saving takes so long that a note is printed first."""


def run(
    file: File,
    settings: Settings = None,
    seed: Seed = None,
    runs: Runs = None,
    precision: Precision = None,
    jobs: Jobs = None,
    cluster: ClusterAddress = None,
    out: Out = None,
    force: Force = False,
    everything: Everything = False,
    report: Annotated[
        bool,
        typer.Option("--report", help="Write an HTML page with figures to the results folder."),
    ] = False,
    pcap: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Capture packets of the first replication to this file (pcapng)."
        ),
    ] = None,
    snap_length: Annotated[
        int | None,
        typer.Option(metavar="N", help="Bytes captured per packet; default: 80, the headers."),
    ] = None,
    pcap_at: Annotated[
        list[str] | None,
        typer.Option(metavar="PLACE", help="Capture only at server, phone or proxy; repeatable."),
    ] = None,
    pcap_radio: Annotated[
        bool,
        typer.Option(
            "--pcap-radio",
            help="Also capture at rnc, node_b and pdcp, with comments on each packet's fate.",
        ),
    ] = False,
    pcap_causes: Annotated[
        list[int] | None,
        typer.Option(
            metavar="USER",
            help="Add comments with the critical path of this user's transfers; repeatable.",
        ),
    ] = None,
) -> None:
    """Simulate a scenario, print a summary and save tables; a sweep table is ignored."""
    if cluster is not None and pcap is not None:
        raise InputError("--pcap and --cluster cannot be combined: the capture is written locally")
    of_captures = {
        "--snap-length": snap_length is not None,
        "--pcap-at": pcap_at,
        "--pcap-radio": pcap_radio,
        "--pcap-causes": pcap_causes,
    }
    for name, given in of_captures.items():
        if given and pcap is None:
            raise InputError(f"{name} requires --pcap")
    scenario = load(file, settings or ()).planned(runs, precision, seed)
    usual = Path("out") / file.stem if out is None else out
    inputs = [file, *scenario.files(file.parent)]
    asked = scenario.stopping_rule()
    number = asked if isinstance(asked, int) else None
    settled = results_hash(scenario, scenario.seed)
    owner = folders.Owner("run", file.name, made_of=settled, runs=number)
    with (
        worker_pool(jobs, cluster) as workers,
        folders.claim(usual, owner, force=force, inputs=inputs, beside=out is None) as place,
    ):
        folder = place.shown
        if pcap is not None:
            check_capture(pcap, place)
        print_place(place)
        if scenario.compiled().has_sweep:
            hint = f"`nodeb sweep {shell_path(file)}` simulates it"
            print_message("note", f"the [sweep] table of {file} is ignored; {hint}")
        print_warnings(scenario.warnings())
        notes.print_superfluous(scenario.compiled())
        capture: dict[str, Any] = {"pcap": pcap, "snap_length": snap_length}
        capture |= {"pcap_at": pcap_at or (), "pcap_radio": pcap_radio}
        capture["pcap_causes"] = pcap_causes or ()
        title = scenario.name or file.stem
        result, full = results_if_full(lambda: _simulated(scenario, title, place, workers, capture))
        notes.print_nothing_arrived(result)

        named = command_arguments(file, settings, seed=seed)

        def show(where: str) -> None:
            print_answer(answer(result, named, where), everything)

        with _complete(result, place):
            with shown_if_full(lambda _: show(""), result):
                result.put(
                    place,
                    report=_page(result, place, named) if report else None,
                )
            show(str(folder))
            if report:
                print_file("Page", folder / "report.html")
            if pcap is not None and full is None:
                print_file("Packets", pcap)
            ignore()
        if full is not None:
            raise full


@contextmanager
def _complete(result: Result, place: Place) -> Iterator[None]:
    """Saves the complete results if a signal interrupts the `with` block.

    The block then ends with `Stopped`, whose message states that all replications were simulated.
    """
    try:
        yield
    except KeyboardInterrupt:
        text = f"stopped after all replications ({result.provenance.runs})"
        raise _kept(result, place, text) from None


def _kept(result: Result, place: Place, text: str) -> Stopped:
    """Saves the results to the folder unless they were saved before.

    They are saved in another folder if they must not replace what this one contains.

    Returns the exception that ends the command; its message is `text` and the folder used.
    """
    ignore()
    if not place.is_put:
        if result.provenance.runs >= MANY:
            print(f"note: {text}; these are being saved", file=sys.stderr)
        try:
            result.put(place)
        except folders.RefusedError as error:
            if error.kept is None:
                raise
            return Stopped(f"{text}; those are in {error.kept}, because {error.why}")
    return Stopped(f"{text}; those are in {place.shown}")


def _simulated(
    scenario: Scenario, title: str, place: Place, workers: Workers, capture: dict[str, Any]
) -> Result:
    """Runs a scenario and returns its result.

    If interrupted, saves the finished replications to the folder, if there are any, and raises
    `Stopped`.
    """
    found: Result | None = None
    try:
        with progress_bar(title) as bar:
            found = scenario.run(jobs=workers, progress=bar, **capture)
        return found
    except Interrupted as stop:
        if stop.result is None:
            raise Stopped(str(stop)) from None
        place.force = False  # Partial results must not replace complete ones, even with `--force`.
        raise _kept(cast("Result", stop.result), place, str(stop)) from None
    except KeyboardInterrupt:
        if found is None:
            raise
        with _complete(found, place):
            raise


def _page(result: Result, place: Place, named: str) -> str:
    """Returns the HTML page of a result. If that fails, saves the tables before raising.

    Raises:
        Stopped: Ctrl-C interrupted the writing of the page.
    """
    from nodeb.report.run import html

    try:
        with progress_bar("report") as bar:
            return html(result, bar, named)
    except KeyboardInterrupt:
        ignore()
        text = "interrupted while writing the report; all replications had finished"
        raise Stopped(f"{text}, their tables are in {result.put(place)}") from None
    except Exception:
        result.put(place)
        raise
