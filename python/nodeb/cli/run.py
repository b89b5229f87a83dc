"""`nodeb run`: simulates a scenario, prints a summary and saves its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from nodeb.base.command_line import Arguments, command_line
from nodeb.base.signals import ignore
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
    print_answer,
    print_file,
    print_message,
    print_place,
    print_warnings,
    worker_pool,
)
from nodeb.errors import InputError, Interrupted
from nodeb.inputs.scenario import load
from nodeb.results.answer import answer
from nodeb.results.provenance import results_hash
from nodeb.results.result import Result
from nodeb.storage import folders
from nodeb.terminal.progress import progress_bar

__all__ = ["run"]


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
    asked = scenario.stopping_rule()
    if report:
        from nodeb.report.run import html
    number = asked if isinstance(asked, int) else None
    settled = results_hash(scenario, scenario.seed)
    owner = folders.Owner("run", file.name, made_of=settled, runs=number)
    with (
        worker_pool(jobs, cluster) as workers,
        folders.claim(usual, owner, force=force, beside=out is None) as place,
    ):
        folder = place.shown
        if pcap is not None:
            check_capture(pcap, place)
        print_place(place)
        if scenario.compiled().has_sweep:
            hint = f"`{command_line('sweep', file)}` simulates it"
            print_message("note", f"the [sweep] table of {file} is ignored; {hint}")
        print_warnings(scenario.warnings())
        notes.print_superfluous(scenario.compiled())
        capture: dict[str, Any] = {"pcap": pcap, "snap_length": snap_length}
        capture |= {"pcap_at": pcap_at or (), "pcap_radio": pcap_radio}
        capture["pcap_causes"] = pcap_causes or ()
        options = {"set": settings, "seed": seed, "runs": runs, "precision": precision}
        arguments = Arguments(file, {**options, "report": report})
        text = None
        try:
            with progress_bar(scenario.name or file.stem) as bar:
                result = scenario.run(jobs=workers, progress=bar, **capture)
        except Interrupted as stop:
            text = str(stop)
            if stop.result is None:
                raise Stopped(text) from None
            result = cast("Result", stop.result)
            if place.has_more(result.provenance.runs):
                raise Stopped(f"{text}; {folder} keeps what it has, which is more") from None
        ignore()
        notes.print_nothing_arrived(result)
        # Printed first: a full disk then costs the tables, but not the answer.
        if text is None:
            print_answer(answer(result, arguments, str(folder)), everything)
        try:
            page = html(result, None, arguments) if report and text is None else None
        except BaseException:
            result.put(place)
            raise
        result.put(place, report=page)
    if text is not None:
        raise Stopped(f"{text}; those are in {folder}")
    if page is not None:
        print_file("Page", folder / "report.html")
    if pcap is not None:
        print_file("Packets", pcap)
