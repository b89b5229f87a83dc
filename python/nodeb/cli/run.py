"""The command `nodeb run`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from nodeb.base.signals import ignore
from nodeb.cli import notes
from nodeb.cli.options import (
    At,
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
    again,
    as_far_as_there_is_room,
    check_capture,
    print_answer,
    print_file,
    print_place,
    print_warnings,
    shown_if_full,
    workplace,
)
from nodeb.errors import InputError, Interrupted
from nodeb.inputs.scenario import Scenario, load
from nodeb.replication.pool import Jobs as Workplace
from nodeb.results.answer import answer
from nodeb.results.provenance import results_hash
from nodeb.results.result import Result
from nodeb.storage import folders
from nodeb.storage.folders import Place
from nodeb.terminal.progress import progress_bar

__all__ = ["run"]

MANY = 100_000
"""It takes a moment to save so many replications."""


def run(
    file: File,
    settings: Settings = None,
    seed: Seed = None,
    runs: Runs = None,
    precision: Precision = None,
    jobs: Jobs = None,
    cluster: At = None,
    out: Out = None,
    force: Force = False,
    everything: Everything = False,
    report: Annotated[
        bool, typer.Option("--report", help="Write a page with pictures beside the tables.")
    ] = False,
    pcap: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Packets of the first replication go here (pcapng)."),
    ] = None,
    snap_length: Annotated[
        int | None,
        typer.Option(metavar="N", help="Bytes kept of each packet; default: the headers, 80."),
    ] = None,
    pcap_at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLACE", help="Only packets at server, phone or proxy; may be repeated."
        ),
    ] = None,
    pcap_radio: Annotated[
        bool,
        typer.Option(
            "--pcap-radio", help="Also at rnc and node_b, with comments on what became of packets."
        ),
    ] = False,
    pcap_causes: Annotated[
        list[int] | None,
        typer.Option(
            metavar="USER",
            help="Comments tell the critical path of this user's transfers; may be repeated.",
        ),
    ] = None,
) -> None:
    """Simulate a scenario; print a summary and save the tables. Leaves a sweep table aside."""
    if cluster is not None and pcap is not None:
        raise InputError("--pcap writes where the replication runs; leave --cluster out")
    of_captures = {
        "--snap-length": snap_length is not None,
        "--pcap-at": pcap_at,
        "--pcap-radio": pcap_radio,
        "--pcap-causes": pcap_causes,
    }
    for name, given in of_captures.items():
        if given and pcap is None:
            raise InputError(f"{name} is about captured packets; give --pcap too")
    scenario = load(file, settings or ()).planned(runs, precision, seed)
    usual = Path("out") / file.stem if out is None else out
    inputs = [file, *scenario.files(file.parent)]
    asked = scenario.stopping_rule()
    number = asked if isinstance(asked, int) else None
    settled = results_hash(scenario, scenario.seed)
    owner = folders.Owner("run", file.name, made_of=settled, runs=number)
    with (
        workplace(jobs, cluster) as workers,
        folders.claim(usual, owner, force=force, inputs=inputs, beside=out is None) as place,
    ):
        folder = place.shown
        if pcap is not None:
            check_capture(pcap, place)
        print_place(place)
        if scenario.compiled().has_sweep:
            hint = f"`nodeb sweep {file}` does all of it"
            text = f"note: this simulates {file} without its [sweep] table; {hint}"
            print(text, file=sys.stderr)
        print_warnings(scenario.warnings())
        notes.print_superfluous(scenario.compiled())
        capture: dict[str, Any] = {"pcap": pcap, "snap_length": snap_length}
        capture |= {"pcap_at": pcap_at or (), "pcap_radio": pcap_radio}
        capture["pcap_causes"] = pcap_causes or ()
        title = scenario.name or file.stem
        result, full = as_far_as_there_is_room(
            lambda: _simulated(scenario, title, place, workers, capture)
        )
        notes.print_nothing_arrived(result)

        named = again(file, settings, seed=seed)

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
    """Keeps everything where a signal comes after the last replication, and says so."""
    try:
        yield
    except KeyboardInterrupt:
        text = f"stopped after all replications ({result.provenance.runs})"
        raise _kept(result, place, text) from None


def _kept(result: Result, place: Place, text: str) -> Stopped:
    """Puts what was simulated into the folder, unless it is there, and says so."""
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
    scenario: Scenario, title: str, place: Place, workers: Workplace, capture: dict[str, Any]
) -> Result:
    """Runs a scenario; what had finished when it was interrupted is put into the folder."""
    found: Result | None = None
    try:
        with progress_bar(title) as bar:
            found = scenario.run(jobs=workers, progress=bar, **capture)
        return found
    except Interrupted as stop:
        if stop.result is None:
            raise Stopped(str(stop)) from None
        place.force = False  # whoever asked for a whole run to replace another did not get it
        raise _kept(cast("Result", stop.result), place, str(stop)) from None
    except KeyboardInterrupt:
        if found is None:
            raise
        with _complete(found, place):
            raise


def _page(result: Result, place: Place, named: str) -> str:
    """The page about a result; whatever happens to it, the tables are put into the folder."""
    from nodeb.report.run import html

    try:
        with progress_bar("report") as bar:
            return html(result, bar, named)
    except KeyboardInterrupt:
        ignore()
        text = "interrupted while the report was made; all replications had finished"
        raise Stopped(f"{text}, their tables are in {result.put(place)}") from None
    except Exception:
        result.put(place)
        raise
